//! Linkage: an adversary who knows all public values of a target picks one of
//! the rows that fit.
//!
//! - Prosecutor: knows that the target is in the table; risk 1 / (subjects
//!   that look the same), for the worst target and on average.
//! - Marketer: wants as many right links as possible; expects one a group, so
//!   its rate is groups / records, which is the prosecutor's mean.
//! - Journalist: needs a population table, which the report is measured with and
//!   the verification is not; the prosecutor is the journalist's upper bound.
//!
//! The bound is 1/K of each group's members, the K of k-anonymity.

use crate::verify::equivalence::EquivalenceClasses;
use crate::verify::k_anonymity::LargestK;
use crate::verify::verdict::{Check, Place, Section};

/// Risk of linking a subject to its row.
pub fn linkage(group: &[u64], alike: &EquivalenceClasses, largest_k: &LargestK) -> Check {
    let subjects: u64 = alike.sizes.iter().sum();
    let occupied = alike.sizes.iter().filter(|&&size| size > 0).count();
    let smallest = (0..alike.len()).min_by_key(|&class| alike.sizes[class]);
    let risk = smallest.map(|class| 1.0 / alike.sizes[class].max(1) as f64);
    let kept =
        (0..alike.len()).all(|class| alike.sizes[class] >= u64::from(largest_k.of_class[class]));
    let mean = occupied as f64 / subjects.max(1) as f64;
    let place = smallest.map(|class| Place::Group(alike.group_number(group, class)));
    Check::new(Section::Attack, "linkage")
        .claiming(1.0 / f64::from(largest_k.floor))
        .attaining(risk, place)
        .holding(kept)
        .with_figure("prosecutor_mean", mean)
        .with_figure("marketer", mean)
        .weighing(subjects)
}
