//! NCP: the normalized certainty penalty.
//!
//! Sum over records and quasi-identifier cells of the cell's loss, and its
//! mean per cell (engines.md, rule 6). Cells of semi-sensitive attributes
//! count as quasi-identifier cells; where such a cell is in a bucket its value
//! is published exactly, unlinked, and it loses 0. A masked cell loses 1.

use std::borrow::Borrow;
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
    let mut sums = NcpSums::default();
    sums.add_records(prepared, |_, attribute| {
        Scale::of_domain(attribute.domain())
    });
    sums.finish()
}

/// NCP on the scale that the release shows.
pub fn measure_published(prepared: &JoinedEvidence<'_>) -> Ncp {
    let mut sums = NcpSums::default();
    sums.add_records(prepared, |_, attribute| {
        Scale::of_published(attribute.published, attribute.domain().hierarchy())
    });
    sums.finish()
}

/// Sums up the losses of columns of `rows` cells, each on its scale.
pub(super) fn sum_up<'a>(
    rows: usize,
    columns: impl Iterator<Item = (&'a JoinedAttribute<'a>, Scale)>,
) -> Ncp {
    let mut sums = NcpSums::default();
    sums.add(rows, columns);
    sums.finish()
}

/// Losses, added up portion by portion.
#[derive(Debug, Default)]
pub(super) struct NcpSums {
    rows: u64,
    /// Sum over the cells of each attribute, in order of columns.
    attributes: Vec<(String, f64)>,
}

impl NcpSums {
    /// Adds the quasi-identifier cells of a release of records. The scale of an
    /// attribute is asked for with its position among those published.
    pub(super) fn add_records<S: Borrow<Scale>>(
        &mut self,
        prepared: &JoinedEvidence<'_>,
        scale: impl Fn(usize, PreparedAttribute<'_>) -> S,
    ) {
        let attributes = prepared.attributes().enumerate();
        let quasi = attributes.filter(|(_, attribute)| attribute.is_quasi_identifier());
        let columns = quasi.map(|(at, attribute)| (attribute.published, scale(at, attribute)));
        self.add(prepared.joined.rows(), columns);
    }

    /// Adds columns of `rows` cells, each on its scale.
    pub(super) fn add<'a>(
        &mut self,
        rows: usize,
        columns: impl Iterator<Item = (&'a JoinedAttribute<'a>, impl Borrow<Scale>)>,
    ) {
        self.rows += rows as u64;
        for (published, scale) in columns {
            let losses = published.cells.iter().zip(published.histogram());
            let sum: f64 = losses
                .map(|(cell, count)| scale.borrow().loss(cell) * f64::from(count))
                .sum();
            let mut known = self.attributes.iter_mut();
            match known.find(|(name, _)| name == published.name) {
                Some((_, all)) => *all += sum,
                None => self.attributes.push((published.name.to_owned(), sum)),
            }
        }
    }

    /// The losses of all portions.
    pub(super) fn finish(self) -> Ncp {
        let mut ncp = Ncp {
            sum: 0.0,
            mean: 0.0,
            cells: 0,
            attributes: BTreeMap::new(),
        };
        for (name, sum) in self.attributes {
            let mean = sum / self.rows.max(1) as f64;
            ncp.sum += sum;
            ncp.cells += self.rows;
            ncp.attributes.insert(name, AttributeLoss { sum, mean });
        }
        ncp.mean = ncp.sum / ncp.cells.max(1) as f64;
        ncp
    }
}
