//! Marginal distances: how far each attribute's published distribution is
//! from the original one.
//!
//! Both distributions are over at most 16 intervals of the domain (one a
//! value where there are no more). A row adds to an interval the share of its
//! cell, or of its bucket, that lies there. The distance is total variation,
//! ½ Σ |p − q|: 0 the same, 1 nothing in common. A fully bucketized attribute
//! has distance 0: its values are all published.

use std::collections::BTreeMap;

use rayon::prelude::*;
use serde::Serialize;

use super::report::{Audience, Description};
use super::spread::Spread;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Marginal distances",
    audience: Audience::Steward,
    definition: "Per attribute the total variation ½ Σ |p − q| between the original and the expected published distribution over at most 16 intervals; a cell spreads uniformly over the values it covers.",
    source: "ours",
};

/// Distance of each attribute's distribution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Marginals {
    /// Total variation by attribute, 0 to 1.
    pub attributes: BTreeMap<String, f64>,
    /// Mean over attributes.
    pub mean: f64,
}

/// Measures every published attribute.
pub fn measure(spreads: &[Spread<'_>]) -> Marginals {
    let mut sums = MarginalSums::default();
    sums.add(spreads);
    sums.finish()
}

/// Distributions, added up portion by portion.
#[derive(Debug, Default)]
pub(super) struct MarginalSums {
    /// One for each attribute, in order of columns.
    attributes: Vec<Distributions>,
}

/// Rows of an attribute by interval.
#[derive(Debug)]
struct Distributions {
    name: String,
    rows: u64,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl MarginalSums {
    /// Adds every published attribute.
    pub(super) fn add(&mut self, spreads: &[Spread<'_>]) {
        let found: Vec<Distributions> = spreads.par_iter().map(Distributions::of).collect();
        if self.attributes.is_empty() {
            self.attributes = found;
            return;
        }
        for (all, more) in self.attributes.iter_mut().zip(found) {
            all.rows += more.rows;
            let add = |all: &mut [f64], more: &[f64]| {
                all.iter_mut()
                    .zip(more)
                    .for_each(|(all, more)| *all += more);
            };
            add(&mut all.before, &more.before);
            add(&mut all.after, &more.after);
        }
    }

    /// The distances of all portions.
    pub(super) fn finish(self) -> Marginals {
        let distances = self.attributes.iter().map(Distributions::distance);
        let distances: Vec<f64> = distances.collect();
        Marginals {
            mean: distances.iter().sum::<f64>() / distances.len().max(1) as f64,
            attributes: self
                .attributes
                .into_iter()
                .map(|attribute| attribute.name)
                .zip(distances)
                .collect(),
        }
    }
}

impl Distributions {
    fn of(spread: &Spread<'_>) -> Self {
        let (mut before, mut after) = (vec![0.0; spread.bins()], vec![0.0; spread.bins()]);
        let mut counts = vec![0_u32; spread.runs()];
        for (row, &bin) in spread.original().iter().enumerate() {
            before[bin as usize] += 1.0;
            counts[spread.run_of(row)] += 1;
        }
        for (run, &count) in counts.iter().enumerate() {
            for &(bin, share) in spread.shares(run) {
                after[bin as usize] += f64::from(count) * f64::from(share);
            }
        }
        Self {
            name: spread.name().to_owned(),
            rows: spread.original().len() as u64,
            before,
            after,
        }
    }

    fn distance(&self) -> f64 {
        let pairs = self.before.iter().zip(&self.after);
        let apart: f64 = pairs.map(|(before, after)| (before - after).abs()).sum();
        apart / 2.0 / self.rows.max(1) as f64
    }
}
