//! The texts of the consent pages, by language.
//!
//! Four languages are compiled in. An operator's own texts replace single keys of
//! them, or add languages, without building: what is missing there is English.
//! Texts are plain: a mark-up in one is shown as it is typed. A place such as `{n}`
//! is filled in by the page.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::TextsByLanguage;

/// The texts that are shipped, by language; the first language has every key.
pub const SHIPPED: [(&str, &str); 4] = [
    (FALLBACK, include_str!("texts/en.json")),
    ("de", include_str!("texts/de.json")),
    ("fr", include_str!("texts/fr.json")),
    ("es", include_str!("texts/es.json")),
];

/// The language of what is said in no other.
pub const FALLBACK: &str = "en";
/// The key of a language's own name.
pub const NAME: &str = "language";
/// The key of the direction in which it is written.
const DIRECTION: &str = "direction";
/// The key of the names of months, with `|` between them.
pub const MONTHS: &str = "months";

/// Months of a year.
const MONTHS_IN_A_YEAR: usize = 12;

/// A text as it is written, and what is filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'t> {
    /// As it is.
    Text(&'t str),
    /// A place, by its name.
    Place(&'t str),
}

/// The parts of a text, in order. A brace that begins no place is text.
pub fn parts(mut text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    while let Some((before, rest)) = text.split_once('{') {
        let place = rest.split_once('}').filter(|(name, _)| {
            let is_small = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
            !name.is_empty() && name.bytes().all(is_small)
        });
        let Some((name, after)) = place else {
            break;
        };
        parts.push(Part::Text(before));
        parts.push(Part::Place(name));
        text = after;
    }
    parts.push(Part::Text(text));
    parts
}

fn places(text: &str) -> BTreeSet<&str> {
    let names = parts(text).into_iter().filter_map(|part| match part {
        Part::Place(name) => Some(name),
        Part::Text(_) => None,
    });
    names.collect()
}

/// Every language, each with all keys.
#[derive(Clone, Debug)]
pub struct Texts(BTreeMap<String, BTreeMap<String, String>>);

impl Texts {
    /// The shipped texts, with an operator's own in their place. What does not
    /// fit ([`misfit`]) was refused at the start and is passed over.
    pub fn with_own(own: &TextsByLanguage) -> Self {
        let mut texts = shipped();
        let english = texts.get(FALLBACK).cloned().unwrap_or_default();
        for (language, replaced) in own {
            let all = texts.entry(language.clone());
            let all = all.or_insert_with(|| english.clone());
            for (key, text) in replaced {
                if let Some(place) = all.get_mut(key) {
                    place.clone_from(text);
                }
            }
        }
        Self(texts)
    }

    /// The tags of all languages.
    pub fn languages(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The text of a key; the key itself where there is none.
    pub fn text<'t>(&'t self, language: &str, key: &'t str) -> &'t str {
        let texts = self.0.get(language);
        texts
            .and_then(|texts| texts.get(key))
            .map_or(key, String::as_str)
    }
}

fn shipped() -> TextsByLanguage {
    let read = |(language, text): (&str, &str)| {
        // Compiled in; a test reads them.
        let texts = serde_json::from_str(text).unwrap_or_default();
        (language.to_owned(), texts)
    };
    SHIPPED.into_iter().map(read).collect()
}

/// What is wrong with an operator's own texts in a language: the key, and why. A
/// language that is not shipped says what it is called.
pub fn misfit(language: &str, own: &BTreeMap<String, String>) -> Option<(String, String)> {
    let shipped = shipped();
    let english = shipped.get(FALLBACK)?;
    if !shipped.contains_key(language) && !own.contains_key(NAME) {
        let what = "is missing: it is the name by which people choose the language";
        return Some((NAME.into(), what.into()));
    }
    own.iter().find_map(|(key, text)| {
        let Some(wanted) = english.get(key) else {
            let what = "is no text of these pages; `vizard consent-texts DIR` writes all there are";
            return Some((key.clone(), what.into()));
        };
        let wrong = of_text(key, text, wanted)?;
        Some((key.clone(), wrong))
    })
}

fn of_text(key: &str, text: &str, wanted: &str) -> Option<String> {
    if text.trim().is_empty() {
        return Some("is empty".into());
    }
    let (has, needs) = (places(text), places(wanted));
    if has != needs {
        let named = |names: BTreeSet<&str>| {
            let names: Vec<_> = names.iter().map(|name| format!("{{{name}}}")).collect();
            if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            }
        };
        let (needs, has) = (named(needs), named(has));
        return Some(format!("needs the places {needs} and has {has}"));
    }
    match key {
        DIRECTION if !matches!(text, "ltr" | "rtl") => Some("is `ltr` or `rtl`".into()),
        MONTHS if text.split('|').count() != MONTHS_IN_A_YEAR => {
            Some("has twelve names with `|` between them".into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The source of the pages: what they say is in it.
    const SOURCES: [&str; 10] = [
        include_str!("begin.rs"),
        include_str!("choosing.rs"),
        include_str!("confirming.rs"),
        include_str!("frame.rs"),
        include_str!("lookup.rs"),
        include_str!("mod.rs"),
        include_str!("offer.rs"),
        include_str!("receipt.rs"),
        include_str!("said.rs"),
        include_str!("words.rs"),
    ];

    fn own(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pair = |&(key, text): &(&str, &str)| (key.to_owned(), text.to_owned());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn every_language_has_the_same_keys_and_places() {
        let shipped = shipped();
        assert_eq!(shipped.len(), SHIPPED.len());
        let english = &shipped[FALLBACK];
        assert!(english.len() > 50, "{} texts", english.len());
        for (language, texts) in &shipped {
            let (keys, wanted): (Vec<_>, Vec<_>) =
                (texts.keys().collect(), english.keys().collect());
            assert_eq!(keys, wanted, "{language}");
            assert_eq!(misfit(language, texts), None, "{language}");
        }
    }

    #[test]
    fn what_pages_say_is_there_and_what_is_there_is_said() {
        let shipped = shipped();
        let english = &shipped[FALLBACK];
        let quoted = |text: &'static str| text.split('"').skip(1).step_by(2);
        let said: BTreeSet<&str> = SOURCES.into_iter().flat_map(quoted).collect();
        let unsaid: Vec<_> = english
            .keys()
            .filter(|key| {
                !said.contains(key.as_str()) && ![DIRECTION, MONTHS, NAME].contains(&key.as_str())
            })
            .collect();
        assert!(unsaid.is_empty(), "no page says {unsaid:?}");
        let calls = SOURCES.into_iter().flat_map(|source| {
            let begins = source
                .split("say(\"")
                .skip(1)
                .chain(source.split("fill(\"").skip(1));
            begins.filter_map(|rest| rest.split('"').next())
        });
        let called: BTreeSet<&str> = calls.collect();
        assert!(called.len() > 30, "{called:?}");
        for key in called {
            assert!(english.contains_key(key), "{key}");
        }
    }

    #[test]
    fn own_texts_replace_single_keys_and_add_languages() {
        let texts = Texts::with_own(&BTreeMap::from([
            ("de".into(), own(&[("code_go", "Los geht’s")])),
            (
                "pl".into(),
                own(&[("language", "Polski"), ("code_go", "Dalej")]),
            ),
        ]));
        assert_eq!(texts.text("de", "code_go"), "Los geht’s");
        assert_eq!(texts.text("de", "code_label"), "Code");
        assert_eq!(texts.text("pl", "code_go"), "Dalej");
        assert_eq!(texts.text("pl", "code_title"), "Your code");
        let languages: Vec<_> = texts.languages().collect();
        assert_eq!(languages, ["de", "en", "es", "fr", "pl"]);
    }

    #[test]
    fn own_texts_that_do_not_fit_are_named_by_their_key() {
        let of = |language: &str, pair| misfit(language, &own(&[pair])).map(|(key, _)| key);
        assert_eq!(of("de", ("people", "Eine von {n}")), None);
        for wrong in [
            ("people", "Eine von {m}"),
            ("people", "Eine von n"),
            ("people", "{n} {n_}"),
            ("code_go", "{n}"),
            ("code_go", "  "),
            ("nothing_like_it", "text"),
            ("direction", "up"),
            ("months", "January|February"),
        ] {
            assert_eq!(of("de", wrong).as_deref(), Some(wrong.0), "{wrong:?}");
        }
        assert_eq!(of("pl", ("code_go", "Dalej")).as_deref(), Some(NAME));
        assert_eq!(of("pl", ("language", "Polski")), None);
    }

    #[test]
    fn a_brace_that_begins_no_place_is_text() {
        assert_eq!(
            parts("a {n} {b"),
            [Part::Text("a "), Part::Place("n"), Part::Text(" {b")]
        );
        assert_eq!(parts("{N}"), [Part::Text("{N}")]);
        assert_eq!(parts("{}"), [Part::Text("{}")]);
    }
}
