//! The guarantee `max_leakage` of groups: each subject's own terms hold.
//!
//! For every published record the ratio of what is attained to what its terms
//! accept, at most 1, in the group that the table names and among all who
//! cannot be told apart:
//! - k / (subjects of the group);
//! - per sensitive attribute, l · (largest count) / size, and
//!   (largest count / size) / share.

use crate::verify::classes::Classes;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::leakage::Worst;
use crate::verify::verdict::{Check, Place};
use crate::verify::view::View;

/// The largest ratio over all published records, in all ways.
pub(super) fn max_leakage(
    view: &View,
    ways: &[&EquivalenceClasses],
    values: &[Vec<Classes>],
) -> Check {
    let mut worst = Worst::default();
    for row in 0..view.rows() {
        let Some(terms) = view.terms(row) else {
            continue;
        };
        let place = Place::Group(view.group[row]);
        for alike in ways {
            worst.take_k(terms.k, alike.sizes[alike.class(row)], place);
        }
        for classes in values.iter().flatten() {
            let (class, at) = (
                classes.members.class_of_row[row] as usize,
                classes.index.at(),
            );
            let largest = classes.largest(class);
            worst.take_l(terms.l[at], largest, place);
            worst.take_share(terms.max_share[at], largest, place);
        }
    }
    worst.check("terms_not_kept")
}
