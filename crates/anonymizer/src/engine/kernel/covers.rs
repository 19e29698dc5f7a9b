//! Distinct generalized cells of one column, each worked out once.
//!
//! Publishing writes a cell per group into a dictionary; groups with the same
//! extremes, ancestor or set share one entry.

use rustc_hash::FxHashMap;

use crate::microdata::{Code, CodedColumn, Domain, Values, of_width};
use crate::release::{Cell, cell_text};

use super::cells::{interval_cell, number_cell, set_cell};

/// Distinct generalized cells of one column.
pub struct Covers<'a> {
    domain: &'a Domain,
    /// The distinct cells.
    pub cells: Vec<Cell>,
    by_interval: FxHashMap<(u32, u32), u32>,
    /// Those of numbers of which some may be missing.
    by_known: FxHashMap<(Option<(u32, u32)>, bool), u32>,
    by_set: FxHashMap<Vec<u32>, u32>,
    plain: Vec<(Cell, u32)>,
    /// Those that public releases show, by their texts.
    by_text: FxHashMap<String, u32>,
}

impl<'a> Covers<'a> {
    /// No cells yet.
    pub fn new(domain: &'a Domain) -> Self {
        Self {
            domain,
            cells: Vec::new(),
            by_interval: FxHashMap::default(),
            by_known: FxHashMap::default(),
            by_set: FxHashMap::default(),
            plain: Vec::new(),
            by_text: FxHashMap::default(),
        }
    }

    /// Position of a cell that a public release shows.
    pub fn shown(&mut self, cell: &Cell) -> u32 {
        if *cell == Cell::Masked {
            return self.plain(Cell::Masked);
        }
        let cells = &mut self.cells;
        *self.by_text.entry(cell_text(cell)).or_insert_with(|| {
            cells.push(cell.clone());
            cells.len() as u32 - 1
        })
    }

    /// Position of a cell that says nothing about the value.
    pub fn plain(&mut self, cell: Cell) -> u32 {
        if let Some((_, position)) = self.plain.iter().find(|(known, _)| *known == cell) {
            return *position;
        }
        let position = self.cells.len() as u32;
        self.plain.push((cell.clone(), position));
        self.cells.push(cell);
        position
    }

    /// Position of the cell that covers the values of `records`.
    pub fn cover(&mut self, column: &CodedColumn, records: &[u32]) -> u32 {
        if let (Values::Category(values), None) = (self.domain.values(), self.domain.hierarchy()) {
            let codes = records.iter();
            let codes = codes.map(|&record| column.codes.at(record as usize));
            let mut occurring: Vec<u32> = codes.collect();
            occurring.sort_unstable();
            occurring.dedup();
            if let Some(&position) = self.by_set.get(&occurring) {
                return position;
            }
            let position = self.cells.len() as u32;
            self.cells.push(set_cell(values, &occurring));
            self.by_set.insert(occurring, position);
            return position;
        }
        if let Some(Code(missing)) = self.domain.missing_number() {
            return self.cover_known(column, records, missing);
        }
        let (lowest, highest) = of_width!(&column.codes, codes => ends(codes, records));
        let key = match self.domain.hierarchy() {
            // Several pairs of extremes have one lowest common ancestor.
            Some(hierarchy) if !self.domain.is_numeric() => {
                let node = hierarchy.common_ancestor(Code(lowest), Code(highest));
                (node.0, node.0)
            }
            _ => (lowest, highest),
        };
        if let Some(&position) = self.by_interval.get(&key) {
            return position;
        }
        let cell = interval_cell(self.domain, lowest, highest);
        let position = match cell {
            Cell::Masked => self.plain(Cell::Masked),
            cell => {
                self.cells.push(cell);
                self.cells.len() as u32 - 1
            }
        };
        self.by_interval.insert(key, position);
        position
    }

    /// The same for numbers, which `missing` is none of.
    fn cover_known(&mut self, column: &CodedColumn, records: &[u32], missing: u32) -> u32 {
        let codes = records.iter();
        let codes = codes.map(|&record| column.codes.at(record as usize));
        let (known, is_missing) = known_ends(codes, missing);
        let cells = &mut self.cells;
        *self.by_known.entry((known, is_missing)).or_insert_with(|| {
            cells.push(number_cell(self.domain, known, is_missing));
            cells.len() as u32 - 1
        })
    }
}

/// Lowest and highest code of those that are not `missing`, and whether any is.
pub fn known_ends(codes: impl Iterator<Item = u32>, missing: u32) -> (Option<(u32, u32)>, bool) {
    let start: (Option<(u32, u32)>, bool) = (None, false);
    codes.fold(start, |(known, is_missing), code| match known {
        _ if code == missing => (known, true),
        None => (Some((code, code)), is_missing),
        Some((low, high)) => (Some((low.min(code), high.max(code))), is_missing),
    })
}

/// Lowest and highest code of `records`.
fn ends<N: Copy + Into<u32>>(codes: &[N], records: &[u32]) -> (u32, u32) {
    let codes = records.iter().map(|&record| codes[record as usize].into());
    codes.fold((u32::MAX, 0), |(low, high), code| {
        (code.min(low), code.max(high))
    })
}
