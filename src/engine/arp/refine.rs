//! Refining (`[ARP]` Alg. 2): blocks cut into sub-blocks of l distinct values.
//!
//! In each block, as long as at least l values are left, one record of each
//! of the l most frequent ones makes a sub-block (as in `[Xiao–Tao 2006a]`).
//! What is left, fewer than l records with distinct values (Property 2), joins
//! what the blocks before it left over; there further sub-blocks are made,
//! from the most frequent values, of each the record of the nearest block.
//! What is left at the end goes to a sub-block of its own block that lacks its
//! value: with (count of a value) × l ≤ size a block has more sub-blocks than
//! other records with that value (Property 4), so one always exists.
//!
//! l is the strictest of a block's members; of left-over records that come
//! together, the strictest of those. Everyone as one block gives Anatomy.

use std::collections::BinaryHeap;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha12Rng;

use crate::engine::error::EngineError;

use super::frame::{Frame, Goal};
use super::stage;

/// Cuts eligible blocks into sub-blocks of distinct values, at least as many
/// as any member's l.
pub(super) fn refine(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    blocks: &[Vec<u32>],
) -> Result<Vec<Vec<u32>>, EngineError> {
    let mut refining = Refining {
        goal,
        done: Vec::new(),
        pool: Pool::new(goal.values),
    };
    let mut ranges = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        if at % 1024 == 0 {
            frame.context.check()?;
        }
        let mut random = frame.context.stream(stage::REFINE, at as u64);
        let start = refining.done.len();
        refining.cut(block, &mut random);
        ranges.push(start..refining.done.len());
        refining.cut_left_over();
    }
    let mut home = vec![0_u32; frame.rows()];
    for (at, block) in (0..).zip(blocks) {
        block.iter().for_each(|&row| home[row as usize] = at);
    }
    let mut random = frame.context.stream(stage::REFINE, u64::MAX);
    for row in refining.pool.drain() {
        refining.place(
            row,
            ranges[home[row as usize] as usize].clone(),
            &mut random,
        );
    }
    Ok(refining.done)
}

struct Refining<'a, 'b> {
    goal: &'a Goal<'b>,
    done: Vec<Vec<u32>>,
    pool: Pool,
}

impl Refining<'_, '_> {
    fn code(&self, row: u32) -> u32 {
        self.goal.codes[row as usize]
    }

    /// Cuts one block; the residue goes to the pool.
    fn cut(&mut self, block: &[u32], random: &mut ChaCha12Rng) {
        let l = self.goal.need_of(block) as usize;
        let mut rows = block.to_vec();
        // A random order before sorting makes "one record of each" random,
        // and random ranks break ties between equally frequent values.
        rows.shuffle(random);
        rows.sort_by_key(|&row| self.code(row));
        let runs = rows.chunk_by(|&a, &b| self.code(a) == self.code(b));
        let mut runs: Vec<&[u32]> = runs.collect();
        runs.shuffle(random);
        let mut heap: BinaryHeap<(usize, usize)> = runs
            .iter()
            .enumerate()
            .map(|(rank, run)| (run.len(), rank))
            .collect();
        let mut taken = Vec::with_capacity(l);
        while heap.len() >= l {
            taken.clear();
            taken.extend((0..l).filter_map(|_| heap.pop()));
            let rows = taken.iter().map(|&(left, rank)| runs[rank][left - 1]);
            self.done.push(rows.collect());
            let left = taken.iter().filter(|&&(left, _)| left > 1);
            heap.extend(left.map(|&(left, rank)| (left - 1, rank)));
        }
        let mut residue: Vec<(usize, usize)> = heap.into_vec();
        residue.sort_unstable();
        for (left, rank) in residue {
            for &row in &runs[rank][..left] {
                self.pool.push(self.goal.codes[row as usize], row);
            }
        }
    }

    /// Makes sub-blocks of records that blocks left over.
    fn cut_left_over(&mut self) {
        while let Some(values) = self.next_of_pool() {
            let rows = values.iter().filter_map(|&value| self.pool.pop(value));
            let rows = rows.collect();
            self.done.push(rows);
        }
    }

    /// Values of the pool whose last records make a sub-block.
    fn next_of_pool(&self) -> Option<Vec<u32>> {
        let mut values = self.pool.by_frequency();
        let need = |value: u32| {
            let last = self.pool.last(value);
            last.map_or(1, |row| self.goal.need[row as usize] as usize)
        };
        loop {
            // Whoever asks for more values than there are waits.
            let available = values.len();
            values.retain(|&value| need(value) <= available);
            if values.len() == available {
                break;
            }
        }
        let mut take = need(*values.first()?);
        loop {
            let needs = values.iter().take(take).map(|&value| need(value));
            match needs.max() {
                Some(strictest) if strictest > take => take = strictest,
                _ => break,
            }
        }
        values.truncate(take);
        Some(values)
    }

    /// Adds a row to a sub-block that lacks its value: one of its own block,
    /// else (which cannot be for eligible blocks) any other that is as large
    /// as the row asks for.
    fn place(&mut self, row: u32, own: std::ops::Range<usize>, random: &mut ChaCha12Rng) {
        let value = self.code(row);
        let need = self.goal.need[row as usize] as usize;
        let fits = |rows: &Vec<u32>| {
            let lacks = rows.iter().all(|&other| self.code(other) != value);
            lacks && rows.len() + 1 >= need
        };
        let start = match own.is_empty() {
            true => own.start,
            false => random.random_range(own.clone()),
        };
        let mut places = (start..own.end).chain(own.start..start);
        let place = places
            .find(|&at| fits(&self.done[at]))
            .or_else(|| self.done.iter().position(fits));
        match place {
            Some(at) => self.done[at].push(row),
            None => self.done.push(vec![row]),
        }
    }
}

/// Left-over records by value; the last of a value is of the nearest block.
struct Pool {
    stacks: Vec<Vec<u32>>,
    /// Values with a record, in no order that matters.
    present: Vec<u32>,
}

impl Pool {
    fn new(values: usize) -> Self {
        Self {
            stacks: vec![Vec::new(); values],
            present: Vec::new(),
        }
    }

    fn push(&mut self, value: u32, row: u32) {
        let stack = &mut self.stacks[value as usize];
        if stack.is_empty() {
            self.present.push(value);
        }
        stack.push(row);
    }

    fn last(&self, value: u32) -> Option<u32> {
        self.stacks[value as usize].last().copied()
    }

    fn pop(&mut self, value: u32) -> Option<u32> {
        let stack = &mut self.stacks[value as usize];
        let row = stack.pop();
        if stack.is_empty() {
            self.present.retain(|&other| other != value);
        }
        row
    }

    /// Values with a record, most frequent first.
    fn by_frequency(&self) -> Vec<u32> {
        let mut values = self.present.clone();
        let records = |value: u32| self.stacks[value as usize].len();
        values.sort_by_key(|&value| (std::cmp::Reverse(records(value)), value));
        values
    }

    /// Takes everything out, value by value.
    fn drain(&mut self) -> Vec<u32> {
        self.present.clear();
        let stacks = self.stacks.iter_mut();
        stacks.flat_map(|stack| stack.drain(..)).collect()
    }
}
