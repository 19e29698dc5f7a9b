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

use super::child_sets::ChildSets;
use super::partition::Material;

/// Number of the set of those who keep the node.
pub(super) const POOL: usize = 0;

/// A way to expand a node.
#[derive(Clone, Copy)]
pub(super) struct Expansion {
    pub node: u32,
    /// Loss saved, summed over items.
    pub gain: f32,
}

/// Tries expansions, one part at a time; buffers are reused.
pub(super) struct Expander<'a> {
    material: Material<'a>,
    /// The expansion tried last, and the one kept.
    tried: Tried,
    kept: Tried,
    /// Loss that each member saves.
    savings: Vec<f32>,
    numbers: ChildSets,
    room: Vec<u32>,
}

/// Who falls into which set.
#[derive(Default)]
struct Tried {
    /// Number of the set of each member of the part.
    set_of: Vec<u32>,
    sets: Vec<Set>,
}

#[derive(Clone, Copy, Default)]
struct Set {
    size: u32,
    /// K of its members.
    k: u32,
    saving: f32,
    /// The first person met; their items say which children it stands for.
    first: u32,
    is_hidden: bool,
}

impl<'a> Expander<'a> {
    /// Buffers for the parts of a partition.
    pub fn new(material: Material<'a>) -> Self {
        Self {
            material,
            tried: Tried::default(),
            kept: Tried::default(),
            savings: Vec::new(),
            numbers: ChildSets::default(),
            room: Vec::new(),
        }
    }

