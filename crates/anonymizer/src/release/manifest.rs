//! The manifest: what is in a release, what it claims and against whom.
//!
//! It names no seed, no subject and no exact count of preferences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::microdata::{AttributeType, Form, Schema, Table, Transform};

use super::exact::{AcceptedExact, PublishedExactly};
use super::made::{Kept, MadeInParts};
use super::table::Content;

/// What a release claims. `kind` names the claim on the wire.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Guarantee {
    /// At least k records look the same.
    KAnonymity {
        /// Floor for everyone.
        k: u32,
        /// On what.
        scope: String,
    },
    /// No value of the attribute in more than 1 in l of a bucket or group.
    LDiversity {
        /// The attribute; `*` for fingerprints, which join all of them.
        attribute: String,
        /// Floor for everyone.
        l: u32,
    },
    /// At least l different values in every group.
    DistinctLDiversity {
        /// The attribute.
        attribute: String,
        /// Floor for everyone.
        l: u32,
    },
    /// Entropy of the values of every group at least ln l.
    EntropyLDiversity {
        /// The attribute.
        attribute: String,
        /// Floor for everyone.
        l: u32,
    },
    /// In every group the most frequent value occurs less than c times as
    /// often as all from the l-th most frequent one on.
    RecursiveLDiversity {
        /// The attribute.
        attribute: String,
        /// The factor.
        c: f64,
        /// From which rank on values count together.
        l: u32,
    },
    /// Every bucket or group within t of the whole.
    TCloseness {
        /// The attribute.
        attribute: String,
        /// Largest distance.
        t: f64,
        /// Largest share of one value.
        max_posterior: f64,
    },
    /// Every bucket spans at least this (*ours*, against similarity attacks).
    MinSpread {
        /// The attribute.
        attribute: String,
        /// Numeric range, or branches of the hierarchy's root.
        min_spread: f64,
    },
    /// At least k subjects of the release share every published fingerprint.
    FingerprintK {
        /// Floor for everyone.
        k: u32,
    },
    /// No exactly published value belongs to more than 1 in l subjects of a
    /// group (*ours*).
    ValueL {
        /// Floor for everyone.
        l: u32,
    },
    /// At least k subjects of a group share every combination of at most m
    /// published values that one of them has.
    KmAnonymity {
        /// Floor for everyone.
        k: u32,
        /// Values that an adversary knows.
        m: u32,
    },
    /// A sensitive value is kept with probability `retention`, else drawn from
    /// its block; nobody who sees the rows of a block and knows its values
    /// gives one of them to one of its records with more than this probability.
    RandomizedResponse {
        /// The attribute.
        attribute: String,
        /// Probability that a value is kept.
        retention: f64,
        /// Largest probability of a value.
        max_posterior: f64,
    },
    /// Each record is covered by rows of its group with at least l different
    /// values, each of which is as likely its own; no value has more than
    /// 1 in l rows of a group.
    RingDiversity {
        /// The attribute.
        attribute: String,
        /// Floor for everyone.
        l: u32,
    },
    /// Each subject's own terms hold.
    MaxLeakage {
        /// An attribute, or `*`.
        attribute: String,
        /// Whose terms.
        scope: String,
    },
}

/// The manifest of a release (releases.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// `vizard-release/1`.
    pub format: String,
    /// Name of the engine.
    pub engine: String,
    /// The job's parameters, defaults filled in.
    pub parameters: serde_json::Value,
    /// Records published.
    pub records: u64,
    /// Records left out at their subject's wish or because their terms cannot
    /// be met; rounded to tens.
    pub excluded: u64,
    /// Records left out for another reason (missing values under `drop`);
    /// rounded to tens.
    pub suppressed: u64,
    /// Where spellings of one value were taken together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub normalized: Vec<Normalized>,
    /// What the schema says was changed of values beforehand.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub transformed: Vec<Transformed>,
    /// What is claimed.
    pub guarantees: Vec<Guarantee>,
    /// Against whom.
    pub adversary: String,
    /// What is not protected.
    pub not_protected: Vec<String>,
    /// Attributes that stand as they are, and how far they tell records apart.
    pub published_exactly: PublishedExactly,
    /// Those that the job published although they may identify people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept_exact: Vec<AcceptedExact>,
    /// What it keeps of public releases, where it goes on a series; counts of
    /// people rounded to tens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Kept>,
    /// The parts that it was made in, where they changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<MadeInParts>,
    /// The tables.
    pub tables: Vec<TableDescription>,
    /// What it was made from.
    pub input: InputDescription,
    /// By which program.
    pub made_by: MadeBy,
    /// True only where verification was switched off (benchmarks).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unverified: bool,
    /// True only where somebody chose the seed: who knows it can repeat the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reproducible_seed: bool,
}

/// An attribute in which spellings of one value were taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Normalized {
    /// The attribute.
    pub attribute: String,
    /// Forms by which spellings are one; missing words always are.
    pub forms: Vec<Form>,
    /// Spellings that became another one.
    pub spellings: u64,
    /// Records whose text became another one; rounded to tens.
    pub records: u64,
}

impl Normalized {
    /// What was taken together in a table.
    pub fn of(table: &Table) -> Vec<Self> {
        let merged = table.merged().iter();
        let said = merged.map(|merged| {
            let attribute = table.schema().attribute(merged.attribute);
            Self {
                attribute: attribute.name.clone(),
                forms: attribute.forms().to_vec(),
                spellings: merged.spellings,
                records: rounded_to_tens(merged.records),
            }
        });
        said.collect()
    }
}

