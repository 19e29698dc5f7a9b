//! Why there is no release: which condition failed, and the strongest
//! parameter that would hold.
//!
//! The parameter is not estimated but tried: the whole plan is made again
//! under the weaker one, by bisection. Where no value of it makes the run
//! hold, because another condition fails as well, none is named.

use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::feasibility::{OverBudget, least};

use super::plan::{Failure, Frame, Plan, Refusal, plan};

/// Parts of one in which a delta is named.
const DELTA_PARTS: u32 = 10_000;

/// What cannot hold.
#[derive(Clone, Copy, Debug)]
enum Obstacle {
    /// Fewer persons than k.
    K { left: u64 },
    /// Quasi-identifiers lose more than delta.
    Delta { least: f64 },
    /// More persons would be excluded than may be.
    MaxExcluded(OverBudget),
}

/// The plan, or the answer why there is none.
pub(super) fn plan_or_diagnosis(frame: &Frame<'_>, max_excluded: f64) -> Result<Plan, EngineError> {
    match attempt(frame, max_excluded)? {
        Ok(plan) => Ok(plan),
        Err(obstacle) => Err(diagnosis(frame, max_excluded, obstacle)?.into()),
    }
}

fn attempt(frame: &Frame<'_>, max_excluded: f64) -> Result<Result<Plan, Obstacle>, EngineError> {
    let check = |excluded: usize| {
        OverBudget::check(excluded, frame.persons.len(), max_excluded)
            .map_err(Obstacle::MaxExcluded)
    };
    Ok(match plan(frame) {
        Err(Failure::Stopped(error)) => return Err(error),
        Ok(plan) => check(plan.unsatisfiable.len()).map(|()| plan),
        Err(Failure::Refused(Refusal::TooFew {
            left,
            unsatisfiable,
        })) => check(unsatisfiable as usize).and(Err(Obstacle::K { left })),
        Err(Failure::Refused(Refusal::Delta { least })) => Err(Obstacle::Delta { least }),
    })
}

/// Names the first parameter that would help.
fn diagnosis(
    frame: &Frame<'_>,
    max_excluded: f64,
    obstacle: Obstacle,
) -> Result<Infeasible, EngineError> {
    let condition = condition(frame, max_excluded, obstacle);
    let of_itself = weaken(frame, max_excluded, obstacle)?;
    if let (None, Obstacle::MaxExcluded(_)) = (of_itself, obstacle) {
        // Wider clusters may meet what exclusion does not.
        let delta = Obstacle::Delta { least: frame.delta };
        if let Some(value) = weaken(frame, max_excluded, delta)? {
            return Ok(Infeasible::at_least("delta", Some(value), condition));
        }
    }
    Ok(match obstacle {
        Obstacle::K { .. } => Infeasible::at_most("k", of_itself, condition),
        Obstacle::Delta { .. } => Infeasible::at_least("delta", of_itself, condition),
        Obstacle::MaxExcluded(_) => Infeasible::at_least("max_excluded", of_itself, condition),
    })
}

/// The strongest value of the obstacle's parameter with which the run holds.
fn weaken(
    frame: &Frame<'_>,
    max_excluded: f64,
    obstacle: Obstacle,
) -> Result<Option<f64>, EngineError> {
    let holds = |frame: &Frame<'_>| Ok(attempt(frame, max_excluded)?.is_ok());
    match obstacle {
        Obstacle::K { left } => {
            let top = u64::from(frame.k - 1).min(left) as u32;
            let found = least(1, top, |weaker| {
                let k = top + 1 - weaker;
                holds(&Frame { k, ..*frame })
            })?;
            Ok(found.map(|weaker| f64::from(top + 1 - weaker)))
        }
        Obstacle::Delta { least: loss } => {
            let from = (loss * f64::from(DELTA_PARTS)).ceil() as u32;
            let delta = |parts: u32| f64::from(parts) / f64::from(DELTA_PARTS);
            let found = least(from.min(DELTA_PARTS), DELTA_PARTS, |parts| {
                let delta = delta(parts);
                holds(&Frame { delta, ..*frame })
            })?;
            Ok(found.map(delta))
        }
        Obstacle::MaxExcluded(over) => {
            let share = over.least_share();
            Ok(attempt(frame, share)?.is_ok().then_some(share))
        }
    }
}

/// What cannot hold, in counts, never in values.
fn condition(frame: &Frame<'_>, max_excluded: f64, obstacle: Obstacle) -> String {
    match obstacle {
        Obstacle::K { left } => format!("k={0} needs {0} subjects; there are {left}", frame.k),
        Obstacle::Delta { least } => format!(
            "delta={} is below the mean loss of quasi-identifiers before any merging, {least:.4}",
            frame.delta
        ),
        Obstacle::MaxExcluded(OverBudget { needed, of }) => format!(
            "max_excluded={max_excluded} is too little for {needed} of {of} subjects, whose terms \
             cannot be met within delta={}",
            frame.delta
        ),
    }
}
