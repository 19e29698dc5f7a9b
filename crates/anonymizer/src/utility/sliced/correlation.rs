//! Correlation kept by a sliced release: φ² of every pair of attributes
//! before and after.
//!
//! Attributes of one column stay linked: their table is that of the rows. Of
//! two columns a reader knows that they are independent inside a bucket: the
//! expected number of records with values a and b is Σ_B n_B(a) · n_B(b) / |B|.
//! Attributes have at most 16 intervals, as elsewhere; generalized ones are
//! left out.

use rayon::prelude::*;

use super::prepared::PreparedSliced;
use crate::microdata::Role;
use crate::utility::correlation::{Correlation, PairCorrelation, pairs_within, phi_squared};
use crate::utility::report::{Audience, Description};
use crate::utility::spread::equal_intervals;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Correlation kept",
    audience: Audience::Steward,
    definition: "Mean-square contingency φ² of each pair of attributes in columns, in the original and in the release: as on the rows inside a column, as if independent inside each bucket across columns. Attributes are cut into at most 16 intervals of nearly equal frequency. Of wide tables only as many pairs as the budget of work allows, those with a sensitive attribute first; the others are counted as left out.",
    source: "Slicing: Li et al. 2012, section 4.1 (φ²); the comparison is ours",
};

/// One attribute by intervals.
pub(super) struct Binned {
    /// Its name.
    pub name: String,
    /// Whether it is sensitive.
    pub is_sensitive: bool,
    /// Columns that show it.
    pub columns: Vec<usize>,
    /// Number of intervals.
    pub bins: usize,
    /// Interval of each row.
    pub of_row: Vec<u32>,
    /// Interval of the record of each row.
    pub of_record: Vec<u32>,
}

/// Measures the pairs of attributes in columns within the budget.
pub fn measure(prepared: &PreparedSliced<'_>, attributes: &[Binned]) -> Correlation {
    let by_bucket = rows_by_bucket(prepared);
    let is_sensitive = attributes.iter().map(|attribute| attribute.is_sensitive);
    let is_sensitive: Vec<bool> = is_sensitive.collect();
    let (pairs, pairs_left_out) = pairs_within(&is_sensitive, |one, other| {
        let cells = attributes[one].bins * attributes[other].bins;
        (prepared.rows + by_bucket.len() * cells) as u64
    });
    let pairs: Vec<PairCorrelation> = pairs
        .into_par_iter()
        .map(|(one, other)| pair(&attributes[one], &attributes[other], &by_bucket))
        .collect();
    let change: f64 = pairs
        .iter()
        .map(|pair| (pair.after - pair.before).abs())
        .sum();
    Correlation {
        rows: prepared.rows as u64,
        mean_change: change / pairs.len().max(1) as f64,
        pairs,
        pairs_left_out,
    }
}

/// Each attribute once, with every column that shows it.
pub(super) fn binned(prepared: &PreparedSliced<'_>) -> Vec<Binned> {
    let mut all: Vec<Binned> = Vec::new();
    for (column, at) in prepared.linked() {
        let attribute = &prepared.attributes[at];
        if let Some(known) = all.iter_mut().find(|known| known.name == attribute.name) {
            known.columns.push(column);
            continue;
        }
        let codes = prepared.records.iter();
        let codes: Vec<u32> = codes
            .map(|&record| attribute.original.codes.at(record as usize))
            .collect();
        let (bin_of_code, bins) = equal_intervals(attribute.original.domain.len(), &codes);
        let bin = |code: u32| bin_of_code[code as usize];
        let values = attribute.values();
        let of_cell: Vec<u32> = values.iter().map(|value| value.map_or(0, bin)).collect();
        all.push(Binned {
            name: attribute.name.to_owned(),
            is_sensitive: attribute.role == Role::Sensitive,
            columns: vec![column],
            bins,
            of_row: attribute
                .codes
                .iter()
                .map(|code| of_cell[code as usize])
                .collect(),
            of_record: codes.iter().map(|&code| bin(code)).collect(),
        });
    }
    all
}

/// Rows by bucket, one behind the other, and where buckets end.
fn rows_by_bucket(prepared: &PreparedSliced<'_>) -> Vec<Vec<u32>> {
    let mut buckets = vec![Vec::new(); prepared.sizes.len()];
    for (row, &bucket) in prepared.bucket_of_row.iter().enumerate() {
        buckets[bucket as usize].push(row as u32);
    }
    buckets
}

fn pair(one: &Binned, other: &Binned, buckets: &[Vec<u32>]) -> PairCorrelation {
    let cells = one.bins * other.bins;
    let at = |a: u32, b: u32| a as usize * other.bins + b as usize;
    let mut before = vec![0.0; cells];
    for (&a, &b) in one.of_record.iter().zip(&other.of_record) {
        before[at(a, b)] += 1.0;
    }
    let linked = one
        .columns
        .iter()
        .any(|column| other.columns.contains(column));
    let mut after = vec![0.0; cells];
    let (mut left, mut right) = (vec![0.0; one.bins], vec![0.0; other.bins]);
    // Inside a column rows are records, in another order.
    if linked {
        after.clone_from(&before);
    }
    for rows in buckets.iter().filter(|_| !linked) {
        left.fill(0.0);
        right.fill(0.0);
        for &row in rows {
            left[one.of_row[row as usize] as usize] += 1.0;
            right[other.of_row[row as usize] as usize] += 1.0;
        }
        for (a, &count) in left.iter().enumerate().filter(|(_, count)| **count > 0.0) {
            let shares = right.iter().map(|other| count * other / rows.len() as f64);
            let cells = after[a * other.bins..].iter_mut();
            cells.zip(shares).for_each(|(cell, share)| *cell += share);
        }
    }
    PairCorrelation {
        attributes: [one.name.clone(), other.name.clone()],
        before: phi_squared(&before, other.bins),
        after: phi_squared(&after, other.bins),
    }
}
