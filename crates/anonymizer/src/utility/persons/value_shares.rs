//! Value-level shares: how large a part of a group is known to have a value.
//!
//! l-diversity of fingerprints bounds the share of a whole fingerprint in a
//! group, not that of one value in it. For every group and every value that is
//! published exactly there, the share is persons with the value / persons of
//! the group. The same for every node below the root: persons who are known to
//! have a value under it, because an item under the node is published for them.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::release::JoinedAttribute;

use super::BINS;
use super::marks::Marks;
use super::prepared::PreparedPersons;
use crate::utility::histogram::Histogram;
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Value-level shares",
    audience: Audience::Analyst,
    definition: "Per sensitive attribute, over all pairs of a group and a value published exactly in it: persons of the group with the value / persons of the group. The same over pairs of a group and a node below the root: persons for whom an item under the node is published.",
    source: "ours; fingerprints and groups are those of 1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems",
};

/// Shares of values and of nodes in groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ValueShares {
    /// Largest share of one exactly published value in a group.
    pub max: f64,
    /// Exactly published values, per sensitive attribute.
    pub values: BTreeMap<String, ShareSummary>,
    /// Nodes below the root, values included, per sensitive attribute.
    pub nodes: BTreeMap<String, ShareSummary>,
}

/// Distribution of shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareSummary {
    /// Pairs of a group and a value or node.
    pub pairs: u64,
    /// Mean share.
    pub mean: f64,
    /// Largest share.
    pub max: f64,
    /// Pairs by share.
    pub shares: Histogram,
}

/// Measures all sensitive attributes.
pub fn measure(prepared: &PreparedPersons<'_>) -> ValueShares {
    let mut all = ValueShares {
        max: 0.0,
        values: BTreeMap::new(),
        nodes: BTreeMap::new(),
    };
    let (starts, rows) = prepared.groups.rows_by_class();
    let groups: Vec<&[u32]> = starts
        .windows(2)
        .map(|ends| &rows[ends[0] as usize..ends[1] as usize])
        .collect();
    for (attribute, _) in prepared.sensitive() {
        let marks = Marks::of(&attribute.original.domain, attribute.published.cells);
        let [values, nodes] = of_attribute(attribute.published, &marks, &groups);
        all.max = all.max.max(values.max);
        let name = attribute.published.name;
        all.values.insert(name.to_owned(), values.summary());
        all.nodes.insert(name.to_owned(), nodes.summary());
    }
    all
}

/// Shares of values and of all nodes of one attribute, group by group.
fn of_attribute(published: &JoinedAttribute<'_>, marks: &Marks, groups: &[&[u32]]) -> [Shares; 2] {
    let (mut values, mut nodes) = (Shares::default(), Shares::default());
    let mut counts = vec![0_u32; marks.len()];
    let mut seen: Vec<u32> = Vec::new();
    for rows in groups {
        for &row in *rows {
            for &mark in marks.of_cell(published.codes.at(row as usize)) {
                let count = &mut counts[mark as usize];
                if *count == 0 {
                    seen.push(mark);
                }
                *count += 1;
            }
        }
        for mark in seen.drain(..) {
            let count = std::mem::take(&mut counts[mark as usize]);
            let share = f64::from(count) / rows.len() as f64;
            nodes.add(share);
            if marks.is_value(mark) {
                values.add(share);
            }
        }
    }
    [values, nodes]
}

/// Shares as they come.
#[derive(Default)]
struct Shares {
    pairs: u64,
    sum: f64,
    max: f64,
    counts: [u64; BINS],
}

impl Shares {
    fn add(&mut self, share: f64) {
        self.pairs += 1;
        self.sum += share;
        self.max = self.max.max(share);
        // A hair of slack: 3/20 × 20 must reach its bar.
        let bar = (share * BINS as f64 + 1e-9) as usize;
        self.counts[bar.min(BINS - 1)] += 1;
    }

    fn summary(&self) -> ShareSummary {
        ShareSummary {
            pairs: self.pairs,
            mean: self.sum / self.pairs.max(1) as f64,
            max: self.max,
            shares: Histogram::from_share_counts(&self.counts),
        }
    }
}
