//! Which records belong to which subject.
//!
//! A dataset with `multiplicity: "many"` has any number of records a subject,
//! anywhere in the upload. This index lists them subject by subject, in order
//! of upload, in two flat arrays: one counting pass, one pass to fill.

use super::index::{RecordIndex, SubjectIndex};
use super::table::Table;

/// Records of every subject of a table.
#[derive(Clone, Debug)]
pub struct SubjectRecords {
    /// First position in `records` of each subject, and their number at the end.
    starts: Vec<u32>,
    records: Vec<RecordIndex>,
}

impl SubjectRecords {
    /// Sorts the records of a table by subject. Linear in records.
    pub fn of(table: &Table) -> Self {
        let records = || (0..table.records()).map(RecordIndex::from_usize);
        let mut starts = vec![0_u32; table.subjects() + 1];
        for record in records() {
            starts[table.subject_of(record).at() + 1] += 1;
        }
        for subject in 0..table.subjects() {
            starts[subject + 1] += starts[subject];
        }
        let mut next = starts.clone();
        let mut sorted = vec![RecordIndex(0); table.records()];
        for record in records() {
            let next = &mut next[table.subject_of(record).at()];
            sorted[*next as usize] = record;
            *next += 1;
        }
        Self {
            starts,
            records: sorted,
        }
    }

    /// Number of subjects.
    pub fn subjects(&self) -> usize {
        self.starts.len() - 1
    }

    /// Records of a subject in order of upload; at least one.
    #[inline]
    pub fn of_subject(&self, subject: SubjectIndex) -> &[RecordIndex] {
        let [from, to] = [0, 1].map(|side| self.starts[subject.at() + side] as usize);
        &self.records[from..to]
    }
}
