//! Local search that lowers GLP (*ours*): records of different sub-blocks
//! change places.
//!
//! A row t loses |V ∖ S_t| / |V|, V the values of its sub-block and S_t those
//! that occur with t's vector. It cannot lose less than (|V| − |S_t|) / |V|;
//! what it loses beyond that is its *excess*. As long as some row has an
//! excess, a random one of them proposes one of two moves:
//! - it changes places with a random row that has the same value: both
//!   sub-blocks keep their values, so two differences decide;
//! - a member of its sub-block whose value is not in S_t changes places with a
//!   random row whose value is in S_t and not yet in the sub-block, if the
//!   other sub-block lacks the leaving value.
//!
//! A move is made if the summed loss of the two sub-blocks does not grow and
//! each row's l stays within the size of its new sub-block. Sizes never
//! change. Losses are compared as fractions of integers, the number of
//! proposals decides when to stop: results repeat. Regions of sub-blocks are
//! searched in parallel, each with a random stream of its own.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;

use crate::engine::error::EngineError;

use super::frame::{Frame, Goal};
use super::stage;

/// Proposals a record at most. The search ends earlier where no row has an
/// excess, on census data after 15 to 40.
const PROPOSALS_PER_RECORD: usize = 120;
/// Rows of a region: enough for every row to find partners, few enough to
/// stay in a processor's cache.
const REGION_ROWS: usize = 1 << 16;
/// Proposals between two looks at who has an excess, a row with one.
const PROPOSALS_PER_LOOK: usize = 8;
/// And one proposal at least for so many rows of the region.
const LOOKS_SHARE: usize = 4;

/// Lowers GLP of sub-blocks of distinct values. Who is in which sub-block
/// changes, their sizes do not.
pub(super) fn improve(
    frame: &Frame<'_>,
    goal: &Goal<'_>,
    blocks: &mut [Vec<u32>],
) -> Result<(), EngineError> {
    let seen = Seen::of(frame, goal);
    let mut regions: Vec<&mut [Vec<u32>]> = Vec::new();
    let mut rest = blocks;
    while !rest.is_empty() {
        let mut rows = 0;
        let end = rest.iter().position(|block| {
            rows += block.len();
            rows > REGION_ROWS
        });
        let (region, behind) = rest.split_at_mut(end.unwrap_or(rest.len()).max(1));
        regions.push(region);
        rest = behind;
    }
    regions
        .into_par_iter()
        .enumerate()
        .try_for_each(|(at, region)| {
            let random = frame.context.stream(stage::SEARCH, at as u64);
            let mut search = Search::new(goal, frame, &seen, region, random);
            search.run(|| frame.context.check())?;
            search.write(region);
            Ok(())
        })
}

/// The values that occur with each vector, one bit a value.
pub(super) struct Seen {
    words: usize,
    bits: Vec<u64>,
}

impl Seen {
    /// Gathers S of every vector.
    pub fn of(frame: &Frame<'_>, goal: &Goal<'_>) -> Self {
        let words = goal.values.div_ceil(64).max(1);
        let mut bits = vec![0_u64; frame.vectors * words];
        for (&vector, &value) in frame.vector_of.iter().zip(&goal.codes) {
            bits[vector as usize * words + value as usize / 64] |= 1 << (value % 64);
        }
        Self { words, bits }
    }

    fn of_vector(&self, vector: u32) -> &[u64] {
        &self.bits[vector as usize * self.words..(vector as usize + 1) * self.words]
    }
}

/// Number of bits of `set` that `other` lacks.
#[inline]
fn lacking(set: &[u64], other: &[u64]) -> i64 {
    let words = set.iter().zip(other);
    words
        .map(|(set, other)| i64::from((set & !other).count_ones()))
        .sum()
}

fn size(set: &[u64]) -> i64 {
    set.iter().map(|word| i64::from(word.count_ones())).sum()
}

fn has(set: &[u64], value: u32) -> bool {
    set[value as usize / 64] >> (value % 64) & 1 == 1
}

