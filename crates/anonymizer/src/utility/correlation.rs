//! Correlation kept: φ² between each pair of attributes, before and after.
//!
//! φ²(a, b) = Σ (p_ij − p_i p_j)² / (p_i p_j) / (min(r, c) − 1), the
//! mean-square contingency coefficient, 0 for independent to 1 for one
//! determining the other, over at most 16 intervals of equal frequency an
//! attribute. After publishing, a row adds to cell (i, j) the product of the
//! shares of its two cells (or buckets) that lie in i and j: the table that an
//! analyst expects who knows the release alone and takes values inside a cell
//! as equally likely. Rows that look the same are added together.
//!
//! A release of d attributes has d (d − 1) / 2 pairs. Work has a budget,
//! counted in cells that are added and not in seconds, so that the same release
//! always has the same report: pairs with a sensitive attribute come first,
//! then neighbours in order of columns before those further apart, and what is
//! past the budget is left out and counted.

use rayon::prelude::*;
use serde::Serialize;

use crate::release::Signatures;

use super::report::{Audience, Description};
use super::spread::{BINS_MAX, Spread};
use super::whole::Whole;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Correlation kept",
    audience: Audience::Steward,
    definition: "φ² between each pair of attributes over at most 16 equal-frequency intervals, in the original and in the expected contingency table of the release (uniform inside a cell, a bucket's shares inside a bucket). Of wide tables only as many pairs as the budget of work allows, those with a sensitive attribute first; the others are counted as left out.",
    source: "Cramér 1946 (mean-square contingency), as in Li et al. 2012, Slicing; the expected table is ours",
};

/// Parts of the rows that are added up by themselves; their number does not
/// depend on that of threads, nor does the sum.
const PARTS: usize = 64;
/// Rows that look the same and are added at once.
const ROWS_MAX: usize = 4096;

/// Pairs that are measured at most.
pub const PAIRS_MAX: usize = 512;
/// Cells that are added for all pairs together, about.
const WORK_MAX: u64 = 1_000_000_000;

/// φ² of pairs of attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// Rows read.
    pub rows: u64,
    /// Mean over pairs of |after − before|.
    pub mean_change: f64,
    /// The pairs, in order of columns.
    pub pairs: Vec<PairCorrelation>,
    /// Pairs that are left out: they are past the budget of work.
    #[serde(skip_serializing_if = "is_none")]
    pub pairs_left_out: usize,
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// The pairs of attributes that a budget allows, in order of columns, and how
/// many it does not. `is_sensitive` is said of each attribute, `work` of each
/// pair.
pub(super) fn pairs_within(
    is_sensitive: &[bool],
    work: impl Fn(usize, usize) -> u64,
) -> (Vec<(usize, usize)>, usize) {
    let attributes = is_sensitive.len();
    let mut pairs: Vec<(usize, usize)> = (0..attributes)
        .flat_map(|left| (left + 1..attributes).map(move |right| (left, right)))
        .collect();
    let all = pairs.len();
    pairs.sort_by_key(|&(left, right)| {
        let is_sensitive = is_sensitive[left] || is_sensitive[right];
        (!is_sensitive, right - left, left)
    });
    let mut spent = 0;
    let within = pairs.iter().take(PAIRS_MAX).take_while(|&&(left, right)| {
        spent += work(left, right);
        spent <= WORK_MAX
    });
    // One pair is never too much.
    let kept = within.count().max(1).min(all);
    pairs.truncate(kept);
    pairs.sort_unstable();
    (pairs, all - kept)
}

/// φ² of one pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PairCorrelation {
    /// The two attributes.
    pub attributes: [String; 2],
    /// In the original.
    pub before: f64,
    /// In the expected table of the release.
    pub after: f64,
}

