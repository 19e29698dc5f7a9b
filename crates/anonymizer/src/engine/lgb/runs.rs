//! Flagged cells of one attribute in domain order: runs of equal values.
//!
//! Buckets are made on runs, not on records. Cells of one value stand in
//! random order, so that taking the next one is taking a random one. A bucket
//! is named by the position of its first cell until all are numbered.

use std::ops::Range;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use crate::engine::kernel::is_eligible;
use crate::privacy::ProtectedIndex;

use super::frame::Frame;

/// Flagged cells of one attribute.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// Records by code; those with one code in random order.
    pub records: Vec<u32>,
    /// Code of each run, ascending.
    pub codes: Vec<u32>,
    /// First cell of each run, and the number of cells at the end.
    pub starts: Vec<u32>,
    /// Strictest l of each run.
    pub ls: Vec<u32>,
    /// Decides among runs that are equally long.
    pub ranks: Vec<u32>,
}

impl Runs {
    /// Sorts the flagged `records` of an attribute by counting.
    pub fn new(
        frame: &Frame<'_>,
        index: ProtectedIndex,
        mut records: Vec<u32>,
        random: &mut ChaCha12Rng,
    ) -> Self {
        let column = frame.protected_column(index);
        records.shuffle(random);
        let mut next = vec![0_u32; column.domain.len() + 1];
        for &record in &records {
            next[column.codes.at(record as usize) as usize + 1] += 1;
        }
        let mut runs = Self::default();
        let mut start = 0;
        for (code, count) in next[1..].iter().enumerate() {
            if *count > 0 {
                runs.codes.push(code as u32);
                runs.starts.push(start);
                runs.ranks.push(random.random());
            }
            start += count;
        }
        runs.starts.push(start);
        for code in 1..next.len() {
            next[code] += next[code - 1];
        }
        runs.records = vec![0; records.len()];
        for record in records {
            let at = &mut next[column.codes.at(record as usize) as usize];
            runs.records[*at as usize] = record;
            *at += 1;
        }
        let l = |record: &u32| frame.terms(*record).l[index.at()];
        runs.ls = (0..runs.codes.len())
            .map(|run| runs.records[runs.cells(run..run + 1)].iter().map(l).max())
            .map(|l| l.unwrap_or(1))
            .collect();
        runs
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.codes.len()
    }

    /// Positions of the cells of some runs.
    pub fn cells(&self, runs: Range<usize>) -> Range<usize> {
        self.starts[runs.start] as usize..self.starts[runs.end] as usize
    }

    /// What each run has of `all`, one item a cell.
    pub fn parts<'c, T>(&self, mut all: &'c mut [T]) -> impl Iterator<Item = &'c mut [T]> {
        (0..self.len()).map(move |run| {
            let (own, rest) = std::mem::take(&mut all).split_at_mut(self.count(run) as usize);
            all = rest;
            own
        })
    }

    /// Number of cells of one run.
    #[inline]
    pub fn count(&self, run: usize) -> u32 {
        self.starts[run + 1] - self.starts[run]
    }

    /// Length of the longest of some runs; 0 for none.
    pub fn most(&self, runs: Range<usize>) -> u32 {
        runs.map(|run| self.count(run)).max().unwrap_or(0)
    }

    /// L of some runs: the strictest l of their members.
    pub fn l(&self, runs: Range<usize>) -> u32 {
        self.ls[runs].iter().copied().max().unwrap_or(1)
    }

    /// Whether buckets of L distinct values can be made of some runs.
    pub fn is_eligible(&self, runs: Range<usize>) -> bool {
        let size = self.cells(runs.clone()).len() as u64;
        is_eligible(
            u64::from(self.most(runs.clone())),
            size,
            self.l(runs.clone()),
        )
    }

    /// Cuts some runs at the lower median of their cells: the first run of
    /// the upper half. `None` for a single run.
    pub fn cut(&self, runs: Range<usize>) -> Option<usize> {
        if runs.len() < 2 {
            return None;
        }
        let cells = self.cells(runs.clone());
        let median = (cells.start + (cells.len() - 1) / 2) as u32;
        let starts = &self.starts[runs.clone()];
        let median_run = runs.start + starts.partition_point(|&start| start <= median) - 1;
        // A median in the last run would leave the upper half empty.
        Some((median_run + 1).min(runs.end - 1))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Runs of the codes from 0 on with so many cells each, and an l of 2.
    pub fn runs(counts: &[u32]) -> Runs {
        let mut starts = vec![0];
        for count in counts {
            starts.push(starts[starts.len() - 1] + count);
        }
        Runs {
            records: (0..starts[counts.len()]).collect(),
            codes: (0..counts.len() as u32).collect(),
            ls: vec![2; counts.len()],
            ranks: vec![0; counts.len()],
            starts,
        }
    }

    #[test]
    fn the_run_of_the_lower_median_goes_left() {
        assert_eq!(runs(&[1, 1, 1, 1]).cut(0..4), Some(2));
        assert_eq!(runs(&[1, 1, 1]).cut(0..3), Some(2));
        assert_eq!(runs(&[5, 1, 1]).cut(0..3), Some(1));
    }

    #[test]
    fn both_halves_of_a_cut_have_runs() {
        assert_eq!(runs(&[1, 1, 9]).cut(0..3), Some(2));
        assert_eq!(runs(&[1, 9]).cut(0..2), Some(1));
        assert_eq!(runs(&[9]).cut(0..1), None);
    }

    #[test]
    fn eligibility_counts_the_longest_run_of_the_part() {
        let runs = runs(&[1, 1, 3, 1]);
        assert!(runs.is_eligible(0..4));
        assert!(runs.is_eligible(0..2));
        assert!(!runs.is_eligible(2..4));
        assert!(!runs.is_eligible(1..4));
    }
}