/// One region: rows by their place in it.
struct Search<'a> {
    seen: &'a Seen,
    /// Row, value, vector and l of each member, by number.
    rows: Vec<u32>,
    values: Vec<u32>,
    vectors: Vec<u32>,
    need: Vec<u32>,
    /// Number of the member at each place; places of a sub-block lie together.
    members: Vec<u32>,
    place_of: Vec<u32>,
    block_of_place: Vec<u32>,
    starts: Vec<u32>,
    /// Values of each sub-block, one bit each.
    sets: Vec<u64>,
    /// Members by value.
    by_value: Vec<Vec<u32>>,
    random: ChaCha12Rng,
}

impl<'a> Search<'a> {
    fn new(
        goal: &Goal<'_>,
        frame: &Frame<'_>,
        seen: &'a Seen,
        blocks: &[Vec<u32>],
        random: ChaCha12Rng,
    ) -> Self {
        let rows: Vec<u32> = blocks.iter().flatten().copied().collect();
        let of_rows = |of: &[u32]| rows.iter().map(|&row| of[row as usize]).collect();
        let values: Vec<u32> = of_rows(&goal.codes);
        let mut by_value = vec![Vec::new(); goal.values];
        for (member, &value) in (0..).zip(&values) {
            by_value[value as usize].push(member);
        }
        let mut search = Self {
            seen,
            vectors: of_rows(&frame.vector_of),
            need: of_rows(&goal.need),
            members: (0..rows.len() as u32).collect(),
            place_of: (0..rows.len() as u32).collect(),
            block_of_place: Vec::with_capacity(rows.len()),
            starts: vec![0],
            sets: vec![0; blocks.len() * seen.words],
            by_value,
            values,
            rows,
            random,
        };
        for (at, block) in (0_u32..).zip(blocks) {
            for _ in block {
                let member = search.block_of_place.len();
                search.block_of_place.push(at);
                search.flip(at, search.values[member]);
            }
            search.starts.push(search.block_of_place.len() as u32);
        }
        search
    }

    /// Puts the rows back into their sub-blocks.
    fn write(&self, blocks: &mut [Vec<u32>]) {
        let mut members = self.members.iter();
        for block in blocks {
            for (row, &member) in block.iter_mut().zip(&mut members) {
                *row = self.rows[member as usize];
            }
        }
    }

    fn run(&mut self, check: impl Fn() -> Result<(), EngineError>) -> Result<(), EngineError> {
        let mut left = self.rows.len() * PROPOSALS_PER_RECORD;
        let mut restless: Vec<u32> = Vec::new();
        while left > 0 {
            check()?;
            restless.clear();
            let all = 0..self.rows.len() as u32;
            restless.extend(all.filter(|&member| self.excess(member) > 0));
            if restless.is_empty() {
                break;
            }
            // A look reads all rows: where few are restless it must not come often.
            let least = (self.rows.len() / LOOKS_SHARE).max(1024);
            let proposals = (restless.len() * PROPOSALS_PER_LOOK).clamp(least, left.max(least));
            for _ in 0..proposals {
                let member = restless[self.random.random_range(0..restless.len())];
                match self.random.random_bool(0.5) {
                    true => self.exchange_equals(member),
                    false => self.exchange_values(member),
                }
            }
            left = left.saturating_sub(proposals);
        }
        Ok(())
    }

    fn block_of(&self, member: u32) -> u32 {
        self.block_of_place[self.place_of[member as usize] as usize]
    }

    fn set(&self, block: u32) -> &[u64] {
        let words = self.seen.words;
        &self.sets[block as usize * words..(block as usize + 1) * words]
    }

