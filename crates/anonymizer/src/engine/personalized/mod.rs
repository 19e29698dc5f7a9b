//! `personalized`: k-anonymity with a bound on leakage that each subject sets.
//!
//! Quasi-identifiers are generalized per group; sensitive values are
//! generalized until nobody's own value is more probable than they accept.
//! README.md beside this file has the paper, the promise and the algorithm as
//! built.
//!
//! | stage | file | result |
//! |---|---|---|
//! | 1 | `asked` | K, bound and guard of every record |
//! | 2 | `sizes` | by which K records are grouped, companions included |
//! | 2 | `gather` with `sorted` or `median`, `alike` | published groups |
//! | 3 | `recode`, `crowd`, `weights`, with `cut` or `single` | sensitive values generalized, who must leave |
//! | around 2 and 3 | `settle`, `strongest` | rounds to a fix-point, or why nothing can be published |
//! | 4 | here, with `kernel::microdata_table` | the table and its lineage |

mod alike;
mod asked;
mod crowd;
mod cut;
mod describe;
mod gather;
mod median;
mod params;
mod recode;
mod settle;
mod single;
mod sizes;
mod sorted;
mod strongest;
mod weights;

pub use params::{Grouping, Params};

use rustc_hash::FxHashMap;

use crate::microdata::{NodeIndex, Table};
use crate::privacy::Requirements;
use crate::release::{Cell, Content, Release};

use super::context::RunContext;
use super::error::EngineError;
use super::kernel::cells::node_cell;
use super::kernel::microdata_table::{OwnCells, of_groups};
use super::kernel::{Present, acceptance};

use settle::{Failure, Settled, settle};
use strongest::Question;

/// Random streams, one number a stage.
mod stage {
    /// Who leaves among equals.
    pub const LEAVE: u32 = 1;
    /// Which of equal values is generalized, and who of a group leaves.
    pub const LOTS: u32 = 2;
    /// Order among equal records and attributes, one stream a round.
    pub const GATHER: u32 = 16;
    /// Search for groups with less loss, one stream a round.
    pub const REFINE: u32 = 32;
}

/// Number of steps that progress counts.
const STEPS: u32 = 4;

/// Publishes a table by personalized k-anonymization.
///
/// `requirements` join the policy of [`Params::policy`] with preferences.
/// Table: `microdata`. Runs in rayon's current pool; the result does not
/// depend on the number of threads.
///
/// Errors: `InvalidParameter` for a dataset with many records a subject;
/// `Infeasible` with the strongest parameters that would hold; `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    let report = |step, label| context.progress.report(step, STEPS, label, 0.0);
    report(1, "gather records");
    let present = Present::gather(table, requirements)?;
    report(2, "group and generalize");
    let settled = match settle(present, requirements, params, context) {
        Ok(settled) => settled,
        Err(Failure::Stopped(error)) => return Err(error),
        Err(Failure::Refused(refusal)) => {
            let question = Question {
                table,
                requirements,
                params,
                context,
            };
            return Err(question.answer(refusal));
        }
    };
    report(4, "publish");
    let own = own_cells(&settled);
    let groups: Vec<&[u32]> = settled.groups.iter().map(Vec::as_slice).collect();
    let (published, lineage) = of_groups(&settled.present, &groups, &own);
    context.check()?;
    let left_out = settled.unsatisfiable.iter();
    let left_out = left_out.map(|&record| table.subject_of(crate::microdata::RecordIndex(record)));
    Ok(Release {
        tables: vec![published],
        lineage,
        excluded: (settled.present.opted_out + settled.unsatisfiable.len()) as u64,
        unsatisfiable: left_out.collect(),
    })
}

/// The generalized sensitive values, each distinct cell once.
fn own_cells(settled: &Settled<'_>) -> Vec<OwnCells> {
    let sensitive = settled.present.sensitive.iter();
    let cells = sensitive.filter_map(|sensitive| {
        let tree = sensitive.column.domain.hierarchy()?;
        let mut cells: Vec<Cell> = Vec::new();
        let mut positions: FxHashMap<NodeIndex, u32> = FxHashMap::default();
        let of_record = settled.nodes.iter().map(|&node| {
            *positions.entry(node).or_insert_with(|| {
                cells.push(node_cell(tree, node));
                cells.len() as u32 - 1
            })
        });
        Some(OwnCells {
            attribute: sensitive.attribute,
            content: Content::Generalized,
            of_record: of_record.collect(),
            cells,
        })
    });
    cells.collect()
}
