//! Which of the media types on offer a client would rather have.

use axum::http::{HeaderMap, header};

use super::problem::{Problem, ProblemKind};

/// The best of `offered` under the request's `Accept`; the first of them where
/// it says nothing or likes several equally.
pub fn preferred<'a>(headers: &HeaderMap, offered: &[&'a str]) -> Result<&'a str, Problem> {
    let mut values = headers.get_all(header::ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return Ok(offered[0]);
    }
    let ranges: Vec<Range> = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(Range::parse)
        .collect();
    let mut best: Option<(&str, u16)> = None;
    for &media_type in offered {
        let quality = quality(&ranges, media_type);
        if quality > best.map_or(0, |(_, quality)| quality) {
            best = Some((media_type, quality));
        }
    }
    best.map(|(media_type, _)| media_type).ok_or_else(|| {
        let detail = format!("can be given: {}", offered.join(", "));
        Problem::new(ProblemKind::NotAcceptable, detail)
    })
}

/// One element of a list of wishes: its name in lower case and its quality in
/// thousandths; `None` where the quality is no number.
pub fn wish(text: &str) -> Option<(String, u16)> {
    let mut parts = text.split(';');
    let name = parts.next()?.trim().to_ascii_lowercase();
    let quality = parts
        .filter_map(|part| part.split_once('='))
        .find(|(name, _)| name.trim().eq_ignore_ascii_case("q"))
        .map_or(Some(1.0), |(_, value)| value.trim().parse::<f32>().ok())?;
    Some((name, (quality.clamp(0.0, 1.0) * 1000.0) as u16))
}

/// One element of `Accept`.
struct Range {
    name: String,
    /// In thousandths.
    quality: u16,
}

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (name, quality) = wish(text)?;
        Some(Self { name, quality })
    }

    /// How closely the range names a media type; `None`: not at all.
    fn closeness(&self, media_type: &str) -> Option<u8> {
        let (kind, _) = media_type.split_once('/')?;
        match self.name.split_once('/')? {
            _ if self.name == media_type => Some(2),
            (range, "*") if range == kind => Some(1),
            ("*", "*") => Some(0),
            _ => None,
        }
    }
}

/// The quality that the closest range gives to a media type.
fn quality(ranges: &[Range], media_type: &str) -> u16 {
    ranges
        .iter()
        .filter_map(|range| Some((range.closeness(media_type)?, range.quality)))
        .max()
        .map_or(0, |(_, quality)| quality)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::near::{self, cases, near};
    use proptest::prelude::*;

    const OFFERED: [&str; 3] = ["text/csv", "application/x-ndjson", "text/html"];

    fn chosen(accept: &'static str) -> Option<&'static str> {
        let headers = HeaderMap::from_iter([(header::ACCEPT, accept.parse().expect("a value"))]);
        preferred(&headers, &OFFERED).ok()
    }

    #[test]
    fn the_closest_range_decides_and_the_first_offer_breaks_ties() {
        assert_eq!(chosen("*/*"), Some("text/csv"));
        assert_eq!(
            chosen("text/*;q=0.5, application/x-ndjson"),
            Some("application/x-ndjson")
        );
        assert_eq!(chosen("text/csv;q=0, text/*"), Some("text/html"));
        assert_eq!(chosen("text/html,*/*;q=0.8"), Some("text/html"));
        assert_eq!(chosen("TEXT/HTML; charset=utf-8"), Some("text/html"));
    }

    #[test]
    fn what_nobody_accepts_is_not_given() {
        assert_eq!(chosen("image/png"), None);
        assert_eq!(chosen("text/csv;q=0"), None);
        assert_eq!(chosen("nonsense"), None);
        assert_eq!(
            preferred(&HeaderMap::new(), &OFFERED).ok(),
            Some("text/csv")
        );
    }

    proptest! {
        #![proptest_config(cases())]

        #[test]
        fn any_text_chooses_something_on_offer_or_nothing(
            text in near(&["text/csv;q=0.5, */*", "application/x-ndjson ; q=1e-3,text/*"]),
        ) {
            for wanted in text.split(',').filter_map(wish) {
                prop_assert!(wanted.1 <= 1000 && !wanted.0.contains(';'));
            }
            let Some(headers) = near::header(header::ACCEPT, &text) else { return Ok(()) };
            if let Ok(chosen) = preferred(&headers, &OFFERED) {
                prop_assert!(OFFERED.contains(&chosen));
            }
        }
    }
}
