//! Every subject once: each published row is about a subject of its own, and
//! those that are published and those that are excluded make up the source.

use super::super::conservation::{excluded_are_the_rest, rows_of_their_own};
use super::super::evidence::Evidence;
use super::super::shape::PERSONS;
use super::super::verdict::{Check, Failures};

/// `every_subject_once`. Needs no view: it speaks even where columns are
/// missing.
pub fn every_subject_once(evidence: &Evidence) -> Check {
    let mut failures = Failures::none();
    let rows = rows_of_their_own(evidence, PERSONS, &mut failures);
    let manifest = evidence.manifest;
    if manifest.records != rows as u64 {
        failures.add("the manifest counts more or fewer subjects than are published");
    }
    excluded_are_the_rest(evidence, &mut failures);
    Check::structure("every_subject_once", &failures)
}
