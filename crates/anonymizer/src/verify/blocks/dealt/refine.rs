//! Sub-blocks of distinct values, dealt again.
//!
//! In each block the people of a value come in the order of their numbers. A
//! sub-block takes one person of each of L values, L the strictest of the
//! block. With n people left and m = ⌊n/L⌋, these are the values with at least
//! m people, the most frequent first and of equally frequent ones those whose
//! next person has the lower number; then the values whose next person has the
//! lowest number. That goes on while L values are left.
//!
//! People who are left wait, beside those whom the blocks before left. After each
//! block, sub-blocks are made of those who wait: the values are ranked by how
//! many people wait, then by the number of the next, who is the one that came
//! last. Values whose next person asks for more values than there are stay out,
//! until none does. Of the rest the fewest first ones that are as many as their
//! next people ask for, and that span the least spread, make a sub-block.
//!
//! People who wait at the end go, in the order of the numbers, to a sub-block of
//! their own block that lacks their value. Of these, in the order in which they
//! were made, the number picks one: the remainder by how many there are.
//!
//! Where a least spread is asked for, nobody waits of a block whose sub-blocks
//! do not span it together: who is left goes at the end to the sub-blocks of the
//! own block, as above. Then a sub-block that spans too little takes in those of
//! the same block that were made after it, until it spans enough, and where none
//! is left those made before it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::people::People;

/// The sub-blocks of all blocks.
pub(super) fn deal(people: &People, blocks: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut dealing = Dealing {
        people,
        done: Vec::new(),
        waiting: BTreeMap::new(),
        staying: Vec::new(),
    };
    // Which sub-blocks are of each block, and of each person's own.
    let mut homes = Vec::new();
    let mut own = vec![0..0; people.len()];
    for block in blocks {
        let first = dealing.done.len();
        dealing.deal_block(block);
        for &person in block {
            own[person as usize] = first..dealing.done.len();
        }
        homes.push(first..dealing.done.len());
        dealing.deal_waiting();
    }
    let waiting = std::mem::take(&mut dealing.waiting);
    let mut waiting: Vec<u32> = waiting.into_values().flatten().collect();
    waiting.append(&mut dealing.staying);
    waiting.sort_unstable_by_key(|&person| people.turn(person));
    for person in waiting {
        dealing.place(person, own[person as usize].clone());
    }
    for home in homes {
        dealing.join_narrow(home);
    }
    dealing.done.retain(|block| !block.is_empty());
    dealing.done
}

struct Dealing<'a> {
    people: &'a People<'a>,
    done: Vec<Vec<u32>>,
    /// Who waits, by value; who came last is last.
    waiting: BTreeMap<u32, Vec<u32>>,
    /// Who stays in the own block, which would span too little otherwise.
    staying: Vec<u32>,
}

impl Dealing<'_> {
    fn value(&self, person: u32) -> u32 {
        self.people.value[person as usize]
    }

    fn deal_block(&mut self, block: &[u32]) {
        let people = self.people;
        let l = people.l_of(block);
        // The next of a value is last.
        let mut queues: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for &person in block {
            queues.entry(self.value(person)).or_default().push(person);
        }
        let (mut frequent, mut next) = (BTreeSet::new(), BTreeSet::new());
        let turn = |queue: &[u32]| queue.last().map(|&person| people.turn(person));
        for (&value, queue) in &mut queues {
            queue.sort_unstable_by_key(|&person| Reverse(people.turn(person)));
            frequent.extend(turn(queue).map(|turn| (Reverse(queue.len()), turn, value)));
            next.extend(turn(queue).map(|turn| (turn, value)));
        }
        let (mut left, first) = (block.len(), self.done.len());
        while next.len() >= l {
            people.cancel.heed();
            let must = left / l;
            let mut dealt = Vec::with_capacity(l);
            let mut values = Vec::with_capacity(l);
            while values.len() < l {
                let most = frequent.first().copied();
                let most = most.filter(|&(Reverse(count), ..)| count >= must);
                let Some((turn, value)) = most
                    .map(|(_, turn, value)| (turn, value))
                    .or_else(|| next.first().copied())
                else {
                    break;
                };
                let queue = queues.entry(value).or_default();
                frequent.remove(&(Reverse(queue.len()), turn, value));
                next.remove(&(turn, value));
                dealt.extend(queue.pop());
                values.push(value);
            }
            for value in values {
                let queue = queues.entry(value).or_default();
                frequent.extend(turn(queue).map(|turn| (Reverse(queue.len()), turn, value)));
                next.extend(turn(queue).map(|turn| (turn, value)));
            }
            left -= dealt.len();
            self.done.push(dealt);
        }
        let is_wide = people.span(&self.done[first..].concat());
        for (value, queue) in queues {
            if is_wide {
                self.waiting.entry(value).or_default().extend(queue)
            } else {
                self.staying.extend(queue)
            }
        }
    }

    /// Joins sub-blocks of one block that span too little: with the next ones,
    /// and where none is left with the ones before.
    fn join_narrow(&mut self, home: Range<usize>) {
        let mut last = None;
        let mut at = home.start;
        while at < home.end {
            let mut block = std::mem::take(&mut self.done[at]);
            let mut next = at + 1;
            while !self.people.span(&block) && next < home.end {
                block.append(&mut self.done[next]);
                next += 1;
            }
            while !self.people.span(&block)
                && let Some(before) = last
            {
                block.append(&mut self.done[before]);
                last = (home.start..before).rfind(|&at| !self.done[at].is_empty());
            }
            self.done[at] = block;
            last = Some(at);
            at = next;
        }
    }

    fn deal_waiting(&mut self) {
        while let Some(values) = self.next_values() {
            let mut dealt = Vec::new();
            for value in values {
                dealt.extend(self.waiting.entry(value).or_default().pop());
            }
            self.done.push(dealt);
        }
        self.waiting.retain(|_, people| !people.is_empty());
    }

    /// The values of the next sub-block of those who wait.
    fn next_values(&self) -> Option<Vec<u32>> {
        let queues = self.waiting.iter();
        let ranked = queues.filter_map(|(&value, queue)| {
            let &next = queue.last()?;
            let asked = self.people.l[next as usize] as usize;
            Some((Reverse(queue.len()), self.people.turn(next), value, asked))
        });
        let mut ranked: Vec<_> = ranked.collect();
        ranked.sort_unstable();
        loop {
            let there = ranked.len();
            ranked.retain(|&(.., asked)| asked <= there);
            if ranked.len() == there {
                break;
            }
        }
        let mut strictest = 0;
        let mut ends = None;
        let enough = (1..)
            .zip(&ranked)
            .find(|&(number, &(_, (_, next), _, asked))| {
                strictest = asked.max(strictest);
                ends = self.people.wider(ends, next);
                strictest <= number && self.people.is_wide(ends)
            });
        let (number, _) = enough?;
        let first = ranked[..number].iter();
        Some(first.map(|&(_, _, value, _)| value).collect())
    }

    fn place(&mut self, person: u32, own: Range<usize>) {
        self.people.cancel.heed();
        let value = self.value(person);
        let lacks = |at: &usize| self.done[*at].iter().all(|&one| self.value(one) != value);
        let lacking: Vec<usize> = own.filter(lacks).collect();
        let number = self.people.number[person as usize];
        // None lacks it where the block was not eligible, which other checks
        // name.
        match lacking.len() as u64 {
            0 => self.done.push(vec![person]),
            places => {
                let at = lacking[(number % places) as usize];
                self.done[at].push(person);
            }
        }
    }
}
