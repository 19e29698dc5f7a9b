//! Trees over the values of attributes, side by side, laid out for walking
//! down.
//!
//! Over the sensitive attributes they are the item domain: an *item* is a
//! leaf, one value of one attribute, numbered through all of them (the
//! disjoint union of the papers' item domains, *ours*). Every subject has a
//! value of every attribute, so the common root of the union would be
//! expanded for everyone at once; the trees' own roots take its place. An
//! attribute without a hierarchy has a root over all of its values.
//!
//! Where a node has very many children, few subjects share any set of them,
//! and all others can only be published as the node itself. [`Trees::new`]
//! can therefore lay *unions* of neighbouring children between a node and its
//! children (*ours*); a union is published as the set of what it joins.

use std::sync::Arc;

use crate::microdata::{AttributeIndex, Code, CodedColumn, Domain, NodeIndex};

/// The label of a root that says nothing.
const ANY: &str = "*";

/// How a node is published.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Label {
    /// Any value of the attribute.
    Any,
    /// A value, or a node of the hierarchy.
    One(String),
    /// Neighbouring children of one node, any of which may be meant.
    Union(Vec<String>),
}

/// Where a node comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Origin {
    /// A node of the attribute's hierarchy.
    Node(NodeIndex),
    /// A value of an attribute without hierarchy.
    Value(u32),
    /// The root over the values of an attribute without hierarchy.
    Values,
    /// Neighbours.
    Union,
}

/// One node.
#[derive(Clone, Debug)]
pub(super) struct TreeNode {
    /// The node above; a root is its own.
    pub parent: u32,
    /// First item under the node.
    pub first: u32,
    /// Last item under the node.
    pub last: u32,
    /// Loss of publishing the node for one of its items, 0 to 1.
    pub loss: f32,
    /// Number of its tree.
    pub tree: u32,
    /// Its children in `child_nodes`.
    children: (u32, u32),
    origin: Origin,
}

impl TreeNode {
    /// Whether the node is an item.
    pub fn is_leaf(&self) -> bool {
        self.children.0 == self.children.1
    }
}

/// All trees.
#[derive(Clone, Debug)]
pub(super) struct Trees {
    domains: Vec<Arc<Domain>>,
    nodes: Vec<TreeNode>,
    /// Node of each item.
    leaves: Vec<u32>,
    child_nodes: Vec<u32>,
    /// First item of each entry of `child_nodes`.
    child_firsts: Vec<u32>,
    /// Loss of each entry of `child_nodes`.
    child_losses: Vec<f32>,
    /// Root of each tree.
    roots: Vec<u32>,
    /// Attribute of each tree.
    attributes: Vec<AttributeIndex>,
}

/// The children of one node, in order of items.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub nodes: &'a [u32],
    /// Loss of each of them.
    pub losses: &'a [f32],
    /// First item under each.
    firsts: Firsts<'a>,
}

impl Below<'_> {
    /// Position of the child that covers an item under the node.
    #[inline]
    pub fn position(&self, item: u32) -> usize {
        self.firsts.position(item)
    }
}

/// Where children begin, ascending; few of them are compared all at once,
/// because which child it is cannot be predicted.
#[derive(Clone, Copy)]
pub(super) enum Firsts<'a> {
    Few([u32; FEW]),
    Many(&'a [u32]),
}

/// Number of children that are few.
const FEW: usize = 8;

impl<'a> Firsts<'a> {
    /// The first items or codes of all children.
    pub fn new(firsts: &'a [u32]) -> Self {
        if firsts.len() > FEW {
            return Self::Many(firsts);
        }
        // Nothing lies beyond the largest number.
        let mut few = [u32::MAX; FEW];
        few[..firsts.len()].copy_from_slice(firsts);
        Self::Few(few)
    }

    /// Position of the child that covers an item; one does.
    #[inline]
    pub fn position(&self, item: u32) -> usize {
        let upto = match self {
            Self::Few(few) => few
                .iter()
                .map(|&first| u32::from(first <= item))
                .sum::<u32>() as usize,
            Self::Many(firsts) => firsts.partition_point(|&first| first <= item),
        };
        upto - 1
    }
}

