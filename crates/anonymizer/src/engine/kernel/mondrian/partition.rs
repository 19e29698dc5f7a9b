//! One partition as it goes on: which cuts a set has, and in which order they
//! are tried.

use rand::RngExt;

use crate::engine::context::RunContext;

use crate::engine::kernel::cut::{CutBuffers, Middle, middle};
use crate::engine::kernel::{Scale, SplitPosition, Splitter};

use super::set::{Aside, Ends, PackedCode, RowCut, Sample, Set};
use super::{Mondrian, PartCondition, Partitioning, SplitChoice};

/// One partition as it goes on.
pub(super) struct Partition<'a, C> {
    pub mondrian: &'a Mondrian<'a>,
    pub condition: &'a C,
}

/// Where an attribute is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engine::kernel) enum Spot {
    /// At the lower median.
    Median,
    /// Before the branch of the hierarchy that the median is in.
    Before,
    /// Behind it.
    Behind,
}

/// A cut to try: those of higher rank come first.
#[derive(Clone, Copy)]
pub(in crate::engine::kernel) struct Candidate {
    rank: f64,
    lot: u32,
    /// The column that is cut.
    pub column: u32,
    spot: Spot,
    /// Where the rank told it already.
    cut: Option<RowCut>,
}

impl Candidate {
    /// The cut at the median of a column whose codes lie this far apart.
    pub fn at_median(column: u32, range: f32) -> Self {
        Self {
            rank: f64::from(range),
            lot: 0,
            column,
            spot: Spot::Median,
            cut: None,
        }
    }
}

