//! Expands one node for the persons of a part, and settles who stays behind.
//!
//! Persons fall into *sets* by the children that their items lie under. A set
//! of fewer than K persons cannot be published by itself; its persons are
//! pooled and keep the node. Settling (*ours*):
//! - a set that is large enough but for the stricter terms of some of its
//!   persons leaves those to the pool, strictest first;
//! - a pool of fewer than K borrows the persons who lose least by it, from
//!   sets that can spare them;
//! - where they cannot spare enough, the set that saves least is dissolved.
//!
//! Saved loss is summed over the persons who get the children.

use rustc_hash::FxHashMap;

use super::partition::Material;

/// Number of the set of those who keep the node.
pub(super) const POOL: usize = 0;

/// A way to expand a node.
pub(super) struct Expansion {
    pub node: u32,
    /// Loss saved, summed over items.
    pub gain: f32,
    /// Children of each set, by number of the set.
    pub children: Vec<Vec<u32>>,
}

/// Tries expansions, one part at a time; buffers are reused.
pub(super) struct Expander<'a> {
    material: Material<'a>,
    /// Number of the set of each member of the part, for the expansion tried
    /// last and for the one kept.
    set_of: Vec<u32>,
    kept_set_of: Vec<u32>,
    /// Loss that each member saves.
    savings: Vec<f32>,
    sets: Vec<Set>,
    by_key: FxHashMap<u64, u32>,
    /// Numbers of sets of children where a node has too many for a bit each.
    chains: FxHashMap<(u64, u32), u64>,
    room: Vec<u32>,
}

#[derive(Clone, Copy, Default)]
struct Set {
    size: u32,
    /// K of its members.
    k: u32,
    saving: f32,
    is_hidden: bool,
}

impl<'a> Expander<'a> {
    /// Buffers for the parts of a partition.
    pub fn new(material: Material<'a>) -> Self {
        Self {
            material,
            set_of: Vec::new(),
            kept_set_of: Vec::new(),
            savings: Vec::new(),
            sets: Vec::new(),
            by_key: FxHashMap::default(),
            chains: FxHashMap::default(),
            room: Vec::new(),
        }
    }

