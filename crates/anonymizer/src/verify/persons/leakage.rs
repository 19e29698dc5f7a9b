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

use super::super::leakage::{Ratio, Worst};
use super::super::verdict::{Check, Place};
use super::partition::Partition;
use super::view::PersonsView;

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
        let k = u128::from(terms.own.k);
        let l = u128::from(terms.own.l.iter().copied().max().unwrap_or(1));
        for partition in partitions {
            let class = partition.classes.class_of_row[row] as usize;
            let size = u128::from(partition.classes.sizes[class]);
            let place = partition.place(view, class);
            let largest = u128::from(partition.largest[class]);
            for attained in [k, l * largest] {
                worst.take(Ratio {
                    attained,
                    accepted: size,
                    place,
                });
            }
        }
        if let Some(sharers) = sharers {
            worst.take(Ratio {
                attained: k,
                accepted: u128::from(sharers[view.look_of_row[row] as usize]),
                place: Place::Group(view.group[row]),
            });
        }
    }
    worst.check("terms_not_kept")
}
