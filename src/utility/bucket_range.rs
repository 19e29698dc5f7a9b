//! Bucket range: how far apart the values of a bucket lie.
//!
//! (max − min)/range of each bucket, per attribute, mean and histogram, beside
//! the sizes of the buckets. Values lie at their number, at the position of
//! their leaf, or at their rank. The range is that which the release shows.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::release::Buckets;

use super::evidence::Prepared;
use super::histogram::Histogram;
use super::report::{Audience, Description};
use super::scale::Scale;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Bucket range",
    audience: Audience::Analyst,
    definition: "Per attribute: mean and histogram over buckets of (max − min)/range, and of the number of cells. Leaves lie at their position, categories without a hierarchy at their rank.",
    source: "LGB (evaluation of bucketization); range as the release shows it",
};

/// Bars of the histogram of ranges.
const BINS: usize = 20;

/// Ranges of the buckets of a release.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BucketRange {
    /// Per attribute with buckets.
    pub attributes: BTreeMap<String, AttributeBuckets>,
}

/// Ranges and sizes of the buckets of one attribute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AttributeBuckets {
    /// Number of buckets.
    pub buckets: u64,
    /// Mean of (max − min)/range.
    pub mean_range: f64,
    /// Buckets by (max − min)/range.
    pub ranges: Histogram,
    /// Mean number of cells.
    pub mean_size: f64,
    /// Buckets by number of cells.
    pub sizes: Histogram,
}

/// Measures all buckets.
pub fn measure(prepared: &Prepared<'_>) -> BucketRange {
    let mut attributes = BTreeMap::new();
    for attribute in prepared.attributes() {
        let Some(buckets) = &attribute.published.buckets else {
            continue;
        };
        let scale = Scale::of_published(attribute.published, attribute.domain().hierarchy());
        attributes.insert(attribute.published.name.to_owned(), sum_up(buckets, &scale));
    }
    BucketRange { attributes }
}

fn sum_up(buckets: &Buckets<'_>, scale: &Scale) -> AttributeBuckets {
    let places: Vec<Option<f64>> = buckets
        .cells()
        .iter()
        .map(|cell| scale.place(cell))
        .collect();
    let span = scale.span();
    let ranges: Vec<f64> = (0..buckets.len())
        .map(|bucket| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            for place in buckets
                .coded_run(bucket)
                .filter_map(|(value, _)| places[value as usize])
            {
                (lo, hi) = (lo.min(place), hi.max(place));
            }
            if span > 0.0 && hi > lo {
                (hi - lo) / span
            } else {
                0.0
            }
        })
        .collect();
    let count = buckets.len().max(1) as f64;
    let cells: u64 = buckets.sizes().iter().map(|&size| u64::from(size)).sum();
    AttributeBuckets {
        buckets: buckets.len() as u64,
        mean_range: ranges.iter().sum::<f64>() / count,
        ranges: Histogram::of_shares(ranges.iter().copied(), BINS),
        mean_size: cells as f64 / count,
        sizes: Histogram::of_whole(buckets.sizes().iter().copied()),
    }
}
