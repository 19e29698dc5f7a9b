//! `If-Match` and `If-None-Match`: only on what the client has seen.

use axum::http::{HeaderMap, HeaderName, header};

use super::problem::{Problem, ProblemKind};
use crate::store::{Precondition, Tags};

/// What the headers demand; `None` where they demand nothing.
pub fn read(headers: &HeaderMap) -> Result<Option<Precondition>, Problem> {
    let matching = tags(headers, &header::IF_MATCH)?;
    let not_matching = tags(headers, &header::IF_NONE_MATCH)?;
    let demands = matching.is_some() || not_matching.is_some();
    Ok(demands.then_some(Precondition {
        matching,
        not_matching,
    }))
}

/// Whether the client has the thing with this tag already (`If-None-Match`
/// on reading).
pub fn has_already(headers: &HeaderMap, tag: &str) -> Result<bool, Problem> {
    let not_matching = read(headers)?.and_then(|demanded| demanded.not_matching);
    Ok(not_matching.is_some_and(|tags| tags.have(Some(tag))))
}

fn tags(headers: &HeaderMap, name: &HeaderName) -> Result<Option<Tags>, Problem> {
    let unreadable = || {
        let detail = format!("{name} holds tags in double quotes, or `*` alone");
        Problem::new(ProblemKind::InvalidHeader, detail)
    };
    let (mut listed, mut is_any) = (Vec::new(), false);
    let mut values = headers.get_all(name).iter().peekable();
    if values.peek().is_none() {
        return Ok(None);
    }
    for value in values {
        let mut is_quoted = false;
        let ends = |letter: char| {
            is_quoted ^= letter == '"';
            letter == ',' && !is_quoted
        };
        for tag in value.to_str().map_err(|_| unreadable())?.split(ends) {
            let tag = tag.trim();
            if tag == "*" {
                is_any = true;
                continue;
            }
            let tag = tag.strip_prefix("W/").unwrap_or(tag);
            let inside = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
            // Else two tags without a comma between them were one.
            let inside = inside.filter(|tag| !tag.contains('"'));
            listed.push(inside.ok_or_else(unreadable)?.to_owned());
        }
    }
    match (is_any, listed.is_empty()) {
        (false, _) => Ok(Some(Tags::Listed(listed))),
        (true, true) => Ok(Some(Tags::Any)),
        // One of the two would count for nothing, and a guard would be gone.
        (true, false) => Err(unreadable()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{self, cases, near};
    use proptest::prelude::*;

    fn precondition(name: HeaderName, value: &'static str) -> Precondition {
        let headers = HeaderMap::from_iter([(name, value.parse().expect("a value"))]);
        read(&headers).expect("it can be read").expect("it demands")
    }

    #[test]
    fn if_match_wants_one_of_the_tags() {
        let listed = precondition(header::IF_MATCH, "\"3\", \"5\"");
        assert!(listed.require(Some("5")).is_ok());
        assert!(listed.require(Some("4")).is_err());
        assert!(listed.require(None).is_err());
        let with_comma = precondition(header::IF_MATCH, "\"a,b\", \"c\"");
        assert!(with_comma.require(Some("a,b")).is_ok());
        assert!(with_comma.require(Some("c")).is_ok());
        let any = precondition(header::IF_MATCH, "*");
        assert!(any.require(Some("4")).is_ok());
        assert!(any.require(None).is_err());
    }

    #[test]
    fn if_none_match_wants_none_of_them() {
        let any = precondition(header::IF_NONE_MATCH, "*");
        assert!(any.require(None).is_ok());
        assert!(any.require(Some("1")).is_err());
        let listed = precondition(header::IF_NONE_MATCH, "W/\"a\"");
        assert!(listed.require(Some("a")).is_err());
        assert!(listed.require(Some("b")).is_ok());
    }

    #[test]
    fn a_reading_refuses_what_it_cannot_read_in_either_header() {
        for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
            let headers = HeaderMap::from_iter([(name, "3".parse().expect("a value"))]);
            assert!(has_already(&headers, "3").is_err());
        }
        let headers =
            HeaderMap::from_iter([(header::IF_NONE_MATCH, "\"a\"".parse().expect("a value"))]);
        assert!(has_already(&headers, "a").expect("it can be read"));
        assert!(!has_already(&headers, "b").expect("it can be read"));
    }

    #[test]
    fn a_tag_without_quotes_is_refused() {
        let headers = HeaderMap::from_iter([(header::IF_MATCH, "3".parse().expect("a value"))]);
        assert!(read(&headers).is_err());
        assert_eq!(read(&HeaderMap::new()).expect("nothing"), None);
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_text_is_tags_as_they_are_written_or_refused(
            text in near(&["*", "\"3\"", "\"3\", W/\"5\"", "\"a,b\" , \"\""]),
        ) {
            let Some(headers) = near::header(header::IF_MATCH, &text) else { return Ok(()) };
            let Ok(Some(Tags::Listed(listed))) = tags(&headers, &header::IF_MATCH) else {
                return Ok(());
            };
            prop_assert!(listed.iter().all(|tag| !tag.contains('"')), "{listed:?}");
            let quoted: Vec<String> = listed.iter().map(|tag| format!("\"{tag}\"")).collect();
            let again = near::header(header::IF_MATCH, &quoted.join(",")).expect("a value");
            let again = tags(&again, &header::IF_MATCH).ok().flatten();
            prop_assert_eq!(again, Some(Tags::Listed(listed)));
        }
    }
}
