//! Which subject a published row came from. Private: kept for verification,
//! erasure and re-publication, readable through no endpoint.

use crate::microdata::SubjectIndex;

/// Lineage of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableLineage {
    /// Name of the table.
    pub table: String,
    /// Subject of each row, in order of rows.
    pub subjects: Vec<SubjectIndex>,
}

/// Lineage of a release; tables without one subject a row (bucket tables) are
/// not in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// One entry per table.
    pub tables: Vec<TableLineage>,
}

impl Lineage {
    /// Subjects of the rows of a table.
    pub fn of(&self, table: &str) -> Option<&[SubjectIndex]> {
        self.tables
            .iter()
            .find(|entry| entry.table == table)
            .map(|entry| entry.subjects.as_slice())
    }
}
