//! Answering for many cells at once.
//!
//! Asked cell by cell, a query looks at every class once a cell. But a class
//! has a say in few cells: those whose values its published cells may hide.
//! So classes are gone through once, and each one's share is given to the cells
//! that it overlaps: for every state of a grouped attribute stands which of the
//! values it may be (`shown`), and what a class or a row says of a cell is the
//! product of what its states say (`asked`).
//!
//! The answer is that of asking cell by cell, to the last bit: each cell's sums
//! have the same terms in the same order, and the terms that are left out are 0.
//! Counts go by class, in lanes of blocks where no row has an open say
//! (`count`); bounds of bucketized attributes go by pool (`pools`), sums and
//! averages by what rows say of the measure (`sum`), so that only one pool or
//! one cell is added up at a time. What is laid out in no such way is asked cell
//! by cell as before: sliced releases, and attributes with cells that no engine
//! writes.

mod asked;
mod count;
mod pools;
mod shown;
mod sum;
#[cfg(test)]
mod tests;

use crate::privacy::CancelFlag;
use crate::release::Cell;

use super::count::Count;
use super::index::{Conditions, QueryIndex};
use super::sum::Total;
use asked::Asked;

/// Figures of all cells of a query, the last attribute's values next to each
/// other.
pub(super) struct Grouped<'i> {
    asked: Asked<'i>,
    /// The number of records of each cell.
    pub(super) counts: Vec<Count>,
}

impl<'i> Grouped<'i> {
    /// Counts every cell; `None` where that has to be done cell by cell.
    pub(super) fn count(
        index: &'i QueryIndex<'_>,
        conditions: &Conditions,
        grouped: &[(usize, Vec<Cell>)],
        cancel: &CancelFlag,
    ) -> Option<Self> {
        let asked = Asked::new(index, conditions, grouped)?;
        let (mut counts, bounds) = rayon::join(
            || count::tallies(&asked, cancel),
            || pools::bounds(&asked, cancel),
        );
        for bounds in bounds {
            for (tally, bounds) in counts.iter_mut().zip(bounds) {
                tally.narrow(&bounds);
            }
        }
        Some(Self {
            counts: counts.iter().map(count::Tally::count).collect(),
            asked,
        })
    }

    /// Sums attribute number `measure` over the records of every cell.
    pub(super) fn total(&self, measure: usize, cancel: &CancelFlag) -> Vec<Total> {
        sum::totals(&self.asked, measure, cancel)
    }
}
