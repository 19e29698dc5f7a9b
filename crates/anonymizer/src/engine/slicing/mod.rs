//! `slicing`: attributes in columns, records in buckets, the values of each
//! column permuted inside each bucket; with its variants `overlap` and
//! `generalized`. README.md beside this file has the papers, the promise, what
//! is sufficient for it and why, and the algorithm as built.
//!
//! | stage | file | result |
//! |---|---|---|
//! | 1 | `cluster` | which attributes form a column |
//! | 2 | `exclusion`, `diagnosis` | who is excluded, or why nothing can be published |
//! | 3 | `conditions` (`joint_table`, `conditional_counts`, `tally`, `maximal_share`, `closeness`) with `kernel::mondrian` | buckets |
//! | 4 | `kernel::sliced_table` | the tables and their lineage |

mod closeness;
mod cluster;
mod conditional_counts;
mod conditions;
mod describe;
mod diagnosis;
mod exclusion;
mod joint_table;
mod maximal_share;
mod params;
mod tally;

pub use params::Params;

use crate::microdata::{RecordIndex, Role, Table};
use crate::privacy::{ColumnRule, Model, Requirements, Slicing};
use crate::release::Release;

use super::context::RunContext;
use super::error::EngineError;
use super::kernel::acceptance::invalid;
use super::kernel::mondrian::{Mondrian, Partitioning};
use super::kernel::sliced_table::{self, Slices};
use super::kernel::{Included, Scale};

use cluster::Found;
use conditions::Conditions;
use diagnosis::Diagnosis;
use exclusion::{Failure, Prepared, prepare};
use joint_table::JointTable;

/// Random streams, one number a stage.
mod stage {
    /// Order among equals who may be excluded.
    pub const EXCLUSION: u32 = 1;
    /// Which attribute is cut of equals.
    pub const PARTITION: u32 = 2;
}

/// Number of steps that progress counts.
const STEPS: u32 = 4;

/// Publishes a table by slicing.
///
/// `requirements` join the policy of [`Params::policy`] with preferences.
/// Tables: `sliced`, `columns`. Runs in rayon's current pool; the result does
/// not depend on the number of threads.
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
    report(1, "find columns");
    let mut included = Included::gather(table, requirements)?;
    let Model::Sliced { slicing, .. } = &requirements.policy().model else {
        return Err(invalid("requirements", "are of another engine's policy"));
    };
    let (slices, prepared) = columns(&included, slicing, params, context)?;
    report(2, "gather");
    included.records = prepared.records;
    let joint = JointTable::gather(&included, &included.records, &slices);
    let conditions = Conditions::new(&joint, requirements);
    let cuttable = included.quasi.iter();
    let cuttable = cuttable.filter(|(at, _)| !slicing.drop.contains(at));
    let cuttable: Vec<_> = cuttable.map(|&(_, column)| column).collect();
    let scales: Vec<Scale> = cuttable
        .iter()
        .map(|column| Scale::new(&column.domain))
        .collect();
    let mondrian = Mondrian {
        context,
        stage: stage::PARTITION,
        step: (3, STEPS),
        columns: &cuttable,
        scales: &scales,
        choice: params.split,
        partitioning: Partitioning::Strict,
        uncut: 0,
    };
    let buckets = mondrian.groups(&included.records, &conditions)?;
    report(4, "publish");
    let buckets: Vec<&[u32]> = buckets.iter().collect();
    let (tables, lineage) = sliced_table::of_buckets(&included, &buckets, &slices);
    context.check()?;
    let subject = |&record: &u32| table.subject_of(RecordIndex(record));
    let unsatisfiable = prepared.unsatisfiable.iter().map(subject).collect();
    Ok(Release::new(
        tables,
        lineage,
        included.opted_out,
        unsatisfiable,
    ))
}

/// The columns, and who is published with them.
fn columns(
    included: &Included<'_>,
    slicing: &Slicing,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<(Slices, Prepared), EngineError> {
    let schema = included.table.schema();
    let insensitive = schema.select(|attribute| attribute.role == Role::Insensitive);
    let whole = |mut slices: Slices| {
        slices
            .columns
            .extend(insensitive.iter().map(|&at| vec![at]));
        slices
    };
    let attempt = |slices: &Slices| {
        prepare(
            included,
            included.requirements,
            slices,
            params.max_excluded,
            context,
        )
    };
    let refused = |slices: &Slices, failure: Failure| {
        failure.diagnosed(|refusal| {
            let diagnosis = Diagnosis {
                included,
                slices,
                params,
                context,
            };
            diagnosis.of(refusal)
        })
    };
    let clusters = match &slicing.columns {
        ColumnRule::Given(columns) => {
            let slices = whole(Slices {
                columns: columns.clone(),
                generalized: slicing.generalize.clone(),
            });
            let prepared = attempt(&slices).map_err(|failure| refused(&slices, failure))?;
            return Ok((slices, prepared));
        }
        ColumnRule::Found { clusters } => *clusters,
    };
    let mut found = Found::new(included, slicing, clusters);
    let mut slices = whole(found.slices(&slicing.generalize));
    let mut prepared = attempt(&slices).map_err(|failure| refused(&slices, failure))?;
    for guest in std::mem::take(&mut found.guests) {
        let with = found.with(guest);
        let wider = whole(with.slices(&slicing.generalize));
        match attempt(&wider) {
            Ok(still) => (found, slices, prepared) = (with, wider, still),
            Err(Failure::Refused(_)) => {}
            Err(Failure::Stopped(error)) => return Err(error),
        }
    }
    Ok((slices, prepared))
}
