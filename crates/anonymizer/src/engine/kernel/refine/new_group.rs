//! A new group around one row: what many single moves would have to do
//! together.
//!
//! The row draws near rows to itself that their groups can spare, and rows of
//! its own group. If too few are left of that, they go into the new group or
//! to groups near them, and the group is no more.

use super::measure::Hull;
use super::region::Region;

/// A group about to be made.
struct Opening<const CELLS: usize, const WORDS: usize> {
    rows: Vec<u32>,
    hull: Hull<CELLS, WORDS>,
    /// Rows that other groups give.
    given: Vec<(u32, Vec<u32>)>,
    /// What it costs more than what is there now.
    cost: f32,
}

impl<const CELLS: usize, const WORDS: usize> Region<'_, CELLS, WORDS> {
    /// Tries to make a group around a row; it is made if it costs no more
    /// than `allowance`.
    pub(super) fn open(&mut self, row: u32, allowance: f32) -> bool {
        let home = self.group_of[row as usize];
        let Some(mut opening) = self.gather(row, home) else {
            return false;
        };
        for at in 0..opening.given.len() {
            let (group, given) = &opening.given[at];
            let rows = self.rows_without(*group, given);
            let before = self.cost_of(*group);
            opening.cost += self.cost(&rows) - before;
        }
        let left = self.rows_without(home, &opening.rows);
        opening.cost -= self.cost_of(home);
        if left.len() >= self.least {
            opening.cost += self.cost(&left);
            return opening.cost <= allowance && self.take(opening, (home, left), Vec::new());
        }
        match self.rehouse(&mut opening, home, &left, allowance) {
            Some(moved) => self.take(opening, (home, Vec::new()), moved),
            None => false,
        }
    }

    /// The row and the least number of rows that make a group with it.
    fn gather(&self, row: u32, home: u32) -> Option<Opening<CELLS, WORDS>> {
        let near = self.near.of(row).iter().map(|&near| u32::from(near));
        let mut pool: Vec<u32> = near.collect();
        let own = self.groups[home as usize].rows.iter();
        let own = own.filter(|&&other| other != row && !pool.contains(&other));
        let own: Vec<u32> = own.take(2 * self.least).copied().collect();
        pool.extend(own);
        // Reckoning goes up with the square of the pool: the nearest will do.
        let pool = pool.into_iter();
        let mut pool: Vec<(f32, u32)> = pool
            .map(|other| (self.measure.pair(row, other), other))
            .collect();
        pool.sort_by(|one, other| one.0.total_cmp(&other.0));
        pool.truncate(2 * self.least);
        let mut opening = Opening {
            rows: vec![row],
            hull: self.measure.around(row),
            given: Vec::new(),
            cost: 0.0,
        };
        let mut base = 0.0;
        while opening.rows.len() < self.least {
            let mut best: Option<(f32, f32, usize)> = None;
            for (at, &(_, other)) in pool.iter().enumerate() {
                let group = self.group_of[other as usize];
                let gives = opening.given.iter().find(|(from, _)| *from == group);
                let given = gives.map_or(0, |(_, rows)| rows.len());
                if group != home && self.size(group) - given <= self.least {
                    continue;
                }
                let with = self.measure.with(opening.hull, other);
                let loss = self.measure.loss(&with);
                // A row that loses much where it is comes cheaper.
                let relief = self.cost_of(group) / self.size(group) as f32;
                let growth = (loss - base) * self.least as f32 - relief;
                if best.is_none_or(|(least, ..)| growth < least) {
                    best = Some((growth, loss, at));
                }
            }
            let (_, loss, at) = best?;
            let (_, other) = pool.swap_remove(at);
            base = loss;
            opening.hull = self.measure.with(opening.hull, other);
            opening.rows.push(other);
            let group = self.group_of[other as usize];
            if group != home {
                match opening.given.iter_mut().find(|(from, _)| *from == group) {
                    Some((_, rows)) => rows.push(other),
                    None => opening.given.push((group, vec![other])),
                }
            }
        }
        opening.cost = base * opening.rows.len() as f32;
        Some(opening)
    }

    /// Finds a place for what is left of the row's group, in the opening or in
    /// groups near; the latter.
    fn rehouse(
        &self,
        opening: &mut Opening<CELLS, WORDS>,
        home: u32,
        left: &[u32],
        allowance: f32,
    ) -> Option<Vec<(u32, u32)>> {
        let mut moved: Vec<(u32, u32)> = Vec::new();
        for &row in left {
            if opening.cost > allowance {
                return None;
            }
            let refuge = self.refuge(row, |group| {
                let gives = opening.given.iter().any(|(from, _)| *from == group);
                group == home || gives || moved.iter().any(|&(_, to)| to == group)
            });
            let size = opening.rows.len();
            let hull = self.measure.with(opening.hull, row);
            let with = self.measure.loss(&hull) * (size + 1) as f32;
            let growth = with - self.measure.loss(&opening.hull) * size as f32;
            let is_full = size + 1 >= 2 * self.least;
            match refuge {
                Some((elsewhere, group)) if is_full || elsewhere < growth => {
                    opening.cost += elsewhere;
                    moved.push((row, group));
                }
                None if is_full => return None,
                _ => {
                    opening.cost += growth;
                    opening.rows.push(row);
                    opening.hull = hull;
                }
            }
        }
        (opening.cost <= allowance).then_some(moved)
    }

    /// Makes the group, if all groups that change still hold.
    fn take(
        &mut self,
        opening: Opening<CELLS, WORDS>,
        (home, left): (u32, Vec<u32>),
        moved: Vec<(u32, u32)>,
    ) -> bool {
        let mut changes: Vec<(u32, Vec<u32>)> = Vec::new();
        for (group, given) in &opening.given {
            changes.push((*group, self.rows_without(*group, given)));
        }
        for &(row, group) in &moved {
            changes.push((group, self.rows_with(group, row)));
        }
        if !left.is_empty() {
            changes.push((home, left));
        }
        let holds = self.holds(&opening.rows) && changes.iter().all(|(_, rows)| self.holds(rows));
        if !holds {
            return false;
        }
        let is_home_free = changes.iter().all(|(group, _)| *group != home);
        for (group, rows) in changes {
            self.set(group, rows);
        }
        if is_home_free {
            self.set(home, opening.rows);
        } else {
            self.add(opening.rows);
        }
        true
    }
}
