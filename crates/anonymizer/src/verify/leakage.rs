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
pub(super) struct Ratio {
    pub(super) attained: u128,
    pub(super) accepted: u128,
    pub(super) place: Place,
}

impl Ratio {
    fn get(&self) -> f64 {
        float(self.attained) / float(self.accepted.max(1))
    }

    fn holds(&self) -> bool {
        self.attained <= self.accepted
    }
}

/// The nearest float. Nearly every number has at most 64 bits, and machines
/// convert no larger one themselves.
fn float(number: u128) -> f64 {
    match u64::try_from(number) {
        Ok(number) => number as f64,
        Err(_) => number as f64,
    }
}

/// The largest of the ratios seen, and how many go beyond what is accepted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Worst {
    /// The ratio, and what it is as a number.
    ratio: Option<(Ratio, f64)>,
    exceeded: u64,
}

impl Worst {
    pub(super) fn take(&mut self, ratio: Ratio) {
        self.exceeded += u64::from(!ratio.holds());
        let number = ratio.get();
        if self.ratio.is_none_or(|(_, worst)| number > worst) {
            self.ratio = Some((ratio, number));
        }
    }

    /// The guarantee; `beyond` names the figure of those that go beyond.
    pub(super) fn check(&self, beyond: &'static str) -> Check {
        Check::new(Section::Guarantee, "max_leakage")
            .about("*")
            .claiming(1.0)
            .attaining(
                self.ratio.map(|(_, number)| number),
                self.ratio.map(|(ratio, _)| ratio.place),
            )
            .holding(self.exceeded == 0)
            .with_figure(beyond, self.exceeded as f64)
            .noting("largest ratio of what is attained to what the subject's own terms accept")
    }
}

/// The largest ratio over all published records.
pub(super) fn max_leakage(
    view: &View,
    signatures: &Signatures,
    bucketized: &[Bucketized],
) -> Check {
    let mut worst = Worst::default();
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        worst.take(Ratio {
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
                Protection::Closeness { .. }
                | Protection::Leakage { .. }
                | Protection::InGroup { .. } => (
                    largest * u128::from(Share::WHOLE_PARTS),
                    size * u128::from(terms.max_share[index.at()].parts()),
                ),
            };
            worst.take(Ratio {
                attained,
                accepted,
                place: Place::Bucket(u64::from(at) + 1),
            });
        }
    }
    worst.check("cells_beyond_their_terms")
}