/// The highest rank first, equals by lots of their set's place.
pub(in crate::engine::kernel) fn by_rank(
    candidates: &mut [Candidate],
    place: SplitPosition,
    (context, stage): (&RunContext<'_>, u32),
) {
    let by_rank = |one: &Candidate, other: &Candidate| other.rank.total_cmp(&one.rank);
    candidates.sort_unstable_by(|one, other| {
        let places = (one.column, one.spot).cmp(&(other.column, other.spot));
        by_rank(one, other).then(places)
    });
    let mut pairs = candidates.windows(2);
    if pairs.any(|pair| pair[0].rank == pair[1].rank) {
        let mut random = place.stream(context, stage);
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

/// Cuts of large sets that others part further are ranked by some of their
/// rows.
const SAMPLE_ROWS: usize = 1 << 15;

/// What one task reuses from set to set.
pub(super) struct PartitionBuffers<N, B> {
    ends: Ends,
    sides: [Ends; 2],
    candidates: Vec<Candidate>,
    cut: CutBuffers,
    left: Vec<u32>,
    right: Vec<u32>,
    aside: Aside<N>,
    sample: Sample<N>,
    distinct: Distinct,
    condition: B,
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

impl<C: PartCondition> Partition<'_, C> {
    /// Attributes with more than one value in the set, the best to cut by
    /// first, ties in random order. Finds the ends of the set.
    fn order<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        place: SplitPosition,
        buffers: &mut PartitionBuffers<N, C::Buffers>,
    ) {
        set.ends(&mut buffers.ends);
        buffers.candidates.clear();
        match self.mondrian.choice {
            SplitChoice::Widest => self.rank_by_range(buffers),
            SplitChoice::Gain if self.mondrian.uncut > 0 && set.rows.len() >= 2 * SAMPLE_ROWS => {
                let mut sample = std::mem::take(&mut buffers.sample);
                self.rank_by_gain(&sample.of(set, SAMPLE_ROWS), buffers);
                buffers.sample = sample;
                for candidate in &mut buffers.candidates {
                    candidate.cut = None;
                }
            }
            SplitChoice::Gain => self.rank_by_gain(set, buffers),
        }
        let draws = (self.mondrian.context, self.mondrian.stage);
        by_rank(&mut buffers.candidates, place, draws);
    }

    fn rank_by_range<N>(&self, buffers: &mut PartitionBuffers<N, C::Buffers>) {
        let ends = &buffers.ends;
        for (column, scale) in self.mondrian.scales.iter().enumerate() {
            let (lowest, highest) = (ends.lowest[column], ends.highest[column]);
            if lowest < highest {
                let range = scale.interval(lowest, highest);
                let candidate = Candidate::at_median(column as u32, range);
                buffers.candidates.push(candidate);
            }
        }
    }

    /// Ranks cuts by what they leave; those whose parts are too small are
    /// none.
    fn rank_by_gain<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        buffers: &mut PartitionBuffers<N, C::Buffers>,
    ) {
        for (column, scale) in self.mondrian.scales.iter().enumerate() {
            let (lowest, highest) = (buffers.ends.lowest[column], buffers.ends.highest[column]);
            if lowest == highest {
                continue;
            }
            let middle = middle(set.column(column), lowest, highest, &mut buffers.cut);
            let spots: &[Spot] = match scale {
                Scale::Tree(_) => &[Spot::Median, Spot::Before, Spot::Behind],
                _ => &[Spot::Median],
            };
            for &spot in spots {
                let cut = self.cut_at(set, (column, spot), middle, (lowest, highest));
                if let Some(cut) = cut.filter(|cut| self.is_large_enough(set, *cut)) {
                    let loss = self.loss(set, cut, buffers);
                    buffers.candidates.push(Candidate {
                        rank: -loss,
                        lot: 0,
                        column: column as u32,
                        spot,
                        cut: Some(cut),
                    });
                }
            }
        }
    }

    fn is_large_enough<N>(&self, set: &Set<'_, N>, cut: RowCut) -> bool {
        cut.left.min(set.rows.len() - cut.left) >= self.condition.least()
    }

    /// Loss of publishing both sides of a cut, each with one look.
    fn loss<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        cut: RowCut,
        buffers: &mut PartitionBuffers<N, C::Buffers>,
    ) -> f64 {
        set.ends_of_sides(cut, &mut buffers.sides);
        let sizes = [cut.left, set.rows.len() - cut.left];
        let sides = buffers.sides.iter().zip(sizes).zip([true, false]);
        let losses = sides.map(|((ends, size), is_left)| {
            let columns = self.mondrian.scales.iter().enumerate();
            let losses = columns.map(|(column, scale)| match scale {
                Scale::Set(values) if ends.lowest[column] < ends.highest[column] => {
                    let codes = set.parted(cut, column).filter(|cell| cell.1 == is_left);
                    let codes = codes.map(|(code, _)| code);
                    f64::from(buffers.distinct.count(codes, *values)) / f64::from(*values)
                }
                _ => f64::from(scale.interval(ends.lowest[column], ends.highest[column])),
            });
            losses.sum::<f64>() * size as f64
        });
        losses.sum()
    }

    /// The cut of a candidate; `None` if nothing would be on one side.
    fn cut<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        candidate: &Candidate,
        buffers: &mut PartitionBuffers<N, C::Buffers>,
    ) -> Option<RowCut> {
        if candidate.cut.is_some() {
            return candidate.cut;
        }
        let column = candidate.column as usize;
        let ends = (buffers.ends.lowest[column], buffers.ends.highest[column]);
        let middle = middle(set.column(column), ends.0, ends.1, &mut buffers.cut);
        self.cut_at(set, (column, candidate.spot), middle, ends)
    }

    /// A cut of a column at or beside its median; `None` if nothing would be
    /// on one side.
    fn cut_at<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        (column, spot): (usize, Spot),
        middle: Middle,
        ends: (u32, u32),
    ) -> Option<RowCut> {
        if spot != Spot::Median {
            let code = self.beside(column, spot, middle.median, ends)?;
            let left = set.column(column).filter(|&other| other <= code).count();
            return (0 < left && left < set.rows.len()).then_some(RowCut {
                column,
                code,
                equals: left,
                left,
            });
        }
        if self.mondrian.partitioning == Partitioning::Relaxed {
            let left = set.rows.len().div_ceil(2);
            return Some(RowCut {
                column,
                code: middle.median,
                equals: left - middle.below,
                left,
            });
        }
        let cut = middle.cut(set.rows.len())?;
        Some(RowCut {
            column,
            code: cut.code,
            equals: cut.left,
            left: cut.left,
        })
    }

    /// The highest code left of the branch that the median is in, or the
    /// highest code of that branch; `None` where all codes would be on one
    /// side.
    fn beside(
        &self,
        column: usize,
        spot: Spot,
        median: u32,
        (lowest, highest): (u32, u32),
    ) -> Option<u32> {
        let Scale::Tree(tree) = &self.mondrian.scales[column] else {
            return None;
        };
        let top = tree.climb(tree.leaf(lowest), highest);
        let mut branch = tree.leaf(median);
        while branch != top && tree.node(branch).parent != top {
            branch = tree.node(branch).parent;
        }
        let code = match spot {
            Spot::Median => None,
            Spot::Before => tree.node(branch).first.checked_sub(1),
            Spot::Behind => Some(tree.node(branch).last),
        };
        code.filter(|&code| lowest <= code && code < highest)
    }

    /// Whether both sides of a cut hold.
    fn holds<N: PackedCode>(
        &self,
        set: &Set<'_, N>,
        cut: RowCut,
        buffers: &mut PartitionBuffers<N, C::Buffers>,
    ) -> bool {
        let smaller = cut.left.min(set.rows.len() - cut.left);
        if smaller >= self.condition.enough() {
            return true;
        }
        let condition = &mut buffers.condition;
        if !self.condition.tells_rows_apart() {
            let (left, right) = set.rows.split_at(cut.left);
            return self.condition.holds(left, condition) && self.condition.holds(right, condition);
        }
        set.sides(cut, &mut buffers.left, &mut buffers.right);
        self.condition.holds(&buffers.left, condition)
            && self.condition.holds(&buffers.right, condition)
    }
}

