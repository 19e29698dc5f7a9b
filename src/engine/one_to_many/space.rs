//! The quasi-identifiers as the splits of stage 3 see them.
//!
//! Every attribute is an [`Axis`]: numbers are cut in two, categories with a
//! hierarchy fall into the children of the lowest node above them all,
//! categories without one are cut in two like numbers. Under `hull` a person
//! may cover several codes; a cut sends them where their lowest code goes, so
//! the parts' lowest codes differ and no two groups ever look the same.

use std::sync::Arc;

use crate::engine::kernel::Scale;

use super::persons::{Persons, Quasi};
use super::trees::Trees;

/// One quasi-identifier.
pub(super) enum Axis {
    /// Position of each code in the range, 0 to 1.
    Number(Arc<[f32]>),
    /// A hierarchy.
    Tree(Trees),
    /// Share of the domain that one value is.
    Set(f32),
}

/// All of them, with the persons' codes row by row.
pub(super) struct Space<'a> {
    pub axes: Vec<Axis>,
    quasi: &'a [Quasi<'a>],
    width: usize,
    /// Lowest codes, row by row.
    low: Vec<u32>,
    /// Highest codes, row by row; empty where they are the lowest.
    high: Vec<u32>,
}

/// Lowest and highest codes of a set of persons.
#[derive(Clone, Debug, Default)]
pub(super) struct Extremes {
    pub low: Vec<u32>,
    /// Highest of the persons' lowest codes.
    pub low_top: Vec<u32>,
    pub high: Vec<u32>,
}

impl<'a> Space<'a> {
    /// Lays out the quasi-identifiers of all persons.
    pub fn new(persons: &'a Persons<'a>) -> Self {
        let width = persons.quasi.len();
        let axes = persons.quasi.iter().map(|quasi| match &quasi.scale {
            Scale::Number(positions) => Axis::Number(Arc::clone(positions)),
            Scale::Tree(_) => Axis::Tree(Trees::new(&[(quasi.attribute, quasi.column)], None)),
            Scale::Set(values) => Axis::Set(1.0 / *values as f32),
        });
        let row_by_row = |codes: fn(&'a Quasi<'a>) -> &'a [u32]| {
            let mut rows = vec![0; persons.len() * width];
            for (at, quasi) in persons.quasi.iter().enumerate() {
                for (person, &code) in codes(quasi).iter().enumerate() {
                    rows[person * width + at] = code;
                }
            }
            rows
        };
        let has_hulls = persons.quasi.iter().any(|quasi| quasi.low != quasi.high);
        Self {
            axes: axes.collect(),
            quasi: &persons.quasi,
            width,
            low: row_by_row(|quasi| &quasi.low),
            high: match has_hulls {
                true => row_by_row(|quasi| &quasi.high),
                false => Vec::new(),
            },
        }
    }

    /// A person's lowest code on an axis.
    #[inline]
    pub fn low(&self, person: u32, axis: usize) -> u32 {
        self.low[person as usize * self.width + axis]
    }

    /// A person's highest code on an axis.
    #[inline]
    pub fn high(&self, person: u32, axis: usize) -> u32 {
        match self.high.is_empty() {
            true => self.low(person, axis),
            false => self.high[person as usize * self.width + axis],
        }
    }

    /// Codes that a set of persons covers; the set is not empty.
    pub fn extremes(&self, persons: &[u32], into: &mut Extremes) {
        for (ends, start) in [
            (&mut into.low, u32::MAX),
            (&mut into.low_top, 0),
            (&mut into.high, 0),
        ] {
            ends.clear();
            ends.resize(self.width, start);
        }
        let row = |rows: &'_ [u32], person: u32| -> std::ops::Range<usize> {
            let at = person as usize * self.width;
            debug_assert!(at + self.width <= rows.len());
            at..at + self.width
        };
        for &person in persons {
            let codes = &self.low[row(&self.low, person)];
            for ((&code, low), top) in codes.iter().zip(&mut into.low).zip(&mut into.low_top) {
                *low = code.min(*low);
                *top = code.max(*top);
            }
        }
        if self.high.is_empty() {
            into.high.copy_from_slice(&into.low_top);
            return;
        }
        for &person in persons {
            let codes = &self.high[row(&self.high, person)];
            for (&code, high) in codes.iter().zip(&mut into.high) {
                *high = code.max(*high);
            }
        }
    }

    /// Loss of one row of a group of these persons, summed over axes.
    pub fn loss(&self, persons: &[u32], extremes: &Extremes, seen: &mut Vec<u32>) -> f32 {
        let losses = self.axes.iter().enumerate().map(|(at, axis)| {
            let (low, high) = (extremes.low[at], extremes.high[at]);
            match axis {
                _ if low == high => 0.0,
                Axis::Number(positions) => positions[high as usize] - positions[low as usize],
                Axis::Tree(trees) => trees.node(trees.common_ancestor(low, high)).loss,
                Axis::Set(share) => {
                    self.codes(persons, at, seen);
                    seen.len() as f32 * share
                }
            }
        });
        losses.sum()
    }

    /// Distinct codes of a set of persons on an axis without hierarchy.
    fn codes(&self, persons: &[u32], axis: usize, seen: &mut Vec<u32>) {
        seen.clear();
        seen.extend(persons.iter().map(|&person| self.low(person, axis)));
        let sets = &self.quasi[axis].sets;
        if !sets.is_empty() {
            let more = persons.iter().filter_map(|person| sets.get(person));
            seen.extend(more.flatten());
        }
        seen.sort_unstable();
        seen.dedup();
    }
}
