//! Groups to begin with: records that are equal once each attribute is taken
//! at one level (*ours*; the rounds of ARX's local recoding go the same way).
//!
//! Choices of levels are taken in order of what they cost the records that
//! are left, cheapest first. Records with the same names at the chosen levels
//! make a group if it holds, and if its own loss is no more than what the next
//! choices cost; a dearer one waits until they do. A handful of rare records
//! is left at the end and goes to the groups that lose least by them.

use std::collections::BinaryHeap;

use rustc_hash::FxHashSet;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::{Condition, Cover, Rows, Space};

use super::levels::{Ascending, Choice, Level, Priced};

/// Means are taken anew once this share of the records has found a group.
const FOUND_SHARE: f64 = 0.05;
/// What a choice that came too early must cost more before it comes again.
const STEP: f32 = 0.03;
/// Slots for each row when equal names are counted.
const SLOTS: usize = 4;
/// Choices between two looks at whether to go on.
const CHOICES_PER_CHECK: usize = 64;

/// What seeds are made from.
pub(super) struct Seeds<'a, C> {
    pub context: &'a RunContext<'a>,
    /// Codes of all rows.
    pub codes: &'a Rows,
    /// The same rows in the space.
    pub rows: &'a Rows,
    pub space: &'a Space,
    /// Levels of each attribute.
    pub levels: &'a [Vec<Level>],
    pub condition: &'a C,
    /// Rows that may be read for each row there is.
    pub readings: usize,
}

/// What was found so far.
struct Found<C: Condition> {
    groups: Vec<Vec<u32>>,
    /// Rows in no group, ascending.
    left: Vec<u32>,
    buffers: C::Buffers,
}

impl<C: Condition> Seeds<'_, C> {
    /// Groups among `rows`, and the rows that are in none.
    pub fn find(&self, rows: &[u32]) -> Result<(Vec<Vec<u32>>, Vec<u32>), EngineError> {
        let mut found: Found<C> = Found {
            groups: Vec::new(),
            left: rows.to_vec(),
            buffers: self.condition.buffers(),
        };
        let mut readings = self.readings.saturating_mul(rows.len());
        // Choices that came too early.
        let mut waiting: BinaryHeap<Priced<Choice>> = BinaryHeap::new();
        let mut done: FxHashSet<Choice> = FxHashSet::default();
        'anew: while found.left.len() >= self.condition.least() {
            let anew_at = (found.left.len() as f64 * (1.0 - FOUND_SHARE)) as usize;
            for (at, next) in Ascending::new(self.means(&found.left)).enumerate() {
                if at % CHOICES_PER_CHECK == 0 {
                    self.context.check()?;
                }
                let (threshold, choice) = next;
                let mut due = Vec::new();
                while waiting.peek().is_some_and(|first| first.price < threshold) {
                    due.extend(waiting.pop().map(|first| (first.price, first.thing)));
                }
                if done.insert(choice.clone()) {
                    due.push((threshold, choice));
                }
                for (threshold, choice) in due {
                    if readings < found.left.len() {
                        return Ok((found.groups, found.left));
                    }
                    readings -= found.left.len();
                    let too_dear = self.take(&choice, threshold, &mut found);
                    if too_dear {
                        waiting.push(Priced {
                            price: threshold + STEP,
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
        Ok((found.groups, found.left))
    }

    /// Mean loss of each level of each attribute over some rows.
    fn means(&self, rows: &[u32]) -> Vec<Vec<f32>> {
        let columns = self.levels.iter().enumerate();
        columns
            .map(|(column, levels)| {
                let of_level = |level: &Level| {
                    let losses = rows.iter().map(|&row| {
                        let code = self.codes.cell(row, column);
                        f64::from(level.loss[code as usize])
                    });
                    (losses.sum::<f64>() / rows.len() as f64) as f32
                };
                levels.iter().map(of_level).collect()
            })
            .collect()
    }

    /// Makes groups of the rows with equal names at the chosen levels; whether
    /// one that holds was too dear.
    fn take(&self, choice: &Choice, threshold: f32, found: &mut Found<C>) -> bool {
        let Found {
            groups,
            left,
            buffers,
        } = found;
        let least = self.condition.least();
        let names: Vec<&[u32]> = choice
            .iter()
            .zip(self.levels)
            .map(|(&level, levels)| levels[level as usize].name.as_slice())
            .collect();
        // Keys that meet in a slot by accident are told apart by the sort below.
        let slots = (SLOTS * left.len()).next_power_of_two();
        let slot = |key: u64| (key >> 32) as usize & (slots - 1);
        let mut members = vec![0_u32; slots];
        let keys: Vec<u64> = left.iter().map(|&row| self.key(&names, row)).collect();
        for &key in &keys {
            members[slot(key)] += 1;
        }
        let is_many = |key: &u64| members[slot(*key)] as usize >= least;
        let mut gathered: Vec<(u64, u32)> = keys
            .into_iter()
            .zip(left.iter().copied())
            .filter(|(key, _)| is_many(key))
            .collect();
        if gathered.is_empty() {
            return false;
        }
        gathered.sort_unstable();
        let mut taken = Vec::new();
        let mut too_dear = false;
        for group in gathered.chunk_by(|one, other| one.0 == other.0) {
            let rows: Vec<u32> = group.iter().map(|&(_, row)| row).collect();
            if rows.len() < least || !self.condition.holds(&rows, buffers) {
                continue;
            }
            if self.loss(&rows) > threshold + 1e-6 {
                too_dear = true;
                continue;
            }
            taken.extend_from_slice(&rows);
            groups.push(rows);
        }
        if !taken.is_empty() {
            taken.sort_unstable();
            left.retain(|row| taken.binary_search(row).is_err());
        }
        too_dear
    }

    fn key(&self, names: &[&[u32]], row: u32) -> u64 {
        let cells = self.codes.row(row).iter().zip(names);
        cells.fold(0x9e37_79b9_7f4a_7c15, |key: u64, (&code, names)| {
            let mixed = key ^ u64::from(names[code as usize]);
            mixed.wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29)
        })
    }

    /// Loss of one record of a group.
    fn loss(&self, rows: &[u32]) -> f32 {
        let mut cover = Cover::new(self.space);
        cover.start(self.rows.row(rows[0]));
        for &row in &rows[1..] {
            cover.include(self.rows.row(row));
        }
        cover.loss()
    }
}
