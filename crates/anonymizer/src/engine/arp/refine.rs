//! Refining (`[ARP]` Alg. 2): blocks cut into sub-blocks of l distinct values.
//!
//! In each block, as long as at least l values are left, records of l values
//! make a sub-block. `[Xiao–Tao 2006a]` takes the most frequent values, which
//! then stand together again and again, and anyone who averages over the blocks
//! of one averages over the others. Here chance chooses as far as it can
//! (*ours*): with n records left, m = ⌊n/l⌋ sub-blocks are to come. A value
//! with m records or more must be taken, the most frequent first; the others
//! are those of the records that come next.
//!
//! So no value ever has more than m + 1 records, and no more than r = n − m·l
//! values have as many. If all values with m records or more, a of them with
//! m + 1 and b with m, are taken, the a have one more than the m − 1 to come.
//! If not, a + b > l; from a·(m + 1) + b·m ≤ n follows a + b − l ≤ r − a, and
//! these many more have one more than m − 1: no more than r in all. With m
//! above 0 there are l values, for l − 1 would have too few records; with m = 0
//! each has one.
//!
//! What is left, fewer than l records with distinct values (Property 2), joins
//! what the blocks before it left over; there further sub-blocks are made,
//! from the most frequent values, of each the record of the nearest block.
//! What is left at the end goes to a sub-block of its own block that lacks its
//! value: with (count of a value) × l ≤ size a block has more sub-blocks than
//! other records with that value (Property 4), so one always exists.
//!
//! Where a least spread is asked for (*ours*), every block that comes in spans
//! it. Left-over records make a sub-block only if they span it; those without
//! which the sub-blocks of their own block would not are not left over, but go
//! to these. Sub-blocks of one block that span too little are joined.
//!
//! l is the strictest of a block's members; of left-over records that come
//! together, the strictest of those. Everyone as one block gives Anatomy.
//!
//! The dataset's secret gives each subject a number ([`Seed::DEALING`]), the same
//! in every release: were it another one each time, two releases of the same
//! people would stand in other blocks, and what a person's blocks have in common
//! would tell the value (Adult, l = 5: certain for 99.9 % of all people after two
//! releases of Anatomy, for nobody where the numbers stay). Records
//! of a value come in the order of their numbers, values in the order of the
//! numbers of their next records, and the number of a record that is left at
//! the end picks among the sub-blocks that lack its value.
//! Nothing else decides between records: if two of one block, value and l
//! exchange their numbers they exchange their places, and all others stay
//! where they are. The numbers are independent and alike, so each of the two
//! is as likely to be in either place. The verifier deals the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rayon::prelude::*;

use crate::engine::error::EngineError;
use crate::microdata::RecordIndex;
use crate::privacy::Seed;

use super::frame::{Ends, Frame, Goal};

/// Cuts eligible blocks into sub-blocks of distinct values, at least as many
/// as any member's l.
pub(super) fn refine(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    blocks: &[Vec<u32>],
) -> Result<Vec<Vec<u32>>, EngineError> {
    let mut refining = Refining {
        goal,
        draws: draws(frame, goal),
        done: Vec::new(),
        pool: Pool::new(goal.values),
        staying: Vec::new(),
    };
    let mut ranges = Vec::with_capacity(blocks.len());
    for (at, block) in blocks.iter().enumerate() {
        if at % 1024 == 0 {
            frame.context.check()?;
        }
        let start = refining.done.len();
        refining.cut(block);
        ranges.push(start..refining.done.len());
        refining.cut_left_over();
    }
    let mut home = vec![0_u32; frame.rows()];
    for (at, block) in (0..).zip(blocks) {
        block.iter().for_each(|&row| home[row as usize] = at);
    }
    let mut left = refining.pool.drain();
    left.append(&mut refining.staying);
    left.sort_unstable_by_key(|&row| refining.rank(row));
    for row in left {
        refining.place(row, ranges[home[row as usize] as usize].clone());
    }
    Ok(refining.joined(&ranges))
}

