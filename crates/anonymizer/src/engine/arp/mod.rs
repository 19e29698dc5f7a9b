//! `arp`: anonymization on refining partition, and its comparators `aip`,
//! `anatomy` and `ng`.
//!
//! Records are put into blocks whose sensitive values cannot be told apart:
//! blocks of like records first, which are then refined into sub-blocks of l
//! distinct values. README.md beside this file has the papers, the promise
//! and the algorithm as built.
//!
//! | stage | file | result |
//! |---|---|---|
//! | before | `frame`, `exclusion`, `diagnosis` | who is published, or why nothing can be |
//! | 1 | `initial` | blocks of like records, each l-eligible |
//! | 2 | `refine` | sub-blocks of l distinct values |
//! | 3 | `widen` | blocks whose members' terms no near block meets, made larger |
//! | – | `keeping` | blocks of subjects who were public, where a series keeps their sets |
//! | 3 | `listed`, `groups`, `randomized`, `sliced` | the tables and their lineage |
//!
//! `ring` publishes the initial partition by rings (`ng`), `comparators` it
//! and whole-table blocks as they are (`aip`, `anatomy`).
//!
//! Everything runs once for each sensitive attribute.

mod comparators;
mod describe;
mod diagnosis;
mod exclusion;
mod frame;
mod groups;
mod initial;
mod job;
mod keeping;
mod listed;
mod params;
mod randomized;
mod refine;
mod ring;
mod sliced;
mod widen;

pub use params::{
    AipParams, AnatomyParams, Params, Partitioning, Publish, RingParams, keeps_sets_of,
};

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::microdata::Table;
use crate::privacy::{BlockForm, Requirements};
use crate::release::Release;

use frame::{Blocks, Frame};
use initial::{Least, partition};
use job::{Job, Made, Order};
use listed::Part;

/// Random streams that only the engine draws from, one number a stage.
mod stage {
    /// Order among equals who may be excluded.
    pub const EXCLUSION: u32 = 1;
}

/// Publishes a table by refined blocks of each sensitive attribute.
///
/// `requirements` join the policy of [`Params::policy`] with preferences. Runs
/// in rayon's current pool; the result does not depend on the number of
/// threads.
///
/// Errors: `InvalidParameter` for a dataset with many records a subject or
/// semi-sensitive attributes, `Infeasible` with the strongest parameter that
/// would hold, `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    params.policy(table.schema())?;
    let job = Job::new(
        (table, requirements),
        params.l,
        params.max_excluded,
        context,
    )?;
    let form = job.form();
    let how = (params.partitioning, Least::of(form));
    let blocks: &Blocks<'_> = &|frame, goal, rows| {
        let initial = partition(frame, goal, how, rows)?;
        context.progress.report(3, job::STEPS, "refine", 0.0);
        refine::refine(frame, goal, &initial)
    };
    match requirements.history() {
        Some(history) if history.groups.is_none() => {
            job.run_keeping((history, Order::Likeness), blocks)
        }
        _ => job.run(blocks, |frame, parts| publish(frame, form, parts)),
    }
}

/// Publishes blocks in the form asked for. Forms whose rows show sensitive
/// values have one attribute.
fn publish(frame: &Frame<'_>, form: BlockForm, mut parts: Vec<Part<'_>>) -> Made {
    match (form, parts.len()) {
        (BlockForm::Generalized, 1) => {
            let (goal, blocks) = parts.remove(0);
            groups::publish(frame, &goal, blocks)
        }
        (
            BlockForm::Randomized {
                retention,
                max_posterior,
            },
            1,
        ) => {
            let (goal, blocks) = parts.remove(0);
            randomized::publish(frame, &goal, &blocks, (retention, max_posterior))
        }
        (BlockForm::Sliced, 1) => {
            let (goal, blocks) = parts.remove(0);
            sliced::publish(frame, &goal, blocks)
        }
        _ => listed::publish(frame, &parts, None),
    }
}
