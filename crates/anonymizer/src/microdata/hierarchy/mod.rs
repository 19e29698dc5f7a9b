//! Generalization trees.
//!
//! A [`Hierarchy`] is an arena of nodes, leaves numbered in depth-first order
//! of first appearance, so that every node covers a contiguous run of leaves
//! and the lowest common ancestor of a set of leaves is that of its two
//! extremes. Labels are unique over the whole tree: a published label names
//! one node.

mod leaf_lines;
mod read;
mod review;
pub mod rule;
mod tree;
mod written;

pub use read::{HierarchyFormat, Intervals, csv_of_rule};
pub use review::{HierarchyReview, Labels, LargestNode, Level};
pub use rule::{HierarchyRule, RuleNumber};
pub(super) use tree::Branch;
pub use tree::{Gap, Hierarchy, Node, NodeIndex};

use std::collections::BTreeMap;
use std::sync::Arc;

/// What a hierarchy's content says: a tree of labels, or aligned intervals
/// that are laid over the numbers of a dataset.
#[derive(Clone, Debug, PartialEq)]
pub enum HierarchySource {
    /// A tree of labels.
    Tree(Arc<Hierarchy>),
    /// Levels of aligned half-open intervals over numbers.
    Intervals(Intervals),
}

/// Hierarchies by the name that schemas use.
pub type HierarchySet = BTreeMap<String, HierarchySource>;
