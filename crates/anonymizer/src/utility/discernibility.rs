//! C_DM: the discernibility metric.
//!
//! Σ over groups of size²: every record is charged the number of records it
//! cannot be told from. A group is a published signature: equal cells in all
//! generalized attributes, where "in a bucket" and `*` are cells of their own.
//! Suppressed records are not charged: Vizard publishes none of them.

use serde::Serialize;

use super::class_sizes::ClassSizes;
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Discernibility (C_DM)",
    audience: Audience::Analyst,
    definition: "Sum over groups of size². Groups are records with equal published cells in every generalized attribute.",
    source: "Bayardo & Agrawal 2005, Data privacy through optimal k-anonymization",
};

/// Discernibility of a release.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Discernibility {
    /// Σ size².
    pub c_dm: u64,
    /// The same per record: the mean number of records that a record looks
    /// like, itself included.
    pub per_record: f64,
}

/// Sums up the sizes of groups.
pub(super) fn measure(sizes: &ClassSizes) -> Discernibility {
    // At most 2⁶⁴: there are fewer than 2³² records.
    let squares = sizes.iter();
    let squares = squares.map(|(size, groups)| u64::from(size).pow(2) * groups);
    let c_dm: u64 = squares.sum();
    Discernibility {
        c_dm,
        per_record: c_dm as f64 / sizes.rows().max(1) as f64,
    }
}
