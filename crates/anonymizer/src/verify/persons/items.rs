//! The trees that members of fingerprints are nodes of, and what a published
//! fingerprint says.
//!
//! One tree a sensitive attribute: its hierarchy, or a root over all of its
//! values where it has none. A member is a node by its label, or a union of
//! neighbouring children of one node (*ours*), some but not all of them. The
//! root says `*` where it is called so or has no name, and then stands alone.
//! Every meaning has one text: of nodes over the same leaves the root is
//! published if they are all, else the lowest.

use rustc_hash::FxHashMap;

use crate::microdata::{Code, Domain, Hierarchy, NodeIndex, Values};
use crate::release::{Cell, Content, Item};

use crate::verify::meaning::{ANY, Meaning};

/// A node of a tree, or a union that was published.
#[derive(Clone, Debug)]
pub(super) struct ItemNode {
    /// The node above; a root is its own.
    pub(super) parent: u32,
    /// First code under the node.
    pub(super) first: u32,
    /// Last code under the node.
    pub(super) last: u32,
    pub(super) is_root: bool,
}

impl ItemNode {
    /// Whether the node says which value it is: a leaf, or a node above one
    /// leaf only. A root never does, nobody is set apart by it.
    pub(super) fn is_exact(&self) -> bool {
        self.first == self.last && !self.is_root
    }
}

/// What is wrong with a published fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It is none, or has a member that is no node and no union of its tree.
    Unknown,
    /// A member covers what another one does.
    Overlapping,
}

/// A published fingerprint of one attribute.
#[derive(Clone, Debug, Default)]
pub(super) struct Fingerprint {
    /// Its nodes in order of leaves; those that could be read.
    pub(super) nodes: Vec<u32>,
    /// What each node covers, numbered through all attributes; ascending.
    pub(super) spans: Vec<u32>,
    pub(super) fault: Option<Fault>,
}

/// The trees of all sensitive attributes.
#[derive(Debug, Default)]
pub(super) struct Trees {
    nodes: Vec<ItemNode>,
    /// Unions that were published, by what is above them and what they cover.
    unions: FxHashMap<(u32, u32, u32), u32>,
    spans: FxHashMap<(u32, u32, u32), u32>,
}

/// The tree of one attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree<'a> {
    domain: &'a Domain,
    /// Its root; the other nodes follow.
    root: u32,
}

