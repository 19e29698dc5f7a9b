//! A set of rows that moves its rows when it is split.
//!
//! The codes of a row lie together, in the narrowest cells that hold them and
//! in strips of fixed size, so that several are compared at once; the rows of
//! a set follow one another. A part of a set is again a run of rows: nothing
//! is read from afar, however deep the partition.

use std::ops::{BitAnd, BitOr, Not};

use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::engine::kernel::descend::Part;
use crate::microdata::CodedColumn;

/// Cells of a strip.
const LANES: usize = 8;
/// Rows gathered by one task; large enough to pay for handing it out.
const ROWS_PER_TASK: usize = 8192;

/// An unsigned integer that holds a code.
pub(super) trait PackedCode:
    Copy
    + Default
    + Ord
    + Into<u32>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
    + Send
    + Sync
{
    /// Takes a code that is known to fit.
    fn of(code: u32) -> Self;

    /// All bits set, or none.
    fn mask(is_set: bool) -> Self;
}

impl PackedCode for u16 {
    #[inline]
    fn of(code: u32) -> Self {
        debug_assert!(code <= u32::from(Self::MAX));
        code as Self
    }

    #[inline]
    fn mask(is_set: bool) -> Self {
        Self::from(is_set).wrapping_neg()
    }
}

impl PackedCode for u32 {
    #[inline]
    fn of(code: u32) -> Self {
        code
    }

    #[inline]
    fn mask(is_set: bool) -> Self {
        Self::from(is_set).wrapping_neg()
    }
}

type Strip<N> = [N; LANES];

/// All rows that are partitioned, and their codes.
pub(super) struct CodedRows<N> {
    /// Positions in the records that are partitioned.
    pub rows: Vec<u32>,
    cells: Vec<Strip<N>>,
    /// Strips of a row.
    strips: usize,
}

impl<N: PackedCode> CodedRows<N> {
    /// The codes of `records` in `columns`; rows are numbered in their order.
    pub fn gather(columns: &[&CodedColumn], records: &[u32]) -> Self {
        let strips = columns.len().div_ceil(LANES).max(1);
        let mut cells = vec![Strip::default(); records.len() * strips];
        let tasks = cells.par_chunks_mut(ROWS_PER_TASK * strips);
        tasks
            .zip(records.par_chunks(ROWS_PER_TASK))
            .for_each(|(cells, records)| {
                for (at, column) in columns.iter().enumerate() {
                    let (strip, lane) = (at / LANES, at % LANES);
                    for (row, &record) in cells.chunks_exact_mut(strips).zip(records) {
                        row[strip][lane] = N::of(column.codes.at(record as usize));
                    }
                }
            });
        Self {
            rows: (0..records.len() as u32).collect(),
            cells,
            strips,
        }
    }

    /// All rows as one set.
    pub fn set(&mut self) -> Set<'_, N> {
        Set {
            rows: &mut self.rows,
            cells: &mut self.cells,
            strips: self.strips,
        }
    }
}

/// A cut: rows below `code` go left, and the first `equals` of those at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowCut {
    pub column: usize,
    pub code: u32,
    pub equals: usize,
    /// Rows that go left.
    pub left: usize,
}

/// Lowest and highest code of each column over some rows.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub lowest: Vec<u32>,
    pub highest: Vec<u32>,
}

impl Ends {
    /// Room for as many columns.
    pub fn of(columns: usize) -> Self {
        let codes = vec![0; columns.div_ceil(LANES).max(1) * LANES];
        Self {
            lowest: codes.clone(),
            highest: codes,
        }
    }

    fn put<N: PackedCode>(&mut self, strip: usize, lowest: Strip<N>, highest: Strip<N>) {
        let lanes = strip * LANES..(strip + 1) * LANES;
        for (end, code) in self.lowest[lanes.clone()].iter_mut().zip(lowest) {
            *end = code.into();
        }
        for (end, code) in self.highest[lanes].iter_mut().zip(highest) {
            *end = code.into();
        }
    }
}

