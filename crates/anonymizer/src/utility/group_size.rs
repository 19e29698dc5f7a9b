//! Average group size and the histogram of group sizes.
//!
//! Groups are published signatures, as for C_DM; two numbered groups with
//! equal cells are one.

use serde::Serialize;

use super::class_sizes::ClassSizes;
use super::histogram::Histogram;
use super::report::{Audience, Description};

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Group sizes",
    audience: Audience::Analyst,
    definition: "Number of groups, records / groups, smallest and largest group, and how many groups have each size.",
    source: "LeFevre et al. 2006, Mondrian multidimensional k-anonymity (average size)",
};

/// Sizes of the groups of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupSizes {
    /// Number of groups.
    pub groups: u64,
    /// Records per group.
    pub mean: f64,
    /// Records in the smallest group.
    pub min: u32,
    /// Records in the largest group.
    pub max: u32,
    /// Groups by size.
    pub histogram: Histogram,
}

/// Sums up the sizes of groups.
pub(super) fn measure(sizes: &ClassSizes) -> GroupSizes {
    GroupSizes {
        groups: sizes.classes(),
        mean: sizes.rows() as f64 / sizes.classes().max(1) as f64,
        min: sizes.min().unwrap_or(0),
        max: sizes.max().unwrap_or(0),
        histogram: Histogram::of_counted(sizes.iter()),
    }
}