impl Trees {
    /// Adds the tree of an attribute.
    pub(super) fn add<'a>(&mut self, domain: &'a Domain) -> Tree<'a> {
        let root = self.nodes.len() as u32;
        match domain.hierarchy() {
            Some(hierarchy) => {
                self.nodes
                    .extend(hierarchy.nodes().iter().enumerate().map(|(at, node)| {
                        let Code(first) = node.first_leaf;
                        let Code(last) = node.last_leaf();
                        ItemNode {
                            parent: root + node.parent.0,
                            first,
                            last,
                            is_root: at == 0,
                        }
                    }));
            }
            None => {
                let values = domain.len() as u32;
                let node = |first, last, is_root| ItemNode {
                    parent: root,
                    first,
                    last,
                    is_root,
                };
                self.nodes.push(node(0, values.saturating_sub(1), true));
                self.nodes
                    .extend((0..values).map(|code| node(code, code, false)));
            }
        }
        Tree { domain, root }
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    #[inline]
    pub(super) fn node(&self, at: u32) -> &ItemNode {
        &self.nodes[at as usize]
    }

    /// Reads a published fingerprint.
    pub(super) fn read(&mut self, tree: Tree, cell: &Cell) -> Fingerprint {
        let mut read = Fingerprint::default();
        let nodes: Option<Vec<u32>> = match cell {
            Cell::Masked => tree.root_is_nameless().then(|| vec![tree.root]),
            Cell::Items(items) if is_canonical(items) => {
                let nodes = items.iter().map(|item| self.item(tree, item));
                nodes.collect()
            }
            _ => None,
        };
        let Some(nodes) = nodes else {
            read.fault = Some(Fault::Unknown);
            return read;
        };
        read.nodes = nodes;
        read.nodes.sort_unstable_by_key(|&at| self.node(at).first);
        let mut pairs = read.nodes.windows(2);
        if pairs.any(|pair| self.node(pair[0]).last >= self.node(pair[1]).first) {
            read.fault = Some(Fault::Overlapping);
        }
        let spans = read.nodes.iter().map(|&at| {
            let node = &self.nodes[at as usize];
            let next = self.spans.len() as u32;
            let span = (tree.root, node.first, node.last);
            *self.spans.entry(span).or_insert(next)
        });
        read.spans = spans.collect();
        read.spans.sort_unstable();
        read
    }

    fn item(&mut self, tree: Tree, item: &Item) -> Option<u32> {
        match item {
            Item::Node(label) => tree.node(label).filter(|&at| self.is_the_one(tree, at)),
            Item::Union(labels) => self.union(tree, labels),
        }
    }

    /// Whether of the nodes over the same leaves this one is published: the
    /// root if they are all leaves, which never tells a value, else the
    /// lowest.
    fn is_the_one(&self, tree: Tree, at: u32) -> bool {
        let (node, root) = (self.node(at), self.node(tree.root));
        if (node.first, node.last) == (root.first, root.last) {
            return at == tree.root;
        }
        let lowest = tree.domain.hierarchy().map(|hierarchy| {
            let lowest = hierarchy.common_ancestor(Code(node.first), Code(node.last));
            tree.root + lowest.0
        });
        lowest.is_none_or(|lowest| lowest == at)
    }

    /// A union: at least two neighbouring children of one node, not all.
    fn union(&mut self, tree: Tree, labels: &[String]) -> Option<u32> {
        let ascending = labels.windows(2).all(|pair| pair[0] < pair[1]);
        let parts: Option<Vec<u32>> = labels.iter().map(|label| tree.node(label)).collect();
        let mut parts = parts.filter(|parts| ascending && parts.len() >= 2)?;
        parts.sort_unstable_by_key(|&at| self.node(at).first);
        let parent = self.node(parts[0]).parent;
        let siblings = parts
            .iter()
            .all(|&at| self.node(at).parent == parent && !self.node(at).is_root);
        let mut pairs = parts.windows(2);
        let neighbours = pairs.all(|pair| self.node(pair[0]).last + 1 == self.node(pair[1]).first);
        let above = self.node(parent);
        let (first, last) = (
            self.node(parts[0]).first,
            self.node(parts[parts.len() - 1]).last,
        );
        if !siblings || !neighbours || (first, last) == (above.first, above.last) {
            return None;
        }
        let nodes = &mut self.nodes;
        let union = self.unions.entry((parent, first, last));
        Some(*union.or_insert_with(|| {
            nodes.push(ItemNode {
                parent,
                first,
                last,
                is_root: false,
            });
            nodes.len() as u32 - 1
        }))
    }
}

impl Tree<'_> {
    fn root_is_nameless(self) -> bool {
        match self.domain.hierarchy() {
            Some(hierarchy) => hierarchy.node(NodeIndex::ROOT).label == ANY,
            None => true,
        }
    }

    /// The node that a member's label names.
    fn node(self, label: &str) -> Option<u32> {
        match self.domain.hierarchy() {
            Some(hierarchy) => {
                let index = named_node(hierarchy, label)?;
                Some(self.root + index.0)
            }
            None => Some(self.root + 1 + value(self.domain, label)?),
        }
    }
}

/// A node by its label; a root called `*` is written as a masked cell.
fn named_node(hierarchy: &Hierarchy, label: &str) -> Option<NodeIndex> {
    let index = hierarchy.find(label)?;
    (index != NodeIndex::ROOT || label != ANY).then_some(index)
}

/// The code of a value that is written as it is published.
fn value(domain: &Domain, label: &str) -> Option<u32> {
    match domain.values() {
        Values::Category(_) => domain.code_of_label(label).map(|code| code.0),
        _ => {
            let cell = Cell::parse(label, Content::Exact, Some(domain.kind())).ok()?;
            Meaning::of(&cell, domain).single()
        }
    }
}

/// Whether a member of a fingerprint names something that the attribute knows.
pub(in crate::verify) fn item_is_known(domain: &Domain, label: &str) -> bool {
    match domain.hierarchy() {
        Some(hierarchy) => named_node(hierarchy, label).is_some(),
        None => value(domain, label).is_some(),
    }
}

/// At least one member, ascending, each once.
fn is_canonical(items: &[Item]) -> bool {
    !items.is_empty() && items.windows(2).all(|pair| pair[0] < pair[1])
}
