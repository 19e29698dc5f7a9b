//! Information left: how much of each value a release still tells.
//!
//! Per value 1 − (leaves under its cell − 1)/leaves, per record the mean over
//! quasi-identifiers and sensitive attributes, per table the mean over
//! records. Leaves of numbers are the distinct values of the dataset version.
//! For a cell in a bucket (*ours*: the paper knows no buckets) the leaves are
//! the distinct values of the bucket, or of all buckets of the group.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::microdata::Role;
use crate::release::Link;

use super::coverage::Coverage;
use super::evidence::{JoinedEvidence, PreparedAttribute};
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Information left",
    audience: Audience::Steward,
    definition: "Per value 1 − (leaves under its cell − 1)/leaves; mean over quasi-identifiers and sensitive attributes of a record, then over records. A bucket counts its distinct values as leaves.",
    source: "Personalized k-anonymity (information left); buckets are ours",
};

/// Information left in a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InformationLeft {
    /// Mean over records and attributes.
    pub mean: f64,
    /// Mean per attribute.
    pub attributes: BTreeMap<String, f64>,
}

/// Measures every attribute but the insensitive ones.
pub fn measure(prepared: &JoinedEvidence<'_>) -> InformationLeft {
    let mut sums = InformationSums::default();
    sums.add(prepared);
    sums.finish()
}

/// Information left, added up portion by portion.
#[derive(Debug, Default)]
pub(super) struct InformationSums {
    rows: u64,
    /// Sum over the rows of each attribute.
    attributes: BTreeMap<String, f64>,
}

impl InformationSums {
    /// Adds every attribute but the insensitive ones.
    pub(super) fn add(&mut self, prepared: &JoinedEvidence<'_>) {
        self.rows += prepared.joined.rows() as u64;
        let attributes = prepared.attributes();
        for attribute in attributes.filter(|one| one.role != Role::Insensitive) {
            let name = attribute.published.name.to_owned();
            *self.attributes.entry(name).or_default() += sum_left(attribute);
        }
    }

    /// What is left in all portions.
    pub(super) fn finish(self) -> InformationLeft {
        let rows = self.rows.max(1) as f64;
        let attributes = self.attributes.into_iter();
        let attributes: BTreeMap<String, f64> =
            attributes.map(|(name, sum)| (name, sum / rows)).collect();
        InformationLeft {
            mean: attributes.values().sum::<f64>() / attributes.len().max(1) as f64,
            attributes,
        }
    }
}

fn sum_left(attribute: PreparedAttribute<'_>) -> f64 {
    let (domain, published) = (attribute.domain(), attribute.published);
    let leaves = domain.len().max(1) as f64;
    let left = |covered: usize| 1.0 - (covered.max(1) - 1) as f64 / leaves;
    let of_cell: Vec<f64> = published
        .cells
        .iter()
        .map(|cell| Coverage::of(domain, cell).map_or(0.0, |coverage| left(coverage.len())))
        .collect();
    let of_pool: Vec<f64> = distinct_values(attribute).into_iter().map(left).collect();
    let buckets = published.buckets.as_ref();
    let rows = published.codes.iter().enumerate();
    rows.map(
        |(row, code)| match buckets.and_then(|buckets| buckets.pool_of(row)) {
            Some(pool) => of_pool[pool as usize],
            None => of_cell[code as usize],
        },
    )
    .sum()
}

/// Number of distinct values of each pool of an attribute.
fn distinct_values(attribute: PreparedAttribute<'_>) -> Vec<usize> {
    let Some(buckets) = &attribute.published.buckets else {
        return Vec::new();
    };
    let mut seen: Vec<u32> = Vec::new();
    let mut distinct = |of_pool: &[usize]| {
        seen.clear();
        let runs = of_pool.iter().flat_map(|&bucket| buckets.coded_run(bucket));
        seen.extend(runs.map(|(value, _)| value));
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    match buckets.link() {
        Link::Row(_) => (0..buckets.len())
            .map(|bucket| distinct(&[bucket]))
            .collect(),
        Link::Group {
            starts,
            buckets: of_group,
            ..
        } => starts
            .windows(2)
            .map(|run| {
                let run = &of_group[run[0] as usize..run[1] as usize];
                distinct(
                    &run.iter()
                        .map(|&bucket| bucket as usize)
                        .collect::<Vec<_>>(),
                )
            })
            .collect(),
    }
}
