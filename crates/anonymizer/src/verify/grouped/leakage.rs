//! The guarantee `max_leakage` of groups: each subject's own terms hold.
//!
//! For every published record the ratio of what is attained to what its terms
//! accept, at most 1, in the group that the table names and among all who look
//! the same:
//! - k / (subjects of the group);
//! - per sensitive attribute, l · (largest count) / size, and
//!   (largest count / size) / share.

use crate::privacy::Share;

use super::super::leakage::{Ratio, Worst};
use super::super::signature::Signatures;
use super::super::verdict::{Check, Place};
use super::super::view::View;
use super::values::Values;

/// The largest ratio over all published records, in all ways.
pub(super) fn max_leakage(view: &View, ways: &[&Signatures], values: &[Vec<Values>]) -> Check {
    let mut worst = Worst::default();
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let place = Place::Group(view.group[row]);
        for classes in ways {
            worst.take(Ratio {
                attained: u128::from(terms.k),
                accepted: u128::from(classes.sizes[classes.class_of_row[row] as usize]),
                place,
            });
        }
        for values in values.iter().flatten() {
            let class = values.classes.class_of_row[row] as usize;
            let largest = u128::from(values.contents.largest_count(class));
            let size = u128::from(values.contents.sizes[class]);
            let (l, share) = (
                terms.l[values.index.at()],
                terms.max_share[values.index.at()],
            );
            worst.take(Ratio {
                attained: largest * u128::from(l),
                accepted: size,
                place,
            });
            worst.take(Ratio {
                attained: largest * u128::from(Share::WHOLE_PARTS),
                accepted: size * u128::from(share.parts()),
                place,
            });
        }
    }
    worst.check("terms_not_kept")
}
