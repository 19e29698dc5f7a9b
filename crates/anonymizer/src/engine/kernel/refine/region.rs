//! One region of the search: groups that are near each other, and what a
//! change of them costs.
//!
//! A region is searched by one thread and knows nothing of the others. Its
//! rows are numbered from 0. Costs are losses summed over records and
//! attributes.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

use crate::engine::kernel::{Rows, Scale};

use super::measure::{Hull, Measure};
use super::near::Near;

/// A change that costs no more than this costs nothing.
const NOTHING: f32 = 1e-5;

/// Whether rows, by their numbers among all, may be a group. Asked only of
/// changes that pay, so it need not be compiled into the search.
type Holds<'a> = Box<dyn FnMut(&[u32]) -> bool + 'a>;

/// What groups of a region must satisfy.
pub(super) struct Conditions<'a> {
    /// No group has fewer rows.
    pub least: usize,
    /// Whether rows, by their numbers among all, may be a group.
    pub may_be: Holds<'a>,
    /// Kind of each row of the region: rows of one kind may take each other's
    /// places. Empty where kinds are not known.
    pub kinds: Vec<u32>,
}

/// What a group covers and loses.
#[derive(Clone, Copy)]
pub(super) struct Outline<const CELLS: usize, const WORDS: usize> {
    pub hull: Hull<CELLS, WORDS>,
    /// Loss of all its rows.
    pub cost: f32,
}

/// A group of the region.
pub(super) struct Group<const CELLS: usize, const WORDS: usize> {
    /// Empty: its number is vacant.
    pub rows: Vec<u32>,
    pub outline: Outline<CELLS, WORDS>,
}

/// Groups that are near each other.
pub(super) struct Region<'a, const CELLS: usize, const WORDS: usize> {
    pub measure: Measure<CELLS, WORDS>,
    pub near: Near,
    pub attributes: usize,
    pub groups: Vec<Group<CELLS, WORDS>>,
    pub group_of: Vec<u32>,
    /// No group has fewer rows.
    pub least: usize,
    vacant: Vec<u32>,
    may_be: Holds<'a>,
    /// Kind of each row, or nothing.
    kinds: Vec<u32>,
    /// Number of each row among all that are refined.
    numbers: Vec<u32>,
    asked: Vec<u32>,
}

impl<'a, const CELLS: usize, const WORDS: usize> Region<'a, CELLS, WORDS> {
    /// A region of the given groups, each a set of row numbers.
    pub fn new(
        (rows, scales): (&Rows, &[Scale]),
        groups: &[Vec<u32>],
        condition: Conditions<'a>,
        random: &mut ChaCha12Rng,
    ) -> Self {
        let numbers: Vec<u32> = groups.concat();
        let measure = Measure::new(rows, scales, &numbers);
        let near = Near::find(&measure, numbers.len(), scales.len(), random);
        let mut region = Self {
            measure,
            near,
            attributes: scales.len(),
            groups: Vec::with_capacity(groups.len()),
            group_of: vec![0; numbers.len()],
            least: condition.least,
            vacant: Vec::new(),
            may_be: condition.may_be,
            kinds: condition.kinds,
            numbers,
            asked: Vec::new(),
        };
        let mut next = 0;
        for group in groups {
            let last = next + group.len() as u32;
            region.add((next..last).collect());
            next = last;
        }
        region
    }

    /// The groups as they are now, as sets of row numbers.
    pub fn into_groups(self) -> Vec<Vec<u32>> {
        let groups = self
            .groups
            .into_iter()
            .filter(|group| !group.rows.is_empty());
        let number = |row: u32| self.numbers[row as usize];
        groups
            .map(|group| group.rows.into_iter().map(number).collect())
            .collect()
    }

    /// Tries as many changes while the temperature falls from one value to
    /// another.
    pub fn anneal(&mut self, proposals: u64, (from, to): (f32, f32), random: &mut ChaCha12Rng) {
        for at in 0..proposals {
            let temperature = from + (to - from) * (at as f32 / proposals as f32);
            let lot: f32 = random.random();
            // What a change may cost: exponentially distributed around the temperature.
            let allowance = NOTHING - temperature * lot.max(1e-9).ln();
            let row = random.random_range(0..self.group_of.len() as u32);
            if random.random_range(0..super::OPENINGS) == 0 {
                self.open(row, allowance);
            } else {
                self.propose(row, allowance, random);
            }
        }
    }

    /// Whether rows may be a group.
    pub fn holds(&mut self, rows: &[u32]) -> bool {
        if rows.len() < self.least {
            return false;
        }
        self.asked.clear();
        let numbers = rows.iter().map(|&row| self.numbers[row as usize]);
        self.asked.extend(numbers);
        (self.may_be)(&self.asked)
    }

    /// Cost of a group of these rows.
    pub fn cost(&self, rows: &[u32]) -> f32 {
        if rows.is_empty() {
            return 0.0;
        }
        self.measure.loss(&self.measure.enclose(rows)) * rows.len() as f32
    }

    /// A group with one row more.
    #[inline]
    pub fn with(&self, group: u32, row: u32) -> Outline<CELLS, WORDS> {
        let group = &self.groups[group as usize];
        let hull = self.measure.with(group.outline.hull, row);
        let cost = self.measure.loss(&hull) * (group.rows.len() + 1) as f32;
        Outline { hull, cost }
    }