/// Measures the pairs within the budget of a release that is measured at once.
pub(super) fn measure(
    signatures: &Signatures,
    spreads: &[Spread<'_>],
    whole: &Whole,
) -> Correlation {
    let mut sums = CorrelationSums::of(whole);
    sums.add(signatures, spreads);
    sums.finish()
}

/// How often rows that look the same are added at once.
pub(super) fn runs(signatures: &Signatures) -> u64 {
    let sizes = signatures.sizes().iter();
    let runs = sizes.map(|&size| u64::from(size).div_ceil(ROWS_MAX as u64));
    runs.sum()
}

/// Contingency tables, added up portion by portion.
#[derive(Debug)]
pub(super) struct CorrelationSums {
    rows: u64,
    names: Vec<String>,
    pairs: Vec<(usize, usize)>,
    pairs_left_out: usize,
    before: Vec<Contingency>,
    after: Vec<Contingency>,
}

impl CorrelationSums {
    /// Empty tables of the pairs that the budget allows for the whole release.
    pub(super) fn of(whole: &Whole) -> Self {
        let attributes = whole.attributes();
        let is_sensitive: Vec<bool> = attributes.iter().map(|one| one.is_sensitive).collect();
        let (pairs, pairs_left_out) = pairs_within(&is_sensitive, |left, right| {
            let (left, right) = (&attributes[left], &attributes[right]);
            let added = if left.is_by_row && right.is_by_row {
                whole.rows()
            } else {
                whole.runs()
            };
            let shares = left.mean_shares() * right.mean_shares();
            whole.rows() + (added as f64 * shares) as u64
        });
        let none = vec![[0.0; BINS_MAX * BINS_MAX]; pairs.len()];
        Self {
            rows: 0,
            names: attributes.iter().map(|one| one.name.clone()).collect(),
            pairs,
            pairs_left_out,
            before: none.clone(),
            after: none,
        }
    }

    /// Adds a portion; `signatures` are of the rows of the spreads.
    pub(super) fn add(&mut self, signatures: &Signatures, spreads: &[Spread<'_>]) {
        let (starts, rows) = signatures.rows_by_class();
        let classes = starts
            .windows(2)
            .map(|class| &rows[class[0] as usize..class[1] as usize]);
        let alike: Vec<&[u32]> = classes.flat_map(|rows| rows.chunks(ROWS_MAX)).collect();
        let (before, after) = rayon::join(
            || {
                let pairs = self.pairs.par_iter();
                pairs
                    .map(|&(left, right)| original(&spreads[left], &spreads[right]))
                    .collect::<Vec<Contingency>>()
            },
            || published(&alike, spreads, &self.pairs),
        );
        self.rows += rows.len() as u64;
        for (all, more) in [(&mut self.before, before), (&mut self.after, after)] {
            let cells = all.iter_mut().flatten().zip(more.iter().flatten());
            cells.for_each(|(cell, more)| *cell += more);
        }
    }

    /// φ² of all portions.
    pub(super) fn finish(self) -> Correlation {
        let tables = self.before.iter().zip(&self.after);
        let pairs: Vec<PairCorrelation> = self
            .pairs
            .iter()
            .zip(tables)
            .map(|(&(left, right), (before, after))| PairCorrelation {
                attributes: [left, right].map(|at| self.names[at].clone()),
                before: phi_squared(before, BINS_MAX),
                after: phi_squared(after, BINS_MAX),
            })
            .collect();
        let change: f64 = pairs
            .iter()
            .map(|pair| (pair.after - pair.before).abs())
            .sum();
        Correlation {
            rows: self.rows,
            mean_change: change / pairs.len().max(1) as f64,
            pairs,
            pairs_left_out: self.pairs_left_out,
        }
    }
}

/// A contingency table, interval of the left attribute by that of the right.
type Contingency = [f64; BINS_MAX * BINS_MAX];

/// The table of a pair in the original.
fn original(left: &Spread<'_>, right: &Spread<'_>) -> Contingency {
    let mut counts = [0_u32; BINS_MAX * BINS_MAX];
    for (&i, &j) in left.original().iter().zip(right.original()) {
        // Both are below sixteen: the remainder only spares a check.
        counts[(i as usize * BINS_MAX + j as usize) % (BINS_MAX * BINS_MAX)] += 1;
    }
    counts.map(f64::from)
}

/// The expected tables of all pairs; rows come in runs that look the same.
fn published(
    alike: &[&[u32]],
    spreads: &[Spread<'_>],
    pairs: &[(usize, usize)],
) -> Vec<Contingency> {
    let none = vec![[0.0; BINS_MAX * BINS_MAX]; pairs.len()];
    let parts: Vec<Vec<Contingency>> = alike
        .par_chunks(alike.len().div_ceil(PARTS).max(1))
        .map(|part| {
            let mut tables = none.clone();
            for rows in part {
                add_alike(&mut tables, spreads, pairs, rows);
            }
            tables
        })
        .collect();
    let mut all = none;
    for part in parts {
        let cells = all.iter_mut().flatten().zip(part.iter().flatten());
        cells.for_each(|(cell, more)| *cell += more);
    }
    all
}

/// What one attribute publishes of rows that look the same.
enum Shares<'s> {
    /// All have these shares.
    Each(&'s [(u32, f32)]),
    /// Rows differ; the share of each interval, added up.
    Sum([f64; BINS_MAX]),
}

/// Adds rows that look the same: equal cells once, with the sum of the other
/// attribute's shares; where neither's are equal, row by row.
fn add_alike(
    tables: &mut [Contingency],
    spreads: &[Spread<'_>],
    pairs: &[(usize, usize)],
    rows: &[u32],
) {
    let shares: Vec<Shares<'_>> = spreads
        .iter()
        .map(|spread| Shares::of(spread, rows))
        .collect();
    for (&(left, right), table) in pairs.iter().zip(tables) {
        let mut add = |i: usize, j: usize, mass: f64| table[i * BINS_MAX + j] += mass;
        match (&shares[left], &shares[right]) {
            (Shares::Each(one), Shares::Each(other)) => {
                for &(i, share) in *one {
                    for &(j, other) in *other {
                        let mass = f64::from(share) * f64::from(other);
                        add(i as usize, j as usize, mass * rows.len() as f64);
                    }
                }
            }
            (Shares::Each(one), Shares::Sum(sum)) => {
                for &(i, share) in *one {
                    for (j, sum) in sum.iter().enumerate() {
                        add(i as usize, j, f64::from(share) * sum);
                    }
                }
            }
            (Shares::Sum(sum), Shares::Each(other)) => {
                for (i, sum) in sum.iter().enumerate() {
                    for &(j, share) in *other {
                        add(i, j as usize, f64::from(share) * sum);
                    }
                }
            }
            (Shares::Sum(_), Shares::Sum(_)) => {
                let (left, right) = (&spreads[left], &spreads[right]);
                for row in rows.iter().map(|&row| row as usize) {
                    for &(i, share) in left.shares(left.run_of(row)) {
                        for &(j, other) in right.shares(right.run_of(row)) {
                            add(i as usize, j as usize, f64::from(share) * f64::from(other));
                        }
                    }
                }
            }
        }
    }
}

impl<'s> Shares<'s> {
    fn of(spread: &'s Spread<'_>, rows: &[u32]) -> Self {
        if let Some(run) = spread.run_of_all(rows) {
            return Self::Each(spread.shares(run));
        }
        let mut sum = [0.0; BINS_MAX];
        for &row in rows {
            for &(bin, share) in spread.shares(spread.run_of(row as usize)) {
                sum[bin as usize] += f64::from(share);
            }
        }
        Self::Sum(sum)
    }
}

/// φ² of a contingency table given row by row.
pub(super) fn phi_squared(table: &[f64], columns: usize) -> f64 {
    let total: f64 = table.iter().sum();
    if total <= 0.0 {
        return 0.0;
    }
    let rows = table.len() / columns;
    let mut of_row = vec![0.0; rows];
    let mut of_column = vec![0.0; columns];
    for (at, &mass) in table.iter().enumerate() {
        of_row[at / columns] += mass / total;
        of_column[at % columns] += mass / total;
    }
    let filled = |masses: &[f64]| masses.iter().filter(|&&mass| mass > 0.0).count();
    let degrees = filled(&of_row).min(filled(&of_column));
    if degrees < 2 {
        return 0.0;
    }
    let cells = table.iter().enumerate();
    let sum: f64 = cells
        .map(|(at, &mass)| {
            let expected = of_row[at / columns] * of_column[at % columns];
            if expected > 0.0 {
                (mass / total - expected).powi(2) / expected
            } else {
                0.0
            }
        })
        .sum();
    sum / (degrees - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_attributes_have_no_contingency() {
        assert!(phi_squared(&[1.0, 2.0, 2.0, 4.0], 2) < 1e-12);
    }

    #[test]
    fn an_attribute_that_decides_the_other_has_all_contingency() {
        assert!((phi_squared(&[3.0, 0.0, 0.0, 0.0, 5.0, 0.0], 3) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn pairs_with_a_sensitive_attribute_come_first_and_those_past_the_budget_are_left_out() {
        let few = [false, false, true];
        let (pairs, left_out) = pairs_within(&few, |_, _| 1);
        assert_eq!((pairs, left_out), (vec![(0, 1), (0, 2), (1, 2)], 0));
        let (pairs, left_out) = pairs_within(&few, |_, _| WORK_MAX / 2);
        assert_eq!((pairs, left_out), (vec![(0, 2), (1, 2)], 1));
        let (pairs, left_out) = pairs_within(&few, |_, _| WORK_MAX + 1);
        assert_eq!((pairs, left_out), (vec![(1, 2)], 2));
        let (pairs, left_out) = pairs_within(&[false; 60], |_, _| 1);
        assert_eq!((pairs.len(), left_out), (PAIRS_MAX, 1_770 - PAIRS_MAX));
        let is_there = |at| pairs.iter().any(|&(left, right)| left == at || right == at);
        assert!((0..60).all(is_there));
        assert_eq!(pairs_within(&[true], |_, _| 1), (Vec::new(), 0));
    }

    #[test]
    fn a_constant_attribute_has_no_contingency() {
        assert_eq!(phi_squared(&[3.0, 4.0], 2), 0.0);
        assert_eq!(phi_squared(&[], 1), 0.0);
    }
}
