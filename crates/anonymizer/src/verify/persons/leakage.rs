//! The guarantee `max_leakage` of persons: each subject's own terms hold.
//!
//! For every published subject the ratio of what is attained to what their own
//! terms accept, at most 1, in the group that the table names and among all
//! who look the same:
//! - k / (subjects of the group);
//! - l · (most frequent fingerprint) / (subjects of the group), l the largest
//!   over the sensitive attributes;
//! - `one_to_many`: k / (subjects who share the published fingerprint);
//! - `rmr`: k / (subjects who share a combination), handed in by `km`.

use super::partition::Partition;
use super::view::PersonsView;
use crate::verify::leakage::Worst;
use crate::verify::verdict::{Check, Place};

/// The check; `worst` has what was seen elsewhere, `sharers` the subjects of
/// each published fingerprint where its k counts them.
pub(super) fn max_leakage(
    view: &PersonsView,
    partitions: &[Partition],
    sharers: Option<&[u64]>,
    mut worst: Worst,
) -> Check {
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let k = terms.own.k;
        let l = terms.own.l.iter().copied().max().unwrap_or(1);
        for partition in partitions {
            let class = partition.classes.class(row);
            let size = partition.classes.sizes[class];
            let place = partition.place(view, class);
            worst.take_k(k, size, place);
            worst.take_l(l, (partition.largest[class], size), place);
        }
        if let Some(sharers) = sharers {
            let sharing = sharers[view.reading_of_row[row] as usize];
            worst.take_k(k, sharing, Place::Group(view.group[row]));
        }
    }
    worst.check("terms_not_kept")
}
