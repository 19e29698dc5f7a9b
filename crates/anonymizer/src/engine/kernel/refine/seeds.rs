//! Groups to begin with: records that are equal once each attribute is taken
//! at one level (*ours*; the rounds of ARX's local recoding go the same way).
//!
//! Choices of levels are taken in order of what they cost the records that
//! are left, cheapest first. Records with the same names at the chosen levels
//! make a group if it holds, and if its own loss is no more than what the next
//! choices cost; a dearer one waits until they do. Rare records are left at
//! the end.

use std::collections::BinaryHeap;
use std::hash::BuildHasher;

use rustc_hash::{FxBuildHasher, FxHashSet};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::{BoxLayout, Cover, PartCondition, Rows};

use super::levels::{Ascending, Choice, Level, Priced};
use super::unassigned::Unassigned;

/// Means are taken anew once this share of the records has found a group.
const FOUND_SHARE: f64 = 0.05;
/// What a choice that came too early must cost more before it comes again.
const STEP: f32 = 0.03;
/// What it costs to ask the condition about a row, in readings, where it
/// matters which rows a group has.
const ASKING_COST: usize = 16;
/// What a choice costs beside its readings, in readings.
const CHOICE_COST: usize = 256;
/// Seeds end when less than one row in so many is left.
const LEFT_SHARE: usize = 256;
/// Choices between two looks at whether to go on.
const CHOICES_PER_CHECK: usize = 64;

/// What seeds are made from.
pub(super) struct Seeds<'a, C> {
    pub context: &'a RunContext<'a>,
    /// Codes of all rows.
    pub codes: &'a Rows,
    /// The same rows in the space.
    pub rows: &'a Rows,
    pub space: &'a BoxLayout,
    /// Levels of each attribute.
    pub levels: &'a [Vec<Level>],
    pub condition: &'a C,
    /// Rows that may be read for each row there is.
    pub readings: usize,
}

/// What was found so far.
struct Found<C: PartCondition> {
    groups: Vec<Vec<u32>>,
    left: Unassigned,
    buffers: C::Buffers,
    scratch: Scratch,
}

/// Memory that one choice leaves to the next.
#[derive(Default)]
struct Scratch {
    keys: Vec<u64>,
    members: Vec<u8>,
    gathered: Vec<(u64, u32)>,
    taken: Vec<bool>,
}

impl<C: PartCondition> Seeds<'_, C> {
    /// Groups among `rows`, and the rows that are in none.
    pub fn find(&self, rows: &[u32]) -> Result<(Vec<Vec<u32>>, Vec<u32>), EngineError> {
        let mut found: Found<C> = Found {
            groups: Vec::new(),
            left: Unassigned::of(self.codes, rows, self.levels),
            buffers: self.condition.buffers(),
            scratch: Scratch::default(),
        };
        let mut readings = self.readings.saturating_mul(rows.len());
        // Choices that came too early.
        let mut waiting: BinaryHeap<Priced<Choice>> = BinaryHeap::new();
        // By their hashes: one that meets another's by accident is passed over.
        let mut done: FxHashSet<u64> = FxHashSet::default();
        let enough = self.condition.least().max(rows.len() / LEFT_SHARE);
        'anew: while found.left.len() >= enough {
            let anew_at = (found.left.len() as f64 * (1.0 - FOUND_SHARE)) as usize;
            for (at, next) in Ascending::new(found.left.means(self.levels)).enumerate() {
                if at % CHOICES_PER_CHECK == 0 {
                    self.context.check()?;
                }
                let (threshold, choice) = next;
                let mut due = Vec::new();
                while waiting.peek().is_some_and(|first| first.price < threshold) {
                    due.extend(waiting.pop().map(|first| (first.price, first.thing)));
                }
                if done.insert(FxBuildHasher.hash_one(&choice)) {
                    due.push((threshold, choice));
                }
                for (threshold, choice) in due {
                    if readings < found.left.len() + CHOICE_COST {
                        return Ok((found.groups, found.left.rows));
                    }
                    readings -= found.left.len() + CHOICE_COST;
                    let too_dear = self.take(&choice, threshold, &mut found);
                    if self.condition.tells_rows_apart() {
                        let asking = ASKING_COST * found.scratch.gathered.len();
                        readings = readings.saturating_sub(asking);
                    }
                    if let Some(price) = too_dear {
                        let price = price.max(threshold + STEP);
                        waiting.push(Priced {
                            price,
                            thing: choice,
                        });
                    }
                }
                if found.left.len() <= anew_at {
                    continue 'anew;
                }
            }
            break;
        }
        Ok((found.groups, found.left.rows))
    }

    /// Makes groups of the rows with equal names at the chosen levels; the loss
    /// of the cheapest that holds and is too dear.
    fn take(&self, choice: &Choice, threshold: f32, found: &mut Found<C>) -> Option<f32> {
        let Found {
            groups,
            left,
            buffers,
            scratch,
        } = found;
        let least = self.condition.least();
        left.keys(choice, self.levels, &mut scratch.keys);
        scratch.gather(least);
        let Scratch {
            gathered, taken, ..
        } = scratch;
        if gathered.is_empty() {
            return None;
        }
        gathered.sort_unstable();
        taken.clear();
        let mut cover = Cover::new(self.space);
        let mut too_dear: Option<f32> = None;
        for group in gathered.chunk_by(|one, other| one.0 == other.0) {
            let rows = group.iter().map(|&(_, at)| left.rows[at as usize]);
            let rows: Vec<u32> = rows.collect();
            if rows.len() < least || !self.condition.holds(&rows, buffers) {
                continue;
            }
            cover.enclose(self.rows, &rows);
            let loss = cover.loss();
            if loss > threshold + 1e-6 {
                too_dear = Some(too_dear.map_or(loss, |least| least.min(loss)));
                continue;
            }
            taken.resize(left.len(), false);
            for &(_, at) in group {
                taken[at as usize] = true;
            }
            groups.push(rows);
        }
        if !taken.is_empty() {
            left.keep(taken);
        }
        too_dear
    }
}

impl Scratch {
    /// Gathers the keys that at least `least` rows may have, with the rows'
    /// positions. Keys that meet in a slot by accident are among them.
    fn gather(&mut self, least: usize) {
        let slots = self.keys.len().next_power_of_two();
        let slot = |key: u64| key as usize & (slots - 1);
        self.members.clear();
        self.members.resize(slots, 0);
        for &key in &self.keys {
            let members = &mut self.members[slot(key)];
            *members = members.saturating_add(1);
        }
        let least = u8::try_from(least).unwrap_or(u8::MAX);
        let keys = self.keys.iter().zip(0..);
        let many = keys.filter(|(key, _)| self.members[slot(**key)] >= least);
        self.gathered.clear();
        self.gathered.extend(many.map(|(&key, at)| (key, at)));
    }
}
