//! The strict reading of a preference document.
//!
//! Written by hand: derived code cannot refuse unknown fields of a flattened
//! struct, and in maps it lets a later key overrule an earlier one in
//! silence. The first field at fault is remembered with its code, so that a
//! bulk can say what is wrong with a line without repeating what it says.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

use super::error::CellErrorCode;
use super::preference::{MaxLeakageTerms, Preference, Probability, Terms};

/// What is wrong with one line: the field, where one is, and how.
pub(super) type Refusal = (Option<&'static str>, CellErrorCode);

/// A document as it was read: a preference, or what is wrong with it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    subject: Option<String>,
    terms: Terms,
    refusal: Option<Refusal>,
}

impl Draft {
    /// The preference, or the first field at fault.
    pub fn into_preference(self) -> Result<Preference, Refusal> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let missing = (Some("subject"), CellErrorCode::AttributeMissing);
        Ok(Preference {
            subject: self.subject.ok_or(missing)?,
            terms: self.terms.into(),
        })
    }

    fn refuse(&mut self, field: Option<&'static str>, code: CellErrorCode) {
        self.refusal.get_or_insert((field, code));
    }

    /// The value of a field that has its form; null says nothing.
    fn shaped<T>(&mut self, field: &'static str, value: Shaped<T>) -> Option<T> {
        match value {
            Shaped::Fits(value) => value,
            Shaped::Other(_) => {
                self.refuse(Some(field), form_fault(field));
                None
            }
        }
    }

    /// The value of a field that says what it may say.
    fn good<T>(
        &mut self,
        field: &'static str,
        value: Option<Result<T, CellErrorCode>>,
    ) -> Option<T> {
        match value? {
            Ok(value) => Some(value),
            Err(code) => {
                self.refuse(Some(field), code);
                None
            }
        }
    }
}

impl TryFrom<Draft> for Preference {
    type Error = String;

    fn try_from(draft: Draft) -> Result<Self, String> {
        draft.into_preference().map_err(|(field, code)| {
            let field = field.unwrap_or("the document");
            format!("{field}: {code:?}")
        })
    }
}

impl<'de> Deserialize<'de> for Draft {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(DraftVisitor)
    }
}

struct DraftVisitor;

const FIELDS: [&str; 6] = [
    "subject",
    "sensitive",
    "max_leakage",
    "max_reidentification",
    "exclude",
    "guard",
];

impl<'de> Visitor<'de> for DraftVisitor {
    type Value = Draft;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a preference document")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Draft, M::Error> {
        let mut draft = Draft::default();
        let mut seen = [false; FIELDS.len()];
        while let Some(key) = map.next_key::<String>()? {
            let Some(at) = FIELDS.iter().position(|field| *field == key) else {
                draft.refuse(None, CellErrorCode::AttributeUnknown);
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let field = FIELDS[at];
            if std::mem::replace(&mut seen[at], true) {
                draft.refuse(Some(field), CellErrorCode::AttributeRepeated);
            }
            match field {
                "subject" => draft.subject = draft.shaped(field, map.next_value()?),
                "sensitive" => draft.terms.sensitive = draft.shaped(field, map.next_value()?),
                "exclude" => {
                    let exclude = draft.shaped(field, map.next_value()?);
                    draft.terms.exclude = exclude.unwrap_or(false);
                }
                "max_reidentification" => {
                    let share = draft.shaped(field, map.next_value()?);
                    draft.terms.max_reidentification = draft.good(field, share.map(probability));
                }
                "max_leakage" => {
                    let leakage = draft.shaped(field, map.next_value()?);
                    draft.terms.max_leakage = draft.good(field, leakage.map(Leakage::terms));
                }
                _ => {
                    let guard: Option<Once<Vec<String>>> = draft.shaped(field, map.next_value()?);
                    let guard = draft.good(field, guard.map(|guard| guard.0));
                    draft.terms.guard = guard.unwrap_or_default();
                }
            }
        }
        Ok(draft)
    }
}

/// What a value of another form than its field's is.
fn form_fault(field: &str) -> CellErrorCode {
    match field {
        "max_leakage" | "max_reidentification" => CellErrorCode::NotADecimal,
        "exclude" => CellErrorCode::NotATruthValue,
        _ => CellErrorCode::Malformed,
    }
}

fn probability(value: f64) -> Result<Probability, CellErrorCode> {
    Probability::new(value).ok_or(CellErrorCode::OutOfBounds)
}

/// A value of the form that a field has, or of another: the field can then be
/// named, where a parser would only say the place.
#[derive(Deserialize)]
#[serde(untagged)]
enum Shaped<T> {
    Fits(Option<T>),
    Other(IgnoredAny),
}

/// A map in which no key stands twice.
struct Once<V>(Result<BTreeMap<String, V>, CellErrorCode>);

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Once<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OnceVisitor(PhantomData))
    }
}

struct OnceVisitor<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for OnceVisitor<V> {
    type Value = Once<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with an entry per attribute")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Once<V>, M::Error> {
        let mut entries = BTreeMap::new();
        let mut repeated = false;
        while let Some((key, value)) = map.next_entry::<String, V>()? {
            repeated |= entries.insert(key, value).is_some();
        }
        Ok(Once(if repeated {
            Err(CellErrorCode::AttributeRepeated)
        } else {
            Ok(entries)
        }))
    }
}

/// One number, or one per attribute.
enum Leakage {
    All(f64),
    PerAttribute(Once<f64>),
}

impl Leakage {
    fn terms(self) -> Result<MaxLeakageTerms, CellErrorCode> {
        Ok(match self {
            Self::All(value) => MaxLeakageTerms::All(probability(value)?),
            Self::PerAttribute(Once(bounds)) => {
                let bounds = bounds?.into_iter();
                let bounds = bounds.map(|(name, value)| Ok((name, probability(value)?)));
                MaxLeakageTerms::PerAttribute(bounds.collect::<Result<_, _>>()?)
            }
        })
    }
}

impl<'de> Deserialize<'de> for Leakage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LeakageVisitor)
    }
}

struct LeakageVisitor;

impl<'de> Visitor<'de> for LeakageVisitor {
    type Value = Leakage;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number or an object with a number per attribute")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Leakage, E> {
        Ok(Leakage::All(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Leakage, E> {
        Ok(Leakage::All(value as f64))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Leakage, E> {
        Ok(Leakage::All(value as f64))
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Leakage, M::Error> {
        Ok(Leakage::PerAttribute(
            OnceVisitor(PhantomData).visit_map(map)?,
        ))
    }
}
