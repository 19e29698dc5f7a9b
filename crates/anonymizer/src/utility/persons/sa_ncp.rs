//! SA-NCP: Σ item loss / Σ number of distinct items of the original
//! fingerprints.
//!
//! The loss of an original item is that of the published node that covers it:
//! 0 for a leaf, else leaves(node)/leaves(root) of its attribute's tree. Nodes
//! that were joined into one (*ours*) count their leaves together; an
//! attribute without a hierarchy is a root over its distinct values; masked
//! is 1.

use std::collections::BTreeMap;

use serde::Serialize;

use super::covering::{Covering, Run, loss_of};
use super::originals::Originals;
use super::prepared::{PersonsAttribute, PreparedPersons};
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Loss of fingerprints (SA-NCP)",
    audience: Audience::Steward,
    definition: "Sum of the losses of the distinct items of the original fingerprints / their number, in total and per sensitive attribute. An item loses 0 where it is published itself, else leaves of the published node above it / leaves of the root; joined nodes count their leaves together, masked 1.",
    source: "1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems; joined nodes are ours",
};

/// Loss of the fingerprints of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SaNcp {
    /// Over all sensitive attributes.
    #[serde(flatten)]
    pub total: ItemLoss,
    /// Per sensitive attribute.
    pub attributes: BTreeMap<String, ItemLoss>,
}

/// Loss of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ItemLoss {
    /// Sum over items.
    pub sum: f64,
    /// Mean per item.
    pub mean: f64,
    /// Distinct items of the original fingerprints, summed over persons.
    pub items: u64,
}

/// Measures the fingerprints of all sensitive attributes.
pub fn measure(prepared: &PreparedPersons<'_>) -> SaNcp {
    let mut all = SaNcp {
        total: ItemLoss::default(),
        attributes: BTreeMap::new(),
    };
    for (attribute, originals) in prepared.sensitive() {
        let (sum, items) = (sum_of_losses(attribute, originals), originals.total());
        all.total.sum += sum;
        all.total.items += items;
        let name = attribute.published.name.to_owned();
        all.attributes.insert(name, ItemLoss::of(sum, items));
    }
    all.total = ItemLoss::of(all.total.sum, all.total.items);
    all
}

impl ItemLoss {
    fn of(sum: f64, items: u64) -> Self {
        Self {
            sum,
            mean: sum / items.max(1) as f64,
            items,
        }
    }
}

fn sum_of_losses(attribute: PersonsAttribute<'_>, originals: &Originals) -> f64 {
    let covering = Covering::new(&attribute.original.domain);
    let cells = attribute.published.cells.iter();
    let runs: Vec<Vec<Run>> = cells.map(|cell| covering.runs(cell)).collect();
    let mut sum = 0.0;
    for (row, cell) in attribute.published.codes.iter().enumerate() {
        let runs = &runs[cell as usize];
        let codes = originals.of_row(row).iter();
        sum += codes.map(|&code| loss_of(code, runs)).sum::<f64>();
    }
    sum
}
