//! Step 3: inside a cluster, items are generalized until every combination of
//! at most m published items that occurs belongs to K persons (k^m-anonymity).
//!
//! A cluster publishes items by a *cut*: every item is published as the one
//! node of the cut above it, the same for all members. Cuts start at the roots
//! and go down: the node at which most is lost is expanded into its children
//! if every combination with a child in it that then occurs has enough
//! persons, singles first, then pairs and so on (`[RMR]` checks sizes in that
//! order). Supports only shrink on the way down, so a node that could not be
//! expanded once never can be: each is tried once, and what is left is a fix
//! point. Roots always hold, because a cluster has K members and each of them
//! an item in every tree.
//!
//! K of a combination is the strictest k of the job and of those who have it.
//! Going up a cut never breaks it: anyone who has the combination above has one
//! below it, and that one already has as many persons as they ask for.
//!
//! *Guard* (ours): a person with p published items has C(p, m) combinations.
//! The number of combinations that an expansion would have to count is known
//! beforehand; beyond [`Work::allowed`] the node stays whole, which is safe.

use std::collections::BinaryHeap;

use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::trees::Trees;

/// Combinations that one expansion may count: this many, and
const WORK_FLOOR: u64 = 1 << 20;
/// this many a person of the cluster.
const WORK_A_PERSON: u64 = 128;

/// What every cluster needs to know.
#[derive(Clone, Copy)]
pub(super) struct Promise<'a> {
    pub persons: &'a Persons<'a>,
    pub trees: &'a Trees,
    /// The job's k.
    pub k: u32,
    /// Largest combination that counts.
    pub m: u32,
    /// Whether some person asks for more than the job's k.
    pub is_personal: bool,
}

/// How a cluster publishes its items.
#[derive(Debug, Default)]
pub(super) struct Cut {
    /// Published node of each item that occurs in the cluster, ascending.
    pub nodes: Vec<(u32, u32)>,
    /// Loss summed over persons and their items.
    pub loss: f64,
}

impl Cut {
    /// Published fingerprint: nodes in order of items, each once.
    pub fn fingerprint(&self, items: &[u32], nodes: &mut Vec<u32>) {
        nodes.clear();
        for item in items {
            let at = self.nodes.partition_point(|&(other, _)| other < *item);
            if let Some(&(_, node)) = self.nodes.get(at) {
                nodes.push(node);
            }
        }
        nodes.dedup();
    }
}

/// A node of the cut that may be expanded. Ordered by what is lost at it.
#[derive(Debug, PartialEq, Eq)]
struct Open {
    /// Bits of the loss, a non-negative number.
    lost: u64,
    node: u32,
    /// Persons who have it, by position in the cluster.
    holders: Vec<u32>,
}

impl Ord for Open {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_loss = self.lost.cmp(&other.lost);
        by_loss.then(other.node.cmp(&self.node))
    }
}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Buffers that cluster after cluster is worked out in.
pub(super) struct Work<'a> {
    promise: Promise<'a>,
    /// Position of each item among those of the cluster; stale elsewhere.
    position: Vec<u32>,
    /// Items that occur in the cluster, ascending.
    items: Vec<u32>,
    /// Node of each of them.
    node_of: Vec<u32>,
    /// Fingerprints of the members, as positions in `items`.
    fingerprints: Vec<u32>,
    starts: Vec<u32>,
    /// K of each member.
    k: Vec<u32>,
    counts: Counts,
}

/// How many persons have each node, and how many they ask for.
#[derive(Debug, Default)]
struct Counts {
    /// (persons, strictest k) by node; zero but for those in `touched`.
    by_node: Vec<(u32, u32)>,
}

impl<'a> Work<'a> {
    /// Buffers for clusters of these persons.
    pub fn new(promise: Promise<'a>) -> Self {
        Self {
            promise,
            position: vec![0; promise.trees.items()],
            items: Vec::new(),
            node_of: Vec::new(),
            fingerprints: Vec::new(),
            starts: Vec::new(),
            k: Vec::new(),
            counts: Counts {
                by_node: vec![(0, 0); promise.trees.len()],
            },
        }
    }

