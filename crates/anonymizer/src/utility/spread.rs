//! How the chance of a row spreads over intervals of an attribute's domain:
//! what correlations and marginal distances are taken from.

use std::ops::Range;

use rayon::prelude::*;

use crate::microdata::{RecordIndex, Role, of_width};
use crate::release::JoinedAttribute;

use super::coverage::{Coverage, pool_shares, value_codes};
use super::evidence::{JoinedEvidence, PreparedAttribute};
use super::group_means::Grouping;
use super::originals::Originals;

/// Intervals of an attribute.
pub(super) const BINS_MAX: usize = 16;

/// How rows of one attribute spread over its intervals.
#[derive(Debug)]
pub struct Spread<'a> {
    published: &'a JoinedAttribute<'a>,
    is_sensitive: bool,
    bins: usize,
    /// The interval of each row's original value.
    original: Vec<u8>,
    /// Runs of (interval, share): one per cell, then one per pool.
    starts: Vec<u32>,
    shares: Vec<(u32, f32)>,
}

impl<'a> Spread<'a> {
    /// The spread of every attribute, in order of columns; the release may be a
    /// portion of that of which the originals are.
    pub(super) fn all(prepared: &'a JoinedEvidence<'a>, originals: &Originals) -> Vec<Self> {
        let attributes: Vec<PreparedAttribute<'a>> = prepared.attributes().collect();
        attributes
            .into_par_iter()
            .map(|attribute| {
                prepared.evidence.cancel.heed();
                let published = originals.published(attribute.index);
                Self::new(attribute, &prepared.records, published)
            })
            .collect()
    }

    /// Cuts the domain into intervals by how often codes are published, and
    /// spreads every cell and pool over them.
    fn new(attribute: PreparedAttribute<'a>, records: &[RecordIndex], counts: &[u64]) -> Self {
        let (domain, published) = (attribute.domain(), attribute.published);
        let codes = records.iter();
        let codes = codes.map(|&record| attribute.original.code(record).0);
        let (bin_of_code, bins) = intervals_of_counts(counts);
        let bin = |code: u32| bin_of_code[code as usize] as usize;
        let mut spread = Self {
            published,
            is_sensitive: matches!(attribute.role, Role::Sensitive | Role::SemiSensitive),
            bins,
            // There are at most sixteen.
            original: codes.map(|code| bin(code) as u8).collect(),
            starts: vec![0],
            shares: Vec::new(),
        };
        let mut masses = vec![0.0_f64; bins];
        for cell in published.cells {
            if let Some(coverage) = Coverage::of(domain, cell) {
                let share = 1.0 / coverage.len().max(1) as f64;
                for run in coverage.runs() {
                    add_run(&mut masses, &bin_of_code, run, share);
                }
            }
            spread.close_run(&mut masses);
        }
        if let Some(buckets) = &published.buckets {
            let codes = value_codes(domain, buckets);
            for pool in 0..buckets.pools() {
                for (code, share) in pool_shares(buckets, &codes, pool) {
                    masses[bin(code)] += share;
                }
                spread.close_run(&mut masses);
            }
        }
        spread
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

    /// The attribute as one by whose intervals means are taken.
    pub(super) fn grouping(&self) -> Grouping<'_> {
        Grouping {
            name: self.published.name,
            is_sensitive: self.is_sensitive,
            bins: self.bins,
            original: Box::new(|row| self.original[row] as usize),
            shown: Box::new(|row| self.run_of(row)),
            shares: (0..self.runs()).map(|run| self.shares(run)).collect(),
        }
    }

    /// Number of intervals.
    pub(super) fn bins(&self) -> usize {
        self.bins
    }

    /// The interval of each row's original value.
    pub(super) fn original(&self) -> &[u8] {
        &self.original
    }

    /// What a published row shows: the number of its cell, or of its pool
    /// behind all cells.
    pub(super) fn run_of(&self, row: usize) -> usize {
        let buckets = self.published.buckets.as_ref();
        match buckets.and_then(|buckets| buckets.pool_of(row)) {
            Some(pool) => self.published.cells.len() + pool as usize,
            None => self.published.codes.at(row) as usize,
        }
    }

    /// What all of these rows show, if it is the same.
    pub(super) fn run_of_all(&self, rows: &[u32]) -> Option<usize> {
        let first = self.run_of(*rows.first()? as usize);
        let is_same = match &self.published.buckets {
            Some(_) => rows.iter().all(|&row| self.run_of(row as usize) == first),
            None => of_width!(&*self.published.codes, codes => {
                rows.iter().all(|&row| codes[row as usize] as usize == first)
            }),
        };
        is_same.then_some(first)
    }

    /// Number of cells and pools.
    pub(super) fn runs(&self) -> usize {
        self.starts.len() - 1
    }

    /// The intervals that a row with this cell or pool may lie in, with their
    /// shares.
    pub(super) fn shares(&self, run: usize) -> &[(u32, f32)] {
        &self.shares[self.starts[run] as usize..self.starts[run + 1] as usize]
    }
}

/// Adds a share for each code of a run to its interval. Intervals are runs of
/// codes too: one step an interval, however many codes there are.
fn add_run(masses: &mut [f64], bin_of_code: &[u32], run: Range<u32>, share: f64) {
    let mut rest = &bin_of_code[run.start as usize..run.end as usize];
    while let Some(&bin) = rest.first() {
        let count = rest.partition_point(|&other| other <= bin);
        masses[bin as usize] += count as f64 * share;
        rest = &rest[count..];
    }
}

/// The interval of each code below `domain`, ascending, and how many there are: one a
/// code where there are at most [`BINS_MAX`], else runs of nearly equal
/// frequency in `codes`.
pub(super) fn equal_intervals(domain: usize, codes: &[u32]) -> (Vec<u32>, usize) {
    let mut counts = vec![0_u64; domain];
    for &code in codes {
        counts[code as usize] += 1;
    }
    intervals_of_counts(&counts)
}

/// The same where each code occurs so often.
fn intervals_of_counts(counts: &[u64]) -> (Vec<u32>, usize) {
    if counts.len() <= BINS_MAX {
        return ((0..counts.len() as u32).collect(), counts.len().max(1));
    }
    let most = BINS_MAX as u64;
    let total = counts.iter().sum::<u64>().max(1);
    let (mut before, mut bins, mut last) = (0, 0_u32, None);
    let bin_of_code = counts
        .iter()
        .map(|&count| {
            // The interval in which the middle of the code's run falls.
            let place = ((2 * before + count) * most / (2 * total)).min(most - 1);
            before += count;
            if last.replace(place).is_some_and(|last| last != place) {
                bins += 1;
            }
            bins
        })
        .collect();
    (bin_of_code, bins as usize + 1)
}
