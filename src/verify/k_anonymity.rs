//! k-anonymity on the published signature (Samarati & Sweeney 1998; personal
//! k: the group must satisfy the largest k of its members).
//!
//! For each row: the number of distinct subjects that look the same is at
//! least k of the policy and at least the k that any of those subjects asks
//! for.

use super::signature::Signatures;
use super::verdict::{Check, Place, Section};
use super::view::View;

/// The largest k that policy or a member asks for, class by class.
#[derive(Debug)]
pub(super) struct LargestK {
    pub(super) of_class: Vec<u32>,
}

impl LargestK {
    pub(super) fn of(view: &View, signatures: &Signatures) -> Self {
        let floor = view.requirements.policy().k.get();
        let largest = |class: usize| {
            let rows = signatures.rows(class).iter();
            let asked = rows.filter_map(|&row| Some(view.terms(row as usize)?.k));
            asked.max().unwrap_or(floor).max(floor)
        };
        Self {
            of_class: (0..signatures.len()).map(largest).collect(),
        }
    }
}

/// The guarantee `k_anonymity`: attained is the size of the smallest class.
pub(super) fn k_anonymity(view: &View, signatures: &Signatures, largest_k: &LargestK) -> Check {
    let claimed = view.requirements.policy().k.get();
    let short = |class: &usize| signatures.sizes[*class] < u64::from(largest_k.of_class[*class]);
    let shortfalls = (0..signatures.len()).filter(short).count();
    let smallest = (0..signatures.len()).min_by_key(|&class| signatures.sizes[class]);
    // The worst is the one that falls short; among those the smallest.
    let worst = (0..signatures.len())
        .filter(short)
        .min_by_key(|&class| signatures.sizes[class]);
    let place = worst
        .or(smallest)
        .map(|class| Place::Group(signatures.group_number(view, class)));
    Check::new(Section::Guarantee, "k_anonymity")
        .claiming(f64::from(claimed))
        .attaining(smallest.map(|class| signatures.sizes[class] as f64), place)
        .holding(shortfalls == 0)
        .with_figure("groups", signatures.len() as f64)
        .with_figure("groups_below_k", shortfalls as f64)
}