    /// The cut of a cluster that has at least K members.
    pub fn cut(&mut self, cluster: &[u32]) -> Cut {
        self.begin(cluster);
        let mut open = BinaryHeap::new();
        for &root in self.promise.trees.roots() {
            let holders = (0..cluster.len() as u32).collect();
            self.push(&mut open, root, holders);
        }
        while let Some(Open { node, holders, .. }) = open.pop() {
            if let Some(children) = self.expand(node, &holders) {
                for (child, holders) in children {
                    self.push(&mut open, child, holders);
                }
            }
        }
        let trees = self.promise.trees;
        let node_of = |&position: &u32| trees.node(self.node_of[position as usize]);
        let losses = self.fingerprints.iter().map(node_of);
        Cut {
            loss: losses.map(|node| f64::from(node.loss)).sum(),
            nodes: self
                .items
                .iter()
                .copied()
                .zip(self.node_of.iter().copied())
                .collect(),
        }
    }

    fn begin(&mut self, cluster: &[u32]) {
        let Promise { persons, trees, .. } = self.promise;
        self.items.clear();
        for &person in cluster {
            self.items.extend_from_slice(persons.items(person));
        }
        self.items.sort_unstable();
        self.items.dedup();
        self.node_of.clear();
        for (position, &item) in (0..).zip(&self.items) {
            self.position[item as usize] = position;
            let root = trees.roots()[trees.node(trees.leaf(item)).tree as usize];
            self.node_of.push(root);
        }
        self.fingerprints.clear();
        self.starts.clear();
        self.starts.push(0);
        self.k.clear();
        for &person in cluster {
            let positions = persons.items(person).iter();
            let positions = positions.map(|&item| self.position[item as usize]);
            self.fingerprints.extend(positions);
            self.starts.push(self.fingerprints.len() as u32);
            self.k.push(persons.k[person as usize].max(self.promise.k));
        }
    }