    fn seen_by(&self, member: u32) -> &'a [u64] {
        self.seen.of_vector(self.vectors[member as usize])
    }

    fn len(&self, block: u32) -> i64 {
        i64::from(self.starts[block as usize + 1] - self.starts[block as usize])
    }

    /// Members of a sub-block.
    fn members(&self, block: u32) -> &[u32] {
        &self.members
            [self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }

    /// Adds a value to a sub-block's set, or takes it away.
    fn flip(&mut self, block: u32, value: u32) {
        self.sets[block as usize * self.seen.words + value as usize / 64] ^= 1 << (value % 64);
    }

    /// What a member loses beyond what it must, in values.
    fn excess(&self, member: u32) -> i64 {
        let block = self.block_of(member);
        let seen = self.seen_by(member);
        let least = (self.len(block) - size(seen)).max(0);
        lacking(self.set(block), seen) - least
    }

    /// Sum of what the members of a sub-block lose, in values.
    fn loss(&self, block: u32) -> i64 {
        let set = self.set(block);
        let members = self.members(block).iter();
        members
            .map(|&member| lacking(set, self.seen_by(member)))
            .sum()
    }

    fn fits(&self, one: u32, other: u32, (block, other_block): (u32, u32)) -> bool {
        i64::from(self.need[one as usize]) <= self.len(other_block)
            && i64::from(self.need[other as usize]) <= self.len(block)
    }

    fn exchange(&mut self, one: u32, other: u32) {
        let (place, other_place) = (self.place_of[one as usize], self.place_of[other as usize]);
        self.members.swap(place as usize, other_place as usize);
        self.place_of.swap(one as usize, other as usize);
    }

    /// Proposes that a member changes places with another of its value.
    fn exchange_equals(&mut self, one: u32) {
        let equals = &self.by_value[self.values[one as usize] as usize];
        let other = equals[self.random.random_range(0..equals.len())];
        let blocks = (self.block_of(one), self.block_of(other));
        if blocks.0 == blocks.1 || !self.fits(one, other, blocks) {
            return;
        }
        let (set, other_set) = (self.set(blocks.0), self.set(blocks.1));
        let (seen, other_seen) = (self.seen_by(one), self.seen_by(other));
        let change = lacking(set, other_seen) - lacking(set, seen);
        let other_change = lacking(other_set, seen) - lacking(other_set, other_seen);
        if change * self.len(blocks.1) + other_change * self.len(blocks.0) <= 0 {
            self.exchange(one, other);
        }
    }

    /// Proposes that a value which `restless` was never seen with leaves its
    /// sub-block for one that it was seen with.
    fn exchange_values(&mut self, restless: u32) {
        let block = self.block_of(restless);
        let seen = self.seen_by(restless);
        let set = self.set(block);
        let unseen = lacking(set, seen);
        let wanted = lacking(seen, set);
        if unseen == 0 || wanted == 0 {
            return;
        }
        let leaving = self.random.random_range(0..unseen);
        let coming = self.random.random_range(0..wanted);
        let (set, seen) = (self.set(block), self.seen_by(restless));
        let (leaving, coming) = (nth(set, seen, leaving), nth(seen, set, coming));
        let Some(&one) = self
            .members(block)
            .iter()
            .find(|&&member| self.values[member as usize] == leaving)
        else {
            return;
        };
        let candidates = &self.by_value[coming as usize];
        if candidates.is_empty() {
            return;
        }
        let other = candidates[self.random.random_range(0..candidates.len())];
        let other_block = self.block_of(other);
        let blocks = (block, other_block);
        if has(self.set(other_block), leaving) || !self.fits(one, other, blocks) {
            return;
        }
        let before = (self.loss(block), self.loss(other_block));
        self.move_values(one, other, blocks);
        let change = self.loss(block) - before.0;
        let other_change = self.loss(other_block) - before.1;
        if change * self.len(other_block) + other_change * self.len(block) > 0 {
            self.move_values(other, one, blocks);
        }
    }

    /// `one` leaves the first sub-block for the second, `other` the second
    /// for the first.
    fn move_values(&mut self, one: u32, other: u32, (block, other_block): (u32, u32)) {
        self.exchange(one, other);
        for value in [self.values[one as usize], self.values[other as usize]] {
            self.flip(block, value);
            self.flip(other_block, value);
        }
    }
}

/// The `nth` value (from 0) of `set` that `other` lacks.
fn nth(set: &[u64], other: &[u64], mut nth: i64) -> u32 {
    for (at, (set, other)) in (0..).zip(set.iter().zip(other)) {
        let mut word = set & !other;
        let bits = i64::from(word.count_ones());
        if nth < bits {
            for _ in 0..nth {
                word &= word - 1;
            }
            return at * 64 + word.trailing_zeros();
        }
        nth -= bits;
    }
    u32::MAX
}
