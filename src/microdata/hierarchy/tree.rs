//! The tree itself: an arena of nodes in depth-first order.

use rustc_hash::FxHashMap;

use super::super::domain::MISSING_LABEL;
use super::super::error::TableError;
use super::super::index::Code;

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
