//! How many fingerprints are told apart, how many persons share each, and how
//! many items they have; as published, and as they were.
//!
//! A fingerprint is what a person has in all sensitive attributes together.
//! Published items are nodes, or nodes joined into one; a masked cell is one
//! item, the root.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::release::{Cell, Content};

use super::prepared::PreparedPersons;
use crate::utility::histogram::Histogram;
use crate::utility::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Published fingerprints",
    audience: Audience::Analyst,
    definition: "Number of distinct published fingerprints over all sensitive attributes, persons who share each (how many fingerprints have that many), share of persons with the commonest, and persons by number of published items.",
    source: "1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems (fingerprint buckets); histograms are ours",
};

/// The same of the originals.
pub const DESCRIPTION_ORIGINAL: Description = Description {
    title: "Original fingerprints",
    audience: Audience::Steward,
    definition: "Number of distinct fingerprints that the published persons had over all sensitive attributes, and persons by number of distinct items.",
    source: "1:M: Gong et al. 2017, Anonymizing 1:M microdata with high utility, Knowledge-Based Systems; histograms are ours",
};

/// Fingerprints of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fingerprints {
    /// Number of distinct fingerprints.
    pub fingerprints: u64,
    /// Persons per fingerprint.
    pub mean: f64,
    /// Persons with the rarest fingerprint.
    pub min: u32,
    /// Persons with the commonest fingerprint.
    pub max: u32,
    /// Share of all persons who have the commonest fingerprint.
    pub largest_share: f64,
    /// Fingerprints by number of persons.
    pub persons: Histogram,
    /// Items per person.
    pub mean_items: f64,
    /// Persons by number of items.
    pub items: Histogram,
}

/// Fingerprints that the published persons had.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OriginalFingerprints {
    /// Number of distinct fingerprints.
    pub fingerprints: u64,
    /// Distinct items per person.
    pub mean_items: f64,
    /// Persons by number of distinct items.
    pub items: Histogram,
}

/// Counts the published fingerprints.
pub fn measure(prepared: &PreparedPersons<'_>) -> Fingerprints {
    let sizes = prepared.fingerprints.sizes();
    let persons = prepared.joined.rows().max(1) as f64;
    let items = published_items(prepared);
    let max = sizes.iter().copied().max().unwrap_or(0);
    Fingerprints {
        fingerprints: sizes.len() as u64,
        mean: prepared.joined.rows() as f64 / sizes.len().max(1) as f64,
        min: sizes.iter().copied().min().unwrap_or(0),
        max,
        largest_share: f64::from(max) / persons,
        persons: Histogram::of_whole(sizes.iter().copied()),
        mean_items: mean(&items),
        items: Histogram::of_whole(items.iter().copied()),
    }
}

/// Counts the original fingerprints of the published persons.
pub fn measure_original(prepared: &PreparedPersons<'_>) -> OriginalFingerprints {
    let rows = prepared.joined.rows();
    let mut items = vec![0_u32; rows];
    // Codes of all attributes behind one another, each list behind its length.
    let mut whole: Vec<Vec<u32>> = vec![Vec::new(); rows];
    for (_, originals) in prepared.sensitive() {
        for (row, whole) in whole.iter_mut().enumerate() {
            let codes = originals.of_row(row);
            items[row] += codes.len() as u32;
            whole.push(codes.len() as u32);
            whole.extend_from_slice(codes);
        }
    }
    let distinct: FxHashSet<&[u32]> = whole.iter().map(Vec::as_slice).collect();
    OriginalFingerprints {
        fingerprints: distinct.len() as u64,
        mean_items: mean(&items),
        items: Histogram::of_whole(items.iter().copied()),
    }
}

/// Number of published items of each person.
fn published_items(prepared: &PreparedPersons<'_>) -> Vec<u32> {
    let mut items = vec![0_u32; prepared.joined.rows()];
    let attributes = prepared.joined.attributes().iter();
    for attribute in attributes.filter(|attribute| attribute.content == Content::Fingerprint) {
        let of_cell = |cell: &Cell| match cell {
            Cell::Items(items) => items.len() as u32,
            Cell::Empty => 0,
            _ => 1,
        };
        let of_cell: Vec<u32> = attribute.cells.iter().map(of_cell).collect();
        for (items, code) in items.iter_mut().zip(attribute.codes.iter()) {
            *items += of_cell[code as usize];
        }
    }
    items
}

fn mean(items: &[u32]) -> f64 {
    let sum: u64 = items.iter().map(|&items| u64::from(items)).sum();
    sum as f64 / items.len().max(1) as f64
}
