//! Correlation kept: φ² between each pair of attributes, before and after.
//!
//! φ²(a, b) = Σ (p_ij − p_i p_j)² / (p_i p_j) / (min(r, c) − 1), the
//! mean-square contingency coefficient, 0 for independent to 1 for one
//! determining the other, over at most 16 intervals of equal frequency an
//! attribute. After publishing, a row adds to cell (i, j) the product of the
//! shares of its two cells (or buckets) that lie in i and j: the table that an
//! analyst expects who knows the release alone and takes values inside a cell
//! as equally likely. Published order is random, so the first rows are a
//! random sample; both figures are over the same sample.

use rayon::prelude::*;
use serde::Serialize;

use crate::microdata::RecordIndex;
use crate::release::JoinedAttribute;

use super::coverage::{Coverage, pool_shares, value_codes};
use super::evidence::{Prepared, PreparedAttribute};
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Correlation kept",
    audience: Audience::Steward,
    definition: "φ² between each pair of attributes over at most 16 equal-frequency intervals, in the original and in the expected contingency table of the release (uniform inside a cell, a bucket's shares inside a bucket), over the same random sample of at most 65,536 rows.",
    source: "Cramér 1946 (mean-square contingency), as in Li et al. 2012, Slicing; the expected table is ours",
};

/// Rows read at most.
pub const SAMPLE_ROWS_MAX: usize = 65_536;
/// Intervals of an attribute.
const BINS_MAX: usize = 16;

/// φ² of every pair of attributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Correlation {
    /// Rows read.
    pub rows: u64,
    /// Mean over pairs of |after − before|.
    pub mean_change: f64,
    /// The pairs, in order of columns.
    pub pairs: Vec<PairCorrelation>,
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

/// Measures every pair.
pub fn measure(prepared: &Prepared<'_>) -> Correlation {
    let records = &prepared.records[..prepared.records.len().min(SAMPLE_ROWS_MAX)];
    let spreads: Vec<Spread<'_>> = prepared
        .attributes()
        .map(|attribute| Spread::new(attribute, records))
        .collect();
    let pairs: Vec<(usize, usize)> = (0..spreads.len())
        .flat_map(|left| (left + 1..spreads.len()).map(move |right| (left, right)))
        .collect();
    let pairs: Vec<PairCorrelation> = pairs
        .into_par_iter()
        .map(|(left, right)| pair(&spreads[left], &spreads[right], records))
        .collect();
    let change: f64 = pairs
        .iter()
        .map(|pair| (pair.after - pair.before).abs())
        .sum();
    Correlation {
        rows: records.len() as u64,
        mean_change: change / pairs.len().max(1) as f64,
        pairs,
    }
}

fn pair(left: &Spread<'_>, right: &Spread<'_>, records: &[RecordIndex]) -> PairCorrelation {
    let columns = right.bins();
    let mut before = vec![0.0; left.bins() * columns];
    let mut after = before.clone();
    for (row, &record) in records.iter().enumerate() {
        before[left.bin_of(record) * columns + right.bin_of(record)] += 1.0;
        for &(i, share) in left.of_row(row) {
            for &(j, other) in right.of_row(row) {
                after[i as usize * columns + j as usize] += f64::from(share) * f64::from(other);
            }
        }
    }
    PairCorrelation {
        attributes: [left.name().to_owned(), right.name().to_owned()],
        before: phi_squared(&before, columns),
        after: phi_squared(&after, columns),
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
            match expected > 0.0 {
                true => (mass / total - expected).powi(2) / expected,
                false => 0.0,
            }
        })
        .sum();
    sum / (degrees - 1) as f64
}

/// How rows of one attribute spread over its intervals.
#[derive(Debug)]
pub(super) struct Spread<'a> {
    published: &'a JoinedAttribute<'a>,
    codes: &'a [u32],
    bin_of_code: Vec<u32>,
    bins: usize,
    /// Runs of (interval, share): one per cell, then one per pool.
    starts: Vec<u32>,
    shares: Vec<(u32, f32)>,
}

