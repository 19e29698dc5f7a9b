//! How often the values under a node occur in the dataset: w of `[PERS]`.
//!
//! An adversary who sees a node spreads its probability over the values under
//! it by their frequency in the dataset version, all of its records counted,
//! also those that are left out. A leaf that never occurs weighs nothing.

use crate::microdata::{CodedColumn, Hierarchy, NodeIndex};

/// Frequencies of leaves, summed up.
#[derive(Debug)]
pub(super) struct Weights<'a> {
    pub tree: &'a Hierarchy,
    /// Records with a leaf below each code.
    below: Vec<u64>,
}

impl<'a> Weights<'a> {
    pub fn new(tree: &'a Hierarchy, column: &CodedColumn) -> Self {
        let mut counts = vec![0_u64; tree.leaf_count()];
        for code in &column.codes {
            counts[code as usize] += 1;
        }
        Self::of_counts(tree, &counts)
    }

    /// With so many records that have each leaf.
    pub fn of_counts(tree: &'a Hierarchy, counts: &[u64]) -> Self {
        let mut below = vec![0];
        below.extend_from_slice(counts);
        for at in 1..below.len() {
            below[at] += below[at - 1];
        }
        Self { tree, below }
    }

    /// Records with a leaf from `first` to `last`, both included.
    pub fn between(&self, first: u32, last: u32) -> u64 {
        self.below[last as usize + 1] - self.below[first as usize]
    }

    /// Records with this leaf.
    pub fn leaf(&self, leaf: u32) -> u64 {
        self.between(leaf, leaf)
    }

    /// Records with a leaf under the node.
    pub fn node(&self, node: NodeIndex) -> u64 {
        let node = self.tree.node(node);
        self.between(node.first_leaf.0, node.last_leaf().0)
    }

    /// Records with a leaf under the node that is one of `leaves`.
    pub fn node_within(&self, node: NodeIndex, leaves: &[(u32, u32)]) -> u64 {
        let node = self.tree.node(node);
        let (from, to) = (node.first_leaf.0, node.last_leaf().0);
        let common = leaves
            .iter()
            .map(|&(first, last)| (first.max(from), last.min(to)));
        common
            .filter(|(first, last)| first <= last)
            .map(|(first, last)| self.between(first, last))
            .sum()
    }
}