/// The number that the dataset's secret gives to the subject of each row.
pub(super) fn draws(frame: &Frame<'_>, goal: &Goal<'_>) -> Vec<u64> {
    let place = (Seed::DEALING, goal.column.index.at() as u64);
    let table = frame.included.table;
    let number = |&record: &u32| {
        let subject = table.subject_of(RecordIndex(record));
        let key = table.subject_keys().get(subject.at());
        frame.context.dataset_secret.number(place, key)
    };
    frame.included.records.par_iter().map(number).collect()
}

struct Refining<'a, 'b> {
    goal: &'a Goal<'b>,
    /// The number of each row.
    draws: Vec<u64>,
    done: Vec<Vec<u32>>,
    pool: Pool,
    /// Rows without which their block's sub-blocks would span too little.
    staying: Vec<u32>,
}

impl Refining<'_, '_> {
    fn code(&self, row: u32) -> u32 {
        self.goal.codes[row as usize]
    }

    fn rank(&self, row: u32) -> Rank {
        (self.draws[row as usize], row)
    }

    /// Cuts one block; the residue goes to the pool.
    fn cut(&mut self, block: &[u32]) {
        let l = self.goal.need_of(block) as usize;
        let mut rows = block.to_vec();
        // Rows are taken from the ends of their runs.
        rows.sort_unstable_by_key(|&row| (self.code(row), Reverse(self.rank(row))));
        let runs = rows.chunk_by(|&a, &b| self.code(a) == self.code(b));
        let mut runs: Vec<&[u32]> = runs.collect();
        let mut turns = Turns::default();
        for (at, run) in runs.iter().enumerate() {
            turns.push(at, run, |row| self.rank(row));
        }
        let (mut left, mut values) = (rows.len(), runs.len());
        let mut done = Vec::new();
        while values >= l {
            let chosen = turns.choose(l, left / l, &runs);
            let mut taken = Vec::with_capacity(l);
            for &at in &chosen {
                let run = &mut runs[at];
                let Some((&last, rest)) = run.split_last() else {
                    continue;
                };
                taken.push(last);
                *run = rest;
                values -= usize::from(rest.is_empty());
                turns.push(at, rest, |row| self.rank(row));
            }
            left -= taken.len();
            done.push(taken);
        }
        let is_wide = self.goal.spans(&done.concat());
        for &row in runs.into_iter().flatten() {
            if is_wide {
                self.pool.push(self.code(row), row)
            } else {
                self.staying.push(row)
            }
        }
        self.done.extend(done);
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
        let mut values = self.pool.by_frequency(|row| self.rank(row));
        let need = |value: u32| {
            let last = self.pool.last(value);
            last.map_or(1, |row| self.goal.need[row as usize] as usize)
        };
        loop {
            // Rows that ask for more values than there are wait.
            let available = values.len();
            values.retain(|&value| need(value) <= available);
            if values.len() == available {
                break;
            }
        }
        let mut strictest = 0;
        let mut ends = Ends::default();
        let enough = (1..).zip(&values).find(|&(taken, &value)| {
            strictest = need(value).max(strictest);
            self.goal
                .extend(&mut ends, self.pool.last(value).as_slice());
            strictest <= taken && self.goal.is_wide(ends)
        });
        let (taken, _) = enough?;
        values.truncate(taken);
        Some(values)
    }

    /// The sub-blocks, where those of one block that span too little are joined
    /// with those made after them, the last ones with those made before.
    ///
    /// No sub-block of another block joins: anyone who tells the members of two
    /// blocks apart by their quasi-identifiers, and sees which values are near
    /// each other, would know whose they are. Sub-blocks of a block have at
    /// least l different values each, so those that are joined are eligible.
    fn joined(self, ranges: &[Range<usize>]) -> Vec<Vec<u32>> {
        let goal = self.goal;
        let mut done = self.done.into_iter();
        let mut joined: Vec<Vec<u32>> = Vec::new();
        let mut made = 0;
        for own in ranges {
            // Made of what blocks left over; these span.
            joined.extend(done.by_ref().take(own.start - made));
            made = own.end;
            let first = joined.len();
            let mut open: Vec<u32> = Vec::new();
            for block in done.by_ref().take(own.len()) {
                open.extend(block);
                if goal.spans(&open) {
                    joined.push(std::mem::take(&mut open));
                }
            }
            while !open.is_empty() && !goal.spans(&open) && joined.len() > first {
                open.extend(joined.pop().unwrap_or_default());
            }
            joined.extend((!open.is_empty()).then_some(open));
        }
        joined.extend(done);
        joined
    }

