//! `one_to_many`: 1:M-generalization with (k, l)-diversity, and `rmr`, its
//! comparator.
//!
//! For datasets where a subject has many records. One row a subject is
//! published: generalized quasi-identifiers, and the generalized set of their
//! sensitive values, the fingerprint. README.md beside this file has the
//! paper, the promise and the algorithm as built.
//!
//! | stage | file | result |
//! |---|---|---|
//! | 1 | `persons`, `trees` | one row a subject, items under their hierarchies |
//! | 2 | `partition`, `expansion`, `child_sets` | fingerprints shared by at least K |
//! | between | `exclusion`, `diagnosis` | who is excluded, or why nothing can be published |
//! | 3 | `split`, `space`, `conditions`, `refined` | groups |
//! | 4 | `publish` | the table and its lineage |

mod child_sets;
mod conditions;
mod describe;
mod diagnosis;
mod exclusion;
mod expansion;
mod params;
mod partition;
mod persons;
mod publish;
mod refined;
pub mod rmr;
mod space;
mod split;
mod trees;

pub use params::{Params, SiblingUnions};

use rand::seq::SliceRandom;

use crate::microdata::{Multiplicity, Table};
use crate::privacy::{L, Requirements};
use crate::release::Release;

use super::context::RunContext;
use super::error::EngineError;
use super::kernel::acceptance::check_table;
use super::kernel::known::as_ordered;

use conditions::{Conditions, Floors};
use diagnosis::Diagnosis;
use exclusion::{Prepared, prepare};
use persons::Persons;
use publish::Layout;
use space::Space;
use split::Splitter;

/// Random streams, one number a stage.
mod stage {
    /// Order of persons, which decides between equals.
    pub const ORDER: u32 = 1;
    /// Order of attributes among equals.
    pub const AXES: u32 = 2;
    /// Search for groups with less loss.
    pub const REFINE: u32 = 4;
}

/// Number of steps that progress counts.
const STEPS: u32 = 5;

/// Publishes a table by 1:M-generalization.
///
/// `requirements` join the policy of [`Params::policy`] with preferences.
/// Table: `persons`. Runs in rayon's current pool; the result does not depend
/// on the number of threads.
///
/// Errors: `InvalidParameter` for a dataset with one record a subject, or
/// where records of one subject disagree and nothing says which counts;
/// `Infeasible` with the strongest parameters that would hold; `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    check_table(table, requirements, Multiplicity::Many)?;
    let params = &of_known(requirements, params)?;
    let report = |step, label| context.progress.report(step, STEPS, label, 0.0);
    report(1, "gather persons");
    let persons = Persons::gather(table, requirements, params.qid_conflict)?;
    report(2, "partition fingerprints");
    let (prepared, space) = rayon::join(
        || prepare(&persons, params, context),
        || Space::new(&persons),
    );
    let refused = |refusal| {
        let diagnosis = Diagnosis {
            persons: &persons,
            params,
            context,
        };
        as_ordered(diagnosis.of(refusal), table.schema(), requirements)
    };
    let mut prepared = prepared.map_err(|failure| failure.diagnosed(refused))?;
    report(3, "generalize");
    let sizes = groups(&persons, &space, &mut prepared, (params, context))?;
    report(5, "publish");
    let mut groups: Vec<&[u32]> = Vec::with_capacity(sizes.len());
    let mut rest = prepared.included.as_slice();
    for size in sizes {
        let (group, behind) = rest.split_at(size);
        groups.push(group);
        rest = behind;
    }
    let layout = Layout {
        persons: &persons,
        trees: &prepared.trees,
        groups: &groups,
        fingerprint_of: &prepared.fingerprints.of_person,
        fingerprints: &prepared.fingerprints.nodes,
    };
    let (published, lineage) = layout.publish();
    context.check()?;
    let unsatisfiable = prepared.unsatisfiable.iter();
    let unsatisfiable = unsatisfiable.map(|&person| persons.subjects[person as usize]);
    let tables = vec![published];
    Ok(Release::new(
        tables,
        lineage,
        persons.opted_out,
        unsatisfiable.collect(),
    ))
}

/// Stage 3: sorts those included into groups, and gives their sizes.
fn groups(
    persons: &Persons<'_>,
    space: &Space<'_>,
    prepared: &mut Prepared,
    (params, context): (&Params, &RunContext<'_>),
) -> Result<Vec<usize>, EngineError> {
    let floors = Floors {
        k_group: params.k_group()?.get(),
        l: params.l.get(),
        value_l: params.value_l.get(),
    };
    let conditions = Conditions::new(persons, &prepared.fingerprints, &prepared.trees, floors);
    let mut order: Vec<usize> = (0..space.axes.len()).collect();
    order.shuffle(&mut context.stream(stage::AXES, 0));
    let splitter = Splitter {
        space,
        conditions: &conditions,
        order,
        wide: split::WIDE,
    };
    let included = &mut prepared.included;
    let sizes = split::split(&splitter, included, context)?;
    let how = (params.effort, context);
    refined::refined(persons, &conditions, (included, sizes), how)
}

/// The parameters with the l that is kept where the missing value is counted.
fn of_known(requirements: &Requirements, params: &Params) -> Result<Params, EngineError> {
    let one_more = params.l > L::NONE && !requirements.lacking().is_empty();
    Ok(Params {
        l: if one_more {
            params.l.one_more()
        } else {
            params.l
        },
        k_group: Some(params.k_group()?),
        ..params.clone()
    })
}
