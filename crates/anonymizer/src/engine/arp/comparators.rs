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

use super::initial::{Least, partition};
use super::job::Job;
use super::listed;
use super::params::{AnatomyParams, InitialParams};
use super::refine::refine;

/// `aip`.
pub mod aip {
    use super::{
        BlockForm, EngineError, InitialParams, Job, Least, Release, Requirements, RunContext,
        Table, listed, partition,
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
        job.run(|frame, goals| {
            let mut parts = Vec::new();
            for goal in goals {
                let blocks = partition(frame, &goal, params.partitioning, Least::None)?;
                parts.push((goal, blocks));
            }
            Ok(listed::publish(frame, &parts))
        })
    }
}

/// `anatomy`.
pub mod anatomy {
    use super::{
        AnatomyParams, EngineError, Job, Release, Requirements, RunContext, Table, listed, refine,
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
        job.run(|frame, goals| {
            let everyone: Vec<u32> = (0..frame.rows() as u32).collect();
            let everyone = [everyone];
            let mut parts = Vec::new();
            for goal in goals {
                let blocks = refine(frame, &goal, &everyone)?;
                parts.push((goal, blocks));
            }
            Ok(listed::publish(frame, &parts))
        })
    }
}
