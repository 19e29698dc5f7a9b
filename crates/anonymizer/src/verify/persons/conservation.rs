//! Every subject once: each published row is about a subject of its own, and
//! those that are published and those that are excluded make up the source.

use crate::verify::conservation::{excluded_are_the_rest, rows_of_their_own};
use crate::verify::evidence::Evidence;
use crate::verify::shape::PERSONS;
use crate::verify::verdict::{Check, Failures};

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
