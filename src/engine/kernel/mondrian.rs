//! Mondrian: sets are split at medians while both parts hold (LeFevre et al.
//! 2006).
//!
//! A set is cut at the lower median of one attribute. Which attribute:
//! `widest`, the one with the largest normalized range, the next if a part
//! would not hold (the paper's); `gain` (*ours*), of all cuts whose parts hold
//! the one that leaves least loss on both of them. Categories are cut on their
//! codes, which are depth-first positions where there is a hierarchy.
//!
//! With `strict` partitioning equal values stay together; with `relaxed` those
//! equal to the median go to either side, so that both parts are as large as
//! each other, give or take one record. Which of them go where is drawn.
//!
//! What a part must satisfy is the caller's [`Condition`]; the whole set is
//! taken as holding. Random choices come from the set's place in the tree of
//! splits, so the result does not depend on threads.

use rand::RngExt;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::microdata::CodedColumn;

use super::cut::{CutBuffers, lower_median_cut};
use super::descend::{Descent, Splitter, descend};
use super::groups::Groups;
use super::loss::Scale;
use super::place::Place;
use super::rows::Rows;

/// Which attribute a set is cut by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SplitChoice {
    /// The one with the largest normalized range.
    #[default]
    Widest,
    /// The one whose cut leaves least loss (*ours*).
    Gain,
}

/// Where records go that are equal to the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Partitioning {
    /// All of them to the lower part.
    #[default]
    Strict,
    /// To either part, so that both are of one size.
    Relaxed,
}

/// What every part must satisfy.
pub trait Condition: Sync {
    /// What one task reuses from part to part.
    type Buffers: Send;

    /// Fresh buffers.
    fn buffers(&self) -> Self::Buffers;

    /// No part with fewer rows holds; at least 1.
    fn least(&self) -> usize;

    /// Whether a part holds. `rows` are positions in the records that are
    /// partitioned, at least [`Condition::least`] of them, in any order.
    fn holds(&self, rows: &[u32], buffers: &mut Self::Buffers) -> bool;
}

/// How records are partitioned.
#[derive(Clone, Copy)]
pub struct Mondrian<'a> {
    /// The run.
    pub context: &'a RunContext<'a>,
    /// Random stream of this stage of the run.
    pub stage: u32,
    /// Number of the step, and of all steps, for progress.
    pub step: (u32, u32),
    /// Columns that may be cut.
    pub columns: &'a [&'a CodedColumn],
    /// Loss of intervals of each of them.
    pub scales: &'a [Scale],
    /// Which attribute a set is cut by.
    pub choice: SplitChoice,
    /// Where records go that are equal to the median.
    pub partitioning: Partitioning,
}

impl Mondrian<'_> {
    /// Splits `records` until no split leaves two parts that hold.
    ///
    /// Time O(n · attributes · depth) for `widest` and attributes times that
    /// for `gain`, beside what the condition takes. Fails only if cancelled.
    pub fn groups<C: Condition>(
        &self,
        records: &[u32],
        condition: &C,
    ) -> Result<Groups, EngineError> {
        let partition = Partition {
            mondrian: self,
            rows: Rows::gather(self.columns, records),
            condition,
        };
        let descent = Descent {
            context: self.context,
            step: self.step,
            label: "partition",
            done: 0.into(),
            total: records.len(),
        };
        let mut order: Vec<u32> = (0..records.len() as u32).collect();
        let mut starts = vec![false; records.len()];
        let place = Place::root(0);
        descend(&partition, &mut order, &mut starts, place, &descent)?;
        for row in &mut order {
            *row = records[*row as usize];
        }
        Ok(Groups::from_starts(order, &starts))
    }
}

/// One partition as it goes on.
struct Partition<'a, C> {
    mondrian: &'a Mondrian<'a>,
    rows: Rows,
    condition: &'a C,
}

/// A cut: rows below `code` go left, and the first `equals` of those at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RowCut {
    column: usize,
    code: u32,
    equals: usize,
    left: usize,
}

/// An attribute to cut by: those of higher rank are tried first.
#[derive(Clone, Copy)]
struct Candidate {
    rank: f64,
    lot: u32,
    column: u32,
}

/// What one task reuses from set to set.
struct PartitionBuffers<B> {
    lowest: Vec<u32>,
    highest: Vec<u32>,
    candidates: Vec<Candidate>,
    cut: CutBuffers,
    codes: Vec<u32>,
    left: Vec<u32>,
    right: Vec<u32>,
    distinct: Distinct,
    condition: B,
}

/// Counts distinct codes without clearing between counts.
#[derive(Default)]
struct Distinct {
    seen: Vec<u32>,
    count: u32,
}

