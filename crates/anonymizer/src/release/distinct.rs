//! Which cells were seen before, over the portions of a release.
//!
//! A portion may bring a dictionary of its own, or that of the whole release:
//! what is counted of distinct cells must not count one twice. Eight bytes a
//! cell are kept, not the cell: of very many cells two may be taken for one,
//! which a budget of work does not notice and a figure would.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::cell::Cell;

/// The distinct cells that were seen.
#[derive(Clone, Debug, Default)]
pub struct DistinctCells {
    seen: FxHashSet<u64>,
}

impl DistinctCells {
    /// Sees a cell; whether it is a new one.
    pub fn add(&mut self, cell: &Cell) -> bool {
        let mut hasher = FxHasher::default();
        hash(cell, &mut hasher);
        self.seen.insert(hasher.finish())
    }

    /// Number of distinct cells.
    pub fn len(&self) -> usize {
        self.seen.len()
    }

    /// Whether no cell was seen.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }
}

fn hash(cell: &Cell, state: &mut impl Hasher) {
    std::mem::discriminant(cell).hash(state);
    match cell {
        Cell::Empty | Cell::Masked => {}
        Cell::Integer(lo, hi) => (lo, hi).hash(state),
        Cell::Decimal(lo, hi) => (lo.to_bits(), hi.to_bits()).hash(state),
        Cell::Date(lo, hi) => (lo, hi).hash(state),
        Cell::Label(label) => label.hash(state),
        Cell::Set(members) => members.hash(state),
        Cell::Items(items) => items.hash(state),
        Cell::OrMissing(interval) => hash(interval, state),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_new_once() {
        let label = |text: &str| Cell::Label(text.into());
        let cells = [
            Cell::Empty,
            Cell::Masked,
            Cell::Integer(1, 2),
            Cell::Integer(2, 1),
            Cell::Date(1, 2),
            Cell::Decimal(1.0, 2.0),
            label("a"),
            label("ab"),
            Cell::Set(vec!["a".into(), "b".into()]),
            Cell::Set(vec!["ab".into()]),
            Cell::OrMissing(Box::new(Cell::Integer(1, 2))),
        ];
        let mut seen = DistinctCells::default();
        assert!(seen.is_empty());
        assert!(cells.iter().all(|cell| seen.add(cell)));
        assert!(!cells.iter().any(|cell| seen.add(cell)));
        assert_eq!(seen.len(), cells.len());
    }
}
