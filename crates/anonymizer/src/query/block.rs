//! Classes of rows judged and counted a block at a time.
//!
//! No branch depends on a class or a row: which satisfy cannot be foreseen.
//! Sums go by lanes, so that one need not wait for the one before.

use crate::microdata::{Codes, of_width};

use super::filter::{BLOCK_ROWS, Decided, keep};

/// The least share of a cell that may satisfy: smaller ones round to it.
pub(super) const WEIGHT_MIN: f64 = 1e-18;

/// Classes that are looked at together.
pub(super) const BLOCK_CLASSES: usize = 1024;
/// Weights whose product with one more is no 0, however small they are.
const CONDITIONS_MAX: usize = 15;
/// Sums that are kept side by side.
pub(super) const LANES: usize = 4;

/// Rows that are certain and possible on every attribute.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RowBounds {
    pub(super) estimate: f64,
    pub(super) certain: u64,
    pub(super) possible: u64,
    pub(super) groups_touched: u64,
}

/// What the conditions on whole classes say of a block of them.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// Product of the shares of each class, which is 0 where one rules it out,
    /// and 1 where all are certain.
    shares: Vec<f64>,
    /// Rows of each class that count.
    sizes: Vec<f64>,
}

impl Block {
    /// Judges `classes` by their codes of one attribute or two, each with the
    /// share of every code. Columns that vary by row in a class say nothing.
    pub(super) fn judge<'c>(
        &mut self,
        classes: std::ops::Range<usize>,
        factors: impl Iterator<Item = (&'c Codes, &'c [f64])>,
    ) {
        self.shares.clear();
        self.shares.resize(classes.len(), 1.0);
        for (position, (codes, weights)) in factors.enumerate() {
            if position > 0 && position % CONDITIONS_MAX == 0 {
                self.keep_from_zero();
            }
            of_width!(codes, codes => {
                for (share, &code) in self.shares.iter_mut().zip(&codes[classes.clone()]) {
                    *share *= weights[code as usize];
                }
            });
        }
    }

    /// The product of the shares of each class.
    pub(super) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Makes room for more factors: no class is ruled out by their number.
    fn keep_from_zero(&mut self) {
        let open = self.shares.iter_mut().filter(|share| **share > 0.0);
        open.for_each(|share| *share = share.max(WEIGHT_MIN));
    }

    /// Counts classes of these sizes, of which no row has a say of its own.
    pub(super) fn sum(&self, sizes: &[f64], tally: &mut RowBounds) {
        add(&self.shares, sizes, tally);
    }

    /// Counts classes whose rows each decide some conditions; `starts` are
    /// where they begin and the last one ends.
    pub(super) fn sum_decided(
        &mut self,
        starts: &[u32],
        decided: &[Decided<'_>],
        tally: &mut RowBounds,
    ) {
        if self.shares.iter().all(|&share| share == 0.0) {
            return;
        }
        self.sizes.clear();
        let (first, last) = (starts[0] as usize, starts[starts.len() - 1] as usize);
        let mut ends = starts[1..].iter().map(|&end| end as usize).peekable();
        let mut alive = [0_u8; BLOCK_ROWS];
        let mut words = [Word::default(); BLOCK_ROWS / WORD];
        let (mut count, mut before) = (0, 0);
        for first in (first..last).step_by(BLOCK_ROWS) {
            let rows = first..last.min(first + BLOCK_ROWS);
            let (marks, behind) = alive.split_at_mut(rows.len());
            marks.fill(1);
            behind.fill(0);
            for (codes, admitted) in decided {
                keep(codes, rows.clone(), admitted, marks);
            }
            for (word, marks) in words.iter_mut().zip(alive.as_chunks().0) {
                let marks = u64::from_le_bytes(*marks);
                *word = Word {
                    before: count,
                    marks,
                };
                count += sum_of_bytes(marks);
            }
            while let Some(end) = ends.next_if(|&end| end < rows.end) {
                let so_far = words[(end - first) / WORD].before_byte((end - first) % WORD);
                self.sizes.push(f64::from(so_far - before));
                before = so_far;
            }
            while ends.next_if(|&end| end == rows.end).is_some() {
                self.sizes.push(f64::from(count - before));
                before = count;
            }
        }
        add(&self.shares, &self.sizes, tally);
    }
}

/// Rows whose marks are one word.
const WORD: usize = 8;

/// Eight rows' marks, and how many rows before them count.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    before: u32,
    marks: u64,
}

impl Word {
    /// How many rows count before one of these.
    #[inline]
    fn before_byte(self, at: usize) -> u32 {
        self.before + sum_of_bytes(self.marks & ((1 << (8 * at)) - 1))
    }
}

/// Sum of eight bytes that are 0 or 1.
#[inline]
fn sum_of_bytes(bytes: u64) -> u32 {
    (bytes.wrapping_mul(0x0101_0101_0101_0101) >> 56) as u32
}