impl Distinct {
    fn count(&mut self, codes: impl Iterator<Item = u32>, domain: u32) -> u32 {
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
    fn order(&self, rows: &[u32], place: Place, buffers: &mut PartitionBuffers<C::Buffers>) {
        self.rows
            .extremes(rows, &mut buffers.lowest, &mut buffers.highest);
        buffers.candidates.clear();
        for (column, scale) in self.mondrian.scales.iter().enumerate() {
            let (lowest, highest) = (buffers.lowest[column], buffers.highest[column]);
            if lowest < highest {
                buffers.candidates.push(Candidate {
                    rank: f64::from(scale.interval(lowest, highest)),
                    lot: 0,
                    column: column as u32,
                });
            }
        }
        if self.mondrian.choice == SplitChoice::Gain {
            self.rank_by_gain(rows, buffers);
        }
        let candidates = &mut buffers.candidates;
        let by_rank = |one: &Candidate, other: &Candidate| other.rank.total_cmp(&one.rank);
        candidates
            .sort_unstable_by(|one, other| by_rank(one, other).then(one.column.cmp(&other.column)));
        if candidates
            .windows(2)
            .any(|pair| pair[0].rank == pair[1].rank)
        {
            let mut random = place.stream(self.mondrian.context, self.mondrian.stage);
            for candidate in candidates.iter_mut() {
                candidate.lot = random.random();
            }
            candidates.sort_unstable_by(|one, other| {
                let lots = (one.lot, one.column).cmp(&(other.lot, other.column));
                by_rank(one, other).then(lots)
            });
        }
    }

    /// Ranks attributes by what their cuts leave; those whose parts are too
    /// small go.
    fn rank_by_gain(&self, rows: &[u32], buffers: &mut PartitionBuffers<C::Buffers>) {
        let ends: Vec<(u32, u32)> = buffers
            .candidates
            .iter()
            .map(|candidate| {
                let column = candidate.column as usize;
                (buffers.lowest[column], buffers.highest[column])
            })
            .collect();
        let mut candidates = std::mem::take(&mut buffers.candidates);
        let mut ends = ends.into_iter();
        candidates.retain_mut(|candidate| {
            let (lowest, highest) = ends.next().unwrap_or_default();
            let column = candidate.column as usize;
            let cut = self.cut(rows, column, (lowest, highest), buffers);
            let Some(cut) = cut.filter(|cut| self.is_large_enough(rows, *cut)) else {
                return false;
            };
            self.divide(rows, cut, buffers);
            let [left, right] = [&mut buffers.left, &mut buffers.right].map(std::mem::take);
            candidate.rank = -(self.loss(&left, buffers) + self.loss(&right, buffers));
            (buffers.left, buffers.right) = (left, right);
            true
        });
        buffers.candidates = candidates;
    }

    fn is_large_enough(&self, rows: &[u32], cut: RowCut) -> bool {
        cut.left.min(rows.len() - cut.left) >= self.condition.least()
    }

    /// Loss of publishing all rows of a part with one look.
    fn loss(&self, part: &[u32], buffers: &mut PartitionBuffers<C::Buffers>) -> f64 {
        let (lowest, highest) = (&mut buffers.lowest, &mut buffers.highest);
        self.rows.extremes(part, lowest, highest);
        let columns = self.mondrian.scales.iter().enumerate();
        let losses = columns.map(|(column, scale)| match scale {
            Scale::Set(values) if lowest[column] < highest[column] => {
                let codes = part.iter().map(|&row| self.rows.cell(row, column));
                f64::from(buffers.distinct.count(codes, *values)) / f64::from(*values)
            }
            _ => f64::from(scale.interval(lowest[column], highest[column])),
        });
        losses.sum::<f64>() * part.len() as f64
    }

    /// The cut of a column at its lower median; `None` if all are equal.
    fn cut(
        &self,
        rows: &[u32],
        column: usize,
        (lowest, highest): (u32, u32),
        buffers: &mut PartitionBuffers<C::Buffers>,
    ) -> Option<RowCut> {
        let codes = rows.iter().map(|&row| self.rows.cell(row, column));
        if self.mondrian.partitioning == Partitioning::Strict {
            let cut = lower_median_cut(codes, lowest, highest, &mut buffers.cut)?;
            return Some(RowCut {
                column,
                code: cut.code,
                equals: cut.left,
                left: cut.left,
            });
        }
        if lowest == highest {
            return None;
        }
        buffers.codes.clear();
        buffers.codes.extend(codes);
        let left = rows.len().div_ceil(2);
        let (below, &mut code, _) = buffers.codes.select_nth_unstable(left - 1);
        let below = below.iter().filter(|&&other| other < code).count();
        Some(RowCut {
            column,
            code,
            equals: left - below,
            left,
        })
    }

    /// Sorts rows to the sides of a cut, in their order.
    fn divide(&self, rows: &[u32], cut: RowCut, buffers: &mut PartitionBuffers<C::Buffers>) {
        let (left, right) = (&mut buffers.left, &mut buffers.right);
        left.clear();
        right.clear();
        let mut equals = cut.equals;
        for &row in rows {
            let code = self.rows.cell(row, cut.column);
            let takes_place = code == cut.code && equals > 0;
            equals -= usize::from(takes_place);
            match code < cut.code || takes_place {
                true => left.push(row),
                false => right.push(row),
            }
        }
    }
}

impl<C: Condition> Splitter for Partition<'_, C> {
    type Buffers = PartitionBuffers<C::Buffers>;

