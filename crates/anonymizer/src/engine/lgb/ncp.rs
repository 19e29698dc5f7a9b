//! Stage 3 by least normalized certainty penalty (`[LGB]` Alg. 4 after Xu et
//! al. 2006, with both of its steps replaced: *ours*, docs/DEVIATIONS.md).
//!
//! Large sets are cut at the lower median of whichever attribute leaves least
//! loss on both sides: there, boxes grown from two far seeds soon cover the
//! whole domain, and from then on records fall to either side by chance.
//! Small sets are peeled: the strictest record, or one that is far from the
//! others, draws to itself the records that add least loss until the group
//! has its K (the greedy k-member step of Byun et al. 2007); the rest is
//! peeled further. Records that ask for much are drawn sooner, since they ask
//! a large group of everyone they are with.

use rand::seq::SliceRandom;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::cut::{CutBuffers, lower_median_cut, partition_in_place};
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{
    BoxLayout, Cover, Descent, Groups, Rows, SplitPosition, Splitter, descend,
};

use super::frame::stage;

/// Sets of at most this many rows are peeled. Work per row is half the size
/// of the set; loss falls slowly with it.
const PEELED_ROWS: usize = 512;
/// With a large K so are sets of a few groups, within bounds.
const PEELED_GROUPS: usize = 4;
const PEELED_ROWS_MAX: usize = 4096;
/// What growth by a strict row counts while a strict group is drawn together.
const COMPANY: f32 = 0.5;

/// Splits the rows of one subset.
pub(super) struct Bisection<'a> {
    pub context: &'a RunContext<'a>,
    pub space: BoxLayout,
    /// Rows of the space.
    pub rows: Rows,
    pub k: KOfRows,
}

/// What the cuts of one task reuse.
pub(super) struct BisectionBuffers {
    lowest: Vec<u32>,
    highest: Vec<u32>,
    cut: CutBuffers,
}

/// One side of a cut.
struct Side<'a> {
    cover: Cover<'a>,
    size: usize,
    k: usize,
}

impl<'a> Side<'a> {
    fn new(space: &'a BoxLayout) -> Self {
        Self {
            cover: Cover::new(space),
            size: 0,
            k: 1,
        }
    }

    fn take(&mut self, row: &[u32], k: usize) {
        match self.size {
            0 => self.cover.start(row),
            _ => self.cover.include(row),
        }
        self.size += 1;
        self.k = self.k.max(k);
    }

    /// Loss of all its cells.
    fn loss(&self) -> f32 {
        self.cover.loss() * self.size as f32
    }
}

