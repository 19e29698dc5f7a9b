//! Mondrian: sets are split at medians while both parts hold (LeFevre et al.
//! 2006).
//!
//! A set is cut at the lower median of one attribute. Which attribute:
//! `widest`, the one with the largest normalized range, the next if a part
//! would not hold (the paper's); `gain` (*ours*), of all cuts whose parts hold
//! the one that leaves least loss on both of them. Categories are cut on their
//! codes, which are depth-first positions where there is a hierarchy; under
//! `gain` such an attribute may also be cut beside the median, before or behind
//! the branch that the median is in, because a cut inside a branch leaves both
//! parts under the node they came from and saves nothing at once.
//!
//! With `strict` partitioning equal values stay together; with `relaxed` those
//! equal to the median go to either side, so that both parts are as large as
//! each other, give or take one record. Which of them go where is drawn.
//!
//! What a part must satisfy is the caller's [`PartCondition`]; the whole set is
//! taken as holding. Random choices come from the set's place in the tree of
//! splits, so the result does not depend on threads.

mod partition;
mod set;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::microdata::CodedColumn;

use super::descend::{Descent, descend};
use super::groups::Groups;
use super::loss::Scale;
use super::split_position::SplitPosition;

use partition::Partition;
pub(super) use partition::{Candidate, by_rank};
use set::{CodedRows, PackedCode};

/// Codes that fit 16 bits.
const NARROW_CODES: usize = 1 << 16;

/// Which attribute a set is cut by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SplitChoice {
    /// The one with the largest normalized range.
    #[default]
    Widest,
    /// The one whose cut leaves least loss (*ours*).
    Gain,
}

/// Where records go that are equal to the median.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Partitioning {
    /// All of them to the lower part.
    #[default]
    Strict,
    /// To either part, so that both are of one size.
    Relaxed,
}

/// What every part must satisfy.
pub trait PartCondition: Sync {
    /// What one task reuses from part to part.
    type Buffers: Send;

    /// Fresh buffers.
    fn buffers(&self) -> Self::Buffers;

    /// No part with fewer rows holds; at least 1. Asked at every cut, so it
    /// takes no look at the rows.
    fn least(&self) -> usize;

    /// Any part of as many rows holds, which spares the look at them;
    /// `usize::MAX` where that cannot be said of any number.
    fn enough(&self) -> usize {
        usize::MAX
    }

    /// Whether it matters which rows a part has, and not only how many.
    fn tells_rows_apart(&self) -> bool {
        true
    }

    /// The kind of a row, where that is known: in a part that holds a row may
    /// be replaced by another one of its kind.
    fn kind(&self, _row: u32) -> Option<u32> {
        None
    }

    /// Whether a part holds. `rows` are positions in the records that are
    /// partitioned, at least [`PartCondition::least`] of them, in any order.
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
    /// Sets of no more rows stay whole, for someone else to part; 0 for none.
    pub uncut: usize,
}

impl Mondrian<'_> {
    /// Splits `records` until no split leaves two parts that hold.
    ///
    /// Time O(n · attributes · depth) for `widest` and attributes times that
    /// for `gain`, beside what the condition takes. Fails only if cancelled.
    pub fn groups<C: PartCondition>(
        &self,
        records: &[u32],
        condition: &C,
    ) -> Result<Groups, EngineError> {
        let descent = Descent {
            context: self.context,
            step: self.step,
            label: "partition",
            done: 0.into(),
            total: records.len(),
        };
        self.groups_of_subset(records, condition, self.context.root(0), &descent)
    }

    /// [`Mondrian::groups`] of records that are part of a larger step: `place`
    /// tells them from the step's others.
    pub fn groups_of_subset<C: PartCondition>(
        &self,
        records: &[u32],
        condition: &C,
        place: SplitPosition,
        descent: &Descent<'_>,
    ) -> Result<Groups, EngineError> {
        let is_narrow = |column: &&CodedColumn| column.domain.len() <= NARROW_CODES;
        if self.columns.iter().all(is_narrow) {
            self.part::<u16, C>(records, condition, place, descent)
        } else {
            self.part::<u32, C>(records, condition, place, descent)
        }
    }

    fn part<N: PackedCode, C: PartCondition>(
        &self,
        records: &[u32],
        condition: &C,
        place: SplitPosition,
        descent: &Descent<'_>,
    ) -> Result<Groups, EngineError> {
        let partition = Partition {
            mondrian: self,
            condition,
        };
        let mut coded = CodedRows::<N>::gather(self.columns, records);
        let mut starts = vec![false; records.len()];
        descend(&partition, coded.set(), &mut starts, place, descent)?;
        Ok(Groups::of_rows(coded.rows, &starts, records))
    }
}
