//! What a published fingerprint says of its subject for certain: values that
//! are published exactly, and nodes below the root that lie above an item.
//!
//! Read from the release and the hierarchy alone. Nodes that were joined say
//! no more than the lowest node above all of them; the root says nothing.
//! Where a hierarchy is laid over numbers, which of them occur is not public,
//! so that a node with one occurring number does not say that number.

use rustc_hash::FxHashMap;

use crate::microdata::{Domain, Hierarchy, NodeIndex};
use crate::release::{Cell, Item};

/// Marks of the cells of one column.
#[derive(Clone, Debug)]
pub struct Marks {
    of_cell: Vec<Vec<u32>>,
    is_value: Vec<bool>,
}

impl Marks {
    /// Marks of every cell. With a hierarchy a mark is the position of a node,
    /// else the rank of a published value.
    pub fn of<'c>(domain: &Domain, cells: &'c [Cell]) -> Self {
        match domain.hierarchy() {
            Some(tree) => {
                let of_item = |item: &Item| start(tree, domain.is_numeric(), item);
                let of_cell = |cell: &Cell| up_from(tree, items(cell).iter().filter_map(of_item));
                let nodes = tree.nodes().iter();
                Self {
                    of_cell: cells.iter().map(of_cell).collect(),
                    is_value: nodes.map(|node| node.children.is_empty()).collect(),
                }
            }
            None => {
                let mut ranks: FxHashMap<&str, u32> = FxHashMap::default();
                let mut rank = |item: &'c Item| match item {
                    Item::Node(label) => {
                        let next = ranks.len() as u32;
                        Some(*ranks.entry(label.as_str()).or_insert(next))
                    }
                    Item::Union(_) => None,
                };
                let of_cell = cells
                    .iter()
                    .map(|cell| items(cell).iter().filter_map(&mut rank).collect())
                    .collect();
                Self {
                    of_cell,
                    is_value: vec![true; ranks.len()],
                }
            }
        }
    }

    /// Marks of a cell, each once.
    #[inline]
    pub fn of_cell(&self, cell: u32) -> &[u32] {
        &self.of_cell[cell as usize]
    }

    /// Whether a mark is a value, not a node above values.
    #[inline]
    pub fn is_value(&self, mark: u32) -> bool {
        self.is_value[mark as usize]
    }

    /// Number of marks that there may be.
    pub fn len(&self) -> usize {
        self.is_value.len()
    }
}

fn items(cell: &Cell) -> &[Item] {
    match cell {
        Cell::Items(items) => items,
        _ => &[],
    }
}

/// The lowest node that an item says for certain.
fn start(tree: &Hierarchy, is_numeric: bool, item: &Item) -> Option<NodeIndex> {
    let labels = match item {
        Item::Node(label) => std::slice::from_ref(label),
        Item::Union(labels) => labels.as_slice(),
    };
    let nodes = labels.iter().filter_map(|label| tree.find(label));
    let first = nodes.clone().map(|node| tree.node(node).first_leaf).min()?;
    let last = nodes
        .clone()
        .map(|node| tree.node(node).last_leaf())
        .max()?;
    match labels {
        [_] if is_numeric => nodes.min(),
        _ => Some(tree.common_ancestor(first, last)),
    }
}

/// These nodes and all above them, each once, without the root.
fn up_from(tree: &Hierarchy, starts: impl Iterator<Item = NodeIndex>) -> Vec<u32> {
    let mut marks = Vec::new();
    for mut node in starts {
        while node != NodeIndex::ROOT {
            marks.push(node.0);
            node = tree.node(node).parent;
        }
    }
    marks.sort_unstable();
    marks.dedup();
    marks
}
