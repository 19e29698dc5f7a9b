//! Groups of the included records: gathered as the job says, and refined by
//! local search (*ours*) under the same condition.
//!
//! The condition of both is K of the members: as many records as the
//! strictest of them asks for, companions included (`sizes`). The search weighs quasi-identifiers and asks
//! for nothing but K, so no sensitive value plays a part in who is grouped
//! with whom; recoding sees the groups only when they are done.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{Groups, Included, Refinement};

use super::params::{Grouping, Params};
use super::sizes::Sizes;
use super::{STEPS, median, sorted, stage};

/// Who is grouped, and how.
#[derive(Clone, Copy)]
pub(super) struct Gathering<'a> {
    pub included: &'a Included<'a>,
    pub sizes: &'a Sizes,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Gathering<'_> {
    /// Groups as the job's grouping makes them; every round has a random
    /// stream of its own. Fails only if cancelled.
    pub fn gathered(self, round: u32) -> Result<Vec<Vec<u32>>, EngineError> {
        let random = (self.context, stage::GATHER + round);
        let groups = match self.params.grouping {
            Grouping::Sorted => sorted::groups(self.included, self.sizes, random),
            Grouping::Mondrian => median::groups(self.included, &self.k(), random, (2, STEPS)),
        }?;
        Ok(groups.iter().map(<[u32]>::to_vec).collect())
    }

    /// Groups of the same records with no more loss: `groups` are of everyone
    /// included and have their K; so have those returned.
    ///
    /// Time O(n · proposals · size of a group). Fails only if cancelled.
    pub fn refined(self, groups: Vec<Vec<u32>>, round: u32) -> Result<Vec<Vec<u32>>, EngineError> {
        let mut starts = vec![false; self.included.records.len()];
        let mut next = 0;
        for group in &groups {
            starts[next] = true;
            next += group.len();
        }
        let refinement = Refinement {
            context: self.context,
            stage: stage::REFINE + round,
            step: (3, STEPS),
            columns: &self.included.quasi_columns(),
            scales: &self.included.quasi_scales(),
            effort: self.params.effort,
        };
        let groups = Groups::from_starts(groups.concat(), &starts);
        let refined = refinement.refine(&self.included.records, groups, &self.k())?;
        Ok(refined.iter().map(<[u32]>::to_vec).collect())
    }

    /// K of any set of positions among those included.
    fn k(self) -> KOfRows {
        let records = self.included.records.iter();
        KOfRows::each(records.map(|&record| self.sizes.k(record)).collect())
    }
}
