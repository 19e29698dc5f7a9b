//! The specification of a job, as it is posted and as it is kept.
//!
//! `POST /v1/jobs` takes a [`JobSpec`]; `vizard anonymize --spec` reads an
//! [`OfflineSpec`], the same run beside its schema. Unknown fields are
//! refused.

use std::collections::BTreeMap;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use vizard_anonymizer::microdata::Schema;
use vizard_anonymizer::privacy::{Changes, PartsRule, Share};
use vizard_anonymizer::release::{AcceptedExact, HierarchyUse, SeriesMode};
use vizard_anonymizer::utility::Fit;

use crate::ids::DatasetId;

/// Whether a release goes public by itself once it is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PublishMode {
    /// A steward publishes the draft.
    #[default]
    Manual,
    /// It is published in the transaction that stores it, if no preference
    /// moved against it meanwhile.
    Automatic,
}

impl PublishMode {
    /// The word used in the store and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Automatic => "automatic",
        }
    }
}

/// What a job does with the subjects' preferences. There is one answer: a
/// release that ignored them would break the promise made to each subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PreferenceUse {
    /// Each subject's own terms hold, or the subject is left out.
    #[default]
    Apply,
}

/// What the report is to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportOptions {
    /// Random aggregate queries behind the query error; 0 for none.
    #[serde(default = "queries_default")]
    pub queries: u32,
    /// A statistic whose difference between original and release is told, rounded so
    /// that it tells no record: `{"statistic": "mean", "of": …}`, `{"statistic":
    /// "cross_table", "of": …, "by": …}` or `{"statistic": "regression", "of": …,
    /// "on": …}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub fit: Option<Fit>,
}

fn queries_default() -> u32 {
    1_000
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self {
            queries: queries_default(),
            fit: None,
        }
    }
}

/// How large the parts are that a table is published in: what [`PartsRule`] reads.
#[derive(Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PartSizes {
    /// Sets with more records are cut, if they can be.
    #[schema(minimum = 1)]
    pub records_max: u64,
    /// No side of a cut has fewer records; a 64th of `records_max`, if absent.
    pub records_min: Option<u64>,
}

/// What is run: the part that online and offline jobs share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// What people call the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Name of the engine.
    pub engine: String,
    /// Its parameters; `GET /v1/engines` describes them.
    #[serde(default = "no_parameters")]
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// What is done with preferences.
    #[serde(default)]
    pub preferences: PreferenceUse,
    /// Decides every random choice; without it the operating system does.
    /// Anyone who guesses it can repeat the run: the manifest says that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Attributes that are published as they are although they identify people,
    /// each with a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub accept_exact: Vec<AcceptedExact>,
    /// What the report is to hold.
    #[serde(default)]
    pub report: ReportOptions,
    /// Whether hierarchies are published with the release: who has them can ask
    /// about the categories that are generalized by them.
    #[serde(default, skip_serializing_if = "is_default")]
    #[schema(value_type = String, required = false, pattern = "^(publish|withhold)$")]
    pub hierarchies: HierarchyUse,
    /// The parts that the table is published in, each by itself: at most `records_max`
    /// records in each, and at least `records_min` (a 64th of that, if absent) on
    /// either side of a cut. `null`: the whole table at once. Left out: `null` up to
    /// 16,777,216 records, else parts of at most 4,194,304. `arp`, `aip`, `anatomy`,
    /// `ng`, `slicing` and series that keep groups or sets go with none.
    #[serde(default, skip_serializing_if = "PartsRule::is_by_size")]
    #[schema(value_type = Option<PartSizes>, required = false)]
    pub parts: PartsRule,
}

/// Whether a member says what is so without it.
fn is_default<T: Default + PartialEq>(member: &T) -> bool {
    *member == T::default()
}

fn no_parameters() -> Value {
    Value::Object(serde_json::Map::new())
}

