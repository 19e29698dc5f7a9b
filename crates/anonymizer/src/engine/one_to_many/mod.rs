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
//! | between | `prepare`, `strongest` | who is left out, or why nothing can be published |
//! | 3 | `split`, `space`, `conditions`, `refined` | groups |
//! | 4 | `publish` | the table and its lineage |

mod alike;
mod child_sets;
mod conditions;
mod describe;
mod expansion;
mod params;
mod partition;
mod persons;
mod prepare;
mod publish;
mod refined;
pub mod rmr;
mod space;
mod split;
mod strongest;
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
use persons::Persons;
use prepare::{Failure, Prepared, prepare};
use publish::Layout;
use space::Space;
use split::Splitter;
use strongest::Question;

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
    let mut prepared = match prepared {
        Ok(prepared) => prepared,
        Err(Failure::Stopped(error)) => return Err(error),
        Err(Failure::Refused(refusal)) => {
            let question = Question {
                persons: &persons,
                params,
                context,
            };
            let answer = question.answer(refusal);
            return Err(as_ordered(answer, table.schema(), requirements));
        }
    };
    report(3, "generalize");
    let sizes = groups(&persons, &space, &mut prepared, (params, context))?;
    report(5, "publish");
    let mut groups: Vec<&[u32]> = Vec::with_capacity(sizes.len());
    let mut rest = prepared.present.as_slice();
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
    let left_out = prepared.unsatisfiable.iter();
    let left_out = left_out.map(|&person| persons.subjects[person as usize]);
    Ok(Release {
        tables: vec![published],
        lineage,
        excluded: (persons.opted_out + prepared.unsatisfiable.len()) as u64,
        unsatisfiable: left_out.collect(),
    })
}

/// Stage 3: sorts those present into groups, and gives their sizes.
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
    let present = &mut prepared.present;
    let sizes = split::split(&splitter, present, context)?;
    let how = (params.effort, context);
    refined::refined(persons, &conditions, (present, sizes), how)
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
