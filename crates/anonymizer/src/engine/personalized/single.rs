//! `paper` recoding: colliding values are generalized one at a time.
//!
//! While a member's leakage is beyond their bound, *one* of the values in the
//! most specific node of their leakage collection goes to its parent. The
//! nodes of a group then overlap, and P_leak sums over all that cover the
//! member's value. That measure is what the paper claims and what is verified;
//! it is not what a reader may conclude: `respiratory` beside `flu` was most
//! likely generalized because it collided with `flu`. Kept to compare.

use std::collections::BTreeMap;

use crate::microdata::{Code, NodeIndex};

use super::asked::Asked;
use super::leaf_counts::{GuardDemand, LeafCounts, LeafDemand, Unmet};
use super::weights::Weights;

/// The values of one group as they rise.
pub(super) struct Singles<'a> {
    weights: &'a Weights<'a>,
    asked: &'a Asked<'a>,
    size: u64,
    /// Positions of the members whose value is published as each node; the
    /// last one rises first.
    at: BTreeMap<NodeIndex, Vec<u32>>,
    /// The node of each member.
    pub nodes: Vec<NodeIndex>,
}

impl<'a> Singles<'a> {
    /// Generalizes until everyone is satisfied; else what cannot be met
    /// although every value in its way is the root. `leaves` are those of the
    /// members, in the order in which values rise.
    pub fn of(
        leaf_counts: &LeafCounts,
        leaves: &[u32],
        weights: &'a Weights<'a>,
        asked: &'a Asked<'a>,
    ) -> Result<Self, Vec<Unmet>> {
        let nodes: Vec<NodeIndex> = leaves
            .iter()
            .map(|&leaf| weights.tree.leaf_node(Code(leaf)))
            .collect();
        let mut at: BTreeMap<NodeIndex, Vec<u32>> = BTreeMap::new();
        for (member, &node) in nodes.iter().enumerate().rev() {
            at.entry(node).or_default().push(member as u32);
        }
        let mut singles = Self {
            weights,
            asked,
            size: leaf_counts.size,
            at,
            nodes,
        };
        loop {
            let mut unmet = Vec::new();
            let mut rose = false;
            for demand in &leaf_counts.leaves {
                let (keeps, rises) = singles.meet_leaf(demand);
                rose |= rises;
                unmet.extend((!keeps).then_some(Unmet::Leaf(demand.leaf)));
            }
            for demand in &leaf_counts.guards {
                let (keeps, rises) = singles.meet_guard(demand);
                rose |= rises;
                unmet.extend((!keeps).then_some(Unmet::Guard(demand.guard)));
            }
            match (rose, unmet.is_empty()) {
                (true, _) => {}
                (false, true) => return Ok(singles),
                (false, false) => return Err(unmet),
            }
        }
    }

    /// Raises values until a leaf's bound holds: whether it does, and whether
    /// anything rose.
    fn meet_leaf(&mut self, demand: &LeafDemand) -> (bool, bool) {
        let mut rose = false;
        while !self.keeps_leaf(demand) {
            let mut covering = self.nodes_above(demand.leaf);
            let rising = |node: &NodeIndex| *node != NodeIndex::ROOT && self.count(*node) > 0;
            let Some(node) = covering.find(rising) else {
                return (false, rose);
            };
            self.raise(node);
            rose = true;
        }
        (true, rose)
    }

    fn meet_guard(&mut self, demand: &GuardDemand) -> (bool, bool) {
        let mut rose = false;
        while !self.keeps_guard(demand) {
            let leaves = self.asked.guard(demand.guard);
            let leaking = self.at.iter().filter(|(node, members)| {
                **node != NodeIndex::ROOT
                    && !members.is_empty()
                    && self.weights.node_within(**node, leaves) > 0
            });
            // Of equally deep nodes the first in the tree.
            let depth = |node: NodeIndex| self.weights.tree.node(node).depth;
            let deepest = leaking
                .map(|(&node, _)| node)
                .max_by_key(|&node| (depth(node), std::cmp::Reverse(node)));
            let Some(node) = deepest else {
                return (false, rose);
            };
            self.raise(node);
            rose = true;
        }
        (true, rose)
    }

    fn keeps_leaf(&self, demand: &LeafDemand) -> bool {
        let own = self.weights.leaf(demand.leaf);
        let covering = self.nodes_above(demand.leaf);
        let fractions: Vec<(u64, u64)> = covering
            .map(|node| (self.count(node) * own, self.weights.node(node)))
            .filter(|(above, _)| *above > 0)
            .collect();
        demand.share.allows_sum(&fractions, self.size)
    }

    fn keeps_guard(&self, demand: &GuardDemand) -> bool {
        let leaves = self.asked.guard(demand.guard);
        let fractions = self.at.iter().map(|(&node, members)| {
            let within = self.weights.node_within(node, leaves);
            (members.len() as u64 * within, self.weights.node(node))
        });
        let fractions: Vec<(u64, u64)> = fractions.filter(|(above, _)| *above > 0).collect();
        demand.share.allows_sum(&fractions, self.size)
    }

    fn count(&self, node: NodeIndex) -> u64 {
        self.at.get(&node).map_or(0, |members| members.len() as u64)
    }

    /// The node of a leaf and all above it, up to the root.
    fn nodes_above(&self, leaf: u32) -> impl Iterator<Item = NodeIndex> + use<'a> {
        let tree = self.weights.tree;
        let mut next = Some(tree.leaf_node(Code(leaf)));
        std::iter::from_fn(move || {
            let node = next?;
            next = (node != NodeIndex::ROOT).then(|| tree.node(node).parent);
            Some(node)
        })
    }

    /// Moves one member's value to the parent of its node.
    fn raise(&mut self, node: NodeIndex) {
        let Some(member) = self.at.get_mut(&node).and_then(Vec::pop) else {
            return;
        };
        let parent = self.weights.tree.node(node).parent;
        self.nodes[member as usize] = parent;
        let members = self.at.entry(parent).or_default();
        // Positions descend, so that the first in order is at the end.
        let place = members.partition_point(|&other| other > member);
        members.insert(place, member);
    }
}
