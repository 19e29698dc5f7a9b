//! Texts near a good one, for tests of what reads headers and tokens.
//!
//! Random text is refused at its first letter. A good text with a few letters
//! changed, put in, left out or repeated gets as far as a reader looks; now and
//! then it is the good text itself, and now and then any text at all.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use proptest::prelude::*;
use proptest::test_runner::Config;

/// As many cases as `VIZARD_PROPERTY_CASES` asks for.
pub fn cases() -> Config {
    let cases = std::env::var("VIZARD_PROPERTY_CASES").ok();
    let cases = cases.and_then(|number| number.parse().ok());
    Config {
        cases: cases.unwrap_or(1_000),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Texts near one of the good ones.
pub fn near(good: &[&str]) -> impl Strategy<Value = String> + use<> {
    let good: Vec<String> = good.iter().map(|&text| text.to_owned()).collect();
    let told: Vec<char> = "\"\"*,;:=-_./{}[] \t09aAfFwWzZé".chars().collect();
    let letter = prop_oneof![3 => prop::sample::select(told), 1 => any::<char>()];
    let change = (any::<prop::sample::Index>(), 0..5_u8, letter);
    let changes = prop::collection::vec(change, 0..4);
    let changed = (prop::sample::select(good), changes).prop_map(|(text, changes)| {
        let mut letters: Vec<char> = text.chars().collect();
        for (at, what, letter) in changes {
            let at = at.index(letters.len() + 1);
            match (what, letters.get(at).copied()) {
                (0, Some(_)) => letters[at] = letter,
                (1, Some(_)) => drop(letters.remove(at)),
                (2, Some(here)) => letters.insert(at, here),
                (3, Some(here)) if here.is_ascii_lowercase() => {
                    letters[at] = here.to_ascii_uppercase();
                }
                _ => letters.insert(at, letter),
            }
        }
        letters.into_iter().collect()
    });
    prop_oneof![9 => changed, 1 => any::<String>()]
}

/// A request's header of one field; `None` where the text cannot be one.
pub fn header(name: HeaderName, text: &str) -> Option<HeaderMap> {
    let value = HeaderValue::from_bytes(text.as_bytes()).ok()?;
    Some(HeaderMap::from_iter([(name, value)]))
}
