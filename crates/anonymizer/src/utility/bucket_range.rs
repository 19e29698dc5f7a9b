//! Bucket range: how far apart the values of a bucket lie.
//!
//! (max − min)/range of each bucket, per attribute, mean and histogram, beside
//! the sizes of the buckets. Values lie at their number, at the position of
//! their leaf, or at their rank. The range is that which the release shows.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::release::Buckets;

use super::class_sizes::ClassSizes;
use super::evidence::JoinedEvidence;
use super::histogram::Histogram;
use super::pairing::{Pairing, Together};
use super::report::{Audience, Description};
use super::scale::Scale;
use super::whole::Whole;

/// What this measure is.
pub const DESCRIPTION: Description = Description {
    title: "Bucket range",
    audience: Audience::Analyst,
    definition: "Per attribute: mean and histogram over buckets of (max − min)/range, and of the number of cells; and the two values that share buckets most: the share of one's buckets that the other is in, beside the share of all buckets (chance). Leaves lie at their position, categories without a hierarchy at their rank.",
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
    /// The two values that share buckets most beyond chance; none where no
    /// value is in enough buckets to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairing: Option<Pairing>,
}

/// Measures all buckets of a release at once.
pub(super) fn measure(prepared: &JoinedEvidence<'_>, whole: &Whole) -> BucketRange {
    let mut sums = BucketRangeSums::of(whole);
    sums.add(prepared, whole);
    sums.finish()
}

/// Ranges of buckets, added up portion by portion.
#[derive(Debug)]
pub(super) struct BucketRangeSums {
    /// One for each attribute, in order of columns; none of one without buckets.
    attributes: Vec<Option<(String, AttributeSums)>>,
}

/// Ranges of the buckets of an attribute.
#[derive(Debug)]
struct AttributeSums {
    scale: Scale,
    buckets: u64,
    range: f64,
    ranges: [u64; BINS],
    cells: u64,
    sizes: ClassSizes,
    pairing: Together,
}

impl BucketRangeSums {
    /// No bucket yet of the attributes that have some in the whole release.
    pub(super) fn of(whole: &Whole) -> Self {
        let attributes = whole.attributes().iter().map(|attribute| {
            let shared = attribute.shared.as_ref()?;
            let sums = AttributeSums {
                scale: attribute.scale(),
                buckets: 0,
                // What a sum of nothing is, to the bit.
                range: -0.0,
                ranges: [0; BINS],
                cells: 0,
                sizes: ClassSizes::default(),
                pairing: Together::of(shared),
            };
            Some((attribute.name.clone(), sums))
        });
        Self {
            attributes: attributes.collect(),
        }
    }

    /// Adds the buckets of a portion.
    pub(super) fn add(&mut self, prepared: &JoinedEvidence<'_>, whole: &Whole) {
        let known = self.attributes.iter_mut().zip(whole.attributes());
        for (attribute, (sums, of_whole)) in prepared.attributes().zip(known) {
            let buckets = attribute.published.buckets.as_ref();
            let sums = sums.as_mut().map(|(_, sums)| sums);
            if let (Some(buckets), Some(sums), Some(shared)) = (buckets, sums, &of_whole.shared) {
                sums.add(buckets);
                let positions = shared.positions(attribute.domain(), buckets);
                sums.pairing.add(buckets, &positions);
            }
        }
    }

    /// The ranges of all portions.
    pub(super) fn finish(self) -> BucketRange {
        let attributes = self.attributes.into_iter().flatten();
        BucketRange {
            attributes: attributes
                .map(|(name, sums)| (name, sums.finish()))
                .collect(),
        }
    }
}

impl AttributeSums {
    fn add(&mut self, buckets: &Buckets<'_>) {
        let places: Vec<Option<f64>> = buckets
            .cells()
            .iter()
            .map(|cell| self.scale.place(cell))
            .collect();
        let span = self.scale.span();
        let ranges = (0..buckets.len()).map(|bucket| {
            let (mut lo, mut hi) = (f64::INFINITY, f64::NEG_INFINITY);
            for place in buckets
                .coded_run(bucket)
                .filter_map(|(value, _)| places[value as usize])
            {
                (lo, hi) = (lo.min(place), hi.max(place));
            }
            let range = if span > 0.0 && hi > lo {
                (hi - lo) / span
            } else {
                0.0
            };
            self.ranges[Histogram::bar_of_share(range, BINS)] += 1;
            range
        });
        self.range += ranges.sum::<f64>();
        self.buckets += buckets.len() as u64;
        let sizes = buckets.sizes();
        self.cells += sizes.iter().map(|&size| u64::from(size)).sum::<u64>();
        self.sizes.add(sizes);
    }

    fn finish(self) -> AttributeBuckets {
        let count = self.buckets.max(1) as f64;
        AttributeBuckets {
            buckets: self.buckets,
            mean_range: self.range / count,
            ranges: Histogram::from_share_counts(&self.ranges),
            mean_size: self.cells as f64 / count,
            sizes: Histogram::of_counted(self.sizes.iter()),
            pairing: self.pairing.finish(),
        }
    }
}