/// An attribute whose values were changed before the engine saw them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transformed {
    /// The attribute.
    pub attribute: String,
    /// How, as the schema declares it.
    pub transform: Transform,
}

impl Transformed {
    /// What a schema declares of attributes that may be published.
    pub fn of(schema: &Schema) -> Vec<Self> {
        let changed = schema.attributes().iter();
        let changed = changed.filter(|attribute| !attribute.transform.is_nothing());
        let said = changed.map(|attribute| Self {
            attribute: attribute.name.clone(),
            transform: attribute.transform.clone(),
        });
        said.collect()
    }
}

/// One table of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableDescription {
    /// Name of the table.
    pub name: String,
    /// Rows.
    pub rows: u64,
    /// SHA-256 of the table's CSV form; hex.
    pub sha256: String,
    /// Columns in order.
    pub columns: Vec<ColumnDescription>,
}

/// One column of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnDescription {
    /// Name in the header.
    pub name: String,
    /// What the cells are.
    pub content: Content,
    /// Type of the attribute.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<AttributeType>,
    /// For a column of values: type of each attribute that its rows name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub types: BTreeMap<String, AttributeType>,
    /// Whether some cell is masked (columnar formats then say which).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// Whether some number or date of the column, or of values that it has, is or
    /// may be missing (columnar formats then say which).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub missing: bool,
    /// Whether some category of the column is a set (columnar formats then have
    /// lists).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sets: bool,
}

/// What a release was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputDescription {
    /// Id or name of the dataset.
    pub dataset: String,
    /// Its version.
    pub version: u64,
    /// How the release continues the series of its people, where the job said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesMode>,
}

/// How a release continues the public releases of the same people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SeriesMode {
    /// It has no subject who is in one of them.
    Increments,
    /// Every subject who is in it keeps the group that they show.
    Nested,
    /// Every subject keeps the sets of values that they show.
    Invariant,
}

/// The program that made a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeBy {
    /// Version of Vizard.
    pub vizard: String,
}

/// A count of people who are not published, or of their choices, rounded to
/// tens: one of them more or less rarely changes it.
pub fn rounded_to_tens(count: u64) -> u64 {
    count.saturating_add(5) / 10 * 10
}

/// A count rounded up to tens: 0 stays what it is, an exact number of few people
/// is not told.
pub fn up_to_tens(count: u64) -> u64 {
    count.div_ceil(10) * 10
}

impl Manifest {
    /// The format that this program writes.
    pub const FORMAT: &'static str = "vizard-release/1";
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The manifest of releases.md, with every guarantee.
    fn document() -> serde_json::Value {
        json!({
            "format": "vizard-release/1", "engine": "lgb", "parameters": {"k": 5, "l": 8},
            "records": 30162, "excluded": 3, "suppressed": 1,
            "guarantees": [
                {"kind": "k_anonymity", "k": 5, "scope": "quasi-identifiers as published"},
                {"kind": "l_diversity", "attribute": "salary", "l": 8},
                {"kind": "t_closeness", "attribute": "sex", "t": 0.2, "max_posterior": 0.8},
                {"kind": "min_spread", "attribute": "salary", "min_spread": 1000.0},
                {"kind": "max_leakage", "attribute": "*", "scope": "each subject's own preference"}],
            "adversary": "knows every quasi-identifier value of everyone",
            "not_protected": ["correlation between sensitive attributes of one row"],
            "published_exactly": {
                "attributes": [{"attribute": "ward", "role": "insensitive", "distinct": 9,
                    "unique_share": 0.25}],
                "unique_share": 0.25, "unique_share_with_quasi_identifiers": 0.5},
            "accept_exact": [{"attribute": "ward", "reason": "printed on every door"}],
            "tables": [
                {"name": "microdata", "rows": 30162, "sha256": "ab", "columns": [
                    {"name": "group", "content": "group"},
                    {"name": "age", "content": "generalized", "type": "integer", "masked": true, "missing": true},
                    {"name": "age_bucket", "content": "bucket"}]},
                {"name": "buckets", "rows": 9, "sha256": "cd", "columns": [
                    {"name": "attribute", "content": "attribute"},
                    {"name": "value", "content": "value",
                     "types": {"age": "integer", "sex": "categorical"}},
                    {"name": "count", "content": "count"}]}],
            "input": {"dataset": "people", "version": 3},
            "made_by": {"vizard": "0.1.0"},
        })
    }

    #[test]
    fn a_manifest_reads_back_as_written() {
        let manifest: Manifest = serde_json::from_value(document()).unwrap();
        assert_eq!(manifest.format, Manifest::FORMAT);
        assert_eq!(manifest.guarantees.len(), 5);
        assert_eq!(
            manifest.tables[0].columns[1].kind,
            Some(AttributeType::Integer)
        );
        assert_eq!(serde_json::to_value(&manifest).unwrap(), document());
        let text = serde_json::to_string_pretty(&manifest).unwrap();
        assert_eq!(serde_json::from_str::<Manifest>(&text).unwrap(), manifest);
    }

    #[test]
    fn only_an_unverified_manifest_says_so() {
        let mut manifest: Manifest = serde_json::from_value(document()).unwrap();
        assert!(!manifest.unverified);
        manifest.unverified = true;
        let written = serde_json::to_value(&manifest).unwrap();
        assert_eq!(written["unverified"], json!(true));
        assert_eq!(
            serde_json::from_value::<Manifest>(written).unwrap(),
            manifest
        );
    }

    #[test]
    fn counts_of_people_are_rounded_to_tens() {
        assert_eq!(
            [0, 4, 5, 14, 15, 996].map(rounded_to_tens),
            [0, 0, 10, 10, 20, 1000]
        );
    }
}
