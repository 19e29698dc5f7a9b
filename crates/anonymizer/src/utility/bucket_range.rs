//! Bucket range: how far apart the values of a bucket lie.
//!
//! (max − min)/range of each bucket, per attribute, mean and histogram, beside
//! the sizes of the buckets. Values lie at their number, at the position of
//! their leaf, or at their rank. The range is that which the release shows.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::release::Buckets;

use super::evidence::JoinedEvidence;
use super::histogram::Histogram;
use super::report::{Audience, Description};
use super::scale::Scale;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Bucket range",
    audience: Audience::Analyst,
    definition: "Per attribute: mean and histogram over buckets of (max − min)/range, and of the number of cells; and the two values that share buckets most: the share of one's buckets that the other is in, beside the share of all buckets (chance). Leaves lie at their position, categories without a hierarchy at their rank.",
    source: "LGB (evaluation of bucketization); range as the release shows it",
};

/// Bars of the histogram of ranges.
const BINS: usize = 20;

/// Values whose pairs are counted at most, and values of a bucket that is read.
const PAIRED_VALUES_MAX: usize = 64;
/// Buckets that a value must be in: in fewer, chance alone pairs it with another.
const PAIRED_BUCKETS_MIN: usize = 20;

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
    /// The two values that share buckets most beyond chance; none where no
    /// value is in enough buckets to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing: Option<Pairing>,
}

/// How often one value shares the buckets of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Pairing {
    /// Share of the buckets of a value in which the other is too.
    pub share: f64,
    /// Share of all buckets that the other is in: what chance would bring.
    pub chance: f64,
}

/// Measures all buckets.
pub fn measure(prepared: &JoinedEvidence<'_>) -> BucketRange {
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
        pairing: pairing(buckets),
    }
}

/// The pair of values of which one is in the most buckets of the other beyond
/// the share of all buckets that it is in. Of the most frequent values, and of
/// buckets that are not so large that they hold most values anyway.
fn pairing(buckets: &Buckets<'_>) -> Option<Pairing> {
    let distinct = buckets.cells().len();
    let small = (0..buckets.len()).filter(|&at| buckets.coded_run(at).count() <= PAIRED_VALUES_MAX);
    let small: Vec<usize> = small.collect();
    let mut of_value = vec![Vec::new(); distinct];
    for &bucket in &small {
        for (value, _) in buckets.coded_run(bucket) {
            of_value[value as usize].push(bucket);
        }
    }
    let mut values: Vec<usize> = (0..distinct).collect();
    values.sort_by_key(|&value| std::cmp::Reverse(of_value[value].len()));
    values.truncate(PAIRED_VALUES_MAX);
    let mut worst: Option<Pairing> = None;
    let mut together = vec![0_u64; distinct];
    for value in values {
        let own = &of_value[value];
        if own.len() < PAIRED_BUCKETS_MIN {
            break;
        }
        together.fill(0);
        for &bucket in own {
            for (other, _) in buckets.coded_run(bucket) {
                together[other as usize] += 1;
            }
        }
        for (other, &count) in together.iter().enumerate().filter(|(at, _)| *at != value) {
            let found = Pairing {
                share: count as f64 / own.len() as f64,
                chance: of_value[other].len() as f64 / small.len() as f64,
            };
            let beyond = |pairing: &Pairing| pairing.share - pairing.chance;
            if worst.is_none_or(|worst| beyond(&found) > beyond(&worst)) {
                worst = Some(found);
            }
        }
    }
    worst
}
