//! k-anonymity on the published signature (Samarati & Sweeney 1998; personal
//! k: the group must satisfy the largest k of its members).
//!
//! For each row: the number of distinct subjects that look the same is at
//! least k of the policy and at least the k that any of those subjects asks
//! for.

use super::equivalence::EquivalenceClasses;
use super::verdict::{Check, Place, Section};

/// The largest k that policy or a member asks for, class by class.
#[derive(Debug)]
pub(super) struct LargestK {
    /// That of the policy.
    pub(super) floor: u32,
    pub(super) of_class: Vec<u32>,
}

impl LargestK {
    /// `asked` is the k of a row's subject, where it has one.
    pub(super) fn of(
        alike: &EquivalenceClasses,
        floor: u32,
        asked: impl Fn(usize) -> Option<u32>,
    ) -> Self {
        let largest = |class: usize| {
            let rows = alike.rows(class).iter();
            let asked = rows.filter_map(|&row| asked(row as usize));
            asked.max().unwrap_or(floor).max(floor)
        };
        Self {
            floor,
            of_class: (0..alike.len()).map(largest).collect(),
        }
    }
}

/// The guarantee `k_anonymity`: attained is the size of the smallest class.
pub(super) fn k_anonymity(
    group: &[u64],
    alike: &EquivalenceClasses,
    largest_k: &LargestK,
) -> Check {
    let short = |class: &usize| alike.sizes[*class] < u64::from(largest_k.of_class[*class]);
    let shortfalls = (0..alike.len()).filter(short).count();
    let smallest = (0..alike.len()).min_by_key(|&class| alike.sizes[class]);
    // The worst is the one that falls short; among those the smallest.
    let worst = (0..alike.len())
        .filter(short)
        .min_by_key(|&class| alike.sizes[class]);
    let place = worst
        .or(smallest)
        .map(|class| Place::Group(alike.group_number(group, class)));
    Check::new(Section::Guarantee, "k_anonymity")
        .claiming(f64::from(largest_k.floor))
        .attaining(smallest.map(|class| alike.sizes[class] as f64), place)
        .holding(shortfalls == 0)
        .with_figure("groups", alike.len() as f64)
        .with_figure("groups_below_k", shortfalls as f64)
}