impl<'a> Spread<'a> {
    /// Cuts the domain into intervals by the frequency of the records' codes,
    /// and spreads every cell and pool over them.
    pub(super) fn new(attribute: PreparedAttribute<'a>, records: &[RecordIndex]) -> Self {
        let (domain, published) = (attribute.domain(), attribute.published);
        let (bin_of_code, bins) = intervals(attribute, records);
        let mut spread = Self {
            published,
            codes: &attribute.original.codes,
            bin_of_code,
            bins,
            starts: vec![0],
            shares: Vec::new(),
        };
        let mut masses = vec![0.0_f64; bins];
        for cell in published.cells {
            match Coverage::of(domain, cell) {
                Some(Coverage::Run(from, to)) => {
                    let share = 1.0 / f64::from((to - from).max(1));
                    (from..to).for_each(|code| masses[spread.bin(code)] += share);
                }
                Some(Coverage::Codes(codes)) => {
                    let share = 1.0 / codes.len().max(1) as f64;
                    codes
                        .iter()
                        .for_each(|&code| masses[spread.bin(code)] += share);
                }
                None => {}
            }
            spread.close_run(&mut masses);
        }
        if let Some(buckets) = &published.buckets {
            let codes = value_codes(domain, buckets);
            for pool in 0..buckets.pools() {
                for (code, share) in pool_shares(buckets, &codes, pool) {
                    masses[spread.bin(code)] += share;
                }
                spread.close_run(&mut masses);
            }
        }
        spread
    }

    fn bin(&self, code: u32) -> usize {
        self.bin_of_code[code as usize] as usize
    }

    fn close_run(&mut self, masses: &mut [f64]) {
        for (bin, mass) in masses.iter_mut().enumerate() {
            if *mass > 0.0 {
                self.shares.push((bin as u32, *mass as f32));
                *mass = 0.0;
            }
        }
        self.starts.push(self.shares.len() as u32);
    }

    /// Name of the attribute.
    pub(super) fn name(&self) -> &str {
        self.published.name
    }

    /// Number of intervals.
    pub(super) fn bins(&self) -> usize {
        self.bins
    }

    /// The interval of a record's original value.
    pub(super) fn bin_of(&self, record: RecordIndex) -> usize {
        self.bin(self.codes[record.at()])
    }

    /// The intervals that a published row may lie in, with their shares.
    pub(super) fn of_row(&self, row: usize) -> &[(u32, f32)] {
        let buckets = self.published.buckets.as_ref();
        let run = match buckets.and_then(|buckets| buckets.pool_of(row)) {
            Some(pool) => self.published.cells.len() + pool as usize,
            None => self.published.codes[row] as usize,
        };
        &self.shares[self.starts[run] as usize..self.starts[run + 1] as usize]
    }
}

/// The interval of each code, and how many there are: one a code where there
/// are at most [`BINS_MAX`], else runs of nearly equal frequency.
fn intervals(attribute: PreparedAttribute<'_>, records: &[RecordIndex]) -> (Vec<u32>, usize) {
    let codes = records
        .iter()
        .map(|&record| attribute.original.code(record).0);
    equal_intervals(attribute.domain().len(), &codes.collect::<Vec<u32>>())
}

/// The same for codes below `domain`, one a record.
pub(super) fn equal_intervals(domain: usize, codes: &[u32]) -> (Vec<u32>, usize) {
    if domain <= BINS_MAX {
        return ((0..domain as u32).collect(), domain.max(1));
    }
    let mut counts = vec![0_usize; domain];
    for &code in codes {
        counts[code as usize] += 1;
    }
    let total = codes.len().max(1);
    let (mut before, mut bins, mut last) = (0, 0_u32, None);
    let bin_of_code = counts
        .iter()
        .map(|&count| {
            // The interval in which the middle of the code's run falls.
            let place = ((2 * before + count) * BINS_MAX / (2 * total)).min(BINS_MAX - 1);
            before += count;
            if last.replace(place).is_some_and(|last| last != place) {
                bins += 1;
            }
            bins
        })
        .collect();
    (bin_of_code, bins as usize + 1)
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
    fn a_constant_attribute_has_no_contingency() {
        assert_eq!(phi_squared(&[3.0, 4.0], 2), 0.0);
        assert_eq!(phi_squared(&[], 1), 0.0);
    }
}
