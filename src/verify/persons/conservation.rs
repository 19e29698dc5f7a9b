//! Every subject once: each published row is about a subject of its own, and
//! those that are published and those that are excluded make up the source.

use super::super::evidence::Evidence;
use super::super::shape::PERSONS;
use super::super::verdict::{Check, Failures, Place};

/// `every_subject_once`. Needs no view: it speaks even where columns are
/// missing.
pub(super) fn every_subject_once(evidence: &Evidence) -> Check {
    let mut failures = Failures::none();
    let rows = evidence.published(PERSONS).map_or(0, |table| table.rows());
    let subjects = evidence.lineage.of(PERSONS).unwrap_or_default();
    if subjects.len() != rows {
        failures.add("the lineage has more or fewer rows than the table");
    }
    let mut seen = vec![false; evidence.table.subjects()];
    for (row, subject) in subjects.iter().enumerate() {
        let new = seen
            .get_mut(subject.at())
            .is_some_and(|seen| !std::mem::replace(seen, true));
        if !new {
            failures.add_at(PERSONS, Place::Row(row as u64 + 1));
        }
    }
    let manifest = evidence.manifest;
    if manifest.records != rows as u64 {
        failures.add("the manifest counts more or fewer subjects than are published");
    }
    let all = manifest.records.checked_add(manifest.excluded);
    if all != Some(evidence.table.subjects() as u64) {
        failures.add("published and excluded subjects are not those of the source");
    }
    Check::structure("every_subject_once", &failures)
}
