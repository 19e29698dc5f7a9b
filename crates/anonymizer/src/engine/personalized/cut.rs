//! `group_cut` (*ours*): sensitive values of a group are generalized together.
//!
//! A cut is a set of nodes, none above another, that covers every value of the
//! group. It begins with the leaves. While a member's leakage is beyond their
//! bound, the most specific node of their leakage collection gives way to its
//! parent *for every member of the group*, to a fix-point: what is published
//! tells of each member that the value lies under the node, and nothing about
//! which of the group's values it was.
//!
//! Since nodes do not overlap, exactly one covers a member's value:
//! P_leak = |members under it| / |group| · w(value) / w(node).

use crate::microdata::{Code, NodeIndex};

use super::asked::Asked;
use super::leaf_counts::{GuardDemand, LeafCounts, LeafDemand, Unmet};
use super::weights::Weights;

/// A node of the cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    first: u32,
    node: NodeIndex,
    count: u64,
}

/// The cut of one group as it rises.
pub(super) struct Cut<'a> {
    weights: &'a Weights<'a>,
    asked: &'a Asked<'a>,
    size: u64,
    /// Ascending by first leaf.
    pieces: Vec<Piece>,
}

impl<'a> Cut<'a> {
    /// The least generalized cut that satisfies everyone, or what cannot be
    /// met even where all values are the root.
    pub fn of(
        leaf_counts: &LeafCounts,
        weights: &'a Weights<'a>,
        asked: &'a Asked<'a>,
    ) -> Result<Self, Vec<Unmet>> {
        let leaf = |demand: &LeafDemand| Piece {
            first: demand.leaf,
            node: weights.tree.leaf_node(Code(demand.leaf)),
            count: demand.count,
        };
        let mut cut = Self {
            weights,
            asked,
            size: leaf_counts.size,
            pieces: leaf_counts.leaves.iter().map(leaf).collect(),
        };
        loop {
            let mut unmet = Vec::new();
            let mut rose = false;
            for demand in &leaf_counts.leaves {
                let at = cut.position(demand.leaf);
                let keeps = cut.keeps_leaf(demand, at);
                let rises = !keeps && cut.raise(at);
                rose |= rises;
                if !keeps && !rises {
                    unmet.push(Unmet::Leaf(demand.leaf));
                }
            }
            for demand in &leaf_counts.guards {
                let keeps = cut.keeps_guard(demand);
                let rises = !keeps && cut.deepest_of(demand).is_some_and(|at| cut.raise(at));
                rose |= rises;
                if !keeps && !rises {
                    unmet.push(Unmet::Guard(demand.guard));
                }
            }
            // What was met before a node rose may no longer be, and the other
            // way round.
            match (rose, unmet.is_empty()) {
                (true, _) => {}
                (false, true) => return Ok(cut),
                (false, false) => return Err(unmet),
            }
        }
    }

    /// The node that a leaf of the group is published as.
    pub fn node_of(&self, leaf: u32) -> NodeIndex {
        self.pieces[self.position(leaf)].node
    }

    /// Position of the node above a leaf of the group.
    fn position(&self, leaf: u32) -> usize {
        self.pieces.partition_point(|piece| piece.first <= leaf) - 1
    }

    fn keeps_leaf(&self, demand: &LeafDemand, at: usize) -> bool {
        let piece = self.pieces[at];
        let fraction = (
            piece.count * self.weights.leaf(demand.leaf),
            self.weights.node(piece.node),
        );
        demand.share.allows_sum(&[fraction], self.size)
    }

    fn keeps_guard(&self, demand: &GuardDemand) -> bool {
        let leaves = self.asked.guard(demand.guard);
        let fractions = self.pieces.iter().filter_map(|piece| {
            let within = self.weights.node_within(piece.node, leaves);
            (within > 0).then(|| (piece.count * within, self.weights.node(piece.node)))
        });
        let fractions: Vec<(u64, u64)> = fractions.collect();
        demand.share.allows_sum(&fractions, self.size)
    }

    /// The most specific node with a guarded value under it.
    fn deepest_of(&self, demand: &GuardDemand) -> Option<usize> {
        let leaves = self.asked.guard(demand.guard);
        let leaks = |at: &usize| self.weights.node_within(self.pieces[*at].node, leaves) > 0;
        let depth = |at: &usize| self.weights.tree.node(self.pieces[*at].node).depth;
        (0..self.pieces.len()).filter(leaks).max_by_key(depth)
    }

    /// Replaces everything under the parent of a node by the parent. False
    /// for the root.
    fn raise(&mut self, at: usize) -> bool {
        let tree = self.weights.tree;
        let node = self.pieces[at].node;
        if node == NodeIndex::ROOT {
            return false;
        }
        let above = tree.node(node).parent;
        let parent = tree.node(above);
        let (first, last) = (parent.first_leaf.0, parent.last_leaf().0);
        let from = self.pieces.partition_point(|piece| piece.first < first);
        let to = self.pieces.partition_point(|piece| piece.first <= last);
        let count = self.pieces[from..to].iter().map(|piece| piece.count).sum();
        let piece = Piece {
            first,
            node: above,
            count,
        };
        self.pieces.splice(from..to, [piece]);
        true
    }
}
