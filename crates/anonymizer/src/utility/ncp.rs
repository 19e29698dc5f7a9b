//! NCP: the normalized certainty penalty.
//!
//! Sum over records and quasi-identifier cells of the cell's loss, and its
//! mean per cell (engines.md, rule 6). Cells of semi-sensitive attributes
//! count as quasi-identifier cells; where such a cell is in a bucket its value
//! is published exactly, unlinked, and it loses 0. A masked cell loses 1.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::release::JoinedAttribute;

use super::evidence::{JoinedEvidence, PreparedAttribute};
use super::report::{Audience, Description};
use super::scale::Scale;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Normalized certainty penalty (NCP)",
    audience: Audience::Steward,
    definition: "Sum over records and quasi-identifier cells of the cell's loss, and its mean per cell: (hi − lo)/range of the dataset, leaves of the node / leaves of the root, |set|/|domain|, masked 1, numbers and the missing value in one cell 1, in a bucket 0.",
    source: "Xu et al. 2006, Utility-based anonymization using local recoding",
};

/// The same on the scale that the release shows.
pub const DESCRIPTION_PUBLISHED: Description = Description {
    title: "Normalized certainty penalty, by the published range",
    audience: Audience::Analyst,
    definition: "As NCP, but every range and domain is that which the release itself shows, so that the figure tells nothing of records that were left out.",
    source: "Xu et al. 2006; the scale is ours",
};

/// Loss of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ncp {
    /// Sum over cells.
    pub sum: f64,
    /// Mean per cell.
    pub mean: f64,
    /// Quasi-identifier cells.
    pub cells: u64,
    /// Per attribute.
    pub attributes: BTreeMap<String, AttributeLoss>,
}

/// Loss of one attribute.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttributeLoss {
    /// Sum over cells.
    pub sum: f64,
    /// Mean per cell.
    pub mean: f64,
}

/// NCP on the scale of the dataset version.
pub fn measure(prepared: &JoinedEvidence<'_>) -> Ncp {
    of_records(prepared, |attribute| Scale::of_domain(attribute.domain()))
}

/// NCP on the scale that the release shows.
pub fn measure_published(prepared: &JoinedEvidence<'_>) -> Ncp {
    of_records(prepared, |attribute| {
        Scale::of_published(attribute.published, attribute.domain().hierarchy())
    })
}

fn of_records(
    prepared: &JoinedEvidence<'_>,
    scale: impl Fn(PreparedAttribute<'_>) -> Scale,
) -> Ncp {
    let attributes = prepared.attributes();
    let quasi = attributes.filter(PreparedAttribute::is_quasi_identifier);
    let columns = quasi.map(|attribute| (attribute.published, scale(attribute)));
    sum_up(prepared.joined.rows(), columns)
}

/// Sums up the losses of columns of `rows` cells, each on its scale.
pub(super) fn sum_up<'a>(
    rows: usize,
    columns: impl Iterator<Item = (&'a JoinedAttribute<'a>, Scale)>,
) -> Ncp {
    let mut ncp = Ncp {
        sum: 0.0,
        mean: 0.0,
        cells: 0,
        attributes: BTreeMap::new(),
    };
    for (published, scale) in columns {
        let losses = published.cells.iter().zip(published.histogram());
        let sum: f64 = losses
            .map(|(cell, count)| scale.loss(cell) * f64::from(count))
            .sum();
        let mean = sum / rows.max(1) as f64;
        ncp.sum += sum;
        ncp.cells += rows as u64;
        let name = published.name.to_owned();
        ncp.attributes.insert(name, AttributeLoss { sum, mean });
    }
    ncp.mean = ncp.sum / ncp.cells.max(1) as f64;
    ncp
}