    /// What is partitioned.
    pub fn material(&self) -> Material<'a> {
        self.material
    }

    /// Keeps the expansion tried last, to be arranged later.
    pub fn keep(&mut self) {
        std::mem::swap(&mut self.set_of, &mut self.kept_set_of);
    }

    /// Tries to expand a node that every member has; `None` if nobody would
    /// get its children.
    pub fn expand(&mut self, node: u32, members: &[u32]) -> Option<Expansion> {
        let mut children = self.divide(node, members);
        self.settle(members);
        let kept: Vec<bool> = self.sets.iter().map(|set| set.size > 0).collect();
        if !kept[POOL + 1..].contains(&true) {
            return None;
        }
        for (children, kept) in children.iter_mut().zip(&kept) {
            if !kept {
                children.clear();
            }
        }
        Some(Expansion {
            node,
            gain: self.sets[POOL + 1..].iter().map(|set| set.saving).sum(),
            children,
        })
    }

    /// Sorts members by the sets of the expansion that was kept; gives the
    /// size of each set.
    pub fn arrange(&mut self, expansion: &Expansion, members: &mut [u32]) -> Vec<usize> {
        let mut sizes = vec![0_usize; expansion.children.len()];
        for &set in &self.kept_set_of {
            sizes[set as usize] += 1;
        }
        let mut next: Vec<usize> = Vec::with_capacity(sizes.len());
        let mut start = 0;
        for &size in &sizes {
            next.push(start);
            start += size;
        }
        self.room.clear();
        self.room.extend_from_slice(members);
        for (&person, &set) in self.room.iter().zip(&self.kept_set_of) {
            let at = &mut next[set as usize];
            members[*at] = person;
            *at += 1;
        }
        sizes
    }

    /// Puts each member into the set of the children that its items lie
    /// under. Gives the children of each set; the pool is empty so far.
    fn divide(&mut self, node: u32, members: &[u32]) -> Vec<Vec<u32>> {
        let Material {
            persons,
            trees,
            k,
            hidden,
        } = self.material;
        self.set_of.clear();
        self.savings.clear();
        self.sets.clear();
        self.sets.push(Set::default());
        self.by_key.clear();
        self.chains.clear();
        let mut children: Vec<Vec<u32>> = vec![Vec::new()];
        let below = trees.children(node);
        let (first, last, loss) = {
            let node = trees.node(node);
            (node.first, node.last, node.loss)
        };
        for &person in members {
            let items = items_within(persons.items(person), first, last);
            let (mut key, mut saving, mut previous) = (0_u64, 0.0, usize::MAX);
            for &item in items {
                let at = trees.child_position(node, item);
                saving += loss - trees.node(below[at]).loss;
                // Items ascend, so those of one child stand together.
                if at != previous {
                    key = self.extend_key(key, at, below.len());
                    previous = at;
                }
            }
            let next = self.sets.len() as u32;
            let set = *self.by_key.entry(key).or_insert(next);
            if set == next {
                let nodes = items
                    .iter()
                    .map(|&item| below[trees.child_position(node, item)]);
                let mut nodes: Vec<u32> = nodes.collect();
                nodes.dedup();
                self.sets.push(Set {
                    k,
                    is_hidden: nodes.iter().any(|&node| hidden[node as usize]),
                    ..Set::default()
                });
                children.push(nodes);
            }
            let entry = &mut self.sets[set as usize];
            entry.size += 1;
            entry.k = entry.k.max(persons.k[person as usize]);
            entry.saving += saving;
            self.set_of.push(set);
            self.savings.push(saving);
        }
        children
    }

    /// The key of a set of children with one more: a bit each, or the number
    /// of the chain that led to it.
    #[inline]
    fn extend_key(&mut self, key: u64, child: usize, children: usize) -> u64 {
        if children <= 64 {
            return key | 1 << child;
        }
        let next = self.chains.len() as u64 + 1;
        *self.chains.entry((key, child as u32)).or_insert(next)
    }

    fn settle(&mut self, members: &[u32]) {
        self.pool_small_sets(members);
        if self.sets[POOL].size == 0 {
            return;
        }
        self.sets[POOL].k = self.k_of(POOL as u32, members);
        if self.sets[POOL].size < self.sets[POOL].k {
            self.borrow(members);
        }
        while self.sets[POOL].size < self.sets[POOL].k {
            let open = (POOL + 1..self.sets.len()).filter(|&set| self.sets[set].size > 0);
            let cheapest = open
                .min_by(|&one, &other| self.sets[one].saving.total_cmp(&self.sets[other].saving));
            let Some(cheapest) = cheapest else { return };
            self.dissolve(cheapest as u32);
            self.sets[POOL].k = self.k_of(POOL as u32, members);
        }
    }

    /// Pools sets of fewer than K, and strict members of others.
    fn pool_small_sets(&mut self, members: &[u32]) {
        let k = self.material.k;
        let mut is_pooled = vec![false; self.sets.len()];
        for (set, is_pooled) in is_pooled.iter_mut().enumerate().skip(POOL + 1) {
            let found = self.sets[set];
            if !found.is_hidden && found.size >= found.k {
                continue;
            }
            if !found.is_hidden && found.size >= k {
                self.leave_strict(set as u32, members);
            }
            *is_pooled = self.sets[set].size < k || found.is_hidden;
        }
        for set in &mut self.set_of {
            if is_pooled[*set as usize] {
                *set = POOL as u32;
                self.sets[POOL].size += 1;
            }
        }
        for (set, pooled) in self.sets.iter_mut().zip(is_pooled) {
            if pooled {
                (set.size, set.saving) = (0, 0.0);
            }
        }
    }

    /// Moves members whose own k is beyond the size of their set to the pool,
    /// strictest first, until the rest is content.
    fn leave_strict(&mut self, set: u32, members: &[u32]) {
        let own_k = |at: usize| self.material.persons.k[members[at] as usize];
        let mut strict: Vec<usize> = (0..members.len())
            .filter(|&at| self.set_of[at] == set && own_k(at) > self.material.k)
            .collect();
        strict.sort_by_key(|&at| std::cmp::Reverse(own_k(at)));
        let ks: Vec<u32> = strict.iter().map(|&at| own_k(at)).collect();
        for (at, k) in strict.into_iter().zip(ks) {
            if k <= self.sets[set as usize].size {
                self.sets[set as usize].k = k;
                return;
            }
            self.move_to_pool(at);
        }
        self.sets[set as usize].k = self.material.k;
    }

    fn move_to_pool(&mut self, at: usize) {
        let set = &mut self.sets[self.set_of[at] as usize];
        set.size -= 1;
        set.saving -= self.savings[at];
        self.set_of[at] = POOL as u32;
        self.sets[POOL].size += 1;
    }

    /// Takes members who save least from sets that can spare them, until the
    /// pool has K or nothing can be spared.
    fn borrow(&mut self, members: &[u32]) {
        let k = self.sets[POOL].k;
        let persons = self.material.persons;
        let can_leave = |at: &usize| {
            let set = self.sets[self.set_of[*at] as usize];
            self.set_of[*at] != POOL as u32
                && set.size > set.k
                && persons.k[members[*at] as usize] <= k
        };
        let mut lenders: Vec<usize> = (0..members.len()).filter(can_leave).collect();
        // Stable: members came in random order, which decides between equals.
        lenders.sort_by(|&one, &other| self.savings[one].total_cmp(&self.savings[other]));
        for at in lenders {
            if self.sets[POOL].size >= k {
                return;
            }
            let set = self.sets[self.set_of[at] as usize];
            if set.size > set.k {
                self.move_to_pool(at);
            }
        }
    }

    fn dissolve(&mut self, set: u32) {
        for of in &mut self.set_of {
            if *of == set {
                *of = POOL as u32;
            }
        }
        self.sets[POOL].size += self.sets[set as usize].size;
        (self.sets[set as usize].size, self.sets[set as usize].saving) = (0, 0.0);
    }

    fn k_of(&self, set: u32, members: &[u32]) -> u32 {
        let of_set = self.set_of.iter().zip(members);
        let own = of_set
            .filter(|(of, _)| **of == set)
            .map(|(_, &person)| self.material.persons.k[person as usize]);
        own.max().unwrap_or(1).max(self.material.k)
    }
}

/// The items from `first` to `last` of an ascending list.
#[inline]
fn items_within(items: &[u32], first: u32, last: u32) -> &[u32] {
    let from = items.iter().position(|&item| item >= first);
    let rest = &items[from.unwrap_or(items.len())..];
    let to = rest.iter().position(|&item| item > last);
    &rest[..to.unwrap_or(rest.len())]
}
