//! `rmr`: (k, k^m)-anonymity of quasi-identifiers and sets of values.
//!
//! Persons are published in clusters of at least K that look the same on
//! quasi-identifiers; inside a cluster every combination of at most m
//! published values belongs to at least K of its members. README.md beside
//! this file has the paper, the promise and the algorithm as built.
//!
//! | step | file | result |
//! |---|---|---|
//! | 1 | `bounds`, `index`, `cluster` | clusters of near persons |
//! | 2 | `merge`, `choose` | clusters merged while quasi-identifiers lose at most delta |
//! | 3 | `itemsets` | the published node of every item of a cluster |
//! | around | `plan`, `gather`, `equivalence`, `diagnosis` | who is excluded, or why nothing can be published |

mod bounds;
mod choose;
mod cluster;
mod describe;
mod diagnosis;
mod equivalence;
mod gather;
mod index;
mod itemsets;
mod merge;
mod params;
mod plan;
#[cfg(test)]
mod tests;

pub use params::{M_MAX, Params};

use rustc_hash::FxHashMap;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::acceptance::check_table;
use crate::engine::one_to_many::persons::Persons;
use crate::engine::one_to_many::publish::Layout;
use crate::engine::one_to_many::trees::Trees;
use crate::microdata::{Multiplicity, Table};
use crate::privacy::Requirements;
use crate::release::Release;

use plan::{Frame, Plan};

/// Number of steps that progress counts.
const STEPS: u32 = 5;

/// Random streams, one number a stage.
mod stage {
    /// Order of persons, which breaks ties.
    pub const ORDER: u32 = 1;
}

/// Publishes a table of many records a subject by clusters and generalized
/// sets (`[RMR]` RMERGE).
///
/// `requirements` join the policy of [`Params::policy`] with preferences. The
/// table is `persons`, one row a subject. Runs in rayon's current pool; the
/// result does not depend on the number of threads.
///
/// Errors: `InvalidParameter` for a dataset with one record a subject or
/// records that disagree, `Infeasible` with the strongest parameter that would
/// hold, `Cancelled`.
pub fn run(
    table: &Table,
    requirements: &Requirements,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Release, EngineError> {
    params.policy(table.schema())?;
    check_table(table, requirements, Multiplicity::Many)?;
    context.progress.report(1, STEPS, "gather", 0.0);
    let persons = Persons::gather(table, requirements, params.qid_conflict)?;
    let trees = Trees::new(&persons.sensitive, None);
    context.check()?;
    let frame = Frame {
        persons: &persons,
        trees: &trees,
        k: requirements.policy().k.get(),
        m: params.m,
        delta: params.delta,
        context,
    };
    let plan = diagnosis::plan_or_diagnosis(&frame, params.max_excluded)?;
    context.progress.report(5, STEPS, "publish", 0.0);
    let (table, lineage) = publish(&frame, &plan);
    context.check()?;
    let unsatisfiable = plan.unsatisfiable.iter();
    let unsatisfiable = unsatisfiable.map(|&person| persons.subjects[person as usize]);
    let unsatisfiable = unsatisfiable.collect();
    Ok(Release::new(
        vec![table],
        lineage,
        persons.opted_out,
        unsatisfiable,
    ))
}

fn publish(
    frame: &Frame<'_>,
    plan: &Plan,
) -> (crate::release::PublishedTable, crate::release::Lineage) {
    let mut fingerprints: Vec<Vec<u32>> = Vec::new();
    let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
    let mut fingerprint_of = vec![0; frame.persons.len()];
    let mut nodes = Vec::new();
    for (members, cut) in &plan.clusters {
        for &person in members {
            cut.fingerprint(frame.persons.items(person), &mut nodes);
            let number = match numbers.get(&nodes) {
                Some(&number) => number,
                None => {
                    let number = fingerprints.len() as u32;
                    fingerprints.push(nodes.clone());
                    numbers.insert(nodes.clone(), number);
                    number
                }
            };
            fingerprint_of[person as usize] = number;
        }
    }
    // Clusters that were merged may have come to look like others: one group.
    let clusters = plan.clusters.iter().map(|(members, _)| members.clone());
    let groups = equivalence::joined(frame.persons, clusters.collect());
    let groups = groups.iter().map(Vec::as_slice);
    let layout = Layout {
        persons: frame.persons,
        trees: frame.trees,
        groups: &groups.collect::<Vec<_>>(),
        fingerprint_of: &fingerprint_of,
        fingerprints: &fingerprints,
    };
    layout.publish()
}
