//! What a page says, in the language of who reads it.

use std::sync::Arc;

use chrono::{DateTime, Datelike, Utc};
use maud::{Markup, html};
use vizard_anonymizer::microdata::Wording;

use super::texts::{MONTHS, NAME, Part, Texts, parts};

/// The texts of one language.
#[derive(Clone)]
pub struct Words {
    texts: Arc<Texts>,
    language: String,
}

impl Words {
    /// The texts of a language that there is.
    pub fn of(texts: Arc<Texts>, language: String) -> Self {
        Self { texts, language }
    }

    /// The tag of the language.
    pub fn language(&self) -> &str {
        &self.language
    }

    /// All languages that may be chosen: tag and own name.
    pub fn languages(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.texts.languages();
        all.map(|language| (language, self.texts.text(language, NAME)))
    }

    /// The address of another page in this language.
    pub fn link(&self, place: &str) -> String {
        format!("{place}?lang={}", self.language)
    }

    /// A text.
    pub fn say<'t>(&'t self, key: &'t str) -> &'t str {
        self.texts.text(&self.language, key)
    }

    /// A text with its places filled in. What is filled in is no text with places.
    pub fn fill(&self, key: &str, places: &[(&str, &str)]) -> String {
        let filled = parts(self.say(key)).into_iter().map(|part| match part {
            Part::Text(text) => text,
            Part::Place(wanted) => {
                let mut places = places.iter();
                let found = places.find(|(name, _)| *name == wanted);
                found.map_or("", |(_, text)| text)
            }
        });
        filled.collect()
    }

    /// A day: `28 November 2026`.
    pub fn day(&self, time: DateTime<Utc>) -> String {
        let mut months = self.say(MONTHS).split('|');
        let month = months.nth(time.month0() as usize).unwrap_or_default();
        let day = match time.day() {
            1 => self.say("first_day").to_owned(),
            day => day.to_string(),
        };
        let year = time.year().to_string();
        self.fill("date", &[("day", &day), ("month", month), ("year", &year)])
    }

    /// A day and the time in it.
    pub fn moment(&self, time: DateTime<Utc>) -> String {
        let clock = time.format("%H:%M").to_string();
        self.fill("date_time", &[("date", &self.day(time)), ("time", &clock)])
    }

    /// Names in a row: `age, sex and ward`.
    pub fn listed(&self, names: &[&str]) -> String {
        match names {
            [] => String::new(),
            [one] => (*one).to_owned(),
            [others @ .., last] => self.fill(
                "list_and",
                &[("others", &others.join(", ")), ("last", last)],
            ),
        }
    }

    /// A text of the dataset's in this language, else in English, else in any; a
    /// name where it says nothing.
    pub fn own<'w>(&self, wording: &'w Wording, name: &'w str) -> &'w str {
        wording.in_language(&[&self.language]).unwrap_or(name)
    }

    /// The same for a page: line by line, in an element that says its language
    /// where that is another one.
    pub fn shown(&self, wording: &Wording, name: &str) -> Markup {
        let text = self.own(wording, name);
        let tag = tag_of(wording, text).filter(|tag| *tag != self.language);
        html! {
            span lang=[tag] {
                @for (at, line) in text.lines().enumerate() {
                    @if at > 0 { br; }
                    (line)
                }
            }
        }
    }
}

/// The tag of the language that has this text.
fn tag_of(wording: &Wording, text: &str) -> Option<String> {
    let texts = serde_json::to_value(wording).ok()?;
    let mut texts = texts.as_object()?.iter();
    let found = texts.find(|(_, own)| own.as_str() == Some(text));
    found.map(|(tag, _)| tag.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TextsByLanguage;
    use serde_json::json;

    fn words(language: &str) -> Words {
        let texts = Texts::with_own(&TextsByLanguage::new());
        Words::of(Arc::new(texts), language.into())
    }

    fn wording(texts: serde_json::Value) -> Wording {
        serde_json::from_value(texts).expect("texts by language")
    }

    #[test]
    fn days_are_written_as_in_each_language() {
        let time = |text: &str| text.parse::<DateTime<Utc>>().expect("a time");
        let (day, first) = (time("2026-11-28T02:11:15Z"), time("2026-12-01T23:59:59Z"));
        for (language, expected) in [
            ("en", ["28 November 2026, 02:11 (UTC)", "1 December 2026"]),
            (
                "de",
                ["28. November 2026, 02:11 Uhr (UTC)", "1. Dezember 2026"],
            ),
            (
                "fr",
                ["28 novembre 2026 à 02:11 (UTC)", "1er décembre 2026"],
            ),
            (
                "es",
                [
                    "28 de noviembre de 2026, 02:11 h (UTC)",
                    "1 de diciembre de 2026",
                ],
            ),
        ] {
            let words = words(language);
            assert_eq!([words.moment(day), words.day(first)], expected);
        }
    }

    #[test]
    fn what_is_filled_in_is_never_filled_in_again() {
        let words = words("en");
        let said = words.fill("list_and", &[("others", "{last}"), ("last", "x")]);
        assert_eq!(said, "{last} and x");
        assert_eq!(words.listed(&[]), "");
        assert_eq!(words.listed(&["age"]), "age");
        assert_eq!(words.listed(&["age", "sex", "ward"]), "age, sex and ward");
    }

    #[test]
    fn a_text_in_another_language_says_which() {
        let words = words("fr");
        let shown = |texts| words.shown(&wording(texts), "age").into_string();
        assert_eq!(shown(json!({"fr": "Âge", "en": "Age"})), "<span>Âge</span>");
        assert_eq!(shown(json!({"en": "Age"})), "<span lang=\"en\">Age</span>");
        assert_eq!(shown(json!({})), "<span>age</span>");
        assert_eq!(
            shown(json!({"fr": "<b>\nx"})),
            "<span>&lt;b&gt;<br>x</span>"
        );
    }
}
