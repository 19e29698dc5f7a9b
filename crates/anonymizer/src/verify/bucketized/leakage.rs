//! The guarantee `max_leakage` of a bucketized release: each subject's own
//! terms hold.
//!
//! For every published record the ratio of what is attained to what its terms
//! accept, at most 1:
//! - k / (subjects that cannot be told apart);
//! - per cell in a bucket under l-diversity, l · (largest count) / size;
//! - per cell in a bucket under t-closeness, (largest count / size) / share.

use super::Bucketized;
use crate::privacy::InBucket;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::leakage::Worst;
use crate::verify::verdict::{Check, Place};
use crate::verify::view::View;

/// The largest ratio over all published records.
pub(super) fn max_leakage(
    view: &View,
    alike: &EquivalenceClasses,
    bucketized: &[Bucketized],
) -> Check {
    let mut worst = Worst::default();
    for row in 0..view.rows() {
        if let Some(terms) = view.terms(row) {
            let size = alike.sizes[alike.class(row)];
            worst.take_k(terms.k, size, Place::Group(view.group[row]));
        }
    }
    for parts in bucketized {
        let (classes, at) = (&parts.classes, parts.classes.index.at());
        for row in 0..view.rows() {
            let class = classes.members.class_of(row);
            let (Some(terms), Some(class)) = (view.terms(row), class) else {
                continue;
            };
            let (largest, place) = (classes.largest(class), classes.place(class));
            match parts.protection {
                InBucket::Diversity { .. } => worst.take_l(terms.l[at], largest, place),
                InBucket::Closeness { .. } => {
                    worst.take_share(terms.max_share[at], largest, place);
                }
            }
        }
    }
    worst.check("cells_beyond_their_terms")
}
