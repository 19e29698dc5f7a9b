//! The language of a page: what was asked for, else what the browser would rather
//! have, else English.

use axum::http::{HeaderMap, header};

use super::texts::{FALLBACK, Texts};
use crate::http::wish;

/// The language of a tag among those that there are: the same, else one of the same
/// language (`de` for `de-AT`, and the other way round).
fn near<'t>(texts: &'t Texts, tag: &str) -> Option<&'t str> {
    let exact = texts.languages().find(|own| own.eq_ignore_ascii_case(tag));
    let primary = |tag: &str| {
        tag.split('-')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase()
    };
    exact.or_else(|| texts.languages().find(|own| primary(own) == primary(tag)))
}

/// The language for these headers, where none of `asked` is one that there is.
pub fn chosen(texts: &Texts, asked: &[Option<&str>], headers: &HeaderMap) -> String {
    let asked = asked.iter().flatten().find_map(|tag| near(texts, tag));
    let liked = || {
        let values = headers.get_all(header::ACCEPT_LANGUAGE).iter();
        let mut wishes: Vec<_> = values
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .filter_map(wish)
            .filter(|(_, quality)| *quality > 0)
            .collect();
        // Of equals the first.
        wishes.sort_by_key(|(_, quality)| std::cmp::Reverse(*quality));
        wishes.iter().find_map(|(tag, _)| near(texts, tag))
    };
    asked.or_else(liked).unwrap_or(FALLBACK).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TextsByLanguage;

    fn of(asked: &[Option<&str>], accepted: &str) -> String {
        let texts = Texts::with_own(&TextsByLanguage::new());
        let mut headers = HeaderMap::new();
        let value = accepted.parse().expect("a header");
        headers.insert(header::ACCEPT_LANGUAGE, value);
        chosen(&texts, asked, &headers)
    }

    #[test]
    fn the_browsers_languages_are_taken_by_their_quality() {
        for (accepted, expected) in [
            ("de", "de"),
            ("de-AT,en;q=0.8", "de"),
            ("pl,fr;q=0.5,es;q=0.7", "es"),
            ("en;q=0.2, FR-ca;q=0.9", "fr"),
            ("es;q=0,fr;q=0.1", "fr"),
            ("fr;q=x,es;q=0.1", "es"),
            ("*", "en"),
            ("", "en"),
            ("pl,cs", "en"),
        ] {
            assert_eq!(of(&[], accepted), expected, "{accepted}");
        }
    }

    #[test]
    fn what_was_asked_for_goes_first() {
        assert_eq!(of(&[None, Some("es")], "de"), "es");
        assert_eq!(of(&[Some("fr"), Some("es")], "de"), "fr");
        assert_eq!(of(&[Some("xx"), Some("")], "de"), "de");
        assert_eq!(of(&[Some("<script>")], "de"), "de");
    }
}
