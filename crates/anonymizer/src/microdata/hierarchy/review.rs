//! What somebody should know of a hierarchy before it is used: levels, where
//! its leaves stand, and what of it is of little use. *Ours.*
//!
//! Labels are its owner's, not cells: they are told. What records have of it is
//! in [`coverage`](crate::microdata::coverage).

use serde::Serialize;

use super::tree::{Hierarchy, Node};

/// Labels that are told of each kind.
pub const LABELS_MAX: usize = 20;

/// What a hierarchy is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HierarchyReview {
    /// Whether it is intervals over numbers: then its leaves are a dataset's
    /// values, and `levels` has only what is sure.
    pub is_intervals: bool,
    /// Nodes, root and leaves included; 0 of intervals.
    pub nodes: u64,
    /// Leaves; 0 of intervals.
    pub leaves: u64,
    /// Steps from the root to the nearest and to the farthest leaf.
    pub depth: [u32; 2],
    /// The depth that most leaves have; the greater of two that as many have.
    pub usual_depth: u32,
    /// By steps from the root, the root first.
    pub levels: Vec<Level>,
    /// Leaves at another depth than most: no level of the tree holds them all.
    pub unbalanced: Labels,
    /// Nodes with one node below: they say the same as that one.
    pub single_child: Labels,
    /// The node below the root that holds the most leaves.
    pub largest: Option<LargestNode>,
}

/// The nodes at one depth.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Level {
    /// Inner nodes; 0 of intervals.
    pub inner: u64,
    /// Leaves; 0 of intervals.
    pub leaves: u64,
    /// The most nodes right below one of them; of intervals 0 where the values
    /// decide.
    pub fan_out_max: u64,
    /// Width of the intervals; of trees, the root and values none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub width: Option<f64>,
}

/// Nodes of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Labels {
    /// How many there are.
    pub count: u64,
    /// The first of them, at most [`LABELS_MAX`].
    pub labels: Vec<String>,
}

/// A node and what it holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LargestNode {
    /// Its label.
    pub label: String,
    /// Leaves under it.
    pub leaves: u64,
    /// Their share of all leaves.
    pub share: f64,
}

impl Labels {
    fn of<'a>(nodes: impl Iterator<Item = &'a Node>) -> Self {
        let mut all = Self::default();
        for node in nodes {
            all.count += 1;
            if all.labels.len() < LABELS_MAX {
                all.labels.push(node.label.clone());
            }
        }
        all
    }
}

fn is_leaf(node: &&Node) -> bool {
    node.children.is_empty()
}

/// What a tree is.
pub fn of_tree(tree: &Hierarchy) -> HierarchyReview {
    let nodes = tree.nodes();
    let mut levels = vec![Level::default(); tree.height() as usize + 1];
    for node in nodes {
        let level = &mut levels[node.depth as usize];
        match node.children.len() as u64 {
            0 => level.leaves += 1,
            below => {
                level.inner += 1;
                level.fan_out_max = level.fan_out_max.max(below);
            }
        }
    }
    let depths = || nodes.iter().filter(is_leaf).map(|node| node.depth);
    let most = (0_u32..)
        .zip(&levels)
        .max_by_key(|(_, level)| level.leaves)
        .map_or(0, |(depth, _)| depth);
    let largest = nodes.iter().filter(|node| node.depth == 1);
    // The first of those that hold as many.
    let largest = largest.rev().max_by_key(|node| node.leaf_count);
    HierarchyReview {
        is_intervals: false,
        nodes: nodes.len() as u64,
        leaves: tree.leaf_count() as u64,
        depth: [depths().min().unwrap_or(0), depths().max().unwrap_or(0)],
        usual_depth: most,
        levels,
        unbalanced: Labels::of(
            nodes
                .iter()
                .filter(|node| is_leaf(node) && node.depth != most),
        ),
        single_child: Labels::of(nodes.iter().filter(|node| node.children.len() == 1)),
        largest: largest.map(|node| LargestNode {
            label: node.label.clone(),
            leaves: u64::from(node.leaf_count),
            share: rounded(f64::from(node.leaf_count) / tree.leaf_count().max(1) as f64),
        }),
    }
}

