//! One partition as it goes on: which cuts a set has, and in which order they
//! are tried.

use rand::RngExt;
use rand::seq::SliceRandom;

use crate::engine::kernel::cut::{CutBuffers, lower_median_cut};
use crate::engine::kernel::{Among, Place, Rows, Scale, Splitter};

use super::{Condition, Mondrian, Partitioning, SplitChoice};

/// One partition as it goes on.
pub(super) struct Partition<'a, C> {
    pub mondrian: &'a Mondrian<'a>,
    pub rows: Rows,
    /// What the condition calls each row; empty where it has the same numbers.
    pub names: Vec<u32>,
    pub condition: &'a C,
}

/// Codes of a set that fit a fast cache: a smaller set is copied together once
/// and then split where it lies.
const NEAR_CODES: usize = 1 << 17;

/// A cut: rows below `code` go left, and the first `equals` of those at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowCut {
    column: usize,
    code: u32,
    equals: usize,
    left: usize,
}

/// Where an attribute is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    /// At the lower median.
    Median,
    /// Before the branch of the hierarchy that the median is in.
    Before,
    /// Behind it.
    Behind,
}

/// A cut to try: those of higher rank come first.
#[derive(Clone, Copy)]
struct Candidate {
    rank: f64,
    lot: u32,
    column: u32,
    spot: Spot,
    /// Lowest and highest code of the column.
    ends: (u32, u32),
}

/// What one task reuses from set to set.
pub(super) struct PartitionBuffers<B> {
    lowest: Vec<u32>,
    highest: Vec<u32>,
    /// Codes of the set, copied close together: they are read several times,
    /// and the rows of a set lie anywhere.
    set: Rows,
    candidates: Vec<Candidate>,
    cut: CutBuffers,
    codes: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    distinct: Distinct,
    condition: (B, Vec<u32>),
}

/// Counts distinct codes without clearing between counts.
#[derive(Default)]
pub(super) struct Distinct {
    seen: Vec<u32>,
    count: u32,
}

impl Distinct {
    pub fn count(&mut self, codes: impl Iterator<Item = u32>, domain: u32) -> u32 {
        if self.seen.len() < domain as usize || self.count == u32::MAX {
            self.seen = vec![0; self.seen.len().max(domain as usize)];
            self.count = 0;
        }
        self.count += 1;
        let mut distinct = 0;
        for code in codes {
            let seen = &mut self.seen[code as usize];
            distinct += u32::from(*seen != self.count);
            *seen = self.count;
        }
        distinct
    }
}

