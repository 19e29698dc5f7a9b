//! The spelling of subject keys: what a schema's `subject_key_normalization`
//! names is taken away before a key is compared or kept.
//!
//! One person has one key, and their terms are found by it. A key that was
//! typed on another keyboard, or copied from a page, has other bytes and looks
//! the same: an exclusion under it would bind to nobody. So every key that
//! comes in, with records, terms, tokens or in a path, goes through
//! [`Schema::normalized_key`]. A dataset that was made before there were rules
//! has none: keys that it holds are compared as they are.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use unicode_normalization::{UnicodeNormalization, is_nfc};

use super::attribute::{Attribute, Role};
use super::dialect::CellFormat;
use super::index::AttributeIndex;
use super::schema::Schema;
use super::spelling::seen;
use super::transform::Transform;
use super::wording::Wording;

/// What names a subject, as a schema writes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "data did not match: subject_key is an attribute's name, or {\"row\": true}"
)]
pub(super) enum KeyName {
    /// The identifier of this name.
    Attribute(String),
    /// The number of the record in its upload, from 1: each is a subject of its
    /// own.
    Row(RowKey),
}

/// `{"row": true}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RowKey {
    row: Yes,
}

/// `true`, and nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "bool", into = "bool")]
struct Yes;

impl TryFrom<bool> for Yes {
    type Error = &'static str;

    fn try_from(is: bool) -> Result<Self, &'static str> {
        is.then_some(Self).ok_or("row is true or not there")
    }
}

impl From<Yes> for bool {
    fn from(_: Yes) -> Self {
        true
    }
}

/// Name of the number of a record among attributes; no column has it.
const ROW: &str = "(row)";

/// The identifier that holds the number of a record.
pub(super) fn row_key() -> Attribute {
    Attribute {
        name: ROW.into(),
        role: Role::Identifier,
        kind: None,
        hierarchy: None,
        normalize: None,
        missing_values: Vec::new(),
        meant: Vec::new(),
        format: CellFormat::default(),
        transform: Transform::default(),
        title: Wording::default(),
        description: Wording::default(),
    }
}

impl KeyName {
    /// The number of the record.
    pub fn of_rows() -> Self {
        Self::Row(RowKey { row: Yes })
    }

    /// Name of the identifier.
    pub fn attribute(&self) -> String {
        match self {
            Self::Attribute(name) => name.clone(),
            Self::Row(_) => ROW.into(),
        }
    }
}

/// A way in which two texts of one key may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyRule {
    /// Letters with marks in one piece or in two: Unicode's form NFC.
    Nfc,
    /// Characters that nobody sees, of no width.
    ZeroWidth,
    /// White space at both ends.
    Trim,
}

/// The rules of a new dataset whose schema says nothing.
pub const DEFAULT_KEY_RULES: [KeyRule; 3] = [KeyRule::Nfc, KeyRule::ZeroWidth, KeyRule::Trim];

impl Schema {
    /// Whether a record is named by its number in the upload, from 1, since no
    /// column names a person: nobody can be found in two uploads.
    pub fn has_row_keys(&self) -> bool {
        self.has_row_keys
    }

    /// Whether an attribute has no column: the number of the record.
    pub(super) fn has_no_column(&self, index: AttributeIndex) -> bool {
        self.has_row_keys && index == self.subject_key()
    }

    /// The rules by which subject keys are one; none where the schema says
    /// nothing, as those of before there were rules do.
    pub fn key_rules(&self) -> &[KeyRule] {
        self.key_rules.as_deref().unwrap_or_default()
    }

    /// Whether the schema says which rules hold.
    pub fn says_key_rules(&self) -> bool {
        self.key_rules.is_some()
    }

    /// The schema under these rules, unless it says others.
    #[must_use]
    pub fn or_key_rules(mut self, rules: &[KeyRule]) -> Self {
        self.key_rules.get_or_insert_with(|| rules.to_vec());
        self
    }

    /// Whether two schemas take the same keys for one.
    pub fn has_key_rules_of(&self, other: &Self) -> bool {
        let holds =
            |schema: &Self| DEFAULT_KEY_RULES.map(|rule| schema.key_rules().contains(&rule));
        holds(self) == holds(other)
    }

    /// A subject's key as it is compared and kept: the one place where
    /// spellings become one. May be empty where nothing is left.
    pub fn normalized_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        let rules = self.key_rules();
        let mut key = Cow::Borrowed(key);
        if !key.is_ascii() {
            if rules.contains(&KeyRule::ZeroWidth) {
                key = seen_of(key);
            }
            if rules.contains(&KeyRule::Nfc) && !is_nfc(&key) {
                key = Cow::Owned(key.nfc().collect());
            }
        }
        if rules.contains(&KeyRule::Trim) {
            trimmed(key)
        } else {
            key
        }
    }

    /// The same of a trimmed cell; one that is no text stays as it is, and is
    /// refused by who reads it.
    pub(super) fn normalized_key_cell<'k>(&self, cell: &'k [u8]) -> Cow<'k, [u8]> {
        if cell.is_ascii() {
            // Nothing is to be done but trimming, which was done.
            return Cow::Borrowed(cell);
        }
        match std::str::from_utf8(cell) {
            Ok(text) => match self.normalized_key(text) {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            },
            Err(_) => Cow::Borrowed(cell),
        }
    }
}

