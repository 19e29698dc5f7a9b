//! One published group as recoding sees it: how many members have each leaf,
//! and the strictest bound on each leaf and guard.
//!
//! Members with equal values leak equally, so the strictest of them speaks
//! for all.

use std::collections::BTreeMap;

use crate::microdata::Codes;
use crate::privacy::Share;

use super::asked::Asked;

/// Members with one leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeafDemand {
    pub leaf: u32,
    pub count: u64,
    /// The strictest bound of those who have it.
    pub share: Share,
}

/// Members with one guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GuardDemand {
    pub guard: u32,
    /// The strictest bound of those who named it.
    pub share: Share,
}

/// The members of one group.
#[derive(Debug)]
pub(super) struct LeafCounts {
    pub size: u64,
    /// Ascending by leaf.
    pub leaves: Vec<LeafDemand>,
    /// Ascending by guard.
    pub guards: Vec<GuardDemand>,
}

/// What no recoding satisfies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unmet {
    Leaf(u32),
    Guard(u32),
}

impl LeafCounts {
    /// Counts members; `codes` are the leaves by record.
    pub fn of(members: &[u32], codes: &Codes, asked: &Asked<'_>) -> Self {
        let mut leaves: Vec<LeafDemand> = members
            .iter()
            .map(|&record| LeafDemand {
                leaf: codes.at(record as usize),
                count: 1,
                share: asked.of(record).share,
            })
            .collect();
        leaves.sort_unstable_by_key(|demand| demand.leaf);
        leaves.dedup_by(|next, kept| {
            let same = next.leaf == kept.leaf;
            if same {
                kept.count += 1;
                kept.share = kept.share.min(next.share);
            }
            same
        });
        let mut strictest: BTreeMap<u32, Share> = BTreeMap::new();
        for &record in members {
            let ask = asked.of(record);
            if let Some(guard) = ask.guard {
                let share = strictest.entry(guard).or_insert(ask.share);
                *share = ask.share.min(*share);
            }
        }
        let guards = strictest.into_iter();
        Self {
            size: members.len() as u64,
            leaves,
            guards: guards
                .map(|(guard, share)| GuardDemand { guard, share })
                .collect(),
        }
    }
}