    /// A group with one row less; it has at least two.
    #[inline]
    pub fn without(&self, group: u32, row: u32) -> Outline<CELLS, WORDS> {
        let group = &self.groups[group as usize];
        let left = (group.rows.len() - 1) as f32;
        let Outline { hull, cost } = group.outline;
        if self.measure.is_inside(&hull, row) {
            let cost = cost * left / (left + 1.0);
            return Outline { hull, cost };
        }
        let hull = self.measure.enclose_without(&group.rows, row);
        let cost = self.measure.loss(&hull) * left;
        Outline { hull, cost }
    }

    /// A group with one row instead of another.
    #[inline]
    pub fn swapped(&self, group: u32, out: u32, into: u32) -> Outline<CELLS, WORDS> {
        let group = &self.groups[group as usize];
        let hull = match group.rows.as_slice() {
            [_] => self.measure.around(into),
            _ if self.measure.is_inside(&group.outline.hull, out) => {
                self.measure.with(group.outline.hull, into)
            }
            rows => {
                let rest = self.measure.enclose_without(rows, out);
                self.measure.with(rest, into)
            }
        };
        let cost = self.measure.loss(&hull) * group.rows.len() as f32;
        Outline { hull, cost }
    }

    /// What all rows of a group lose.
    #[inline]
    pub fn cost_of(&self, group: u32) -> f32 {
        self.groups[group as usize].outline.cost
    }

    /// Moves a row from one group to another, whose outlines are then behind.
    pub fn shift(&mut self, row: u32, from: u32, to: u32) {
        let rows = &mut self.groups[from as usize].rows;
        if let Some(at) = rows.iter().position(|&other| other == row) {
            rows.swap_remove(at);
        }
        self.groups[to as usize].rows.push(row);
        self.group_of[row as usize] = to;
    }

    /// Whether it is known which rows may take each other's places.
    pub fn knows_kinds(&self) -> bool {
        !self.kinds.is_empty()
    }

    /// Kind of a row, where kinds are known.
    pub fn kind(&self, row: u32) -> Option<u32> {
        self.kinds.get(row as usize).copied()
    }

    /// Whether two rows may take each other's places whatever the groups.
    pub fn are_of_one_kind(&self, row: u32, other: u32) -> bool {
        self.knows_kinds() && self.kind(row) == self.kind(other)
    }

    /// A row of a group to swap with `row`: one of its kind, if there is any.
    pub fn partner(&self, row: u32, group: u32, random: &mut ChaCha12Rng) -> u32 {
        let rows = &self.groups[group as usize].rows;
        let first = random.random_range(0..rows.len());
        if !self.knows_kinds() {
            return rows[first];
        }
        let around = rows[first..].iter().chain(&rows[..first]);
        let mut alike = around.filter(|&&other| self.are_of_one_kind(row, other));
        *alike.next().unwrap_or(&rows[first])
    }

    /// Whether two groups hold as they are now; takes over their outlines if so.
    pub fn settle(&mut self, changed: [(u32, Outline<CELLS, WORDS>); 2]) -> bool {
        for (group, _) in &changed {
            let rows = &self.groups[*group as usize].rows;
            self.asked.clear();
            let numbers = rows.iter().map(|&row| self.numbers[row as usize]);
            self.asked.extend(numbers);
            if !(self.may_be)(&self.asked) {
                return false;
            }
        }
        self.take_over(changed);
        true
    }

    /// Takes over the outlines of groups that are known to hold.
    pub fn take_over(&mut self, changed: [(u32, Outline<CELLS, WORDS>); 2]) {
        for (group, outline) in changed {
            self.groups[group as usize].outline = outline;
        }
    }

    /// Makes rows the group of a number; without rows the number is vacant.
    pub fn set(&mut self, group: u32, rows: Vec<u32>) {
        for &row in &rows {
            self.group_of[row as usize] = group;
        }
        let place = &mut self.groups[group as usize];
        place.rows = rows;
        if place.rows.is_empty() {
            place.outline.cost = 0.0;
            self.vacant.push(group);
        } else {
            let hull = self.measure.enclose(&place.rows);
            let cost = self.measure.loss(&hull) * place.rows.len() as f32;
            place.outline = Outline { hull, cost };
        }
    }

    /// A new group of these rows, at least one, which are in no other.
    pub fn add(&mut self, rows: Vec<u32>) -> u32 {
        let group = self.vacant.pop().unwrap_or(self.groups.len() as u32);
        if group as usize == self.groups.len() {
            let hull = self.measure.around(rows[0]);
            self.groups.push(Group {
                rows: Vec::new(),
                outline: Outline { hull, cost: 0.0 },
            });
        }
        self.set(group, rows);
        group
    }

    /// The rows of a group but for some.
    pub fn rows_without(&self, group: u32, gone: &[u32]) -> Vec<u32> {
        let rows = self.groups[group as usize].rows.iter().copied();
        rows.filter(|row| !gone.contains(row)).collect()
    }

    /// The rows of a group and one more.
    pub fn rows_with(&self, group: u32, row: u32) -> Vec<u32> {
        let mut rows = self.groups[group as usize].rows.clone();
        rows.push(row);
        rows
    }

    /// Rows in a group.
    pub fn size(&self, group: u32) -> usize {
        self.groups[group as usize].rows.len()
    }
}