/// What a node is made from; a union with its parts.
struct Source(Origin, Vec<Source>);

impl Trees {
    /// The trees of the given columns. With `fan_out` no node has more
    /// children: neighbours are joined, level upon level.
    pub fn new(columns: &[(AttributeIndex, &CodedColumn)], fan_out: Option<usize>) -> Self {
        let mut tree = Self {
            domains: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            child_nodes: Vec::new(),
            child_firsts: Vec::new(),
            child_losses: Vec::new(),
            roots: Vec::new(),
            attributes: Vec::new(),
        };
        for &(attribute, column) in columns {
            tree.attributes.push(attribute);
            tree.add(&column.domain, fan_out);
            tree.domains.push(Arc::clone(&column.domain));
        }
        tree.link();
        tree
    }

    /// Adds the tree of one attribute, depth first, parents before children.
    fn add(&mut self, domain: &Domain, fan_out: Option<usize>) {
        let number = self.roots.len() as u32;
        let root = self.nodes.len() as u32;
        self.roots.push(root);
        let origin = match domain.hierarchy() {
            Some(_) => Origin::Node(NodeIndex::ROOT),
            None => Origin::Values,
        };
        let mut open = vec![(Source(origin, Vec::new()), root)];
        while let Some((Source(origin, parts), parent)) = open.pop() {
            let at = self.nodes.len() as u32;
            let below = match origin {
                Origin::Union => parts,
                _ => below(origin, domain),
            };
            if below.is_empty() {
                self.leaves.push(at);
            }
            let below = Self::joined(below, fan_out);
            open.extend(below.into_iter().rev().map(|source| (source, at)));
            self.nodes.push(TreeNode {
                parent,
                first: u32::MAX,
                last: 0,
                loss: 0.0,
                tree: number,
                children: (0, 0),
                origin,
            });
        }
    }

    /// Joins neighbours so that at most `fan_out` are left.
    fn joined(sources: Vec<Source>, fan_out: Option<usize>) -> Vec<Source> {
        let Some(fan_out) = fan_out.filter(|&fan_out| fan_out < sources.len()) else {
            return sources;
        };
        let all = sources.len();
        let mut rest = sources.into_iter();
        let parts = (0..fan_out).map(|part| {
            let size = (part + 1) * all / fan_out - part * all / fan_out;
            let mut joined: Vec<Source> = rest.by_ref().take(size).collect();
            match joined.len() {
                1 => joined.remove(0),
                _ => Source(Origin::Union, joined),
            }
        });
        parts.collect()
    }

    /// Fills in ranges, losses and children.
    fn link(&mut self) {
        for (item, &leaf) in self.leaves.iter().enumerate() {
            let node = &mut self.nodes[leaf as usize];
            (node.first, node.last) = (item as u32, item as u32);
        }
        let mut counts = vec![0_u32; self.nodes.len()];
        for at in (0..self.nodes.len()).rev() {
            let (parent, first, last) = {
                let node = &self.nodes[at];
                (node.parent as usize, node.first, node.last)
            };
            if parent != at {
                let above = &mut self.nodes[parent];
                above.first = above.first.min(first);
                above.last = above.last.max(last);
                counts[parent] += 1;
            }
        }
        let mut next = 0;
        for (node, &count) in self.nodes.iter_mut().zip(&counts) {
            node.children = (next, next);
            next += count;
        }
        self.child_nodes = vec![0; next as usize];
        for at in 0..self.nodes.len() {
            let parent = self.nodes[at].parent as usize;
            if parent != at {
                let end = &mut self.nodes[parent].children.1;
                self.child_nodes[*end as usize] = at as u32;
                *end += 1;
            }
        }
        for at in 0..self.nodes.len() {
            let root = &self.nodes[self.roots[self.nodes[at].tree as usize] as usize];
            let all = (root.last - root.first + 1) as f32;
            let node = &mut self.nodes[at];
            let size = (node.last - node.first + 1) as f32;
            // A node with one item says as much as the item.
            node.loss = if node.first == node.last {
                0.0
            } else {
                size / all
            };
        }
        let children = || self.child_nodes.iter().map(|&at| &self.nodes[at as usize]);
        self.child_firsts = children().map(|node| node.first).collect();
        self.child_losses = children().map(|node| node.loss).collect();
    }

