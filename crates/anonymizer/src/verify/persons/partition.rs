//! The two ways in which an adversary can tell rows of persons apart: by the
//! published group number, and by what the quasi-identifiers show.
//!
//! A guarantee about groups must hold for both: groups that look the same are
//! one group to somebody who does not know which of them a target is in, and
//! rows of one number stay together whatever they look like.

use super::view::PersonsView;
use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::verdict::Place;

/// Rows in classes, with the most frequent fingerprint of each class.
pub(super) struct Partition<'a> {
    pub(super) classes: &'a EquivalenceClasses,
    /// Subjects of each class who share its most frequent fingerprint.
    pub(super) largest: Vec<u64>,
}

impl<'a> Partition<'a> {
    pub(super) fn of(view: &PersonsView, classes: &'a EquivalenceClasses) -> Self {
        let fingerprints = view.meaning_of_row.iter().max();
        let mut counts = vec![0_u64; fingerprints.map_or(0, |&last| last as usize + 1)];
        let largest = (0..classes.len()).map(|class| {
            let rows = classes.rows(class).iter().map(|&row| row as usize);
            let rows = rows.filter(|&row| view.subject(row).is_some());
            let mut largest = 0;
            for row in rows.clone() {
                let count = &mut counts[view.meaning_of_row[row] as usize];
                *count += 1;
                largest = largest.max(*count);
            }
            for row in rows {
                counts[view.meaning_of_row[row] as usize] = 0;
            }
            largest
        });
        Self {
            largest: largest.collect(),
            classes,
        }
    }

    pub(super) fn place(&self, view: &PersonsView, class: usize) -> Place {
        Place::Group(self.classes.group_number(view.group, class))
    }
}