/// Rows that are put aside while others move.
#[derive(Default)]
pub(super) struct Aside<N> {
    rows: Vec<u32>,
    cells: Vec<Strip<N>>,
}

impl<N: PackedCode> Aside<N> {
    fn reserve(&mut self, rows: usize, strips: usize) {
        if self.rows.len() < rows {
            self.rows.resize(rows, 0);
        }
        if self.cells.len() < rows * strips {
            self.cells.resize(rows * strips, Strip::default());
        }
    }
}

/// Some rows of a set.
#[derive(Default)]
pub(super) struct Sample<N> {
    rows: Vec<u32>,
    cells: Vec<Strip<N>>,
}

impl<N: PackedCode> Sample<N> {
    /// As many rows of a set, at equal distances, or a few more.
    pub fn of(&mut self, set: &Set<'_, N>, rows: usize) -> Set<'_, N> {
        let step = (set.rows.len() / rows).max(1);
        self.rows.clear();
        self.rows.extend(set.rows.iter().step_by(step));
        self.cells.clear();
        for cells in set.cells.chunks_exact(set.strips).step_by(step) {
            self.cells.extend_from_slice(cells);
        }
        Set {
            rows: &mut self.rows,
            cells: &mut self.cells,
            strips: set.strips,
        }
    }
}

/// A run of rows and their codes.
pub(super) struct Set<'r, N> {
    pub rows: &'r mut [u32],
    cells: &'r mut [Strip<N>],
    strips: usize,
}

impl<N: PackedCode> Part for Set<'_, N> {
    fn size(&self) -> usize {
        self.rows.len()
    }

    fn split_at(self, size: usize) -> (Self, Self) {
        let (left_rows, right_rows) = self.rows.split_at_mut(size);
        let (left_cells, right_cells) = self.cells.split_at_mut(size * self.strips);
        let part = |rows, cells| Self {
            rows,
            cells,
            strips: self.strips,
        };
        (part(left_rows, left_cells), part(right_rows, right_cells))
    }
}

