//! The tree itself: an arena of nodes in depth-first order.

use rustc_hash::FxHashMap;

use crate::microdata::error::TableError;
use crate::microdata::index::Code;
use crate::microdata::value_text::MISSING_LABEL;

/// Position of a node in its hierarchy; the root is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub u32);

impl NodeIndex {
    /// The root of every hierarchy.
    pub const ROOT: Self = Self(0);

    /// The position as a `usize`.
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// One node of a hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Unique in the tree.
    pub label: String,
    /// The node above; the root is its own parent.
    pub parent: NodeIndex,
    /// Steps from the root.
    pub depth: u32,
    /// First leaf under the node (the node itself if it is a leaf).
    pub first_leaf: Code,
    /// Number of leaves under the node; 1 for a leaf.
    pub leaf_count: u32,
    /// The nodes right below, in order; empty for a leaf.
    pub children: Vec<NodeIndex>,
}

impl Node {
    /// Last leaf under the node.
    pub fn last_leaf(&self) -> Code {
        Code(self.first_leaf.0 + self.leaf_count - 1)
    }

    /// Whether `leaf` lies under the node.
    pub fn covers(&self, leaf: Code) -> bool {
        self.first_leaf <= leaf && leaf <= self.last_leaf()
    }
}

/// A generalization tree with uniquely labelled nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    nodes: Vec<Node>,
    leaves: Vec<NodeIndex>,
    by_label: FxHashMap<String, NodeIndex>,
}

/// What a tree lacks of another one that it should extend. The labels are
/// nodes of a hierarchy, never cells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// Leaves of the other one that are no leaves here.
    pub missing: u64,
    /// Leaves of the other one that lie under other nodes here.
    pub moved: u64,
    /// The first of the missing ones, at most [`Gap::LABELS_MAX`].
    pub missing_labels: Vec<String>,
    /// The first of the moved ones, at most [`Gap::LABELS_MAX`].
    pub moved_labels: Vec<String>,
}

impl Gap {
    /// Labels that are named of each kind.
    pub const LABELS_MAX: usize = 10;

    fn note(count: &mut u64, labels: &mut Vec<String>, label: &str) {
        *count += 1;
        if labels.len() < Self::LABELS_MAX {
            labels.push(label.to_owned());
        }
    }
}

/// A tree as it is read, before its leaves are numbered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Branch {
    /// Label of the node.
    pub label: String,
    /// Nodes below it.
    pub children: Vec<Branch>,
}

impl Hierarchy {
    /// Numbers the nodes of a tree depth first.
    ///
    /// Refused: a label that occurs twice, an empty label, or a root without
    /// leaves. The error says how many labels are at fault, not which.
    pub fn from_branch(root: Branch) -> Result<Self, TableError> {
        if root.children.is_empty() {
            return Err(TableError::Hierarchy(
                "the root has no leaf below it".into(),
            ));
        }
        let mut hierarchy = Self {
            nodes: Vec::new(),
            leaves: Vec::new(),
            by_label: FxHashMap::default(),
        };
        let mut repeated = 0_usize;
        // An explicit stack: a hostile document must not decide our depth.
        let mut stack = vec![(root, NodeIndex::ROOT, 0_u32)];
        while let Some((branch, parent, depth)) = stack.pop() {
            let index = NodeIndex(hierarchy.nodes.len() as u32);
            if branch.label.is_empty() {
                return Err(TableError::Hierarchy("a label is empty".into()));
            }
            if hierarchy
                .by_label
                .insert(branch.label.clone(), index)
                .is_some()
            {
                repeated += 1;
            }
            if index != NodeIndex::ROOT {
                hierarchy.nodes[parent.at()].children.push(index);
            }
            let is_leaf = branch.children.is_empty();
            hierarchy.nodes.push(Node {
                label: branch.label,
                parent,
                depth,
                first_leaf: Code(hierarchy.leaves.len() as u32),
                leaf_count: u32::from(is_leaf),
                children: Vec::new(),
            });
            if is_leaf {
                hierarchy.leaves.push(index);
            }
            stack.extend(
                branch
                    .children
                    .into_iter()
                    .rev()
                    .map(|child| (child, index, depth + 1)),
            );
        }
        if repeated > 0 {
            return Err(TableError::Hierarchy(format!(
                "{repeated} labels stand for more than one node"
            )));
        }
        hierarchy.count_leaves();
        Ok(hierarchy)
    }