    /// Positions of a member's items.
    fn fingerprint(&self, member: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|side| self.starts[member as usize + side] as usize);
        &self.fingerprints[from..to]
    }

    /// The part of a member's items that lies under a node.
    fn under(&self, member: u32, node: u32) -> &[u32] {
        let node = self.promise.trees.node(node);
        let fingerprint = self.fingerprint(member);
        let item = |&position: &u32| self.items[position as usize];
        let from = fingerprint.partition_point(|position| item(position) < node.first);
        let to = fingerprint.partition_point(|position| item(position) <= node.last);
        &fingerprint[from..to]
    }

    fn push(&self, open: &mut BinaryHeap<Open>, node: u32, holders: Vec<u32>) {
        let trees = self.promise.trees;
        if trees.node(node).is_leaf() {
            return;
        }
        let items = holders.iter().map(|&member| self.under(member, node).len());
        let lost = items.sum::<usize>() as f64 * f64::from(trees.node(node).loss);
        open.push(Open {
            lost: lost.to_bits(),
            node,
            holders,
        });
    }

    /// Children that occur and who has them, if the node can be expanded.
    fn expand(&mut self, node: u32, holders: &[u32]) -> Option<Vec<(u32, Vec<u32>)>> {
        let trees = self.promise.trees;
        let mut held: Vec<Vec<u32>> = vec![Vec::new(); trees.children(node).len()];
        let mut counted = 0_u64;
        for &member in holders {
            for &position in self.under(member, node) {
                let child = trees.child_position(node, self.items[position as usize]);
                if held[child].last() != Some(&member) {
                    held[child].push(member);
                }
            }
        }
        let enough = |held: &Vec<u32>| held.is_empty() || held.len() as u64 >= self.needed(held);
        if !held.iter().all(enough) {
            return None;
        }
        let children = trees.children(node).iter().copied().zip(held);
        let children: Vec<(u32, Vec<u32>)> =
            children.filter(|(_, held)| !held.is_empty()).collect();
        self.assign(node, children.iter().map(|&(child, _)| child));
        // With one child nothing changes but its name.
        if children.len() == 1 || self.promise.m == 1 {
            return Some(children);
        }
        for &member in holders {
            counted = counted.saturating_add(self.combinations(member, node));
        }
        let holds = counted <= self.allowed()
            && children
                .iter()
                .all(|(child, held)| self.extends(node, *child, held, 1));
        if holds {
            return Some(children);
        }
        self.assign(node, [node].into_iter());
        None
    }

    /// K of a combination that these members have.
    fn needed(&self, members: &[u32]) -> u64 {
        if !self.promise.is_personal {
            return u64::from(self.promise.k);
        }
        let k = members.iter().map(|&member| self.k[member as usize]);
        u64::from(k.max().unwrap_or(0))
    }

    /// Publishes the items under `node` as the given nodes below it, or it.
    fn assign(&mut self, node: u32, below: impl Iterator<Item = u32>) {
        let trees = self.promise.trees;
        let node = trees.node(node);
        let from = self.items.partition_point(|&item| item < node.first);
        let mut at = from;
        for below in below {
            let last = trees.node(below).last;
            while at < self.items.len() && self.items[at] <= last {
                self.node_of[at] = below;
                at += 1;
            }
        }
    }

    /// Combinations that one expansion may count.
    fn allowed(&self) -> u64 {
        WORK_FLOOR.max(WORK_A_PERSON * self.k.len() as u64)
    }

    /// Combinations of two to m published items of a member of which one lies
    /// under `node`.
    fn combinations(&self, member: u32, node: u32) -> u64 {
        let under = self.under(member, node);
        let (mut all, mut new) = (0_u64, 0_u64);
        let mut last = u32::MAX;
        for position in self.fingerprint(member) {
            let published = self.node_of[*position as usize];
            if published != last {
                all += 1;
                new += u64::from(under.contains(position));
                last = published;
            }
        }
        let sizes = 2..=u64::from(self.promise.m);
        let of = |items| sizes.clone().map(|size| choose(items, size)).sum::<u64>();
        of(all) - of(all - new)
    }

    /// Whether every combination of up to m items has enough persons that
    /// begins with what `members` share, the last of it `last`, `size` items.
    ///
    /// Combinations are met in one order: children of the expanded node first,
    /// then the other nodes of the cut, each by number.
    fn extends(&mut self, expanded: u32, last: u32, members: &[u32], size: u32) -> bool {
        let trees = self.promise.trees;
        let (first, end) = (trees.node(expanded).first, trees.node(expanded).last);
        let rank = |node: u32| {
            let items = trees.node(node);
            (!(first <= items.first && items.last <= end), node)
        };
        let mut touched: Vec<u32> = Vec::new();
        for &member in members {
            let k = self.k[member as usize];
            let [from, to] = [0, 1].map(|side| self.starts[member as usize + side] as usize);
            let mut before = u32::MAX;
            for &position in &self.fingerprints[from..to] {
                let node = self.node_of[position as usize];
                if node == before {
                    continue;
                }
                before = node;
                let (count, needed) = &mut self.counts.by_node[node as usize];
                if *count == 0 {
                    if rank(node) <= rank(last) {
                        continue;
                    }
                    touched.push(node);
                }
                *count += 1;
                *needed = k.max(*needed);
            }
        }
        let mut holds = true;
        for &node in &touched {
            let (count, needed) = std::mem::take(&mut self.counts.by_node[node as usize]);
            holds &= count >= needed;
        }
        if !holds || size + 1 >= self.promise.m {
            return holds;
        }
        touched.into_iter().all(|node| {
            let has = |&&member: &&u32| {
                let mut published = self.fingerprint(member).iter();
                published.any(|&position| self.node_of[position as usize] == node)
            };
            let sharing: Vec<u32> = members.iter().filter(has).copied().collect();
            self.extends(expanded, node, &sharing, size + 1)
        })
    }
}

/// Number of ways to choose `size` of `items`; saturates.
fn choose(items: u64, size: u64) -> u64 {
    if size > items {
        return 0;
    }
    let ways = (1..=size).try_fold(1_u64, |ways, at| {
        Some(ways.checked_mul(items - size + at)? / at)
    });
    ways.unwrap_or(u64::MAX / 8)
}
