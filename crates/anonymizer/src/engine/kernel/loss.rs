//! Loss of publishing a pair or an interval of codes of one attribute
//! (engines.md, rule 6): number or date (hi − lo)/range; category with a
//! hierarchy 0 for a leaf, else leaves(node)/leaves(root); category without
//! one 0 for one value, else |set|/|domain|. A missing number or date is a
//! category apart: numbers and the missing value as one cell lose 1, as a
//! masked cell does (*ours*).
//!
//! A [`Scale`] is the domain laid out for that: plain arrays instead of
//! values and trees. Losses steer which split is taken; no decision on
//! privacy rests on them, so single precision is enough.

use std::sync::Arc;

use crate::microdata::{Code, Domain};

/// One node of a hierarchy as losses need it.
#[derive(Clone, Copy, Debug)]
pub struct TreeNode {
    /// First leaf under the node.
    pub first: u32,
    /// Last leaf under the node.
    pub last: u32,
    /// Position of the node above; the root is its own.
    pub parent: u32,
    /// Loss of publishing the node.
    pub loss: f32,
}

/// A hierarchy as losses need it.
#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<TreeNode>,
    leaves: Vec<u32>,
}

impl Tree {
    /// The node at a position.
    #[inline]
    pub fn node(&self, at: u32) -> &TreeNode {
        &self.nodes[at as usize]
    }

    /// Position of a leaf's node.
    #[inline]
    pub fn leaf(&self, code: u32) -> u32 {
        self.leaves[code as usize]
    }

    /// The lowest node at or above `at` that covers the leaf `code`.
    #[inline]
    pub fn climb(&self, mut at: u32, code: u32) -> u32 {
        loop {
            let node = self.node(at);
            if node.first <= code && code <= node.last {
                return at;
            }
            at = node.parent;
        }
    }
}

/// Where the missing value stands beside positions of 0 to 1: no number is
/// nearer than the whole range. [`span`] and [`span_growth`] count no more than
/// that.
pub const MISSING_AT: f32 = 2.0;

/// Loss of publishing the positions from `low` to `high` as one cell.
#[inline]
pub fn span(low: f32, high: f32) -> f32 {
    (high - low).min(1.0)
}

/// What a cell from `low` to `high` loses more once it reaches `below` further
/// down and `above` further up; negative distances count as 0.
#[inline]
pub fn span_growth((low, high): (f32, f32), below: f32, above: f32) -> f32 {
    let room = (1.0 - (high - low)).max(0.0);
    (below.max(0.0) + above.max(0.0)).min(room)
}

/// A domain laid out for computing losses.
#[derive(Clone, Debug)]
pub enum Scale {
    /// Numbers and dates: position of each code in the range, 0 to 1; the
    /// missing value stands at [`MISSING_AT`].
    Number(Arc<[f32]>),
    /// Categories with a hierarchy.
    Tree(Arc<Tree>),
    /// Categories without one: the number of values.
    Set(u32),
}

impl Scale {
    /// Lays out a domain.
    pub fn new(domain: &Domain) -> Self {
        if domain.is_numeric() {
            let range = domain.range();
            let lowest = if domain.known_len() == 0 {
                0.0
            } else {
                domain.number(Code(0))
            };
            let codes = (0..domain.len()).map(Code::from_usize);
            let position = |code| match range > 0.0 {
                _ if domain.is_missing_number(code) => MISSING_AT,
                true => ((domain.number(code) - lowest) / range) as f32,
                false => 0.0,
            };
            return Self::Number(codes.map(position).collect());
        }
        match domain.hierarchy() {
            None => Self::Set(domain.len() as u32),
            Some(hierarchy) => {
                let all = hierarchy.leaf_count() as f32;
                let nodes = hierarchy.nodes().iter().map(|node| TreeNode {
                    first: node.first_leaf.0,
                    last: node.last_leaf().0,
                    parent: node.parent.0,
                    loss: match node.leaf_count {
                        1 => 0.0,
                        leaves => leaves as f32 / all,
                    },
                });
                let leaves = (0..hierarchy.leaf_count()).map(Code::from_usize);
                Self::Tree(Arc::new(Tree {
                    nodes: nodes.collect(),
                    leaves: leaves.map(|leaf| hierarchy.leaf_node(leaf).0).collect(),
                }))
            }
        }
    }

    /// Loss of publishing the codes from `lowest` to `highest` as one cell,
    /// 0 to 1. For categories without a hierarchy every code between counts
    /// as present.
    pub fn interval(&self, lowest: u32, highest: u32) -> f32 {
        if lowest == highest {
            return 0.0;
        }
        match self {
            Self::Number(position) => span(position[lowest as usize], position[highest as usize]),
            Self::Tree(tree) => tree.node(tree.climb(tree.leaf(lowest), highest)).loss,
            Self::Set(values) => (highest - lowest + 1) as f32 / *values as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::microdata::Values;

    #[test]
    fn losses_of_numbers_follow_the_range() {
        let domain = Domain::new(Values::Integer(vec![10, 20, 60]), None);
        let scale = Scale::new(&domain);
        assert_eq!(scale.interval(0, 0), 0.0);
        assert!((scale.interval(0, 1) - 0.2).abs() < 1e-6);
        assert!((scale.interval(0, 2) - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_domain_of_one_number_loses_nothing() {
        let domain = Domain::new(Values::Integer(vec![10]), None);
        assert_eq!(Scale::new(&domain).interval(0, 0), 0.0);
    }
}
