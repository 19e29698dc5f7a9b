//! What an engine made, before it is encoded and verified.

use serde::{Deserialize, Serialize};

use crate::microdata::SubjectIndex;
use crate::privacy::{Changes, Parts};

use super::lineage::Lineage;
use super::manifest::rounded_to_tens;
use super::table::PublishedTable;

/// What an engine made, before it is encoded and verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Release {
    /// Published tables.
    pub tables: Vec<PublishedTable>,
    /// Published rows and the subjects they came from; private.
    pub lineage: Lineage,
    /// Records left out because their subject asked for it or their terms
    /// cannot be met.
    pub excluded: u64,
    /// Subjects left out because their terms cannot be met (private).
    pub unsatisfiable: Vec<SubjectIndex>,
    /// What it keeps of public releases, where it goes on a series.
    pub kept: Option<Kept>,
    /// The parts that it was made in, where they changed it.
    pub parts: Option<MadeInParts>,
}

/// The parts that a release was made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeInParts {
    /// How large they are.
    pub sizes: Parts,
    /// How many there are.
    pub number: u64,
}

/// What a release keeps of the public releases of its subjects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Subjects who are in no release yet and wait for the next one.
    pub waiting: u64,
    /// Subjects who were public and are left out, so that nobody is told from
    /// those who left or whose values changed, who are among them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub companions: u64,
    /// What became of subjects whose value is not in the set shown before.
    #[serde(default, skip_serializing_if = "Changes::is_hidden")]
    pub changes: Changes,
    /// Whether its groups are those of public releases, joined to larger ones.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub joins_groups: bool,
    /// Each published sensitive attribute, where sets of values are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<KeptAttribute>,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// How an attribute keeps the sets of values that were shown before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptAttribute {
    /// The attribute.
    pub attribute: String,
    /// Published values, counterfeits among them.
    pub values: u64,
    /// Values that belong to no row.
    pub counterfeits: u64,
    /// Rows whose value is another one now than those of the set that was shown
    /// of them, and is shown again.
    pub outdated: u64,
    /// Rows that show another set than before, because their value changed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub renewed: u64,
}

impl Kept {
    /// As a manifest says it: counts of people rounded to tens.
    #[must_use]
    pub fn published(mut self) -> Self {
        self.waiting = rounded_to_tens(self.waiting);
        self.companions = rounded_to_tens(self.companions);
        for attribute in &mut self.attributes {
            attribute.outdated = rounded_to_tens(attribute.outdated);
        }
        self
    }
}

impl Release {
    /// The tables and lineage that an engine made, without the records of
    /// subjects who opted out and of those whose terms cannot be met.
    pub fn new(
        tables: Vec<PublishedTable>,
        lineage: Lineage,
        opted_out: usize,
        unsatisfiable: Vec<SubjectIndex>,
    ) -> Self {
        Self {
            tables,
            lineage,
            excluded: (opted_out + unsatisfiable.len()) as u64,
            unsatisfiable,
            kept: None,
            parts: None,
        }
    }
}