/// Adds classes of these shares and sizes.
fn add(shares: &[f64], sizes: &[f64], tally: &mut RowBounds) {
    let mut estimate = [0.0; LANES];
    let [mut certain, mut possible, mut touched] = [[0.0; LANES]; 3];
    let mut add = |shares: &[f64], sizes: &[f64]| {
        for (lane, (&share, &size)) in shares.iter().zip(sizes).enumerate() {
            estimate[lane] += share * size;
            certain[lane] += given(share == 1.0, size);
            possible[lane] += given(share > 0.0, size);
            touched[lane] += given(share * size > 0.0, 1.0);
        }
    };
    let (shares, last_shares) = shares.as_chunks::<LANES>();
    let (sizes, last_sizes) = sizes.as_chunks::<LANES>();
    for (shares, sizes) in shares.iter().zip(sizes) {
        add(shares, sizes);
    }
    add(last_shares, last_sizes);
    // Whole numbers of rows, far below what a float holds exactly.
    let whole = |lanes: [f64; LANES]| lanes.iter().sum::<f64>() as u64;
    tally.estimate += estimate.iter().sum::<f64>();
    tally.certain += whole(certain);
    tally.possible += whole(possible);
    tally.groups_touched += whole(touched);
}

/// A number if a condition holds, else 0: a mask, never a jump.
#[inline]
fn given(holds: bool, number: f64) -> f64 {
    f64::from_bits(number.to_bits() & u64::from(holds).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::query::filter::Admitted;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn rows_that_decide_are_those_that_satisfy_all(
            sizes in prop::collection::vec((1_u32..12, 0..3_usize), 1..=BLOCK_CLASSES),
            wide in 0..3 * BLOCK_ROWS as u32,
            skipped in 0..5_u32,
            bits: u64,
        ) {
            // One class may be wider than a block of rows; rows before and
            // behind are of other blocks of classes.
            let mut starts = vec![skipped];
            let mut end = skipped;
            for (at, &(size, _)) in sizes.iter().enumerate() {
                end += size + if at == sizes.len() / 2 { wide } else { 0 };
                starts.push(end);
            }
            let code = |row: u32| row.wrapping_mul(2_654_435_761) >> 27;
            let one: Codes = (0..end + 9).map(code).collect();
            let other: Codes = (0..end + 9).map(|row| 300 + code(row + 1)).collect();
            let marks: Vec<bool> = (0..32).map(|code| bits >> code & 1 == 1).collect();
            let later: Vec<bool> = (0..332).map(|code| bits >> (code % 64) & 1 == 0).collect();
            let decided = [(&one, Admitted::of(marks.clone())), (&other, Admitted::of(later.clone()))];
            let satisfies = |row: usize| marks[one.at(row) as usize] && later[other.at(row) as usize];

            let shares: Vec<f64> = sizes.iter().map(|&(_, share)| share as f64 / 2.0).collect();
            let all_rows: Vec<f64> = starts.windows(2).map(|run| f64::from(run[1] - run[0])).collect();
            let mut block = Block { shares: shares.clone(), ..Block::default() };
            for (decided, all) in [(&decided[..], false), (&[], true)] {
                let mut tally = RowBounds::default();
                if all {
                    block.sum(&all_rows, &mut tally);
                } else {
                    block.sum_decided(&starts, decided, &mut tally);
                }
                let mut wanted = RowBounds::default();
                for (run, &share) in starts.windows(2).zip(&shares) {
                    let rows = run[0] as usize..run[1] as usize;
                    let rows = rows.filter(|&row| all || satisfies(row)).count() as u64;
                    wanted.estimate += share * rows as f64;
                    wanted.certain += if share == 1.0 { rows } else { 0 };
                    wanted.possible += if share > 0.0 { rows } else { 0 };
                    wanted.groups_touched += u64::from(share > 0.0 && rows > 0);
                }
                prop_assert_eq!(tally, wanted);
            }
        }
    }

    #[test]
    fn a_class_may_end_where_rows_that_are_looked_at_together_do() {
        let rows = BLOCK_ROWS as u32;
        let starts = [0, rows - 1, rows, 2 * rows, 2 * rows + 3];
        let codes: Codes = (0..2 * rows + 3).map(|row| row % 2).collect();
        let mut block = Block {
            shares: vec![1.0; 4],
            ..Block::default()
        };
        let mut tally = RowBounds::default();
        let odd = Admitted::of(vec![false, true]);
        block.sum_decided(&starts, &[(&codes, odd)], &mut tally);
        let half = f64::from(rows / 2);
        assert_eq!(block.sizes, [half - 1.0, 1.0, half, 1.0]);
        assert_eq!(tally.certain, u64::from(rows) + 1);
    }
}
