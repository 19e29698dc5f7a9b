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
    let distance = |spread: &Spread<'_>| {
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
        let pairs = before.iter().zip(&after);
        let apart: f64 = pairs.map(|(before, after)| (before - after).abs()).sum();
        apart / 2.0 / spread.original().len().max(1) as f64
    };
    let distances: Vec<f64> = spreads.par_iter().map(distance).collect();
    Marginals {
        mean: distances.iter().sum::<f64>() / distances.len().max(1) as f64,
        attributes: spreads
            .iter()
            .map(|spread| spread.name().to_owned())
            .zip(distances)
            .collect(),
    }
}
