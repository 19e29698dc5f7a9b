//! Stage 3 by least normalized certainty penalty (`[LGB]` Alg. 4, with the
//! seeds and the assignment of Xu et al. 2006).
//!
//! A set of at least 2K records grows two boxes. Seeds: from a random record
//! go three times to the record farthest from the last by loss of the pair;
//! the last two are the seeds. The others join, in random order, the box whose
//! loss they add least to. If a side ends below its K it is filled up with
//! those records of the other side that add least loss, provided that the
//! other side keeps its own K (*ours*: read literally the paper gives up
//! there, which leaves groups of up to half the table). Only if that fails is
//! the set a group. So is a set that loses nothing.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{Cover, Place, Rows, Space, Splitter};

use super::frame::stage;

/// Splits the rows of one subset.
pub(super) struct Bisection<'a> {
    pub context: &'a RunContext<'a>,
    pub space: Space,
    /// Rows of the space.
    pub rows: Rows,
    pub k: KOfRows,
}

impl Bisection<'_> {
    /// Position of the row that is farthest from `from`; the first of equals.
    fn farthest(&self, rows: &[u32], from: u32) -> (usize, f32) {
        let from = self.rows.row(from);
        let mut farthest = (0, -1.0);
        for (at, &row) in rows.iter().enumerate() {
            let loss = self.space.pair(from, self.rows.row(row));
            if loss > farthest.1 {
                farthest = (at, loss);
            }
        }
        farthest
    }

    /// Moves one seed to the front and the other to the end; false if all
    /// rows are equal. `rows` are in random order.
    fn seed(&self, rows: &mut [u32]) -> bool {
        let (first, loss) = self.farthest(rows, rows[0]);
        if loss <= 0.0 {
            return false;
        }
        let (second, _) = self.farthest(rows, rows[first]);
        let (third, _) = self.farthest(rows, rows[second]);
        let last = rows.len() - 1;
        rows.swap(0, second);
        // The row at the front went to `second`.
        let third = if third == 0 { second } else { third };
        rows.swap(last, third);
        true
    }

    /// Lets every row but the seeds join a side; the size of the left one.
    fn grow(&self, rows: &mut [u32], random: &mut impl rand::Rng) -> usize {
        let mut left = Cover::new(&self.space);
        let mut right = Cover::new(&self.space);
        left.start(self.rows.row(rows[0]));
        right.start(self.rows.row(rows[rows.len() - 1]));
        let (mut at, mut end) = (1, rows.len() - 1);
        while at < end {
            let row = self.rows.row(rows[at]);
            let (to_left, to_right) = (left.growth(row), right.growth(row));
            let goes_left = match to_left.total_cmp(&to_right) {
                std::cmp::Ordering::Less => true,
                std::cmp::Ordering::Greater => false,
                std::cmp::Ordering::Equal => random.random(),
            };
            if goes_left {
                left.include(row);
                at += 1;
            } else {
                right.include(row);
                end -= 1;
                rows.swap(at, end);
            }
        }
        at
    }

    /// Fills up a side that is below its K from the other; the size of the
    /// left side, or `None` where that cannot be done.
    fn rebalance(&self, rows: &mut [u32], left: usize) -> Option<usize> {
        let (k_left, k_right) = (self.k.of(&rows[..left]), self.k.of(&rows[left..]));
        let right = rows.len() - left;
        if left >= k_left && right >= k_right {
            return Some(left);
        }
        if left < k_left {
            let missing = k_left - left;
            if right < missing + k_right || !self.nearest_first(rows, left, (missing, k_left)) {
                return None;
            }
            return Some(left + missing);
        }
        // The mirror image: the short side comes first while it is filled up.
        rows.reverse();
        let missing = k_right - right;
        let filled =
            left >= missing + k_left && self.nearest_first(rows, right, (missing, k_right));
        rows.reverse();
        filled.then(|| left - missing)
    }

    /// Moves the `missing` rows behind the first `short` ones that add least
    /// loss to their box right behind them. Rows that ask for more than `k`
    /// stay where they are. False if there are too few others.
    fn nearest_first(&self, rows: &mut [u32], short: usize, (missing, k): (usize, usize)) -> bool {
        let (inside, outside) = rows.split_at_mut(short);
        let mut cover = Cover::new(&self.space);
        cover.start(self.rows.row(inside[0]));
        for &row in &inside[1..] {
            cover.include(self.rows.row(row));
        }
        let mut ranked: Vec<(f32, u32)> = outside
            .iter()
            .map(|&row| match self.k.of_row(row) <= k {
                true => (cover.growth(self.rows.row(row)), row),
                false => (f32::INFINITY, row),
            })
            .collect();
        let by_growth = |one: &(f32, u32), other: &(f32, u32)| one.0.total_cmp(&other.0);
        ranked.select_nth_unstable_by(missing - 1, by_growth);
        if ranked[..missing]
            .iter()
            .any(|(growth, _)| growth.is_infinite())
        {
            return false;
        }
        for (row, (_, ranked)) in outside.iter_mut().zip(ranked) {
            *row = ranked;
        }
        true
    }
}

impl Splitter for Bisection<'_> {
    type Buffers = ();

    fn buffers(&self) {}

    fn split(&self, rows: &mut [u32], place: Place, _: &mut ()) -> Option<usize> {
        if rows.len() < 2 * self.k.of(rows) {
            return None;
        }
        let mut random = place.stream(self.context, stage::GROUPS);
        rows.shuffle(&mut random);
        if !self.seed(rows) {
            return None;
        }
        let left = self.grow(rows, &mut random);
        self.rebalance(rows, left)
    }
}