impl<'r, C: PartCondition, N: PackedCode> Splitter<Set<'r, N>> for Partition<'_, C> {
    type Buffers = PartitionBuffers<N, C::Buffers>;

    fn buffers(&self) -> Self::Buffers {
        let columns = self.mondrian.columns.len();
        PartitionBuffers {
            ends: Ends::of(columns),
            sides: [Ends::of(columns), Ends::of(columns)],
            candidates: Vec::with_capacity(columns),
            cut: CutBuffers::default(),
            left: Vec::new(),
            right: Vec::new(),
            aside: Aside::default(),
            sample: Sample::default(),
            distinct: Distinct::default(),
            condition: self.condition.buffers(),
        }
    }

    fn split(
        &self,
        set: &mut Set<'r, N>,
        place: SplitPosition,
        buffers: &mut Self::Buffers,
    ) -> Option<usize> {
        let rows = set.rows.len();
        if rows < 2 * self.condition.least().max(1) || rows <= self.mondrian.uncut {
            return None;
        }
        if self.mondrian.partitioning == Partitioning::Relaxed {
            // The first of those that are equal to a median go left.
            let place = place.left().right();
            let mut random = place.stream(self.mondrian.context, self.mondrian.stage);
            set.shuffle(&mut random, &mut buffers.aside);
        }
        self.order(set, place, buffers);
        for at in 0..buffers.candidates.len() {
            let candidate = buffers.candidates[at];
            let cut = self.cut(set, &candidate, buffers);
            let Some(cut) = cut.filter(|cut| self.is_large_enough(set, *cut)) else {
                continue;
            };
            if self.holds(set, cut, buffers) {
                set.part(cut, &mut buffers.aside);
                return Some(cut.left);
            }
        }
        None
    }
}
