//! What an inspection is given and what it says.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::measured::{AttributeRisk, SmallSet};
use crate::microdata::{
    AttributeType, FileFormat, HierarchyRule, ReadLimits, Role, Schema, Table, TableError,
};

/// How much of a file is looked at.
#[derive(Clone, Copy, Debug)]
pub struct InspectLimits {
    /// What an upload of the file may bring.
    pub read: ReadLimits,
    /// Columns of a file.
    pub columns_max: usize,
    /// Distinct values of a column that are counted apart; beyond, the number
    /// of distinct values is an estimate.
    pub distinct_values_max: usize,
    /// The same of all columns together.
    pub values_max: usize,
    /// Values of all columns together of which it is known whether one came
    /// twice.
    pub unique_max: usize,
    /// Cells that are held for what sets of columns tell apart; beyond, every
    /// second record is let go, again and again.
    pub cells_max: usize,
}

impl Default for InspectLimits {
    fn default() -> Self {
        Self {
            read: ReadLimits::default(),
            columns_max: 4096,
            distinct_values_max: 50_000,
            values_max: 4 << 20,
            unique_max: 8 << 20,
            cells_max: 8 << 20,
        }
    }
}

/// What a file is, and what its schema may be.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// Records behind the header.
    pub records: u64,
    /// Whether the file goes on behind what was read.
    pub is_cut: bool,
    /// How the file is written.
    pub format: FileFormat,
    /// What shows how the file is written, and what can be read in two ways.
    pub evidence: Vec<String>,
    /// What a person must decide or mend.
    pub questions: Vec<String>,
    /// The columns in the order of the file.
    pub attributes: Vec<AttributeProposal>,
    /// Small sets of quasi-identifiers that tell records apart.
    pub sets: Vec<SmallSet>,
    /// Records that shares of `attributes` were measured on.
    pub records_measured: u64,
    /// Records that `sets` were measured on: of fewer, more stand alone.
    pub records_of_sets: u64,
    /// The proposed schema, by numbers of rows where no column can name the person.
    /// `None` where such a one is of no use.
    pub schema: Option<Schema>,
    /// Hierarchies that the schema names, each as its rule.
    pub hierarchies: BTreeMap<String, HierarchyRule>,
    /// How many records have the most frequent known value, and how many have
    /// none, by proposed sensitive attribute: with `records` they bound l.
    pub sensitive: Vec<SensitiveCount>,
    /// Sets of sensitive values of people with many records, as an upload reads
    /// them: they bound l. No quasi-identifiers, and at most 50,000 people.
    #[serde(skip)]
    pub sets_of_values: Option<Arc<Table>>,
}

/// One column, and what it may be.
#[derive(Clone, Debug, Serialize)]
pub struct AttributeProposal {
    /// Its name in the header.
    pub name: String,
    /// The proposed role and type, as in the schema.
    pub role: Role,
    /// The proposed type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<AttributeType>,
    /// Why, a sentence each.
    pub reasons: Vec<String>,
    /// Distinct values, missing ones aside.
    pub distinct: u64,
    /// Whether `distinct` is an estimate.
    pub is_estimate: bool,
    /// Cells without a value.
    pub missing: u64,
    /// What it tells apart; of attributes that an adversary may know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<AttributeRisk>,
    /// Hierarchies by rule that fit it, as `PUT /v1/hierarchies/{name}` takes
    /// them; the first is in the schema where the attribute names one.
    pub hierarchies: Vec<RuleProposal>,
}

/// A hierarchy by rule for a column.
#[derive(Clone, Debug, Serialize)]
pub struct RuleProposal {
    /// The rule.
    pub rule: HierarchyRule,
    /// What it does, in words.
    pub words: String,
    /// The labels from one leaf to the root, as an example.
    pub example: Vec<String>,
}

/// How the values of a sensitive attribute are spread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SensitiveCount {
    /// Name of the attribute.
    pub attribute: String,
    /// Records with the most frequent known value.
    pub most_frequent: u64,
    /// Records without a value.
    pub missing: u64,
    /// Distinct known values.
    pub distinct: u64,
}

/// Why a file cannot be inspected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InspectError {
    /// It is no text with a header and records.
    #[error("{0}")]
    NoTable(String),
    /// It could not be read.
    #[error(transparent)]
    Table(#[from] TableError),
}