/// What intervals are: the lowest are `width` wide, and each next level joins so
/// many. They have every level above every value.
pub fn of_intervals(mut width: f64, fanouts: &[u32]) -> HierarchyReview {
    let mut levels = vec![Level {
        width: Some(width),
        ..Level::default()
    }];
    for &fanout in fanouts {
        width *= f64::from(fanout);
        levels.push(Level {
            fan_out_max: u64::from(fanout),
            width: Some(width),
            ..Level::default()
        });
    }
    levels.push(Level::default());
    levels.reverse();
    levels.push(Level::default());
    let height = levels.len() as u32 - 1;
    HierarchyReview {
        is_intervals: true,
        nodes: 0,
        leaves: 0,
        depth: [height, height],
        usual_depth: height,
        levels,
        unbalanced: Labels::default(),
        single_child: Labels::default(),
        largest: None,
    }
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::microdata::hierarchy::{Branch, HierarchyFormat, HierarchySource};

    fn read(text: &str, format: HierarchyFormat) -> HierarchySource {
        HierarchySource::read(text.as_bytes(), format).unwrap()
    }

    #[test]
    fn a_tree_is_told_level_by_level_with_what_is_of_no_use() {
        // *: A (a, b), B: C (c), d.
        let csv = "a;A;*\nb;A;*\nc;C;B;*\nd;*\n";
        let found = read(csv, HierarchyFormat::Csv).review();
        let level = |inner, leaves, fan_out_max| Level {
            inner,
            leaves,
            fan_out_max,
            width: None,
        };
        assert_eq!(
            found,
            HierarchyReview {
                is_intervals: false,
                nodes: 8,
                leaves: 4,
                depth: [1, 3],
                usual_depth: 2,
                levels: vec![
                    level(1, 0, 3),
                    level(2, 1, 2),
                    level(1, 2, 1),
                    level(0, 1, 0)
                ],
                unbalanced: Labels {
                    count: 2,
                    labels: vec!["c".into(), "d".into()],
                },
                single_child: Labels {
                    count: 2,
                    labels: vec!["B".into(), "C".into()],
                },
                largest: Some(LargestNode {
                    label: "A".into(),
                    leaves: 2,
                    share: 0.5,
                }),
            }
        );
    }

    #[test]
    fn many_labels_are_counted_and_twenty_are_told() {
        let single: String = (0..30).map(|at| format!("a{at};A{at};*\n")).collect();
        let found = read(&single, HierarchyFormat::Csv).review();
        assert_eq!(
            (
                found.single_child.count,
                found.single_child.labels.len(),
                &*found.single_child.labels[0]
            ),
            (30, 20, "A0")
        );
        assert_eq!(found.unbalanced, Labels::default());
    }

    #[test]
    fn intervals_have_widths_and_every_level_above_every_value() {
        let text = r#"{"intervals": {"origin": 0, "width": 5, "fanouts": [2, 4]}}"#;
        let found = read(text, HierarchyFormat::Json).review();
        assert!(found.is_intervals);
        assert_eq!(found.depth, [4, 4]);
        let levels: Vec<_> = found
            .levels
            .iter()
            .map(|level| (level.width, level.fan_out_max))
            .collect();
        let widths = [
            (None, 0),
            (Some(40.0), 4),
            (Some(10.0), 2),
            (Some(5.0), 0),
            (None, 0),
        ];
        assert_eq!(levels, widths);
    }

    /// A tree as parents: node `at + 1` lies under node `parents[at] % (at + 1)`.
    fn branch(parents: &[usize], at: usize) -> Branch {
        let below = (0..parents.len()).filter(|&child| parents[child] % (child + 1) == at);
        Branch {
            label: format!("n{at}"),
            children: below.map(|child| branch(parents, child + 1)).collect(),
        }
    }

    proptest! {
        #[test]
        fn a_review_is_what_its_definitions_say(parents in prop::collection::vec(0_usize..40, 1..40)) {
            let nodes = 0..=parents.len();
            let parent = |node: usize| parents[node - 1] % node;
            let depth = |node: usize| {
                let (mut at, mut steps) = (node, 0);
                while at != 0 {
                    (at, steps) = (parent(at), steps + 1);
                }
                steps
            };
            let children = |node: usize| (1..=parents.len()).filter(|&one| parent(one) == node).count() as u64;
            let leaves: Vec<usize> = nodes.clone().filter(|&node| children(node) == 0).collect();
            let at_depth = |wanted: u32| leaves.iter().filter(|&&leaf| depth(leaf) == wanted).count();

            let tree = Hierarchy::from_branch(branch(&parents, 0)).unwrap();
            let found = of_tree(&tree);
            prop_assert_eq!((found.nodes, found.leaves), (nodes.clone().count() as u64, leaves.len() as u64));
            let deepest = leaves.iter().map(|&leaf| depth(leaf)).max().unwrap();
            let nearest = leaves.iter().map(|&leaf| depth(leaf)).min().unwrap();
            prop_assert_eq!(found.depth, [nearest, deepest]);
            prop_assert_eq!(found.levels.len(), deepest as usize + 1);
            prop_assert!((0..=deepest).all(|other| at_depth(other) <= at_depth(found.usual_depth)));
            for (at, level) in (0_u32..).zip(&found.levels) {
                let here = || nodes.clone().filter(|&node| depth(node) == at);
                prop_assert_eq!(level.leaves, at_depth(at) as u64);
                prop_assert_eq!(level.inner, here().filter(|&node| children(node) > 0).count() as u64);
                prop_assert_eq!(level.fan_out_max, here().map(children).max().unwrap());
            }
            let others = leaves.len() - at_depth(found.usual_depth);
            prop_assert_eq!(found.unbalanced.count, others as u64);
            for label in &found.unbalanced.labels {
                let node: usize = label[1..].parse().unwrap();
                prop_assert!(children(node) == 0 && depth(node) != found.usual_depth);
            }
            let single = nodes.filter(|&node| children(node) == 1).count();
            prop_assert_eq!(found.single_child.count, single as u64);
            let largest = found.largest.unwrap();
            let under = |top: usize| leaves.iter().filter(|&&leaf| {
                let mut at = leaf;
                while at != 0 && at != top {
                    at = parent(at);
                }
                at == top
            }).count() as u64;
            let most = (1..=parents.len()).filter(|&node| depth(node) == 1).map(under).max();
            prop_assert_eq!(Some(largest.leaves), most);
        }
    }
}
