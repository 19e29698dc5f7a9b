//! Which sets of a node's children occur, numbered in the order in which they
//! are met.

use rustc_hash::FxHashMap;

use super::trees::Below;

/// Up to so many children the sets of them are counted through; of more,
/// those that occur are kept.
const COUNTED: usize = 10;

/// A set that has not been met.
const NEW: u32 = u32::MAX;

/// Numbers of the sets of children of one node.
#[derive(Default)]
pub(super) struct ChildSets {
    children: usize,
    /// Number of each set of few children.
    counted: Vec<u32>,
    /// Number of each set of many.
    found: FxHashMap<u64, u32>,
    /// Numbers of sets where a node has too many children for a bit each: a
    /// set with one more child follows from the set without it.
    chains: FxHashMap<(u64, u32), u64>,
}

impl ChildSets {
    /// Begins with a node of so many children.
    pub fn start(&mut self, children: usize) {
        self.children = children;
        if children <= COUNTED {
            self.counted.clear();
            self.counted.resize(1 << children, NEW);
        } else {
            self.found.clear();
            self.chains.clear();
        }
    }

    /// The set of children that some items lie under, as a key, and the loss
    /// that is saved by publishing these for the node of loss `loss`.
    #[inline]
    pub fn key(&mut self, items: &[u32], below: Below<'_>, loss: f32) -> (u64, f32) {
        let (mut key, mut saving, mut previous) = (0_u64, 0.0, usize::MAX);
        for &item in items {
            let at = below.position(item);
            saving += loss - below.losses[at];
            if self.children <= 64 {
                key |= 1 << at;
            } else if at != previous {
                // Items ascend, so those of one child stand together.
                let next = self.chains.len() as u64 + 1;
                key = *self.chains.entry((key, at as u32)).or_insert(next);
                previous = at;
            }
        }
        (key, saving)
    }

    /// Number of a set; `next` if it is new.
    #[inline]
    pub fn number(&mut self, key: u64, next: u32) -> u32 {
        if self.children > COUNTED {
            return *self.found.entry(key).or_insert(next);
        }
        let number = &mut self.counted[key as usize];
        if *number == NEW {
            *number = next;
        }
        *number
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::sync::Arc;

    use super::*;
    use crate::engine::one_to_many::trees::Trees;
    use crate::microdata::{
        AttributeIndex, CodedColumn, Domain, HierarchyFormat, HierarchySource, Values,
    };

    /// A root over so many children of three leaves each.
    fn trees(children: u32) -> Trees {
        let mut text = String::new();
        for leaf in 0..3 * children {
            writeln!(text, "l{leaf};c{};*", leaf / 3).expect("text");
        }
        let source = HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv);
        let HierarchySource::Tree(tree) = source.expect("well-formed") else {
            panic!("a CSV hierarchy is a tree");
        };
        let labels = tree.leaf_labels().map(str::to_owned).collect();
        let column = CodedColumn {
            domain: Arc::new(Domain::new(Values::Category(labels), Some(tree))),
            codes: vec![0_u32].into(),
        };
        Trees::new(&[(AttributeIndex(0), &column)], None)
    }

    #[test]
    fn the_same_children_have_the_same_number_however_many_there_are() {
        for children in [2, 8, 9, 10, 11, 64, 65, 200] {
            let trees = trees(children);
            let below = trees.below(trees.roots()[0]);
            let mut sets = ChildSets::default();
            // Twice: nothing is left over from the node before.
            for _ in 0..2 {
                sets.start(children as usize);
                let mut met: Vec<Vec<u32>> = Vec::new();
                for person in 0..600_u32 {
                    let items = (0..3 * children).filter(|item| {
                        let drawn =
                            u64::from(person % 300 + 1) * u64::from(item + 7) * 2_654_435 % 1_009;
                        drawn < 60 || *item == person % 300 % (3 * children)
                    });
                    let items: Vec<u32> = items.collect();
                    let mut own: Vec<u32> = items.iter().map(|item| item / 3).collect();
                    let (key, saving) = sets.key(&items, below, 1.0);
                    let expected = items.len() as f32 * (1.0 - 1.0 / children as f32);
                    assert!((saving - expected).abs() < 1e-2, "{saving} for {items:?}");
                    own.dedup();
                    let number = sets.number(key, met.len() as u32) as usize;
                    if number == met.len() {
                        assert!(!met.contains(&own), "{own:?} of {children} was met");
                        met.push(own);
                    } else {
                        assert_eq!(met[number], own, "of {children}");
                    }
                }
                assert!((3..=300).contains(&met.len()));
            }
        }
    }
}
