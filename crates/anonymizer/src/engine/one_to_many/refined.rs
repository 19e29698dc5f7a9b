//! Stage 3, further: groups of persons refined by local search (*ours*).
//!
//! The search asks the same conditions as the splits did, fingerprints
//! included, and weighs quasi-identifiers alone. Groups that look alike
//! afterwards are one to an adversary, so they become one; where such a union
//! does not satisfy its members, the groups of the splits are kept. They are
//! kept as well where a person covers several values (`hull`): the search
//! knows one value a person and attribute.

use std::sync::Arc;

use crate::engine::context::RunContext;
use crate::engine::error::EngineError;
use crate::engine::kernel::{Among, Effort, Groups, PartCondition, Refinement, Scale};
use crate::microdata::{CodedColumn, RowClasses};

use super::conditions::Conditions;
use super::persons::Persons;
use super::publish::quasi_cells;
use super::{STEPS, stage};

/// Refines groups: `sizes` of them follow one another in `included`. The sizes
/// of the groups that `included` then holds; their loss is no greater.
pub(super) fn refined(
    persons: &Persons<'_>,
    conditions: &Conditions<'_>,
    (included, sizes): (&mut Vec<u32>, Vec<usize>),
    (effort, context): (Effort, &RunContext<'_>),
) -> Result<Vec<usize>, EngineError> {
    let has_hulls = persons.quasi.iter().any(|quasi| quasi.low != quasi.high);
    if effort == Effort::None || has_hulls {
        return Ok(sizes);
    }
    let columns = persons.quasi.iter().map(|quasi| CodedColumn {
        domain: Arc::clone(&quasi.column.domain),
        codes: quasi.low.clone().into(),
    });
    let columns: Vec<CodedColumn> = columns.collect();
    let columns: Vec<&CodedColumn> = columns.iter().collect();
    let scales: Vec<Scale> = persons
        .quasi
        .iter()
        .map(|quasi| quasi.scale.clone())
        .collect();
    let mut starts = vec![false; included.len()];
    let mut next = 0;
    for &size in &sizes {
        starts[next] = true;
        next += size;
    }
    let among = Among {
        condition: conditions,
        position: included,
    };
    let refinement = Refinement {
        context,
        stage: stage::REFINE,
        step: (4, STEPS),
        columns: &columns,
        scales: &scales,
        effort,
    };
    let split = Groups::from_starts(included.clone(), &starts);
    let groups = refinement.refine(included, split, &among)?;
    let groups: Vec<&[u32]> = groups.iter().collect();
    let cells = groups.iter().map(|group| quasi_cells(persons, group));
    let classes = RowClasses::of_keys(cells).members();
    let mut counts = conditions.buffers();
    let mut joined = Vec::with_capacity(classes.len());
    for class in classes {
        let parts = class.iter().map(|&at| groups[at]);
        let members: Vec<u32> = parts.flatten().copied().collect();
        if class.len() > 1 && !conditions.holds(&members, &mut counts) {
            return Ok(sizes);
        }
        joined.push(members);
    }
    *included = joined.concat();
    Ok(joined.iter().map(Vec::len).collect())
}