    /// The tree of nodes that stand depth first, as [`Self::nodes`] has them: the
    /// parent of each and its label. The root's parent is not looked at.
    ///
    /// # Errors
    /// A node stands before its parent, a label occurs twice, or there is no leaf
    /// below the root.
    pub fn of_nodes(nodes: impl Iterator<Item = (NodeIndex, String)>) -> Result<Self, TableError> {
        let unfit = || TableError::Hierarchy("the nodes are no tree".into());
        let mut hierarchy = Self {
            nodes: Vec::new(),
            leaves: Vec::new(),
            by_label: FxHashMap::default(),
        };
        for (parent, label) in nodes {
            let index = NodeIndex(hierarchy.nodes.len() as u32);
            let depth = match index {
                NodeIndex::ROOT => 0,
                _ => {
                    let above = hierarchy.nodes.get_mut(parent.at()).ok_or_else(unfit)?;
                    above.children.push(index);
                    above.depth + 1
                }
            };
            if hierarchy.by_label.insert(label.clone(), index).is_some() {
                return Err(unfit());
            }
            hierarchy.nodes.push(Node {
                label,
                parent: if depth == 0 { NodeIndex::ROOT } else { parent },
                depth,
                first_leaf: Code(0),
                leaf_count: 0,
                children: Vec::new(),
            });
        }
        if hierarchy.nodes.len() < 2 {
            return Err(unfit());
        }
        for (at, node) in (0..).zip(&mut hierarchy.nodes) {
            node.first_leaf = Code(hierarchy.leaves.len() as u32);
            if node.children.is_empty() {
                node.leaf_count = 1;
                hierarchy.leaves.push(NodeIndex(at));
            }
        }
        hierarchy.count_leaves();
        Ok(hierarchy)
    }

    fn count_leaves(&mut self) {
        // Children follow their parents, so one backward pass sums up.
        for at in (1..self.nodes.len()).rev() {
            let (parent, count) = (self.nodes[at].parent, self.nodes[at].leaf_count);
            self.nodes[parent.at()].leaf_count += count;
        }
    }

    /// The same tree with the leaf [`MISSING_LABEL`] as last child of the root.
    /// Every other code stays what it was. A tree that has the leaf is
    /// returned as it is.
    #[must_use]
    pub fn with_missing_leaf(&self) -> Self {
        if self.by_label.contains_key(MISSING_LABEL) {
            return self.clone();
        }
        let mut extended = self.clone();
        let index = NodeIndex(extended.nodes.len() as u32);
        let first_leaf = Code(extended.leaves.len() as u32);
        extended.nodes.push(Node {
            label: MISSING_LABEL.into(),
            parent: NodeIndex::ROOT,
            depth: 1,
            first_leaf,
            leaf_count: 1,
            children: Vec::new(),
        });
        extended.leaves.push(index);
        extended.nodes[0].children.push(index);
        extended.nodes[0].leaf_count += 1;
        extended.by_label.insert(MISSING_LABEL.into(), index);
        extended
    }

    /// What this tree lacks of `earlier`: each of its leaves must be a leaf
    /// here, with the same labels above it. `None`: nothing.
    pub fn gap(&self, earlier: &Self) -> Option<Gap> {
        // Parents come before their children: one pass tells of every node
        // whether it has the same path here.
        let mut has_same_path = vec![false; earlier.nodes.len()];
        let mut gap = Gap::default();
        for (at, node) in earlier.nodes.iter().enumerate() {
            let here = self.find(&node.label);
            has_same_path[at] = here.is_some_and(|here| match at {
                0 => here == NodeIndex::ROOT,
                _ => {
                    let above = self.node(self.node(here).parent);
                    here != NodeIndex::ROOT
                        && has_same_path[node.parent.at()]
                        && above.label == earlier.node(node.parent).label
                }
            });
            if !node.children.is_empty() {
                continue;
            }
            if self.leaf(&node.label).is_none() {
                Gap::note(&mut gap.missing, &mut gap.missing_labels, &node.label);
            } else if !has_same_path[at] {
                Gap::note(&mut gap.moved, &mut gap.moved_labels, &node.label);
            }
        }
        (gap.missing + gap.moved > 0).then_some(gap)
    }

    /// The node at `index`.
    pub fn node(&self, index: NodeIndex) -> &Node {
        &self.nodes[index.at()]
    }

