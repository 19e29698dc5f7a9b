//! The comparators of `arp` that publish blocks as they are.
//!
//! - `aip` (bucketization of the initial partition): blocks that are eligible,
//!   with values as often as that allows.
//! - `anatomy` (`[Xiao–Tao 2006a]`): blocks of l distinct values made of all
//!   records, whatever their non-sensitive values.

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::microdata::Table;
use crate::privacy::{BlockForm, Requirements};
use crate::release::Release;

use super::frame::Blocks;
use super::initial::{Least, partition};
use super::job::{Job, Order};
use super::listed;
use super::params::{AnatomyParams, InitialParams};
use super::refine::refine;

/// `aip`.
pub mod aip {
    use super::{
        BlockForm, Blocks, EngineError, InitialParams, Job, Least, Release, Requirements,
        RunContext, Table, listed, partition,
    };

    /// Publishes the initial partition of each sensitive attribute by its
    /// tables `quasi` and `sensitive`.
    ///
    /// Errors as of `arp`.
    pub fn run(
        table: &Table,
        requirements: &Requirements,
        params: &InitialParams,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        params.policy(table.schema(), BlockForm::Eligible)?;
        let job = Job::new(
            (table, requirements),
            params.l,
            params.max_excluded,
            context,
        )?;
        let how = (params.partitioning, Least::None);
        let blocks: &Blocks<'_> = &|frame, goal, rows| partition(frame, goal, how, rows);
        job.run(blocks, |frame, parts| listed::publish(frame, &parts, None))
    }
}

/// `anatomy`.
pub mod anatomy {
    use super::{
        AnatomyParams, Blocks, EngineError, Job, Order, Release, Requirements, RunContext, Table,
        listed, refine,
    };

    /// Publishes blocks of l distinct values of each sensitive attribute by
    /// its tables `quasi` and `sensitive`.
    ///
    /// Errors as of `arp`.
    pub fn run(
        table: &Table,
        requirements: &Requirements,
        params: &AnatomyParams,
        context: &RunContext<'_>,
    ) -> Result<Release, EngineError> {
        params.policy(table.schema())?;
        let job = Job::new(
            (table, requirements),
            params.l,
            params.max_excluded,
            context,
        )?;
        let blocks: &Blocks<'_> = &|frame, goal, rows| refine(frame, goal, &[rows]);
        if let Some(history) = requirements.history() {
            return job.run_keeping((history, Order::Numbers), blocks);
        }
        job.run(blocks, |frame, parts| listed::publish(frame, &parts, None))
    }
}