    /// How a node is published as a member of its own. Of nodes over the same
    /// items one is published: the root if they are all, else the lowest.
    pub fn label(&self, at: u32) -> Label {
        let node = self.node(at);
        let root = self.roots[node.tree as usize];
        if (node.first, node.last) == (self.node(root).first, self.node(root).last) {
            return self.label_of(root, self.node(root).origin);
        }
        match (node.origin, self.domains[node.tree as usize].hierarchy()) {
            (Origin::Node(index), Some(tree)) => {
                let lowest = Origin::Node(tree.lowest_over_same_leaves(index));
                self.label_of(at, lowest)
            }
            (origin, _) => self.label_of(at, origin),
        }
    }

    /// The label of `origin`, which the node `at` stands for. Children of a
    /// union are named as they are: those of one node.
    fn label_of(&self, at: u32, origin: Origin) -> Label {
        let node = self.node(at);
        let domain = &self.domains[node.tree as usize];
        match (origin, domain.hierarchy()) {
            (Origin::Value(code), _) => Label::One(domain.text(Code(code))),
            (Origin::Node(index), Some(tree)) => {
                let label = &tree.node(index).label;
                if index == NodeIndex::ROOT && label == ANY {
                    Label::Any
                } else {
                    Label::One(label.clone())
                }
            }
            (Origin::Union, _) => {
                let mut labels = Vec::new();
                for &child in self.children(at) {
                    match self.label_of(child, self.node(child).origin) {
                        Label::Any => {}
                        Label::One(label) => labels.push(label),
                        Label::Union(more) => labels.extend(more),
                    }
                }
                labels.sort_unstable();
                Label::Union(labels)
            }
            (Origin::Values | Origin::Node(_), _) => Label::Any,
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Number of items.
    pub fn items(&self) -> usize {
        self.leaves.len()
    }

    /// Root of each tree.
    pub fn roots(&self) -> &[u32] {
        &self.roots
    }

    /// Attribute of each tree.
    pub fn attributes(&self) -> &[AttributeIndex] {
        &self.attributes
    }

    /// A node.
    #[inline]
    pub fn node(&self, at: u32) -> &TreeNode {
        &self.nodes[at as usize]
    }

    /// Node of an item.
    #[inline]
    pub fn leaf(&self, item: u32) -> u32 {
        self.leaves[item as usize]
    }

    /// Children of a node, in order of items.
    #[inline]
    pub fn children(&self, at: u32) -> &[u32] {
        let (from, to) = self.node(at).children;
        &self.child_nodes[from as usize..to as usize]
    }

    /// Children of a node with what is asked of each for every item.
    #[inline]
    pub fn below(&self, at: u32) -> Below<'_> {
        let (from, to) = self.node(at).children;
        let entries = from as usize..to as usize;
        Below {
            nodes: &self.child_nodes[entries.clone()],
            losses: &self.child_losses[entries.clone()],
            firsts: Firsts::new(&self.child_firsts[entries]),
        }
    }

    /// Position among its children of the child that covers an item; the node
    /// covers the item and is none itself.
    #[inline]
    pub fn child_position(&self, at: u32, item: u32) -> usize {
        self.below(at).position(item)
    }
}

fn below(origin: Origin, domain: &Domain) -> Vec<Source> {
    let plain = |origin| Source(origin, Vec::new());
    match (origin, domain.hierarchy()) {
        (Origin::Values, _) => (0..domain.len() as u32)
            .map(|code| plain(Origin::Value(code)))
            .collect(),
        (Origin::Node(index), Some(tree)) => {
            let children = tree.node(index).children.iter();
            children.map(|&child| plain(Origin::Node(child))).collect()
        }
        _ => Vec::new(),
    }
}
