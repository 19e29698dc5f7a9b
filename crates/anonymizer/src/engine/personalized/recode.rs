//! Generalizes the sensitive values of published groups, and says who must
//! leave because nothing satisfies them.
//!
//! A member whose leakage stays beyond their bound with every value in its way
//! at the root is unsatisfiable. The strictest of them leave, an eighth at a
//! time, and the group is recoded anew from the leaves: what one person asks
//! for must not cost the others more than it has to.

use rayon::prelude::*;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::feasibility::without;
use crate::microdata::{Codes, NodeIndex};
use crate::privacy::Recoding;

use super::asked::Asked;
use super::cut::Cut;
use super::leaf_counts::{LeafCounts, Unmet};
use super::single::Singles;
use super::weights::Weights;

/// Of the unsatisfiable this part leaves before the rest is looked at again.
const LEAVING_PART: usize = 8;

/// What recoding works with.
#[derive(Clone, Copy)]
pub(super) struct Recoder<'a> {
    pub weights: &'a Weights<'a>,
    pub asked: &'a Asked<'a>,
    /// Leaf of each record.
    pub codes: &'a Codes,
    /// Random lot of each record, which decides between equals.
    pub tie_breakers: &'a [u32],
    pub recoding: Recoding,
}

/// One group, recoded.
#[derive(Debug)]
pub(super) struct Recoded {
    /// Members who stay, with the node that their value is published as.
    pub nodes: Vec<(u32, NodeIndex)>,
    /// Members who cannot be satisfied.
    pub leaving: Vec<u32>,
}

impl Recoder<'_> {
    /// Recodes every group; the order is kept.
    pub fn all(
        &self,
        groups: &[Vec<u32>],
        context: &RunContext<'_>,
    ) -> Result<Vec<Recoded>, EngineError> {
        let groups = groups.par_iter();
        groups
            .map(|group| {
                context.check()?;
                Ok(self.group(group))
            })
            .collect()
    }

    /// Recodes one group.
    pub fn group(&self, members: &[u32]) -> Recoded {
        let mut members = members.to_vec();
        members.sort_unstable_by_key(|&record| self.tie_breakers[record as usize]);
        let mut leaving = Vec::new();
        loop {
            let leaf_counts = LeafCounts::of(&members, self.codes, self.asked);
            match self.nodes(&members, &leaf_counts) {
                Ok(nodes) => {
                    let nodes = members.into_iter().zip(nodes).collect();
                    return Recoded { nodes, leaving };
                }
                Err(unmet) => self.leave(&mut members, &unmet, &mut leaving),
            }
        }
    }

    fn nodes(
        &self,
        members: &[u32],
        leaf_counts: &LeafCounts,
    ) -> Result<Vec<NodeIndex>, Vec<Unmet>> {
        let leaves = members.iter().map(|&record| self.codes.at(record as usize));
        match self.recoding {
            Recoding::GroupCut => {
                let cut = Cut::of(leaf_counts, self.weights, self.asked)?;
                Ok(leaves.map(|leaf| cut.node_of(leaf)).collect())
            }
            Recoding::Paper => {
                let leaves: Vec<u32> = leaves.collect();
                Ok(Singles::of(leaf_counts, &leaves, self.weights, self.asked)?.nodes)
            }
        }
    }

    /// Moves the strictest of those concerned from `members` to `leaving`.
    fn leave(&self, members: &mut Vec<u32>, unmet: &[Unmet], leaving: &mut Vec<u32>) {
        let is_concerned = |record: &u32| {
            let ask = self.asked.of(*record);
            unmet.iter().any(|unmet| match *unmet {
                Unmet::Leaf(leaf) => self.codes.at(*record as usize) == leaf,
                Unmet::Guard(guard) => ask.guard == Some(guard),
            })
        };
        let share = |record: &u32| self.asked.of(*record).share;
        let mut concerned: Vec<u32> = members.iter().copied().filter(is_concerned).collect();
        // Those with the least bound of all concerned are not satisfied; the
        // others may be once these are excluded.
        let strictest = concerned.iter().map(share).min();
        concerned.retain(|record| Some(share(record)) == strictest);
        concerned.truncate(concerned.len().div_ceil(LEAVING_PART));
        without(members, &concerned);
        leaving.extend(concerned);
    }
}
