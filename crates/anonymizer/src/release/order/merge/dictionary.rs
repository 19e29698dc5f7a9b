//! One dictionary of the cells of a column over all parts.
//!
//! Cells get their numbers as they come; their order is known when all are there.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::microdata::Codes;
use crate::release::cell::Cell;
use crate::release::order::compare_cells;

/// A cell by its place in the order of cells.
struct Ordered(Cell);

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_cells(&self.0, &other.0)
    }
}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ordered {}

/// The cells of a column in order, and the number of each: from 0, as they came.
#[derive(Default)]
pub(super) struct Dictionary {
    numbers: BTreeMap<Ordered, u32>,
}

impl Dictionary {
    /// The number of each cell of a part's dictionary that a row shows, 0 for others.
    pub fn numbers(&mut self, codes: &Codes, cells: &[Cell]) -> Vec<u32> {
        let mut is_used = vec![false; cells.len()];
        codes.iter().for_each(|code| is_used[code as usize] = true);
        let cells = cells.iter().zip(is_used);
        let numbers = cells.map(|(cell, is_used)| if is_used { self.number(cell) } else { 0 });
        numbers.collect()
    }

    fn number(&mut self, cell: &Cell) -> u32 {
        let next = self.numbers.len() as u32;
        *self.numbers.entry(Ordered(cell.clone())).or_insert(next)
    }

    /// The largest number.
    pub fn largest(&self) -> u64 {
        (self.numbers.len() as u64).saturating_sub(1)
    }

    /// The cells by their numbers.
    pub fn by_number(&self) -> Vec<&Cell> {
        let mut cells: Vec<(u32, &Cell)> = self
            .numbers
            .iter()
            .map(|(cell, &number)| (number, &cell.0))
            .collect();
        cells.sort_unstable_by_key(|&(number, _)| number);
        cells.into_iter().map(|(_, cell)| cell).collect()
    }

    /// The cells in order, and the rank of each number.
    pub fn into_ranks(self) -> (Vec<Cell>, Vec<u32>) {
        let mut ranks = vec![0; self.numbers.len()];
        let mut cells = Vec::with_capacity(self.numbers.len());
        for (rank, (cell, number)) in (0..).zip(self.numbers) {
            ranks[number as usize] = rank;
            cells.push(cell.0);
        }
        (cells, ranks)
    }
}
