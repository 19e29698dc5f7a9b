//! One subject's privacy terms, as they are written (data.md, Preferences).
//!
//! The document is kept as it came; what it demands of an engine is worked
//! out by `privacy::Requirements`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::error::CellErrorCode;
use super::schema::Schema;

/// A probability in (0, 1].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Probability(f64);

impl Probability {
    /// The probability, if it lies in (0, 1].
    pub fn new(value: f64) -> Option<Self> {
        (value > 0.0 && value <= 1.0).then_some(Self(value))
    }

    /// The number itself.
    pub fn get(self) -> f64 {
        self.0
    }

    /// The smallest n with 1/n ≤ this probability: the k or l it asks for.
    ///
    /// A relative slack of 1e-12 keeps decimal fractions exact: 0.1 asks for
    /// 10 and never, by a rounding of 1/0.1, for 11.
    pub fn reciprocal_ceiling(self) -> u32 {
        let exact = (1.0 / self.0) * (1.0 - 1e-12);
        if exact >= f64::from(u32::MAX) {
            u32::MAX
        } else {
            exact.ceil().max(1.0) as u32
        }
    }
}

impl TryFrom<f64> for Probability {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| "a probability lies above 0 and at most at 1".into())
    }
}

impl From<Probability> for f64 {
    fn from(probability: Probability) -> f64 {
        probability.0
    }
}

/// The leak that a subject accepts: one number for all attributes that the
/// job protects by l-diversity, or a number per named attribute.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MaxLeakageTerms {
    /// For all attributes protected by l-diversity.
    All(Probability),
    /// For the named attributes.
    PerAttribute(BTreeMap<String, Probability>),
}

/// What a subject asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// Semi-sensitive attributes whose value is to be treated as sensitive;
    /// absent: the dataset's default, else none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensitive: Option<Vec<String>>,
    /// Probability with which a sensitive value may be linked to the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_leakage: Option<MaxLeakageTerms>,
    /// Probability with which a published row may be linked to the subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_reidentification: Option<Probability>,
    /// Whether the subject is in no release made from now on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exclude: bool,
    /// Nodes of a sensitive attribute's hierarchy: any value under them leaks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub guard: BTreeMap<String, Vec<String>>,
}

/// The preference document of one subject.
///
/// Reading is strict: an unknown or repeated field is refused, here and in
/// `max_leakage` and `guard`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "super::preference_document::Draft")]
pub struct Preference {
    /// Key of the subject.
    pub subject: String,
    /// What the subject asks for; many share the same.
    pub terms: Arc<Terms>,
}

impl Serialize for Preference {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            subject: &'a str,
            #[serde(flatten)]
            terms: &'a Terms,
        }
        let written = Written {
            subject: &self.subject,
            terms: &self.terms,
        };
        written.serialize(serializer)
    }
}

/// Terms that were given lately, so that those who give the same share them: most
/// give the same few.
#[derive(Debug, Default)]
pub struct GivenTerms {
    remembered: Vec<Arc<Terms>>,
}

impl GivenTerms {
    /// Terms that are remembered while others are read.
    pub const REMEMBERED: usize = 64;

    /// The same terms, as they were given before if they were.
    pub fn shared(&mut self, terms: Arc<Terms>) -> Arc<Terms> {
        let mut known = self.remembered.iter();
        if let Some(at) = known.position(|known| Arc::ptr_eq(known, &terms) || *known == terms) {
            // Those that are given most come to stand first.
            let before = at.saturating_sub(1);
            self.remembered.swap(at, before);
            return Arc::clone(&self.remembered[before]);
        }
        // Room is made by forgetting the last one. New ones come to stand in
        // the middle, where two that alternate do not push each other out.
        self.remembered.truncate(Self::REMEMBERED - 1);
        let middle = self.remembered.len() / 2;
        self.remembered.insert(middle, Arc::clone(&terms));
        terms
    }
}

impl Terms {
    /// Checks that every attribute named exists and has a fitting role;
    /// the error is the attribute, or the field where the schema has no such
    /// attribute, and what is wrong with it.
    pub fn check(&self, schema: &Schema) -> Result<(), Misfit> {
        // A value that is sensitive for everyone may be named again.
        check_protectable("sensitive", self.sensitive.iter().flatten(), schema)?;
        if let Some(MaxLeakageTerms::PerAttribute(bounds)) = &self.max_leakage {
            check_protectable("max_leakage", bounds.keys(), schema)?;
        }
        check_protectable("guard", self.guard.keys(), schema)
    }
}

/// The field or attribute at fault, and what is wrong with it. What the schema
/// does not know is not repeated.
pub type Misfit = (Cow<'static, str>, CellErrorCode);

fn check_protectable<'a>(
    field: &'static str,
    names: impl Iterator<Item = &'a String>,
    schema: &Schema,
) -> Result<(), Misfit> {
    for name in names {
        match schema.find(name) {
            None => return Err((field.into(), CellErrorCode::AttributeUnknown)),
            Some(index) if !schema.attribute(index).is_protectable() => {
                return Err((name.clone().into(), CellErrorCode::NotSemiSensitive));
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_fractions_ask_for_their_exact_reciprocal() {
        for n in 1..=2000_u32 {
            let probability = Probability::new(1.0 / f64::from(n)).unwrap();
            assert_eq!(probability.reciprocal_ceiling(), n);
        }
        for (value, n) in [
            (0.2, 5),
            (0.125, 8),
            (0.1, 10),
            (0.05, 20),
            (0.3, 4),
            (0.1667, 6),
            (1.0, 1),
            (0.9999, 2),
        ] {
            assert_eq!(
                Probability::new(value).unwrap().reciprocal_ceiling(),
                n,
                "{value}"
            );
        }
    }

    #[test]
    fn probabilities_outside_their_bounds_are_refused() {
        for value in [0.0, -0.1, 1.0001, f64::NAN, f64::INFINITY] {
            assert!(Probability::new(value).is_none());
        }
    }
}
