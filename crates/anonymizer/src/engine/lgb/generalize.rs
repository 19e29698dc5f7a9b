//! Stage 3: local generalization inside each subset, on its open attributes.

use rayon::prelude::*;

use crate::engine::error::EngineError;
use crate::engine::kernel::groups::KOfRows;
use crate::engine::kernel::{
    BoxLayout, Descent, Groups, Mondrian, Partitioning, Refinement, SplitChoice,
};

use super::frame::{Frame, STEPS, stage};
use super::ncp::Bisection;
use super::params::Generalization;
use super::patterns::{Division, Subset};

/// Groups of each subset, in order of subsets.
pub(super) fn generalize(
    frame: &Frame<'_>,
    division: &Division,
) -> Result<Vec<Groups>, EngineError> {
    let descent = Descent {
        context: frame.context,
        step: (3, STEPS),
        label: "generalize",
        done: 0.into(),
        total: division.records.len(),
    };
    let subsets = division.subsets.par_iter().enumerate();
    subsets
        .map(|(at, subset)| {
            let records = division.records_of(subset);
            generalize_one(frame, (at, subset), records, &descent)
        })
        .collect()
}

fn generalize_one(
    frame: &Frame<'_>,
    (at, subset): (usize, &Subset),
    records: &[u32],
    descent: &Descent<'_>,
) -> Result<Groups, EngineError> {
    let open = frame.open_attributes(subset.flagged, subset.masked);
    let (columns, scales) = (frame.columns_of(&open), frame.scales_of(&open));
    let k = KOfRows::new(frame.requirements, records);
    let place = frame.context.root(at as u64);
    let groups = match frame.params.generalization {
        Generalization::Mdp => {
            // Of a set's attributes the one with the largest normalized range
            // is split at its lower median; if a part would have fewer records
            // than its own K, the next one ([LGB] Alg. 3, after Mondrian).
            let mondrian = Mondrian {
                context: frame.context,
                stage: stage::GROUPS,
                step: descent.step,
                columns: &columns,
                scales: &scales,
                choice: SplitChoice::Widest,
                partitioning: Partitioning::Strict,
                uncut: 0,
            };
            mondrian.groups_of_subset(records, &k, place, descent)?
        }
        Generalization::Ncp => {
            let space = BoxLayout::new(&scales);
            let bisection = Bisection {
                context: frame.context,
                rows: space.gather(&columns, records),
                space,
                k: k.clone(),
            };
            bisection.groups(records, place, descent)?
        }
    };
    let refinement = Refinement {
        context: frame.context,
        // One stream a subset: patterns are few, stages fewer.
        stage: stage::REFINE + at as u32,
        step: (3, STEPS),
        columns: &columns,
        scales: &scales,
        effort: frame.params.effort(),
    };
    refinement.refine(records, groups, &k)
}