    fn buffers(&self) -> Self::Buffers {
        PartitionBuffers {
            lowest: vec![0; self.rows.width()],
            highest: vec![0; self.rows.width()],
            candidates: Vec::with_capacity(self.rows.width()),
            cut: CutBuffers::default(),
            codes: Vec::new(),
            left: Vec::new(),
            right: Vec::new(),
            distinct: Distinct::default(),
            condition: self.condition.buffers(),
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
        self.order(rows, place, buffers);
        for at in 0..buffers.candidates.len() {
            let column = buffers.candidates[at].column as usize;
            let ends = rows.iter().map(|&row| self.rows.cell(row, column));
            let ends = ends.fold((u32::MAX, 0), |(low, high), code| {
                (code.min(low), code.max(high))
            });
            let Some(cut) = self.cut(rows, column, ends, buffers) else {
                continue;
            };
            if !self.is_large_enough(rows, cut) {
                continue;
            }
            self.divide(rows, cut, buffers);
            let (left, right) = (&buffers.left, &buffers.right);
            if self.condition.holds(left, &mut buffers.condition)
                && self.condition.holds(right, &mut buffers.condition)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::microdata::{Domain, Values};

    /// Parts of at least so many rows.
    struct AtLeast(usize);

    impl Condition for AtLeast {
        type Buffers = ();

        fn buffers(&self) {}

        fn least(&self) -> usize {
            1
        }

        fn holds(&self, rows: &[u32], (): &mut ()) -> bool {
            rows.len() >= self.0
        }
    }

    fn numbers(codes: &[u32]) -> CodedColumn {
        let values = (0..=*codes.iter().max().unwrap()).map(i64::from).collect();
        CodedColumn {
            domain: Arc::new(Domain::new(Values::Integer(values), None)),
            codes: codes.into(),
        }
    }

    fn groups(
        columns: &[&CodedColumn],
        rules: (SplitChoice, Partitioning),
        least: usize,
    ) -> Vec<Vec<u32>> {
        let context = RunContext::silent(7);
        let scales: Vec<Scale> = columns.iter().map(|c| Scale::new(&c.domain)).collect();
        let mondrian = Mondrian {
            context: &context,
            stage: 1,
            step: (1, 1),
            columns,
            scales: &scales,
            choice: rules.0,
            partitioning: rules.1,
        };
        let records: Vec<u32> = (0..columns[0].codes.len() as u32).collect();
        let found = mondrian.groups(&records, &AtLeast(least)).unwrap();
        let mut groups: Vec<Vec<u32>> = found.iter().map(<[u32]>::to_vec).collect();
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups.sort();
        groups
    }

    #[test]
    fn strict_splits_keep_equal_values_together_and_relaxed_ones_are_even() {
        let column = numbers(&[0, 5, 5, 5, 5, 9]);
        let strict = groups(&[&column], (SplitChoice::Widest, Partitioning::Strict), 2);
        assert_eq!(strict, [[0, 1, 2, 3, 4, 5]]);
        let relaxed = groups(&[&column], (SplitChoice::Widest, Partitioning::Relaxed), 3);
        assert_eq!(relaxed.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3]);
        assert!(relaxed[0].contains(&0) && relaxed[1].contains(&5));
    }

    #[test]
    fn a_refused_cut_gives_way_to_the_next_widest_attribute() {
        let wide = numbers(&[0, 9, 9, 9]);
        let narrow = numbers(&[0, 0, 1, 1]);
        let narrow = CodedColumn {
            domain: numbers(&[3]).domain,
            ..narrow
        };
        let found = groups(
            &[&wide, &narrow],
            (SplitChoice::Widest, Partitioning::Strict),
            2,
        );
        assert_eq!(found, [[0, 1], [2, 3]]);
    }

    #[test]
    fn gain_takes_the_cut_that_leaves_least_loss() {
        // Both ranges are whole; only the second and third attribute fall
        // apart together, by what the first one mixes.
        let first = numbers(&[0, 1, 0, 1]);
        let second = numbers(&[0, 0, 1, 1]);
        let third = numbers(&[0, 0, 1, 1]);
        let columns = [&first, &second, &third];
        for seed_order in [[0, 1, 2], [2, 0, 1]] {
            let columns = seed_order.map(|at: usize| columns[at]);
            let found = groups(&columns, (SplitChoice::Gain, Partitioning::Strict), 2);
            assert_eq!(found, [[0, 1], [2, 3]]);
        }
    }

    #[test]
    fn categories_without_hierarchy_are_counted_by_the_values_present() {
        let mut distinct = Distinct::default();
        assert_eq!(distinct.count([4, 1, 4].into_iter(), 5), 2);
        assert_eq!(distinct.count([4].into_iter(), 5), 1);
        assert_eq!(distinct.count([8, 9].into_iter(), 10), 2);
    }

    #[test]
    fn no_attributes_leave_everyone_in_one_group() {
        let column = numbers(&[1, 1, 1]);
        let rules = (SplitChoice::Widest, Partitioning::Relaxed);
        assert_eq!(groups(&[&column], rules, 1), [[0, 1, 2]]);
    }
}
