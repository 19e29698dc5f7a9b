//! The two ways in which an adversary can tell rows apart: by what the
//! quasi-identifiers show, and by the published group number.
//!
//! Groups that look the same are one group to somebody who does not know which
//! of them a target is in, and rows of one number stay together whatever they
//! look like. A guarantee about groups is checked in both ways.

use super::verdict::Check;

/// Which of two figures of a check is the worse one.
#[derive(Clone, Copy, Debug)]
pub(super) enum Worse {
    Less,
    More,
}

/// Of one check made in several ways the entry to show: one that fails before
/// one that holds, then the one with the worse figure.
pub(super) fn worst(checks: Vec<Check>, worse: Worse) -> Option<Check> {
    checks.into_iter().min_by(|one, other| {
        let figures = match (worse, one.attained, other.attained) {
            (Worse::Less, Some(one), Some(other)) => one.total_cmp(&other),
            (Worse::More, Some(one), Some(other)) => other.total_cmp(&one),
            // What could not be measured tells least.
            (_, one, other) => other.is_some().cmp(&one.is_some()),
        };
        one.holds.cmp(&other.holds).then(figures)
    })
}