impl<C: Condition> Partition<'_, C> {
    /// Attributes with more than one value in the set, the best to cut by
    /// first, ties in random order.
    fn order(&self, set: &Rows, place: Place, buffers: &mut PartitionBuffers<C::Buffers>) {
        buffers.candidates.clear();
        for (column, scale) in self.mondrian.scales.iter().enumerate() {
            let (lowest, highest) = (buffers.lowest[column], buffers.highest[column]);
            if lowest == highest {
                continue;
            }
            let spots: &[Spot] = match (self.mondrian.choice, scale) {
                (SplitChoice::Gain, Scale::Tree(_)) => &[Spot::Median, Spot::Before, Spot::Behind],
                _ => &[Spot::Median],
            };
            let candidates = spots.iter().map(|&spot| Candidate {
                rank: f64::from(scale.interval(lowest, highest)),
                lot: 0,
                column: column as u32,
                spot,
                ends: (lowest, highest),
            });
            buffers.candidates.extend(candidates);
        }
        if self.mondrian.choice == SplitChoice::Gain {
            self.rank_by_gain(set, buffers);
        }
        let candidates = &mut buffers.candidates;
        let by_rank = |one: &Candidate, other: &Candidate| other.rank.total_cmp(&one.rank);
        candidates.sort_unstable_by(|one, other| {
            let places = (one.column, one.spot).cmp(&(other.column, other.spot));
            by_rank(one, other).then(places)
        });
        if candidates
            .windows(2)
            .any(|pair| pair[0].rank == pair[1].rank)
        {
            let mut random = place.stream(self.mondrian.context, self.mondrian.stage);
            for candidate in candidates.iter_mut() {
                candidate.lot = random.random();
            }
            candidates.sort_unstable_by(|one, other| {
                let key = |of: &Candidate| (of.lot, of.column, of.spot);
                let lots = key(one).cmp(&key(other));
                by_rank(one, other).then(lots)
            });
        }
    }

    /// Ranks attributes by what their cuts leave; those whose parts are too
    /// small go.
    fn rank_by_gain(&self, set: &Rows, buffers: &mut PartitionBuffers<C::Buffers>) {
        let mut candidates = std::mem::take(&mut buffers.candidates);
        candidates.retain_mut(|candidate| {
            let cut = self.cut(set, candidate, buffers);
            let Some(cut) = cut.filter(|cut| self.is_large_enough(set, *cut)) else {
                return false;
            };
            // Places in the set stand for rows.
            divide(0..set.count() as u32, set, cut, buffers);
            let [left, right] = [&mut buffers.left, &mut buffers.right].map(std::mem::take);
            candidate.rank = -(self.loss(set, &left, buffers) + self.loss(set, &right, buffers));
            (buffers.left, buffers.right) = (left, right);
            true
        });
        buffers.candidates = candidates;
    }

    fn is_large_enough(&self, set: &Rows, cut: RowCut) -> bool {
        cut.left.min(set.count() - cut.left) >= self.condition.least()
    }

    /// Loss of publishing the rows at some places of a set with one look.
    fn loss(&self, set: &Rows, part: &[u32], buffers: &mut PartitionBuffers<C::Buffers>) -> f64 {
        let (lowest, highest) = (&mut buffers.lowest, &mut buffers.highest);
        set.extremes(part.iter().copied(), lowest, highest);
        let columns = self.mondrian.scales.iter().enumerate();
        let losses = columns.map(|(column, scale)| match scale {
            Scale::Set(values) if lowest[column] < highest[column] => {
                let codes = part.iter().map(|&at| set.cell(at, column));
                f64::from(buffers.distinct.count(codes, *values)) / f64::from(*values)
            }
            _ => f64::from(scale.interval(lowest[column], highest[column])),
        });
        losses.sum::<f64>() * part.len() as f64
    }

    /// The cut of a candidate; `None` if nothing would be on one side.
    fn cut(
        &self,
        set: &Rows,
        candidate: &Candidate,
        buffers: &mut PartitionBuffers<C::Buffers>,
    ) -> Option<RowCut> {
        let (column, (lowest, highest)) = (candidate.column as usize, candidate.ends);
        let codes = set.column(column);
        let is_strict = self.mondrian.partitioning == Partitioning::Strict;
        if is_strict && candidate.spot == Spot::Median {
            let cut = lower_median_cut(codes, lowest, highest, &mut buffers.cut)?;
            return Some(RowCut {
                column,
                code: cut.code,
                equals: cut.left,
                left: cut.left,
            });
        }
        buffers.codes.clear();
        buffers.codes.extend(codes);
        let half = set.count().div_ceil(2);
        let (below, &mut median, _) = buffers.codes.select_nth_unstable(half - 1);
        let Some(code) = self.beside(candidate, median, (lowest, highest)) else {
            let below = below.iter().filter(|&&other| other < median).count();
            let is_median = candidate.spot == Spot::Median;
            return is_median.then_some(RowCut {
                column,
                code: median,
                equals: half - below,
                left: half,
            });
        };
        let left = buffers.codes.iter().filter(|&&other| other <= code).count();
        (0 < left && left < set.count()).then_some(RowCut {
            column,
            code,
            equals: left,
            left,
        })
    }

    /// The highest code left of the branch that the median is in, or the
    /// highest code of that branch. `None` at the median itself, or where all
    /// codes would be on one side.
    fn beside(
        &self,
        candidate: &Candidate,
        median: u32,
        (lowest, highest): (u32, u32),
    ) -> Option<u32> {
        let Scale::Tree(tree) = &self.mondrian.scales[candidate.column as usize] else {
            return None;
        };
        let top = tree.climb(tree.leaf(lowest), highest);
        let mut branch = tree.leaf(median);
        while branch != top && tree.node(branch).parent != top {
            branch = tree.node(branch).parent;
        }
        let code = match candidate.spot {
            Spot::Median => None,
            Spot::Before => tree.node(branch).first.checked_sub(1),
            Spot::Behind => Some(tree.node(branch).last),
        };
        code.filter(|&code| lowest <= code && code < highest)
    }
}

