//! Changes of two groups: a row moves, two rows swap, a group that has become
//! large is split, one that has become too small is dissolved.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;

use super::region::Region;

/// A group with no row to spare is dissolved once in so many tries.
const DISSOLUTIONS: u32 = 16;
/// A group with rows for two is split once in so many tries.
const SPLITS: u32 = 8;
/// Near rows whose groups a row of a dissolved group may go to.
const REFUGES: usize = 12;

/// Sets of more rows are parted now and then only.
const HALVED_ROWS: usize = 64;

impl<const CELLS: usize, const WORDS: usize> Region<'_, CELLS, WORDS> {
    /// Tries to bring a row to the group of a row near it; a change that costs
    /// no more than `allowance` is made.
    pub(super) fn propose(&mut self, row: u32, allowance: f32, random: &mut ChaCha12Rng) {
        let Some(near) = self.near.any(row, random) else {
            return;
        };
        let (from, to) = (self.group_of[row as usize], self.group_of[near as usize]);
        if from == to {
            if random.random_range(0..SPLITS) == 0 {
                self.split(from, allowance, random);
            }
            return;
        }
        if self.size(from) > self.least && self.move_row(row, to, allowance, random) {
            return;
        }
        let other = self.partner(row, to, random);
        if !self.swap(row, other, allowance) && random.random_range(0..DISSOLUTIONS) == 0 {
            self.dissolve(from, allowance);
        }
    }

    fn move_row(&mut self, row: u32, to: u32, allowance: f32, random: &mut ChaCha12Rng) -> bool {
        let from = self.group_of[row as usize];
        let most = self.cost_of(from) + self.cost_of(to) + allowance;
        let joined = self.with(to, row);
        let is_large = self.size(to) + 1 >= 2 * self.least;
        if joined.cost > most && !is_large {
            return false;
        }
        let left = self.without(from, row);
        if joined.cost + left.cost <= most {
            self.shift(row, from, to);
            let holds = self.settle([(from, left), (to, joined)]);
            if !holds {
                self.shift(row, to, from);
            }
            return holds;
        }
        is_large && self.move_and_split(row, to, most - left.cost, random)
    }

    /// Brings the row to a group that is then split, if both parts cost no
    /// more than `most`.
    fn move_and_split(&mut self, row: u32, to: u32, most: f32, random: &mut ChaCha12Rng) -> bool {
        let rows = self.rows_with(to, row);
        let Some((one, other)) = self.halves(&rows, random) else {
            return false;
        };
        if self.cost(&one) + self.cost(&other) > most {
            return false;
        }
        let from = self.group_of[row as usize];
        let stay = self.rows_without(from, &[row]);
        if !self.holds(&stay) || !self.holds(&one) || !self.holds(&other) {
            return false;
        }
        self.set(from, stay);
        self.set(to, one);
        self.add(other);
        true
    }

    /// Splits a group that is large enough for two.
    fn split(&mut self, group: u32, allowance: f32, random: &mut ChaCha12Rng) {
        let cost = self.cost_of(group);
        if self.size(group) < 2 * self.least || cost == 0.0 {
            return;
        }
        let rows = self.groups[group as usize].rows.clone();
        let Some((one, other)) = self.halves(&rows, random) else {
            return;
        };
        let is_cheap = self.cost(&one) + self.cost(&other) - cost <= allowance;
        if is_cheap && self.holds(&one) && self.holds(&other) {
            self.set(group, one);
            self.add(other);
        }
    }

    /// Two parts around rows that are far from each other, each large enough.
    /// Of larger sets few are parted, so that it does not cost more on average.
    fn halves(&self, rows: &[u32], random: &mut ChaCha12Rng) -> Option<(Vec<u32>, Vec<u32>)> {
        if rows.len() > HALVED_ROWS && random.random_range(0..rows.len()) >= HALVED_ROWS {
            return None;
        }
        if self.knows_kinds() && random.random() {
            return Some(self.even_halves(rows, random));
        }
        let far = |from: u32| {
            let losses = rows.iter().map(|&row| (self.measure.pair(from, row), row));
            losses.max_by(|one, other| one.0.total_cmp(&other.0))
        };
        let any = rows[random.random_range(0..rows.len())];
        let (_, one) = far(any)?;
        let (distance, other) = far(one)?;
        if distance == 0.0 {
            return None;
        }
        let mut parts = [vec![one], vec![other]];
        let mut hulls = [self.measure.around(one), self.measure.around(other)];
        let rest = rows.iter().filter(|&&row| row != one && row != other);
        let mut left = rows.len() - 2;
        for &row in rest {
            let needs = |part: &Vec<u32>| part.len() + left <= self.least;
            let into = match [needs(&parts[0]), needs(&parts[1])] {
                [true, _] => 0,
                [_, true] => 1,
                _ => {
                    let [first, second] = [0, 1].map(|at| {
                        let size = parts[at].len() as f32;
                        let before = self.measure.loss(&hulls[at]) * size;
                        let with = self.measure.with(hulls[at], row);
                        self.measure.loss(&with) * (size + 1.0) - before
                    });
                    usize::from(second < first)
                }
            };
            hulls[into] = self.measure.with(hulls[into], row);
            parts[into].push(row);
            left -= 1;
        }
        let [one, other] = parts;
        Some((one, other))
    }

    /// Two parts with half of each kind: the lower rows of an attribute, and
    /// the higher ones.
    fn even_halves(&self, rows: &[u32], random: &mut ChaCha12Rng) -> (Vec<u32>, Vec<u32>) {
        let attribute = [random.random_range(0..self.attributes)];
        let mut rows = rows.to_vec();
        rows.sort_by(|&one, &other| {
            let kinds = self.kind(one).cmp(&self.kind(other));
            kinds.then_with(|| self.measure.compare(one as u16, other as u16, &attribute))
        });
        let (mut lower, mut upper) = (Vec::new(), Vec::new());
        // Of odd kinds either part gets the larger half in turn.
        let mut more: bool = random.random();
        for run in rows.chunk_by(|&one, &other| self.kind(one) == self.kind(other)) {
            let size = (run.len() + usize::from(more)) / 2;
            more ^= run.len() % 2 == 1;
            lower.extend(&run[..size]);
            upper.extend(&run[size..]);
        }
        (lower, upper)
    }

    fn swap(&mut self, row: u32, other: u32, allowance: f32) -> bool {
        let (from, to) = (self.group_of[row as usize], self.group_of[other as usize]);
        let most = self.cost_of(from) + self.cost_of(to) + allowance;
        let come = self.swapped(to, other, row);
        if come.cost > most {
            return false;
        }
        let stay = self.swapped(from, row, other);
        if come.cost + stay.cost > most {
            return false;
        }
        self.shift(row, from, to);
        self.shift(other, to, from);
        let changed = [(from, stay), (to, come)];
        if self.are_of_one_kind(row, other) {
            self.take_over(changed);
            return true;
        }
        let holds = self.settle(changed);
        if !holds {
            self.shift(row, to, from);
            self.shift(other, from, to);
        }
        holds
    }

    /// Gives every row of a group to another group, each to one of its own.
    fn dissolve(&mut self, group: u32, allowance: f32) -> bool {
        let rows = self.groups[group as usize].rows.clone();
        let mut cost = -self.cost_of(group);
        let mut taken: Vec<(u32, u32)> = Vec::with_capacity(rows.len());
        for &row in &rows {
            let Some((growth, refuge)) = self.refuge(row, |other| {
                other == group || taken.iter().any(|&(_, to)| to == other)
            }) else {
                return false;
            };
            cost += growth;
            if cost > allowance {
                return false;
            }
            taken.push((row, refuge));
        }
        for &(row, refuge) in &taken {
            let rows = self.rows_with(refuge, row);
            if !self.holds(&rows) {
                return false;
            }
        }
        self.set(group, Vec::new());
        for (row, refuge) in taken {
            let rows = self.rows_with(refuge, row);
            self.set(refuge, rows);
        }
        true
    }

    /// The group near a row that grows least by it, and by how much; not one
    /// that is barred or too large.
    pub(super) fn refuge(&self, row: u32, barred: impl Fn(u32) -> bool) -> Option<(f32, u32)> {
        let mut best: Option<(f32, u32)> = None;
        for at in 0..self.near.of(row).len().min(REFUGES) {
            let near = self.near.of(row)[at];
            let group = self.group_of[near as usize];
            if barred(group) || self.size(group) + 1 >= 2 * self.least {
                continue;
            }
            let growth = self.with(group, row).cost - self.cost_of(group);
            if best.is_none_or(|(least, _)| growth < least) {
                best = Some((growth, group));
            }
        }
        best
    }
}
