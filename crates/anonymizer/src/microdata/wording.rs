//! What people read of a dataset and its attributes: texts by language.
//!
//! A name is for programs; titles, descriptions, the purpose and the contact
//! are for patients and analysts, in their own languages. Nothing is computed
//! from them, and no release depends on them. *Ours.*

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Languages of one text.
const LANGUAGES_MAX: usize = 32;
/// Characters of a title in one language.
const TITLE_CHARACTERS_MAX: usize = 200;
/// Characters of any other text in one language.
const TEXT_CHARACTERS_MAX: usize = 4000;

/// One text, by language: tags of BCP 47 such as `en` or `de-CH`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Wording(BTreeMap<String, String>);

impl Wording {
    /// Whether it says nothing in any language.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text in the first of these languages that it has; else in English,
    /// else in any. `de` is found for `de-CH`, and `de-CH` for `de`.
    pub fn in_language<'w>(&'w self, wanted: &[&str]) -> Option<&'w str> {
        let exact = |tag: &str| self.0.get(tag);
        let near = |tag: &str| {
            let all = self.0.iter();
            let mut near = all.filter(|(own, _)| primary(own) == primary(tag));
            near.next().map(|(_, text)| text)
        };
        let found = wanted.iter().copied().chain(["en"]);
        let found = found.map(|tag| exact(tag).or_else(|| near(tag)));
        let mut found = found.flatten().chain(self.0.values());
        found.next().map(String::as_str)
    }

    /// What is wrong with it as a title: one line.
    pub(super) fn check_title(&self, place: &str) -> Result<(), String> {
        self.check(place, TITLE_CHARACTERS_MAX, |character| {
            character.is_control()
        })
    }

    /// What is wrong with it as a text of several lines.
    pub(super) fn check_text(&self, place: &str) -> Result<(), String> {
        self.check(place, TEXT_CHARACTERS_MAX, |character| {
            character.is_control() && character != '\n'
        })
    }

    fn check(
        &self,
        place: &str,
        characters_max: usize,
        is_refused: impl Fn(char) -> bool,
    ) -> Result<(), String> {
        if self.0.len() > LANGUAGES_MAX {
            return Err(format!("{place}: more than {LANGUAGES_MAX} languages"));
        }
        if !self.0.keys().all(|tag| is_language_tag(tag)) {
            return Err(format!(
                "{place}: texts stand by the tag of their language, as in {{\"en\": \"Age\", \
                 \"de\": \"Alter\"}}"
            ));
        }
        let fits = |text: &String| {
            let characters = text.chars().count();
            (1..=characters_max).contains(&characters)
                && text.trim() == text
                && !text.chars().any(|one| is_refused(one) || is_direction(one))
        };
        if self.0.values().all(fits) {
            return Ok(());
        }
        Err(format!(
            "{place}: a text has 1 to {characters_max} characters, no white space at its ends, \
             and no control characters"
        ))
    }
}

/// What is said of a dataset as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetWording {
    /// What it is called.
    pub title: Wording,
    /// What the data are wanted for.
    pub purpose: Wording,
    /// Who answers questions, and how they are reached.
    pub contact: Wording,
}

impl DatasetWording {
    /// What is wrong with it.
    pub(super) fn check(&self) -> Result<(), String> {
        self.title.check_title("title")?;
        self.purpose.check_text("purpose")?;
        self.contact.check_text("contact")
    }
}

/// Language of a tag, without region or script.
fn primary(tag: &str) -> &str {
    tag.split('-').next().unwrap_or(tag)
}

/// Whether a text is the tag of a language: two or three small letters, then parts
/// of letters and digits.
pub fn is_language_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_lowercase())
        && parts.all(|part| {
            (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
}

/// Whether a character turns the direction of those after it: a text could
/// then look like another one.
fn is_direction(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording(texts: &[(&str, &str)]) -> Wording {
        let own = |&(tag, text): &(&str, &str)| (tag.to_owned(), text.to_owned());
        Wording(texts.iter().map(own).collect())
    }

    #[test]
    fn the_wanted_language_is_found_by_its_near_tags_too() {
        let both = wording(&[("de-CH", "Alter"), ("en", "Age"), ("fr", "Âge")]);
        assert_eq!(both.in_language(&["fr", "en"]), Some("Âge"));
        assert_eq!(both.in_language(&["de"]), Some("Alter"));
        assert_eq!(both.in_language(&["fr-CA"]), Some("Âge"));
        assert_eq!(both.in_language(&["pl"]), Some("Age"));
        assert_eq!(wording(&[("fr", "Âge")]).in_language(&["pl"]), Some("Âge"));
        assert_eq!(wording(&[]).in_language(&["en"]), None);
    }

    #[test]
    fn texts_without_a_language_without_an_end_or_with_hidden_marks_are_refused() {
        let good = wording(&[("en", "Age"), ("zh-Hant", "年齡"), ("de-CH-1996", "Alter")]);
        assert_eq!(good.check_title("title"), Ok(()));
        let long = "x".repeat(TITLE_CHARACTERS_MAX + 1);
        for bad in [
            ("English", "Age"),
            ("e", "Age"),
            ("en_GB", "Age"),
            ("en", ""),
            ("en", " Age"),
            ("en", "Age\u{202e}"),
            ("en", "A\nge"),
            ("en", "A\u{7}ge"),
            ("en", long.as_str()),
        ] {
            assert!(wording(&[bad]).check_title("title").is_err(), "{bad:?}");
        }
        assert_eq!(wording(&[("en", "one\ntwo")]).check_text("purpose"), Ok(()));
        assert!(
            wording(&[("en", "one\ttwo")])
                .check_text("purpose")
                .is_err()
        );
    }
}