fn seen_of(key: Cow<'_, str>) -> Cow<'_, str> {
    match key {
        Cow::Borrowed(text) => seen(text),
        Cow::Owned(text) => Cow::Owned(seen(&text).into_owned()),
    }
}

fn trimmed(key: Cow<'_, str>) -> Cow<'_, str> {
    match key {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) if text.trim().len() == text.len() => Cow::Owned(text),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}

/// A key folded further than any rule does: without case, white space, hyphens
/// and zeros before digits. Two keys that are one here and two to the dataset
/// are probably one person, which only somebody who knows them can say.
pub fn near_key(key: &str) -> String {
    let mut near = String::with_capacity(key.len());
    let mut is_in_number = false;
    let letters = seen(key).nfc().collect::<String>().to_lowercase();
    let is_hyphen = |letter: char| {
        letter == '-' || ('\u{2010}'..='\u{2015}').contains(&letter) || letter == '\u{2212}'
    };
    let kept = letters
        .chars()
        .filter(|letter| !letter.is_whitespace() && !is_hyphen(*letter));
    for letter in kept {
        if letter == '0' && !is_in_number {
            continue;
        }
        is_in_number = letter.is_ascii_digit();
        near.push(letter);
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_a_row_is_a_key_of_one_record_and_no_attribute_of_the_document() {
        let document = serde_json::json!({
            "name": "n", "subject_key": {"row": true}, "multiplicity": "one", "missing": "reject",
            "attributes": [
                {"name": "note", "role": "ignore"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"}
            ]
        });
        let schema: Schema = serde_json::from_value(document.clone()).unwrap();
        assert!(schema.has_row_keys() && schema.has_no_column(schema.subject_key()));
        assert_eq!(schema.attributes().len(), 2);
        assert_eq!(serde_json::to_value(&schema).unwrap(), document);
        for (name, value) in [
            ("subject_key", serde_json::json!({"row": false})),
            ("subject_key", serde_json::json!({"row": true, "of": 1})),
            ("subject_key", serde_json::json!(7)),
            ("multiplicity", serde_json::json!("many")),
            (
                "attributes",
                serde_json::json!([{"name": "(row)", "role": "ignore"}]),
            ),
        ] {
            let mut other = document.clone();
            other[name] = value;
            assert!(
                serde_json::from_value::<Schema>(other.clone()).is_err(),
                "{other}"
            );
        }
    }

    fn schema(rules: serde_json::Value) -> Schema {
        serde_json::from_value(serde_json::json!({
            "name": "n", "subject_key": "p", "subject_key_normalization": rules,
            "attributes": [{"name": "p", "role": "identifier"}]
        }))
        .unwrap()
    }

    #[test]
    fn each_rule_takes_away_what_it_names_and_nothing_else() {
        let key = " \u{feff}Zoe\u{308}\u{200b} 1 ";
        for (rules, normalized) in [
            (serde_json::json!([]), key),
            (serde_json::Value::Null, key),
            (serde_json::json!(["nfc"]), " \u{feff}Zo\u{eb}\u{200b} 1 "),
            (serde_json::json!(["zero_width"]), " Zoe\u{308} 1 "),
            (serde_json::json!(["trim"]), "\u{feff}Zoe\u{308}\u{200b} 1"),
            (
                serde_json::json!(["nfc", "zero_width", "trim"]),
                "Zo\u{eb} 1",
            ),
        ] {
            assert_eq!(
                schema(rules.clone()).normalized_key(key),
                normalized,
                "{rules}"
            );
        }
    }

    #[test]
    fn a_normalized_key_stays_as_it_is() {
        let schema = schema(serde_json::json!(["trim", "zero_width", "nfc"]));
        for key in [
            "p1",
            "\u{200b} p1",
            "o\u{200d}\u{308}",
            "\u{2000}a\u{308}",
            "\u{200b}",
            "\u{1100}\u{200b}\u{1161}",
        ] {
            let once = schema.normalized_key(key);
            assert_eq!(schema.normalized_key(&once), once, "{key:?}");
        }
        assert_eq!(schema.normalized_key(" \u{feff} "), "");
    }

    #[test]
    fn rules_are_the_same_in_any_order_and_none_is_as_saying_nothing() {
        let all = schema(serde_json::json!(["trim", "zero_width", "nfc"]));
        let none = schema(serde_json::json!([]));
        let silent = schema(serde_json::Value::Null);
        assert!(all.has_key_rules_of(&silent.clone().or_key_rules(&DEFAULT_KEY_RULES)));
        assert!(none.has_key_rules_of(&silent) && !all.has_key_rules_of(&none));
        assert!(
            none.clone()
                .or_key_rules(&DEFAULT_KEY_RULES)
                .key_rules()
                .is_empty()
        );
    }

    #[test]
    fn near_keys_are_one_without_case_gaps_hyphens_and_leading_zeros() {
        for (one, other) in [
            ("P0012", "p 12"),
            ("AB-007-C", "ab7c"),
            ("Zoe\u{308} \u{2013}1", "zo\u{eb}1"),
            ("0", "00"),
        ] {
            assert_eq!(near_key(one), near_key(other), "{one} and {other}");
        }
        for (one, other) in [("p10", "p1"), ("p1", "q1"), ("p101", "p11")] {
            assert_ne!(near_key(one), near_key(other), "{one} and {other}");
        }
    }
}