/// Sorts the rows of a set to the sides of a cut, in their order.
fn divide<B>(
    rows: impl Iterator<Item = u32>,
    set: &Rows,
    cut: RowCut,
    buffers: &mut PartitionBuffers<B>,
) {
    // Every row is written to both sides and counted on one: where it goes
    // cannot be foreseen, so a branch would mostly be guessed wrong.
    let (left, right) = (&mut buffers.left, &mut buffers.right);
    let codes = set.column(cut.column);
    left.resize(codes.len(), 0);
    right.resize(codes.len(), 0);
    let (mut lefts, mut rights, mut equals) = (0, 0, cut.equals);
    for (row, code) in rows.zip(codes) {
        let takes_place = code == cut.code && equals > 0;
        equals -= usize::from(takes_place);
        let goes_left = code < cut.code || takes_place;
        left[lefts] = row;
        right[rights] = row;
        lefts += usize::from(goes_left);
        rights += usize::from(!goes_left);
    }
    left.truncate(lefts);
    right.truncate(rights);
}

impl<C: Condition> Splitter for Partition<'_, C> {
    type Buffers = PartitionBuffers<C::Buffers>;

    fn buffers(&self) -> Self::Buffers {
        PartitionBuffers {
            lowest: vec![0; self.rows.width()],
            highest: vec![0; self.rows.width()],
            set: Rows::default(),
            candidates: Vec::with_capacity(self.rows.width()),
            cut: CutBuffers::default(),
            codes: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
            distinct: Distinct::default(),
            condition: self.among().buffers(),
        }
    }

    fn split(&self, rows: &mut [u32], place: Place, buffers: &mut Self::Buffers) -> Option<usize> {
        if rows.len() < 2 * self.condition.least().max(1) {
            return None;
        }
        if self.mondrian.partitioning == Partitioning::Relaxed {
            // The first of those that are equal to a median go left.
            let place = place.left().right();
            rows.shuffle(&mut place.stream(self.mondrian.context, self.mondrian.stage));
        }
        let mut set = std::mem::take(&mut buffers.set);
        set.copy(&self.rows, rows);
        let size = self.split_set(rows, &set, place, buffers);
        buffers.set = set;
        size
    }

    fn near(&self, rows: &[u32]) -> Option<Self> {
        let codes = rows.len() * self.rows.width();
        let is_near = !self.names.is_empty();
        if is_near || codes > NEAR_CODES || 2 * rows.len() >= self.rows.count() {
            return None;
        }
        let mut near = Rows::default();
        near.copy(&self.rows, rows);
        Some(Self {
            mondrian: self.mondrian,
            rows: near,
            names: rows.to_vec(),
            condition: self.condition,
        })
    }
}

impl<C: Condition> Partition<'_, C> {
    /// The condition for rows that have numbers of their own.
    fn among(&self) -> Among<'_, C> {
        Among {
            condition: self.condition,
            position: &self.names,
        }
    }

    /// Whether a side of a division holds.
    fn holds(&self, side: &[u32], buffers: &mut (C::Buffers, Vec<u32>)) -> bool {
        match self.names.is_empty() {
            true => self.condition.holds(side, &mut buffers.0),
            false => self.among().holds(side, buffers),
        }
    }

    fn split_set(
        &self,
        rows: &mut [u32],
        set: &Rows,
        place: Place,
        buffers: &mut PartitionBuffers<C::Buffers>,
    ) -> Option<usize> {
        let places = 0..set.count() as u32;
        set.extremes(places, &mut buffers.lowest, &mut buffers.highest);
        self.order(set, place, buffers);
        for at in 0..buffers.candidates.len() {
            let candidate = buffers.candidates[at];
            let cut = self.cut(set, &candidate, buffers);
            let Some(cut) = cut.filter(|cut| self.is_large_enough(set, *cut)) else {
                continue;
            };
            divide(rows.iter().copied(), set, cut, buffers);
            let (left, right) = (&buffers.left, &buffers.right);
            if self.holds(left, &mut buffers.condition) && self.holds(right, &mut buffers.condition)
            {
                let (to_left, to_right) = rows.split_at_mut(left.len());
                to_left.copy_from_slice(left);
                to_right.copy_from_slice(right);
                return Some(left.len());
            }
        }
        None
    }
}