impl<N: PackedCode> Set<'_, N> {
    /// Codes of one column, in order of the rows.
    #[inline]
    pub fn column(&self, column: usize) -> impl ExactSizeIterator<Item = u32> {
        let lane = column % LANES;
        let cells = self.cells[column / LANES..].iter().step_by(self.strips);
        cells.map(move |cells| cells[lane].into())
    }

    /// Codes of one column, and for each row whether it goes left.
    #[inline]
    pub fn parted(&self, cut: RowCut, column: usize) -> impl Iterator<Item = (u32, bool)> {
        let mut goes_left = goes_left(cut);
        let codes = self.column(cut.column).zip(self.column(column));
        codes.map(move |(code, other)| (other, goes_left(code)))
    }

    /// Lowest and highest codes of the set.
    pub fn ends(&self, ends: &mut Ends) {
        for strip in 0..self.strips {
            let (mut lowest, mut highest) = ([N::mask(true); LANES], [N::mask(false); LANES]);
            for cells in self.cells[strip..].iter().step_by(self.strips) {
                for lane in 0..LANES {
                    lowest[lane] = lowest[lane].min(cells[lane]);
                    highest[lane] = highest[lane].max(cells[lane]);
                }
            }
            ends.put(strip, lowest, highest);
        }
    }

    /// Lowest and highest codes of both sides of a cut. A side without a row
    /// has none.
    pub fn ends_of_sides(&self, cut: RowCut, [left, right]: &mut [Ends; 2]) {
        // A row is shown to both sides, to the wrong one as all bits set or
        // none, which change no minimum and no maximum: where it goes cannot
        // be foreseen, so a branch would mostly be guessed wrong.
        for strip in 0..self.strips {
            let nothing = ([N::mask(true); LANES], [N::mask(false); LANES]);
            let (mut of_left, mut of_right) = (nothing, nothing);
            let mut goes_left = goes_left(cut);
            let cells = self.cells[strip..].iter().step_by(self.strips);
            for (cells, code) in cells.zip(self.column(cut.column)) {
                let to_left = N::mask(goes_left(code));
                for (lane, &cell) in cells.iter().enumerate() {
                    of_left.0[lane] = of_left.0[lane].min(cell | !to_left);
                    of_left.1[lane] = of_left.1[lane].max(cell & to_left);
                    of_right.0[lane] = of_right.0[lane].min(cell | to_left);
                    of_right.1[lane] = of_right.1[lane].max(cell & !to_left);
                }
            }
            left.put(strip, of_left.0, of_left.1);
            right.put(strip, of_right.0, of_right.1);
        }
    }

    /// The rows of both sides of a cut, in their order.
    pub fn sides(&self, cut: RowCut, left: &mut Vec<u32>, right: &mut Vec<u32>) {
        // One place more: each row is written to both sides and counted on one.
        left.resize(cut.left + 1, 0);
        right.resize(self.rows.len() - cut.left + 1, 0);
        let (mut lefts, mut rights) = (0, 0);
        let mut goes_left = goes_left(cut);
        for (&row, code) in self.rows.iter().zip(self.column(cut.column)) {
            let goes_left = goes_left(code);
            left[lefts] = row;
            right[rights] = row;
            lefts += usize::from(goes_left);
            rights += usize::from(!goes_left);
        }
        left.truncate(lefts);
        right.truncate(rights);
    }

    /// Moves the rows of the left side before those of the right one; each
    /// side keeps its order.
    pub fn part(&mut self, cut: RowCut, aside: &mut Aside<N>) {
        let (size, strips) = (self.rows.len(), self.strips);
        aside.reserve(size - cut.left + 1, strips);
        let (strip, lane) = (cut.column / LANES, cut.column % LANES);
        let (mut lefts, mut rights) = (0, 0);
        let mut goes_left = goes_left(cut);
        for at in 0..size {
            let row = self.rows[at];
            let goes_left = goes_left(self.cells[at * strips + strip][lane].into());
            for strip in 0..strips {
                let cells = self.cells[at * strips + strip];
                self.cells[lefts * strips + strip] = cells;
                aside.cells[rights * strips + strip] = cells;
            }
            self.rows[lefts] = row;
            aside.rows[rights] = row;
            lefts += usize::from(goes_left);
            rights += usize::from(!goes_left);
        }
        debug_assert_eq!(lefts, cut.left);
        self.rows[lefts..].copy_from_slice(&aside.rows[..rights]);
        self.cells[lefts * strips..].copy_from_slice(&aside.cells[..rights * strips]);
    }

    /// Puts the rows in random order.
    pub fn shuffle(&mut self, random: &mut ChaCha12Rng, aside: &mut Aside<N>) {
        let (size, strips) = (self.rows.len(), self.strips);
        aside.reserve(size, strips);
        aside.rows[..size].copy_from_slice(self.rows);
        aside.cells[..size * strips].copy_from_slice(self.cells);
        let mut order: Vec<u32> = (0..size as u32).collect();
        order.shuffle(random);
        let places = self.cells.chunks_exact_mut(strips).zip(&mut *self.rows);
        for ((cells, row), from) in places.zip(order) {
            let from = from as usize;
            *row = aside.rows[from];
            cells.copy_from_slice(&aside.cells[from * strips..(from + 1) * strips]);
        }
    }
}

/// Whether the row of each code goes left, asked in order of the rows.
fn goes_left(cut: RowCut) -> impl FnMut(u32) -> bool {
    let mut equals = cut.equals;
    move |code| {
        let takes_place = code == cut.code && equals > 0;
        equals -= usize::from(takes_place);
        code < cut.code || takes_place
    }
}
