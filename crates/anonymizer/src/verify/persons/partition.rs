//! The two ways in which an adversary can tell rows of persons apart: by the
//! published group number, and by what the quasi-identifiers show.
//!
//! A guarantee about groups must hold for both: groups that look the same are
//! one group to somebody who does not know which of them a target is in, and
//! rows of one number stay together whatever they look like.

use super::super::signature::Signatures;
use super::super::verdict::{Check, Place};
use super::view::PersonsView;

/// Rows in classes, with the most frequent fingerprint of each class.
pub(super) struct Partition<'a> {
    pub(super) classes: &'a Signatures,
    /// Subjects of each class who share its most frequent fingerprint.
    pub(super) largest: Vec<u64>,
}

impl<'a> Partition<'a> {
    pub(super) fn of(view: &PersonsView, classes: &'a Signatures) -> Self {
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

/// Of one check made on several partitions the entry to show: one that fails
/// before one that holds, then the least that is attained.
pub(super) fn least(checks: impl Iterator<Item = Check>) -> Option<Check> {
    checks.min_by(|a, b| {
        let figure = |check: &Check| check.attained.unwrap_or(f64::INFINITY);
        let by_figure = || figure(a).total_cmp(&figure(b));
        a.holds.cmp(&b.holds).then_with(by_figure)
    })
}
