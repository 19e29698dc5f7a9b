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
//! | 3 | `recode`, `leaf_counts`, `weights`, with `cut` or `single` | sensitive values generalized, who must be excluded |
//! | around 2 and 3 | `settle`, `diagnosis` | rounds to a fix-point, or why nothing can be published |
//! | 4 | here, with `kernel::microdata_table` | the table and its lineage |

mod alike;
mod asked;
mod cut;
mod describe;
mod diagnosis;
mod gather;
mod leaf_counts;
mod median;
mod params;
mod recode;
mod settle;
mod single;
mod sizes;
mod sorted;
mod weights;

pub use params::{Grouping, Params};

use rustc_hash::FxHashMap;

use crate::microdata::{NodeIndex, RecordIndex, Table};
use crate::privacy::Requirements;
use crate::release::{Cell, Content, Release};

use super::context::RunContext;
use super::error::EngineError;
use super::kernel::cells::node_cell;
use super::kernel::microdata_table::{OwnCells, of_groups};
use super::kernel::{Included, acceptance};

use diagnosis::Diagnosis;
use settle::{Settled, settle};

/// Random streams, one number a stage.
mod stage {
    /// Order among equals who may be excluded.
    pub const EXCLUSION: u32 = 1;
    /// Which of equal values is generalized, and who of a group leaves.
    pub const TIES: u32 = 2;
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
    let included = Included::gather(table, requirements)?;
    report(2, "group and generalize");
    let diagnosis = Diagnosis {
        table,
        requirements,
        params,
        context,
    };
    let settled = settle(included, requirements, params, context)
        .map_err(|failure| failure.diagnosed(|refusal| diagnosis.of(refusal)))?;
    report(4, "publish");
    let own = own_cells(&settled);
    let groups: Vec<&[u32]> = settled.groups.iter().map(Vec::as_slice).collect();
    let (published, lineage) = of_groups(&settled.included, &groups, &own);
    context.check()?;
    let subject = |&record: &u32| table.subject_of(RecordIndex(record));
    let unsatisfiable = settled.unsatisfiable.iter().map(subject).collect();
    let opted_out = settled.included.opted_out;
    Ok(Release::new(
        vec![published],
        lineage,
        opted_out,
        unsatisfiable,
    ))
}

/// The generalized sensitive values, each distinct cell once.
fn own_cells(settled: &Settled<'_>) -> Vec<OwnCells> {
    let sensitive = settled.included.sensitive.iter();
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