impl Bisection<'_> {
    /// Groups of `records`, whose positions the rows are.
    pub fn groups(
        &self,
        records: &[u32],
        place: SplitPosition,
        descent: &Descent<'_>,
    ) -> Result<Groups, EngineError> {
        let mut order: Vec<u32> = (0..records.len() as u32).collect();
        let mut starts = vec![false; records.len()];
        descend(self, order.as_mut_slice(), &mut starts, place, descent)?;
        Ok(Groups::of_rows(order, &starts, records))
    }

    /// The cut at the lower median of a column that leaves least loss, among
    /// those whose sides keep their K: the column and the highest cell left.
    fn cheapest_cut(&self, rows: &[u32], buffers: &mut BisectionBuffers) -> Option<(usize, u32)> {
        let mut cheapest: Option<(f32, usize, u32)> = None;
        self.rows.extremes(
            rows.iter().copied(),
            &mut buffers.lowest,
            &mut buffers.highest,
        );
        for column in 0..self.rows.width() {
            let cells = rows.iter().map(|&row| self.rows.cell(row, column));
            let (lowest, highest) = (buffers.lowest[column], buffers.highest[column]);
            let cut = lower_median_cut(cells, lowest, highest, &mut buffers.cut);
            let Some(code) = cut.map(|cut| cut.code) else {
                continue;
            };
            let Some(loss) = self.loss_of_cut(rows, column, code) else {
                continue;
            };
            if cheapest.is_none_or(|(least, ..)| loss < least) {
                cheapest = Some((loss, column, code));
            }
        }
        cheapest.map(|(_, column, code)| (column, code))
    }

    /// Loss of both sides of a cut; `None` if one is below its K.
    fn loss_of_cut(&self, rows: &[u32], column: usize, code: u32) -> Option<f32> {
        let mut sides = [Side::new(&self.space), Side::new(&self.space)];
        for &row in rows {
            let side = &mut sides[usize::from(self.rows.cell(row, column) > code)];
            side.take(self.rows.row(row), self.k.of_row(row));
        }
        let keeps_k = sides.iter().all(|side| side.size >= side.k);
        keeps_k.then(|| sides.iter().map(Side::loss).sum())
    }

    /// Half of the rows, which are in random order, if both halves keep their K.
    fn any_half(&self, rows: &[u32]) -> Option<usize> {
        let (left, right) = rows.split_at(rows.len() / 2);
        (left.len() >= self.k.of(left) && right.len() >= self.k.of(right)).then_some(left.len())
    }

    /// Position of the row that is farthest from the first one.
    fn farthest(&self, rows: &[u32]) -> usize {
        let first = self.rows.row(rows[0]);
        let losses = rows
            .iter()
            .map(|&row| self.space.pair(first, self.rows.row(row)));
        let farthest = losses
            .enumerate()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        farthest.map_or(0, |(at, _)| at)
    }

    /// Draws one group of exactly K rows together at the front; its size, or
    /// `None` where the rest could not keep its own K.
    fn peel(&self, rows: &mut [u32], least: usize, k: usize) -> Option<usize> {
        if rows.len() < k + least {
            return None;
        }
        let seed = if k > least {
            rows.iter().position(|&row| self.k.of_row(row) == k)?
        } else {
            self.farthest(rows)
        };
        rows.swap(0, seed);
        let mut cover = Cover::new(&self.space);
        cover.start(self.rows.row(rows[0]));
        for size in 1..k {
            let mut nearest = (f32::INFINITY, size);
            for (at, &row) in rows.iter().enumerate().skip(size) {
                let growth = cover.growth(self.rows.row(row));
                let is_strict = k > least && self.k.of_row(row) > least;
                let growth = if is_strict { growth * COMPANY } else { growth };
                if growth < nearest.0 {
                    nearest = (growth, at);
                }
            }
            rows.swap(size, nearest.1);
            cover.include(self.rows.row(rows[size]));
        }
        (rows.len() - k >= self.k.of(&rows[k..])).then_some(k)
    }

    /// Whether publishing all rows as one group loses nothing.
    fn is_lossless(&self, rows: &[u32]) -> bool {
        let first = self.rows.row(rows[0]);
        rows[1..].iter().all(|&row| self.rows.row(row) == first)
    }
}

impl Splitter<&mut [u32]> for Bisection<'_> {
    type Buffers = BisectionBuffers;

    fn buffers(&self) -> BisectionBuffers {
        BisectionBuffers {
            lowest: vec![0; self.rows.width()],
            highest: vec![0; self.rows.width()],
            cut: CutBuffers::default(),
        }
    }

    fn split(
        &self,
        rows: &mut &mut [u32],
        place: SplitPosition,
        buffers: &mut BisectionBuffers,
    ) -> Option<usize> {
        let k = self.k.of(rows);
        let least = rows
            .iter()
            .map(|&row| self.k.of_row(row))
            .min()
            .unwrap_or(1);
        if rows.len() < k + least || self.is_lossless(rows) {
            return None;
        }
        let mut random = place.stream(self.context, stage::GROUPS);
        rows.shuffle(&mut random);
        if rows.len() <= PEELED_ROWS.max((PEELED_GROUPS * k).min(PEELED_ROWS_MAX)) {
            return self.peel(rows, least, k);
        }
        match self.cheapest_cut(rows, buffers) {
            Some((column, code)) => Some(partition_in_place(rows, |row| {
                self.rows.cell(row, column) <= code
            })),
            None => self.any_half(rows),
        }
    }
}
