//! By which K records are grouped: their own, or that of the one whose
//! companion they are (*ours*, kernel `companions`).
//!
//! A group is as large as the strictest of its members asks, which shows.
//! Companions are grouped by the same K, and by nothing else of what the one
//! they accompany asks: their values are recoded by their own bound, since not
//! every value can keep another one.

use crate::engine::kernel::{Included, companions};
use crate::privacy::{Seed, Share};

use super::asked::Asked;

/// K of every record of the table.
#[derive(Default)]
pub(super) struct Sizes {
    of_record: Vec<u32>,
}

impl Sizes {
    /// K of those included, with companions by the dataset's secret.
    pub fn of(
        included: &Included<'_>,
        asked: &Asked<'_>,
        (askers_share_max, secret): (Share, &Seed),
    ) -> Self {
        let mut of_record = vec![1; included.table.records()];
        for &record in &included.records {
            of_record[record as usize] = asked.of(record).k;
        }
        for (record, of) in companions(included, askers_share_max, secret) {
            let k = &mut of_record[record.at()];
            *k = asked.of_terms(of).k.max(*k);
        }
        Self { of_record }
    }

    /// K of one record.
    #[inline]
    pub fn k(&self, record: u32) -> u32 {
        self.of_record[record as usize]
    }

    /// K of a set of records: the strictest of them; 1 for none.
    pub fn k_of(&self, records: &[u32]) -> usize {
        let ks = records.iter().map(|&record| self.k(record));
        ks.max().unwrap_or(1) as usize
    }
}
