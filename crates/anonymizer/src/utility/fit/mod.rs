//! One statistic that a steward names: how far the release's is from the original's.
//!
//! Over the published records: what is left out is told beside it. The difference is
//! rounded to a step that is at least ten times as far as one record can move it,
//! with the release's cells as they are, so that it tells no record. Only the release's cells and buckets are
//! used for its side, read as in [`super::group_means`]: the middle of a cell, the
//! mean of a bucket. Rows whose cell is masked are in no mean and no slope, on
//! neither side.
//!
//! Of a release in portions every portion is seen first ([`FitSeen`]) and then added
//! ([`FitSums`]).

use serde::{Deserialize, Serialize};

use crate::microdata::{AttributeType, Role, Schema};

use super::evidence::{Evidence, EvidenceError, JoinedEvidence};
use super::report::{Audience, Description};
use super::whole::Whole;

mod sums;

pub use sums::{FitSeen, FitSums};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Fit of the statistic",
    audience: Audience::Steward,
    definition: "The statistic that the job names, of the release minus of the original, over the published records; rounded to `step`, which ten records at least must move. mean: of the middles of cells and the means of buckets. cross_table: half the sum of the differences of the shares of all pairs of at most 16 intervals each. regression: slope of the first on the second, in standard deviations of the original.",
    source: "ours",
};

/// The statistic that a steward names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "statistic", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fit {
    /// The mean of a number or date.
    Mean {
        /// The attribute.
        of: String,
    },
    /// How often values of two attributes stand together.
    CrossTable {
        /// One attribute.
        of: String,
        /// The other.
        by: String,
    },
    /// The slope of a number on another one.
    Regression {
        /// The number that is explained.
        of: String,
        /// The number that explains it.
        on: String,
    },
}

/// Why a schema does not have a statistic.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitMismatch {
    /// No attribute of this name.
    #[error("names an attribute that the schema does not have")]
    Unknown,
    /// Identifiers are in no release.
    #[error("`{0}` is an identifier, which no release has")]
    NotPublished(String),
    /// Means and slopes are of numbers.
    #[error("`{0}` is no number and no date")]
    NoNumber(String),
    /// One attribute beside itself.
    #[error("needs two different attributes")]
    OneAttribute,
}

/// How far a statistic of the release is from that of the original.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FitError {
    /// The statistic.
    #[serde(flatten)]
    pub fit: Fit,
    /// Release − original, rounded to the step; none where one of both has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<f64>,
    /// What the difference is rounded to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<f64>,
}

impl Fit {
    /// Whether the statistic is one of this schema.
    ///
    /// # Errors
    /// An attribute that is not there, is not published, or is no number where one
    /// is needed.
    pub fn check(&self, schema: &Schema) -> Result<(), FitMismatch> {
        let (names, are_numbers) = match self {
            Self::Mean { of } => (vec![of], true),
            Self::CrossTable { of, by } => (vec![of, by], false),
            Self::Regression { of, on } => (vec![of, on], true),
        };
        for name in &names {
            let Some(index) = schema.find(name) else {
                return Err(FitMismatch::Unknown);
            };
            let attribute = schema.attribute(index);
            if attribute.role == Role::Identifier {
                return Err(FitMismatch::NotPublished(attribute.name.clone()));
            }
            if are_numbers && attribute.kind == Some(AttributeType::Categorical) {
                return Err(FitMismatch::NoNumber(attribute.name.clone()));
            }
        }
        match names.as_slice() {
            [one, other] if one == other => Err(FitMismatch::OneAttribute),
            _ => Ok(()),
        }
    }
}

/// Measures a statistic; nothing where the release has no rows that show both
/// attributes.
///
/// # Errors
/// Tables that are no rows of one record each, or do not fit together.
pub fn measure(evidence: &Evidence<'_>, fit: &Fit) -> Result<Option<FitError>, EvidenceError> {
    let prepared = JoinedEvidence::new(evidence)?;
    let (whole, spreads) = Whole::of(&prepared)?;
    let mut seen = FitSeen::new(fit.clone());
    seen.see_prepared(&prepared);
    let mut sums = FitSums::new(seen);
    sums.add_prepared(&prepared, &spreads, &whole);
    Ok(sums.finish())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_statistic_is_refused_where_the_schema_does_not_have_it() {
        let schema: Schema = serde_json::from_value(json!({
            "name": "made-up", "subject_key": "id", "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "sex", "role": "quasi_identifier", "type": "categorical"}]
        }))
        .expect("a schema");
        let check = |fit: serde_json::Value| {
            let fit: Fit = serde_json::from_value(fit).expect("a statistic");
            fit.check(&schema).is_ok()
        };
        assert!(check(json!({"statistic": "mean", "of": "age"})));
        assert!(check(
            json!({"statistic": "cross_table", "of": "age", "by": "sex"})
        ));
        for wrong in [
            json!({"statistic": "mean", "of": "sex"}),
            json!({"statistic": "mean", "of": "id"}),
            json!({"statistic": "mean", "of": "nothing"}),
            json!({"statistic": "regression", "of": "age", "on": "sex"}),
            json!({"statistic": "cross_table", "of": "age", "by": "age"}),
        ] {
            assert!(!check(wrong.clone()), "{wrong}");
        }
        let more = json!({"statistic": "mean", "of": "age", "by": "sex"});
        assert!(serde_json::from_value::<Fit>(more).is_err());
    }
}