    /// Adds a row to a sub-block of its own block that lacks its value; one
    /// exists in eligible blocks.
    fn place(&mut self, row: u32, own: Range<usize>) {
        let value = self.code(row);
        let lacks = |at: &usize| {
            self.done[*at]
                .iter()
                .all(|&other| self.code(other) != value)
        };
        let places: Vec<usize> = own.filter(lacks).collect();
        let drawn = self.draws[row as usize] % places.len().max(1) as u64;
        match places.get(drawn as usize) {
            Some(&at) => self.done[at].push(row),
            None => self.done.push(vec![row]),
        }
    }
}

/// What decides between rows: the number, and the row should two be equal.
type Rank = (u64, u32);

/// Whose turn it is: runs of equal values by how many rows are left, and by
/// the rank of the next. Entries of a run that lost rows since are out of date.
#[derive(Default)]
struct Turns {
    by_count: BinaryHeap<(usize, Reverse<Rank>, usize)>,
    by_rank: BinaryHeap<Reverse<(Rank, usize, usize)>>,
}

impl Turns {
    /// Adds what is left of a run.
    fn push(&mut self, at: usize, run: &[u32], rank: impl Fn(u32) -> Rank) {
        if let Some(&next) = run.last() {
            self.by_count.push((run.len(), Reverse(rank(next)), at));
            self.by_rank.push(Reverse((rank(next), run.len(), at)));
        }
    }

    /// The `l` runs of the next sub-block: those with at least `must` rows, the
    /// longest first, then those whose next row comes first.
    fn choose(&mut self, l: usize, must: usize, runs: &[&[u32]]) -> Vec<usize> {
        let mut chosen = Vec::with_capacity(l);
        while chosen.len() < l
            && let Some(&(count, _, at)) = self.by_count.peek()
            && count >= must
        {
            self.by_count.pop();
            if runs[at].len() == count {
                chosen.push(at);
            }
        }
        while chosen.len() < l
            && let Some(Reverse((_, count, at))) = self.by_rank.pop()
        {
            if runs[at].len() == count && !chosen.contains(&at) {
                chosen.push(at);
            }
        }
        chosen
    }
}

/// Left-over records by value; the last of a value is of the nearest block.
struct Pool {
    stacks: Vec<Vec<u32>>,
    /// Values with a record, in no order that matters.
    included: Vec<u32>,
}

impl Pool {
    fn new(values: usize) -> Self {
        Self {
            stacks: vec![Vec::new(); values],
            included: Vec::new(),
        }
    }

    fn push(&mut self, value: u32, row: u32) {
        let stack = &mut self.stacks[value as usize];
        if stack.is_empty() {
            self.included.push(value);
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
            self.included.retain(|&other| other != value);
        }
        row
    }

    /// Values with a record, most frequent first, equals by the rank of their
    /// last records.
    fn by_frequency(&self, rank: impl Fn(u32) -> Rank) -> Vec<u32> {
        let mut values = self.included.clone();
        let records = |value: u32| self.stacks[value as usize].len();
        values.sort_by_key(|&value| (Reverse(records(value)), self.last(value).map(&rank)));
        values
    }

    /// Takes everything out.
    fn drain(&mut self) -> Vec<u32> {
        self.included.clear();
        let stacks = self.stacks.iter_mut();
        stacks.flat_map(|stack| stack.drain(..)).collect()
    }
}