    /// All nodes, parents before their children.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.leaves.len()
    }

    /// Steps from the root to the deepest leaf.
    pub fn height(&self) -> u32 {
        self.nodes.iter().map(|node| node.depth).max().unwrap_or(0)
    }

    /// The node of a leaf.
    pub fn leaf_node(&self, leaf: Code) -> NodeIndex {
        self.leaves[leaf.at()]
    }

    /// Labels of the leaves in depth-first order.
    pub fn leaf_labels(&self) -> impl Iterator<Item = &str> {
        self.leaves
            .iter()
            .map(|&leaf| self.node(leaf).label.as_str())
    }

    /// The node called `label`.
    pub fn find(&self, label: &str) -> Option<NodeIndex> {
        self.by_label.get(label).copied()
    }

    /// The code of the leaf called `label`; `None` for inner nodes too.
    pub fn leaf(&self, label: &str) -> Option<Code> {
        let node = self.node(self.find(label)?);
        node.children.is_empty().then_some(node.first_leaf)
    }

    /// The lowest node that covers both leaves. With `lo` and `hi` the
    /// extremes of a set, it covers the whole set.
    pub fn common_ancestor(&self, lo: Code, hi: Code) -> NodeIndex {
        let mut index = self.leaf_node(lo);
        while !self.node(index).covers(hi) {
            index = self.node(index).parent;
        }
        index
    }

    /// The lowest node over exactly the leaves of this one: itself, unless it
    /// has a single child. Nodes over the same leaves say the same, and only
    /// this one is published: a choice among them could say something.
    pub fn lowest_over_same_leaves(&self, index: NodeIndex) -> NodeIndex {
        let node = self.node(index);
        self.common_ancestor(node.first_leaf, node.last_leaf())
    }

    /// The branch of the root (a child of it) that a leaf lies under; the root
    /// itself where the tree is a single node.
    pub fn branch_of(&self, leaf: Code) -> NodeIndex {
        let mut index = self.leaf_node(leaf);
        while self.node(index).depth > 1 {
            index = self.node(index).parent;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::hierarchy::{HierarchyFormat, HierarchySource};

    fn tree(csv: &str) -> std::sync::Arc<Hierarchy> {
        match HierarchySource::read(csv.as_bytes(), HierarchyFormat::Csv) {
            Ok(HierarchySource::Tree(tree)) => tree,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_superset_has_no_gap_and_anything_else_says_what_is_missing_or_moved() {
        let earlier = tree("red;warm;*\norange;warm;*\nblue;cold;*\n");
        for csv in [
            "red;warm;*\norange;warm;*\nblue;cold;*\n",
            "green;cold;*\nblue;cold;*\npink;pale;*\norange;warm;*\nred;warm;*\n",
        ] {
            assert_eq!(tree(csv).gap(&earlier), None, "{csv}");
        }
        let gap = |csv: &str| {
            let gap = tree(csv).gap(&earlier).expect(csv);
            assert_eq!(gap.missing as usize, gap.missing_labels.len());
            assert_eq!(gap.moved as usize, gap.moved_labels.len());
            (gap.missing_labels.join(" "), gap.moved_labels.join(" "))
        };
        let said = |missing: &str, moved: &str| (missing.to_owned(), moved.to_owned());
        // A leaf that is gone, one that became a node, one under another node.
        let gone = "orange;warm;*\nblue;cold;*\n";
        assert_eq!(gap(gone), said("red", ""));
        let split = "dark;red;warm;*\norange;warm;*\nblue;cold;*\n";
        assert_eq!(gap(split), said("red", ""));
        let moved = "red;cold;*\norange;warm;*\nblue;cold;*\n";
        assert_eq!(gap(moved), said("", "red"));
        // Another level in between, another root, and the same at another depth.
        let level = "red;hot;warm;*\norange;warm;*\nblue;cold;*\n";
        assert_eq!(gap(level), said("", "red"));
        let root = "red;warm;all\norange;warm;all\nblue;cold;all\n";
        assert_eq!(gap(root), said("", "red orange blue"));
        let above = "red;warm;any;*\norange;warm;any;*\nblue;cold;*\n";
        assert_eq!(gap(above), said("", "red orange"));
    }

    #[test]
    fn a_tree_is_made_again_of_its_nodes() {
        let tree = tree("red;warm;*\norange;warm;*\nblue;cold;*\n").with_missing_leaf();
        let again = |of: &Hierarchy| {
            let nodes = of.nodes().iter();
            Hierarchy::of_nodes(nodes.map(|node| (node.parent, node.label.clone())))
        };
        assert_eq!(again(&tree), Ok(tree.clone()));
        let named = |parents: &[u32]| {
            let nodes = (0..).zip(parents);
            Hierarchy::of_nodes(nodes.map(|(at, &of)| (NodeIndex(of), format!("n{at}"))))
        };
        assert!(named(&[0, 0]).is_ok());
        for unfit in [&[][..], &[0], &[0, 2, 0]] {
            assert!(named(unfit).is_err(), "{unfit:?}");
        }
    }

    #[test]
    fn many_labels_are_counted_and_ten_are_named() {
        let many: String = (0..50).map(|at| format!("a{at};*\n")).collect();
        let gap = tree("b;*\nc;*\n").gap(&tree(&many)).expect("a gap");
        assert_eq!((gap.missing, gap.missing_labels.len()), (50, 10));
    }
}
