//! Linkage: an adversary who knows all public values of a target picks one of
//! the rows that fit.
//!
//! - Prosecutor: knows that the target is in the table; risk 1 / (subjects
//!   that look the same), for the worst target and on average.
//! - Marketer: wants as many right links as possible; expects one a group, so
//!   its rate is groups / records, which is the prosecutor's mean.
//! - Journalist: needs a table of the population, which no job has; with none
//!   the prosecutor is the journalist's upper bound.
//!
//! The bound is 1/K of each group's members, the K of k-anonymity.

use super::super::k_anonymity::LargestK;
use super::super::signature::Signatures;
use super::super::verdict::{Check, Place, Section};

/// Risk of linking a subject to its row.
pub fn linkage(group: &[u64], signatures: &Signatures, largest_k: &LargestK) -> Check {
    let subjects: u64 = signatures.sizes.iter().sum();
    let occupied = signatures.sizes.iter().filter(|&&size| size > 0).count();
    let smallest = (0..signatures.len()).min_by_key(|&class| signatures.sizes[class]);
    let risk = smallest.map(|class| 1.0 / signatures.sizes[class].max(1) as f64);
    let kept = (0..signatures.len())
        .all(|class| signatures.sizes[class] >= u64::from(largest_k.of_class[class]));
    let mean = occupied as f64 / subjects.max(1) as f64;
    let place = smallest.map(|class| Place::Group(signatures.group_number(group, class)));
    Check::new(Section::Attack, "linkage")
        .claiming(1.0 / f64::from(largest_k.floor))
        .attaining(risk, place)
        .holding(kept)
        .with_figure("prosecutor_mean", mean)
        .with_figure("marketer", mean)
}
