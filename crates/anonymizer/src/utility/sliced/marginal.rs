//! Marginal distances of a sliced release: 0 for every attribute in a column,
//! whose values are all published; of a generalized one as elsewhere, each cell
//! uniform over the values it covers.

use std::collections::BTreeMap;

use super::prepared::{PreparedSliced, SlicedAttribute};
use crate::utility::coverage::Coverage;
use crate::utility::marginal::Marginals;
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Marginal distances",
    audience: Audience::Steward,
    definition: "Per attribute the total variation ½ Σ |p − q| between the original and the expected published distribution over its values; 0 for attributes in columns. A generalized cell spreads uniformly over the values it covers.",
    source: "ours",
};

/// Measures every published attribute once.
pub fn measure(prepared: &PreparedSliced<'_>) -> Marginals {
    let mut attributes = BTreeMap::new();
    for attribute in &prepared.attributes {
        let known = attributes.contains_key(attribute.name);
        if !known {
            attributes.insert(attribute.name.to_owned(), distance(prepared, attribute));
        }
    }
    Marginals {
        mean: attributes.values().sum::<f64>() / attributes.len().max(1) as f64,
        attributes,
    }
}

fn distance(prepared: &PreparedSliced<'_>, attribute: &SlicedAttribute<'_>) -> f64 {
    let domain = &attribute.original.domain;
    let mut before = vec![0_u32; domain.len()];
    for &record in &prepared.records {
        before[attribute.original.codes.at(record as usize) as usize] += 1;
    }
    let mut often = vec![0_u32; attribute.cells.len()];
    attribute
        .codes
        .iter()
        .for_each(|code| often[code as usize] += 1);
    // By how much the published mass of a code differs from that of the code
    // before it: a wide cell is two changes.
    let mut changes = vec![0.0_f64; domain.len() + 1];
    for (cell, &often) in attribute.cells.iter().zip(&often) {
        let Some(coverage) = Coverage::of(domain, cell) else {
            continue;
        };
        let share = f64::from(often) / coverage.len().max(1) as f64;
        for run in coverage.runs() {
            changes[run.start as usize] += share;
            changes[run.end as usize] -= share;
        }
    }
    let mut published = 0.0;
    let apart = before.iter().zip(&changes).map(|(&before, change)| {
        published += change;
        (f64::from(before) - published).abs()
    });
    let sum: f64 = apart.sum();
    sum / 2.0 / prepared.rows.max(1) as f64
}
