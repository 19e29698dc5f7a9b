//! The original fingerprints of one sensitive attribute: the set of distinct
//! values over all records of a subject, row by row of the release.

use crate::microdata::{CodedColumn, SubjectIndex, SubjectRecords};

/// Distinct codes of each row's subject, ascending, in two flat arrays.
#[derive(Clone, Debug)]
pub struct Originals {
    starts: Vec<u32>,
    codes: Vec<u32>,
}

impl Originals {
    /// Gathers the values of the subjects of all rows. Linear in records, but
    /// for sorting those of each subject.
    pub fn of(column: &CodedColumn, records: &SubjectRecords, subjects: &[SubjectIndex]) -> Self {
        let mut all = Self {
            starts: Vec::with_capacity(subjects.len() + 1),
            codes: Vec::new(),
        };
        all.starts.push(0);
        let mut own: Vec<u32> = Vec::new();
        for &subject in subjects {
            let records = records.of_subject(subject).iter();
            own.clear();
            own.extend(records.map(|&record| column.code(record).0));
            own.sort_unstable();
            own.dedup();
            all.codes.extend_from_slice(&own);
            all.starts.push(all.codes.len() as u32);
        }
        all
    }

    /// Distinct codes of a row's subject, ascending; at least one.
    #[inline]
    pub fn of_row(&self, row: usize) -> &[u32] {
        &self.codes[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// Number of distinct values, summed over rows.
    pub fn total(&self) -> u64 {
        self.codes.len() as u64
    }
}
