//! Rows whose codes satisfy conditions, found a block of rows at a time.
//!
//! Codes are kept in the narrowest integer, and no branch depends on one: what
//! a condition admits is a few runs of codes, each of which is one comparison
//! that compilers turn into vector instructions. Sets in many pieces are
//! looked up.

use std::ops::Range;

use crate::microdata::{Codes, of_width};

/// Rows that are looked at together: their codes and marks fit a fast cache.
pub(super) const BLOCK_ROWS: usize = 4096;

/// More runs than this are slower to compare than to look up.
const RUNS_MAX: usize = 6;

/// Which codes of an attribute satisfy.
#[derive(Debug)]
pub(super) struct Admitted {
    /// Whether each code does.
    pub(super) marks: Vec<bool>,
    /// First code of each run that does, and how many follow it.
    runs: Vec<(u32, u32)>,
}

/// A condition that each row decides: the rows' codes, and which satisfy.
pub(super) type Decided<'a> = (&'a Codes, Admitted);

impl Admitted {
    /// One mark for each code.
    pub(super) fn of(marks: Vec<bool>) -> Self {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for code in (0..marks.len()).filter(|&code| marks[code]) {
            match runs.last_mut() {
                Some((first, more)) if (*first + *more + 1) as usize == code => *more += 1,
                _ => runs.push((code as u32, 0)),
            }
        }
        Self { marks, runs }
    }
}

/// Clears the mark of each of these rows, at most [`BLOCK_ROWS`], whose code is
/// not admitted. A mark is 0 or 1.
pub(super) fn keep(codes: &Codes, rows: Range<usize>, admitted: &Admitted, alive: &mut [u8]) {
    of_width!(codes, codes => keep_in(&codes[rows], admitted, alive));
}

/// An integer of some width. Codes and runs are below its limit.
trait Width: Copy + PartialOrd {
    fn of(code: u32) -> Self;
    fn at(self) -> usize;
    fn minus(self, other: Self) -> Self;
}

macro_rules! width {
    ($($of:ty),+) => {$(
        impl Width for $of {
            fn of(code: u32) -> Self {
                code as Self
            }
            fn at(self) -> usize {
                self as usize
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )+};
}
width!(u8, u16, u32);

fn keep_in<T: Width>(codes: &[T], admitted: &Admitted, alive: &mut [u8]) {
    let rows = alive.iter_mut().zip(codes);
    match admitted.runs.as_slice() {
        &[(first, more)] => {
            let (first, more) = (T::of(first), T::of(more));
            for (alive, code) in rows {
                *alive &= u8::from(code.minus(first) <= more);
            }
        }
        runs if runs.len() <= RUNS_MAX => {
            let mut hits = [0_u8; BLOCK_ROWS];
            for &(first, more) in runs {
                let (first, more) = (T::of(first), T::of(more));
                for (hit, code) in hits.iter_mut().zip(codes) {
                    *hit |= u8::from(code.minus(first) <= more);
                }
            }
            for ((alive, _), hit) in rows.zip(hits) {
                *alive &= hit;
            }
        }
        _ => {
            for (alive, code) in rows {
                *alive &= u8::from(admitted.marks[code.at()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every third, every second, one run, none and all of `codes_count` codes.
    fn sets(codes_count: usize) -> [Vec<bool>; 5] {
        let marks = |test: &dyn Fn(usize) -> bool| (0..codes_count).map(test).collect();
        [
            marks(&|code| code % 3 == 1),
            marks(&|code| code % 2 == 0),
            marks(&|code| (codes_count / 3..codes_count / 2 + 1).contains(&code)),
            marks(&|_| false),
            marks(&|_| true),
        ]
    }

    #[test]
    fn rows_stay_whose_codes_are_admitted_in_any_width_and_number_of_runs() {
        for codes_count in [1, 2, 7, 255, 256, 257, 65_536, 65_537] {
            let last = codes_count as u32 - 1;
            let codes = (0..3_000_u32).map(|row| row.wrapping_mul(2_654_435_761) % (last + 1));
            let all: Vec<u32> = codes.chain([0, last]).collect();
            let narrow = Codes::below(codes_count, all.iter().copied());
            assert_eq!(narrow.at(3_001), last);
            for marks in sets(codes_count) {
                let wanted: Vec<u8> = all
                    .iter()
                    .map(|&code| u8::from(marks[code as usize]))
                    .collect();
                let mut alive = vec![1; all.len()];
                keep(&narrow, 0..all.len(), &Admitted::of(marks), &mut alive);
                assert_eq!(alive, wanted, "{codes_count} codes");
            }
        }
    }
}
