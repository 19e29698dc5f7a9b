//! The guarantee `max_leakage`: each subject's own terms hold.
//!
//! For every published record the ratio of what is attained to what its terms
//! accept, at most 1:
//! - k / (subjects that look the same);
//! - per cell in a bucket under l-diversity, l · (largest count) / size;
//! - per cell in a bucket under t-closeness, (largest count / size) / share.
//!
//! Attained is the largest ratio. It is decided in integers; the figure alone
//! is a float.

use crate::privacy::{Protection, Share};

use super::membership::Bucketized;
use super::signature::Signatures;
use super::verdict::{Check, Place, Section};
use super::view::{NONE, View};

/// A ratio of attained to accepted, and where it occurs.
#[derive(Clone, Copy, Debug)]
struct Ratio {
    attained: u128,
    accepted: u128,
    place: Place,
}

impl Ratio {
    fn get(&self) -> f64 {
        self.attained as f64 / self.accepted.max(1) as f64
    }

    fn holds(&self) -> bool {
        self.attained <= self.accepted
    }
}

/// The largest ratio over all published records.
pub(super) fn max_leakage(
    view: &View,
    signatures: &Signatures,
    bucketized: &[Bucketized],
) -> Check {
    let mut worst: Option<Ratio> = None;
    let mut exceeded = 0_u64;
    let mut take = |ratio: Ratio| {
        exceeded += u64::from(!ratio.holds());
        if worst.is_none_or(|worst| ratio.get() > worst.get()) {
            worst = Some(ratio);
        }
    };
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        take(Ratio {
            attained: u128::from(terms.k),
            accepted: u128::from(signatures.sizes[signatures.class_of_row[row] as usize]),
            place: Place::Group(view.group[row]),
        });
    }
    for attribute in bucketized {
        let Bucketized {
            index,
            buckets,
            members,
            ..
        } = *attribute;
        let protection = view.requirements.protection(index);
        for row in 0..view.rows() {
            let at = members.bucket_of_row[row];
            let Some(terms) = view.terms(row).filter(|_| at != NONE) else {
                continue;
            };
            let largest = u128::from(buckets.largest_count(at as usize));
            let size = u128::from(buckets.sizes[at as usize]);
            let (attained, accepted) = match protection {
                Protection::Diversity { .. } => (largest * u128::from(terms.l[index.at()]), size),
                Protection::Closeness { .. } => (
                    largest * u128::from(Share::WHOLE_PARTS),
                    size * u128::from(terms.max_share[index.at()].parts()),
                ),
            };
            take(Ratio {
                attained,
                accepted,
                place: Place::Bucket(u64::from(at) + 1),
            });
        }
    }
    Check::new(Section::Guarantee, "max_leakage")
        .about("*")
        .claiming(1.0)
        .attaining(
            worst.map(|ratio| ratio.get()),
            worst.map(|ratio| ratio.place),
        )
        .holding(exceeded == 0)
        .with_figure("cells_beyond_their_terms", exceeded as f64)
        .noting("largest ratio of what is attained to what the subject's own terms accept")
}
