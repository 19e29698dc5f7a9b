//! `lgb`: local generalization and bucketization.
//!
//! Quasi-identifiers are generalized inside groups of at least K records;
//! sensitive values are published exactly, unlinked, in buckets that cross
//! groups. What is sensitive is each subject's choice. README.md beside this
//! file has the paper, the promise and the algorithm as built.
//!
//! | stage | file | result |
//! |---|---|---|
//! | before | `exclusion`, `refusal`, `diagnosis` | who is excluded, or why nothing can be published |
//! | 1 | `patterns` | subsets of records with one pattern, rare ones masked |
//! | 2 | `bucketize`, `runs`, `assignment`, `nearest`, `spread`, `closeness` | buckets |
//! | 3 | `generalize`, `ncp` | groups |
//! | 4 | `publish`, `bucket_tables` | tables and lineage |

mod assignment;
mod bucket_tables;
mod bucketize;
mod closeness;
mod describe;
mod diagnosis;
mod exclusion;
mod frame;
mod generalize;
mod ncp;
mod nearest;
mod params;
mod patterns;
mod publish;
mod refusal;
mod runs;
mod scattered;
mod shaken;
mod spread;

pub use params::{Assignment, AttributeParams, BucketLink, Effort, Generalization, Params};

use crate::microdata::{Multiplicity, RecordIndex, Table};
use crate::privacy::Requirements;
use crate::release::Release;

use super::context::RunContext;
use super::error::EngineError;
use super::kernel::acceptance::{check_table, invalid};
use super::kernel::known::as_ordered;

use diagnosis::diagnosis;
use exclusion::prepare;
use frame::{Frame, STEPS};
use publish::Layout;

/// Publishes a table by local generalization and bucketization.
///
/// `requirements` join the policy of [`Params::policy`] with preferences.
/// Tables: `microdata`, `buckets`, and `group_buckets` where buckets are
/// linked to groups. Runs in rayon's current pool; the result does not depend
/// on the number of threads.
///
/// Errors: `InvalidParameter` for a dataset with several records a subject or
/// parameters that contradict the requirements, `Infeasible` with the
/// strongest parameter that would hold, `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    check(table, requirements, params)?;
    let report = |step, label| context.progress.report(step, STEPS, label, 0.0);
    report(1, "prepare");
    let scales = frame::lay_out(table);
    let frame = Frame {
        table,
        requirements,
        params,
        context,
        scales: &scales,
    };
    let refused = |refusal| as_ordered(diagnosis(&frame, refusal), table.schema(), requirements);
    let prepared = prepare(&frame).map_err(|failure| failure.diagnosed(refused))?;
    report(2, "bucketize");
    let buckets = bucketize::bucketize(&frame, &prepared.division)?;
    report(3, "generalize");
    let groups = generalize::generalize(&frame, &prepared.division)?;
    report(4, "publish");
    let ((layout, (microdata, lineage)), contents) = rayon::join(
        || {
            let (layout, shown) = Layout::new(&frame, &prepared.division, &groups, &buckets);
            let microdata = layout.microdata(shown);
            (layout, microdata)
        },
        || bucket_tables::buckets(&frame, &buckets),
    );
    let mut tables = vec![microdata, contents];
    if params.bucket_link == BucketLink::Group {
        tables.push(bucket_tables::group_buckets(&frame, &layout));
    }
    context.check()?;
    let unsatisfiable = prepared.unsatisfiable.iter();
    let unsatisfiable = unsatisfiable.map(|&record| table.subject_of(RecordIndex(record)));
    let unsatisfiable = unsatisfiable.collect();
    Ok(Release::new(
        tables,
        lineage,
        prepared.opted_out,
        unsatisfiable,
    ))
}

fn check(table: &Table, requirements: &Requirements, params: &Params) -> Result<(), EngineError> {
    params.check()?;
    check_table(table, requirements, Multiplicity::One)?;
    // Branches are dealt by where values lie; a missing one lies in none.
    let mut spread = requirements.protected().filter(|&index| {
        let column = table.coded(requirements.attribute(index));
        let is_category = column.is_some_and(|column| !column.domain.is_numeric());
        is_category && requirements.protection(index).min_spread().is_some()
    });
    match spread.find(|&index| requirements.lacking().contains(index)) {
        None => Ok(()),
        Some(index) => {
            let attribute = table.schema().attribute(requirements.attribute(index));
            Err(invalid(
                format!("attributes.{}.min_spread", attribute.name),
                "values are missing: leave out the records without one (`missing`: `drop`), or \
                 ask for no spread",
            ))
        }
    }
}
