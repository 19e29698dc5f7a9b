//! What people wished for whose rows look alike: whether some flagged an attribute that
//! is masked, and some did not.

use rustc_hash::FxHashMap;

use crate::privacy::{ProtectedIndex, RecordTerms};

use super::meaning::{Meaning, MeaningColumn};

const SHOWN: u8 = 0;
const BUCKETIZED: u8 = 1;
pub(super) const MASKED: u8 = 2;

/// What those flagged whose rows do the same with each protectable attribute: of each
/// masked one whether somebody did not flag it, and whether somebody did.
#[derive(Debug, Default)]
pub(super) struct Wishes(FxHashMap<Vec<u8>, Vec<[bool; 2]>>);

impl Wishes {
    /// Those of all rows, of which these columns show the protectable attributes.
    pub(super) fn of<'t>(
        columns: &[(ProtectedIndex, &MeaningColumn)],
        rows: usize,
        terms: impl Fn(usize) -> Option<&'t RecordTerms>,
    ) -> Self {
        let statuses = columns.iter().map(|(_, cells)| {
            let statuses = cells.meanings.iter().map(status);
            statuses.collect::<Vec<u8>>()
        });
        let statuses: Vec<Vec<u8>> = statuses.collect();
        let mut wishes = FxHashMap::<Vec<u8>, Vec<[bool; 2]>>::default();
        if !statuses.iter().flatten().any(|&status| status == MASKED) {
            return Self::default();
        }
        let mut pattern = vec![SHOWN; columns.len()];
        for row in 0..rows {
            for ((status, (_, cells)), of_code) in pattern.iter_mut().zip(columns).zip(&statuses) {
                *status = of_code[cells.codes.at(row) as usize];
            }
            let Some(terms) = terms(row).filter(|_| pattern.contains(&MASKED)) else {
                continue;
            };
            if !wishes.contains_key(&pattern) {
                wishes.insert(pattern.clone(), vec![[false; 2]; columns.len()]);
            }
            if let Some(known) = wishes.get_mut(&pattern) {
                for (known, (index, _)) in known.iter_mut().zip(columns) {
                    known[usize::from(terms.flags.contains(*index))] = true;
                }
            }
        }
        Self(wishes)
    }

    /// Whether some flagged an attribute, by its position, and some did not.
    pub(super) fn differ(&self, pattern: &[u8], at: usize) -> bool {
        let known = self.0.get(pattern);
        known.is_some_and(|known| known[at] == [true, true])
    }
}

/// What a cell does with its value.
pub(super) fn status(meaning: &Meaning) -> u8 {
    match meaning {
        Meaning::Empty => BUCKETIZED,
        Meaning::Masked => MASKED,
        _ => SHOWN,
    }
}
