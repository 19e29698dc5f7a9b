//! Attacks that read the contents of single buckets.
//!
//! - Homogeneity: a bucket that one value fills gives that value away. Figure:
//!   the largest share of a value in a bucket; bound: 1/l, or `max_posterior`.
//! - Similarity: values that differ but lie close give their neighbourhood
//!   away. Figure: the least spread of a bucket as a share of what the whole
//!   attribute spans (range, branches of the root, or values).
//! - Skewness (Li et al. 2007): a bucket that differs from the whole tells
//!   more than the whole. Figure: the largest distance, as in `closeness`.

use crate::privacy::Protection;

use super::super::closeness::Reference;
use super::super::diversity::{known_to_within, spread, spread_share};
use super::super::membership::Bucketized;
use super::super::verdict::{Check, Place, Section};
use super::super::view::{AttributeView, View};

/// The position of the largest figure among buckets, with the mean.
fn worst_and_mean(figures: impl Iterator<Item = f64>) -> Option<(usize, f64, f64)> {
    let mut worst: Option<(usize, f64)> = None;
    let (mut sum, mut count) = (0.0_f64, 0_u64);
    for (at, figure) in figures.enumerate() {
        if worst.is_none_or(|(_, most)| figure > most) {
            worst = Some((at, figure));
        }
        sum += figure;
        count += 1;
    }
    worst.map(|(at, most)| (at, most, sum / count as f64))
}

fn entry(kind: &'static str, attribute: &AttributeView) -> Check {
    Check::new(Section::Attack, kind).about(attribute.name)
}

/// Largest share of one value in a bucket.
pub fn homogeneity(view: &View, bucketized: &Bucketized) -> Check {
    let Bucketized {
        index,
        attribute,
        buckets,
        ..
    } = *bucketized;
    let share = |at: usize| buckets.largest_count(at) as f64 / buckets.sizes[at].max(1) as f64;
    let found = worst_and_mean((0..buckets.len()).map(share));
    let protection = view.requirements.protection(index);
    let holds = (0..buckets.len()).all(|at| {
        let (count, size) = (buckets.largest_count(at), buckets.sizes[at]);
        match protection {
            Protection::Diversity { l, .. } => count * u64::from(l.get()) <= size,
            Protection::Closeness { max_posterior, .. } => max_posterior.allows(count, size),
            Protection::Leakage { max_leakage } => max_leakage.allows(count, size),
            Protection::InGroup { .. } => false,
        }
    });
    let bound = match protection {
        Protection::Diversity { l, .. } => 1.0 / f64::from(l.get()),
        Protection::Closeness { max_posterior, .. } => max_posterior.get(),
        Protection::Leakage { max_leakage } => max_leakage.get(),
        Protection::InGroup { .. } => 1.0,
    };
    let place = found.map(|(at, ..)| Place::Bucket(at as u64 + 1));
    let check = entry("homogeneity", attribute)
        .claiming(bound)
        .attaining(found.map(|(_, most, _)| most), place)
        .holding(holds);
    match found {
        Some((_, _, mean)) => check.with_figure("mean", mean),
        None => check,
    }
}

/// Least spread of a bucket, as a share of what the attribute spans.
pub fn similarity(bucketized: &Bucketized) -> Check {
    let Bucketized {
        attribute, buckets, ..
    } = *bucketized;
    let share = spread_share(attribute.domain);
    let found = worst_and_mean((0..buckets.len()).map(|at| -share(buckets.contents(at))));
    let place = found.map(|(at, ..)| Place::Bucket(at as u64 + 1));
    let check = entry("similarity", attribute).attaining(found.map(|(_, most, _)| -most), place);
    let spans = (0..buckets.len()).map(|at| spread(attribute.domain, buckets.contents(at)));
    let check = known_to_within(check, attribute.domain, spans);
    match found {
        Some((_, _, mean)) => check.with_figure("mean", -mean),
        None => check,
    }
}

/// Largest distance of a bucket from all cells in buckets.
pub fn skewness(bucketized: &Bucketized) -> Check {
    let Bucketized {
        attribute, buckets, ..
    } = *bucketized;
    let reference = Reference::of(attribute.domain, buckets);
    let distance = |at: usize| reference.distance(buckets.contents(at)).get();
    let found = worst_and_mean((0..buckets.len()).map(distance));
    let place = found.map(|(at, ..)| Place::Bucket(at as u64 + 1));
    let check = entry("skewness", attribute).attaining(found.map(|(_, most, _)| most), place);
    match found {
        Some((_, _, mean)) => check.with_figure("mean", mean),
        None => check,
    }
}