/// A job as it is posted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JobSpec {
    /// What people call it and its release, 1 to 200 characters without control
    /// characters and signs that turn the direction of text; analysts read it. No
    /// personal data belong in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 200)]
    pub name: Option<String>,
    /// The dataset.
    pub dataset: DatasetId,
    /// Version of its records; the latest if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Name of the engine.
    pub engine: String,
    /// Its parameters; `GET /v1/engines` describes them.
    #[serde(default = "no_parameters")]
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// What is done with preferences.
    #[serde(default)]
    pub preferences: PreferenceUse,
    /// Whether the release is published by itself.
    #[serde(default)]
    pub publish: PublishMode,
    /// Whether a `seed` was posted, which is refused: the service draws one
    /// that nobody knows. Read only to be told apart from a mistyped field.
    #[serde(default, rename = "seed", deserialize_with = "given", skip_serializing)]
    #[schema(ignore)]
    pub seed_given: bool,
    /// Attributes that are published as they are although they identify people,
    /// each with a reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub accept_exact: Vec<AcceptedExact>,
    /// What the report is to hold.
    #[serde(default)]
    pub report: ReportOptions,
    /// Whether hierarchies are published with the release (`publish`, if absent) or
    /// not (`withhold`): who has them can ask about the categories that are
    /// generalized by them.
    // Always kept: a release of a job from before there was the word publishes none.
    #[serde(default)]
    #[schema(value_type = String, required = false, pattern = "^(publish|withhold)$")]
    pub hierarchies: HierarchyUse,
    /// The parts that the table is published in, each by itself: at most `records_max`
    /// records in each, and at least `records_min` (a 64th of that, if absent) on
    /// either side of a cut. `null`: the whole table at once. Left out: `null` up to
    /// 16,777,216 records, else parts of at most 4,194,304. `arp`, `aip`, `anatomy`,
    /// `ng`, `slicing` and series that keep groups or sets go with none.
    #[serde(default, skip_serializing_if = "PartsRule::is_by_size")]
    #[schema(value_type = Option<PartSizes>, required = false)]
    pub parts: PartsRule,
    /// How the release continues the public releases of the same people; left
    /// out, it is made from everyone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesOptions>,
    /// Why the job may be below the operator's floors, 1 to 500 characters. The
    /// manifest and the ledger repeat it, and two stewards publish the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_exception: Option<String>,
}

/// How a release continues the public releases of the same people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SeriesOptions {
    /// `increments`: only subjects who are in no release that ever was public,
    /// withdrawn ones too. `invariant`: everyone; each subject keeps the set of
    /// values that was shown of them, of `arp` (published as `anatomy`) and
    /// `anatomy`. `nested`: everyone; each subject keeps the group that was shown
    /// of them, and those who are new stand in groups of their own, of `mondrian`
    /// and `arp` (published as `generalization`), from the first release on.
    /// Together such releases tell no more than each.
    #[schema(value_type = String, pattern = "^(increments|nested|invariant)$")]
    pub mode: SeriesMode,
    /// With `invariant` the largest share of published values of an attribute
    /// that may be counterfeits, which stand for subjects who left; 0.1 if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    pub max_counterfeits: Option<Share>,
    /// With `invariant` what becomes of a subject whose value changed to one that
    /// is not in their set: the set is shown again (`hidden`, if absent), or
    /// another one, which has no value that was shown of them before (`visible`):
    /// the release is up to date, and everybody sees whose value changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, pattern = "^(hidden|visible)$")]
    pub changes: Option<Changes>,
    /// With `nested` and `mondrian`: the groups are those that the series shows,
    /// joined to larger ones, for readers who are to see less: a larger k or l.
    /// Nobody is in it who is not public, or who is in such a release already.
    /// Somebody who has the other releases of the series learns nothing from it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub join_groups: bool,
    /// With `nested` the largest share of subjects of the last release that may be
    /// left out of this one: those who changed, and companions who are taken along so that
    /// nobody can be told from who left; 0.25 if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, exclusive_minimum = 0, maximum = 1)]
    pub max_companions: Option<Share>,
}

impl SeriesOptions {
    /// The share of counterfeits that a release may have.
    pub fn counterfeits(self) -> Share {
        self.max_counterfeits.unwrap_or(Share::TENTH)
    }

    /// The share of the last release's subjects that a release may leave out.
    pub fn companions(self) -> Share {
        self.max_companions.unwrap_or(Share::QUARTER)
    }
}

/// A field that is there, whatever it holds.
fn given<'de, D: Deserializer<'de>>(from: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(from).map(|_| true)
}

/// The specification file of the offline commands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfflineSpec {
    /// The schema of the records.
    pub schema: Schema,
    /// Hierarchies by name, each as the API takes it in JSON: a tree, a rule or
    /// intervals. A file that is named on the command line takes its place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hierarchies: BTreeMap<String, Value>,
    /// What is run.
    pub job: RunSpec,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_fields_and_other_preference_uses_are_refused() {
        let good = r#"{"engine":"lgb","parameters":{"k":5},"preferences":"apply"}"#;
        assert!(serde_json::from_str::<RunSpec>(good).is_ok());
        for bad in [
            r#"{"engine":"lgb","preferences":"ignore"}"#,
            r#"{"engine":"lgb","thread":2}"#,
        ] {
            assert!(serde_json::from_str::<RunSpec>(bad).is_err(), "{bad}");
        }
    }
}
