//! What an engine made, before it is encoded and verified.

use crate::microdata::SubjectIndex;

use super::lineage::Lineage;
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
        }
    }
}
