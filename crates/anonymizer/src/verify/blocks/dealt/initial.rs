//! The initial partition, made again: blocks of people with similar
//! quasi-identifiers.
//!
//! Everyone is split by the values of the first attribute (`attributes`). While
//! a part does not hold, the smallest such part, of equals the first in the
//! order of the domain, is merged with its smaller neighbour in that order, of
//! equals with the one before. Then each part is split by the next attribute,
//! until there is none.
//!
//! With `partitioning: "paper"` the neighbour is the one before or the one
//! after by a fair draw, where there are both, and merged parts are not split
//! again. Each block that is split draws from a stream of its own: that of the
//! attribute, its depth and the number of people in the blocks before it.
//!
//! A part holds if (most frequent value) × L is at most its size, L the
//! strictest of its members, and if it has as many people as its form asks for:
//! K where groups or buckets are published, the window of a ring for rings; and,
//! but on paper, four for each of its L. Its known values span the least spread,
//! where one is asked for.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;

use crate::microdata::CodedColumn;
use crate::privacy::{BlockForm, Seed};

use super::attributes::by_contingency;
use super::people::People;

/// What decides beside the people themselves.
pub(super) struct Rules<'a> {
    pub(super) form: BlockForm,
    pub(super) is_paper: bool,
    pub(super) secret: &'a Seed,
    /// Position of the sensitive attribute among the protectable ones.
    pub(super) attribute: u64,
}

/// The blocks of everyone, in the order of the domain.
pub(super) fn partition(people: &People, rules: Rules, everyone: Vec<u32>) -> Vec<Vec<u32>> {
    let mut splitting = Splitting {
        people,
        columns: by_contingency(people),
        rules,
        before: 0,
        blocks: Vec::new(),
    };
    splitting.split(everyone, 0);
    splitting.blocks
}

struct Splitting<'a> {
    people: &'a People<'a>,
    columns: Vec<&'a CodedColumn>,
    rules: Rules<'a>,
    /// People in the blocks so far.
    before: u64,
    blocks: Vec<Vec<u32>>,
}

/// A part by where it ends; it is found by where it starts.
#[derive(Clone, Copy)]
struct Part {
    end: usize,
    is_merged: bool,
}

type Parts = BTreeMap<usize, Part>;

impl Splitting<'_> {
    fn split(&mut self, mut block: Vec<u32>, depth: usize) {
        self.people.cancel.heed();
        let Some(column) = self.columns.get(depth).copied() else {
            self.keep(block);
            return;
        };
        let code = |person: u32| {
            let record = self.people.records[person as usize];
            column.codes.at(record as usize)
        };
        block.sort_by_key(|&person| code(person));
        let mut parts = Parts::new();
        let mut start = 0;
        for run in block.chunk_by(|&one, &other| code(one) == code(other)) {
            let end = start + run.len();
            let is_merged = false;
            parts.insert(start, Part { end, is_merged });
            start = end;
        }
        self.merge(&block, &mut parts, depth as u64);
        for (start, part) in parts {
            let own = block[start..part.end].to_vec();
            if part.is_merged && self.rules.is_paper {
                self.keep(own)
            } else {
                self.split(own, depth + 1)
            }
        }
    }

    fn keep(&mut self, block: Vec<u32>) {
        self.before += block.len() as u64;
        self.blocks.push(block);
    }

    /// Merges parts until each holds, or one is left.
    fn merge(&self, block: &[u32], parts: &mut Parts, depth: u64) {
        let place = self.rules.attribute << 48 | depth << 32 | self.before;
        let mut random = self.rules.secret.stream(Seed::NEIGHBOURS, place);
        let all = parts.iter().map(|(&start, part)| (start, part.end));
        let unsound = all.filter(|&(start, end)| !self.holds(&block[start..end]));
        let mut unsound: BTreeSet<(usize, usize)> =
            unsound.map(|(start, end)| (end - start, start)).collect();
        while let Some((_, start)) = unsound.pop_first() {
            let length = |(&start, part): (&usize, &Part)| (part.end - start, start);
            let before = parts.range(..start).next_back().map(length);
            let after = parts.range(start + 1..).next().map(length);
            let neighbour = match (before, after) {
                (None, None) => return,
                (Some(only), None) | (None, Some(only)) => only,
                (Some(before), Some(after)) => {
                    let is_after = if self.rules.is_paper {
                        !random.random_bool(0.5)
                    } else {
                        after.0 < before.0
                    };
                    if is_after { after } else { before }
                }
            };
            unsound.remove(&neighbour);
            let (left, right) = (start.min(neighbour.1), start.max(neighbour.1));
            let Some(Part { end, .. }) = parts.remove(&right) else {
                return;
            };
            let is_merged = true;
            parts.insert(left, Part { end, is_merged });
            if !self.holds(&block[left..end]) {
                unsound.insert((end - left, left));
            }
        }
    }

    fn holds(&self, part: &[u32]) -> bool {
        let (l, k) = (self.people.l_of(part), self.people.k_of(part));
        let least = match self.rules.form {
            BlockForm::Distinct | BlockForm::Eligible | BlockForm::Randomized { .. } => 1,
            BlockForm::Generalized | BlockForm::Sliced => k,
            BlockForm::Ring => l.saturating_mul(k.div_ceil(l)),
        };
        let least = if self.rules.is_paper {
            least
        } else {
            least.max(l.saturating_mul(4))
        };
        let values = part
            .iter()
            .map(|&person| self.people.value[person as usize]);
        let mut values: Vec<u32> = values.collect();
        values.sort_unstable();
        let runs = values.chunk_by(|one, other| one == other);
        let most = runs.map(<[u32]>::len).max().unwrap_or(0);
        most.saturating_mul(l) <= part.len() && part.len() >= least && self.people.span(part)
    }
}