    /// What is partitioned.
    pub fn material(&self) -> Material<'a> {
        self.material
    }

    /// Keeps the expansion tried last, to be arranged later.
    pub fn keep(&mut self) {
        std::mem::swap(&mut self.tried, &mut self.kept);
    }

    /// Tries to expand a node that every member has; `None` if nobody would
    /// get its children.
    pub fn expand(&mut self, node: u32, members: &[u32]) -> Option<Expansion> {
        self.divide(node, members);
        self.settle(members);
        let sets = &self.tried.sets[POOL + 1..];
        sets.iter().any(|set| set.size > 0).then(|| Expansion {
            node,
            gain: sets.iter().map(|set| set.saving).sum(),
        })
    }

    /// Sorts members by the sets of the expansion that was kept. Gives the
    /// size of each set that has any, with the children that replace `node`;
    /// none for those who keep it, who come first.
    pub fn arrange(&mut self, node: u32, members: &mut [u32]) -> Vec<(usize, Vec<u32>)> {
        let Tried { set_of, sets } = &self.kept;
        let mut next: Vec<usize> = Vec::with_capacity(sets.len());
        let mut start = 0;
        for set in sets {
            next.push(start);
            start += set.size as usize;
        }
        self.room.clear();
        self.room.extend_from_slice(members);
        for (&person, &set) in self.room.iter().zip(set_of) {
            let at = &mut next[set as usize];
            members[*at] = person;
            *at += 1;
        }
        let children = |number: usize| match number {
            POOL => Vec::new(),
            _ => self.children(node, sets[number].first),
        };
        let occupied = (0..sets.len()).filter(|&number| sets[number].size > 0);
        occupied
            .map(|number| (sets[number].size as usize, children(number)))
            .collect()
    }

    /// Children of a node that a person's items lie under.
    fn children(&self, node: u32, person: u32) -> Vec<u32> {
        let below = self.material.trees.below(node);
        let items = self.items(node, person).iter();
        let mut children: Vec<u32> = items
            .map(|&item| below.nodes[below.position(item)])
            .collect();
        children.dedup();
        children
    }

    /// Items of a person under a node.
    #[inline]
    fn items(&self, node: u32, person: u32) -> &'a [u32] {
        let node = self.material.trees.node(node);
        items_within(self.material.persons.items(person), node.first, node.last)
    }

    /// Puts each member into the set of the children that its items lie
    /// under; the pool is empty so far.
    fn divide(&mut self, node: u32, members: &[u32]) {
        let Material {
            persons,
            trees,
            k,
            hidden,
        } = self.material;
        let Tried { set_of, sets } = &mut self.tried;
        set_of.clear();
        sets.clear();
        sets.push(Set::default());
        self.savings.clear();
        let below = trees.below(node);
        self.numbers.start(below.nodes.len());
        let (first, last, loss) = {
            let node = trees.node(node);
            (node.first, node.last, node.loss)
        };
        let is_hidden = |item: &u32| hidden[below.nodes[below.position(*item)] as usize];
        for &person in members {
            let items = items_within(persons.items(person), first, last);
            let (key, saving) = self.numbers.key(items, below, loss);
            let next = sets.len() as u32;
            let number = self.numbers.number(key, next);
            if number == next {
                sets.push(Set {
                    k,
                    first: person,
                    is_hidden: items.iter().any(is_hidden),
                    ..Set::default()
                });
            }
            let set = &mut sets[number as usize];
            set.size += 1;
            set.k = set.k.max(persons.k[person as usize]);
            set.saving += saving;
            set_of.push(number);
            self.savings.push(saving);
        }
    }

    fn settle(&mut self, members: &[u32]) {
        self.pool_small_sets(members);
        if self.tried.sets[POOL].size == 0 {
            return;
        }
        self.tried.sets[POOL].k = self.k_of(POOL as u32, members);
        if self.tried.sets[POOL].size < self.tried.sets[POOL].k {
            self.borrow(members);
        }
        while self.tried.sets[POOL].size < self.tried.sets[POOL].k {
            let open =
                (POOL + 1..self.tried.sets.len()).filter(|&set| self.tried.sets[set].size > 0);
            let cheapest = open.min_by(|&one, &other| {
                self.tried.sets[one]
                    .saving
                    .total_cmp(&self.tried.sets[other].saving)
            });
            let Some(cheapest) = cheapest else { return };
            self.dissolve(cheapest as u32);
            self.tried.sets[POOL].k = self.k_of(POOL as u32, members);
        }
    }

    /// Pools sets of fewer than K, and strict members of others.
    fn pool_small_sets(&mut self, members: &[u32]) {
        let k = self.material.k;
        let mut is_pooled = vec![false; self.tried.sets.len()];
        for (set, is_pooled) in is_pooled.iter_mut().enumerate().skip(POOL + 1) {
            let found = self.tried.sets[set];
            if !found.is_hidden && found.size >= found.k {
                continue;
            }
            if !found.is_hidden && found.size >= k {
                self.leave_strict(set as u32, members);
            }
            *is_pooled = self.tried.sets[set].size < k || found.is_hidden;
        }
        for set in &mut self.tried.set_of {
            if is_pooled[*set as usize] {
                *set = POOL as u32;
                self.tried.sets[POOL].size += 1;
            }
        }
        for (set, pooled) in self.tried.sets.iter_mut().zip(is_pooled) {
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
            .filter(|&at| self.tried.set_of[at] == set && own_k(at) > self.material.k)
            .collect();
        strict.sort_by_key(|&at| std::cmp::Reverse(own_k(at)));
        let ks: Vec<u32> = strict.iter().map(|&at| own_k(at)).collect();
        for (at, k) in strict.into_iter().zip(ks) {
            if k <= self.tried.sets[set as usize].size {
                self.tried.sets[set as usize].k = k;
                return;
            }
            self.move_to_pool(at);
        }
        self.tried.sets[set as usize].k = self.material.k;
    }

    fn move_to_pool(&mut self, at: usize) {
        let set = &mut self.tried.sets[self.tried.set_of[at] as usize];
        set.size -= 1;
        set.saving -= self.savings[at];
        self.tried.set_of[at] = POOL as u32;
        self.tried.sets[POOL].size += 1;
    }

    /// Takes members who save least from sets that can spare them, until the
    /// pool has K or nothing can be spared.
    fn borrow(&mut self, members: &[u32]) {
        let k = self.tried.sets[POOL].k;
        let persons = self.material.persons;
        let can_leave = |at: &usize| {
            let set = self.tried.sets[self.tried.set_of[*at] as usize];
            self.tried.set_of[*at] != POOL as u32
                && set.size > set.k
                && persons.k[members[*at] as usize] <= k
        };
        let mut lenders: Vec<usize> = (0..members.len()).filter(can_leave).collect();
        while self.tried.sets[POOL].size < k && !lenders.is_empty() {
            let missing = (k - self.tried.sets[POOL].size) as usize;
            for at in take_least(&mut lenders, 2 * missing, &self.savings) {
                let set = self.tried.sets[self.tried.set_of[at] as usize];
                if set.size > set.k && self.tried.sets[POOL].size < k {
                    self.move_to_pool(at);
                }
            }
        }
    }

    fn dissolve(&mut self, set: u32) {
        for of in &mut self.tried.set_of {
            if *of == set {
                *of = POOL as u32;
            }
        }
        self.tried.sets[POOL].size += self.tried.sets[set as usize].size;
        (
            self.tried.sets[set as usize].size,
            self.tried.sets[set as usize].saving,
        ) = (0, 0.0);
    }

    fn k_of(&self, set: u32, members: &[u32]) -> u32 {
        let of_set = self.tried.set_of.iter().zip(members);
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

/// Takes so many lenders off the list, those who save least, in order.
fn take_least(lenders: &mut Vec<usize>, number: usize, savings: &[f32]) -> Vec<usize> {
    // Members came in random order, which decides between equals.
    let by_saving = |one: &usize, other: &usize| {
        let savings = savings[*one].total_cmp(&savings[*other]);
        savings.then(one.cmp(other))
    };
    let kept = lenders.len().saturating_sub(number);
    if kept > 0 {
        lenders.select_nth_unstable_by(kept, |one, other| by_saving(other, one));
    }
    let mut least = lenders.split_off(kept);
    least.sort_unstable_by(by_saving);
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenders_are_taken_as_if_all_had_been_sorted() {
        let savings: Vec<f32> = (0..97).map(|at| (at * 31 % 7) as f32).collect();
        let mut sorted: Vec<usize> = (0..savings.len()).collect();
        sorted.sort_by(|&one, &other| savings[one].total_cmp(&savings[other]));
        for number in [1, 2, 10, 96, 97, 200] {
            let mut lenders: Vec<usize> = (0..savings.len()).collect();
            let mut taken = Vec::new();
            while !lenders.is_empty() {
                taken.extend(take_least(&mut lenders, number, &savings));
            }
            assert_eq!(taken, sorted, "{number} at a time");
        }
    }
}
