//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameter that would hold.
//!
//! The parameter is not estimated but tried: the whole plan is made again
//! under the weaker one, by bisection. Where no value of it makes the run
//! hold, because another condition fails as well, none is named.

use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::eligibility::{is_within, least_share};

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
    /// More persons would have to leave than may.
    MaxExcluded { needed: u64, of: u64 },
}

/// The plan, or the answer why there is none.
pub(super) fn plan_or_answer(frame: &Frame<'_>, max_excluded: f64) -> Result<Plan, EngineError> {
    match attempt(frame, max_excluded)? {
        Ok(plan) => Ok(plan),
        Err(obstacle) => Err(answer(frame, max_excluded, obstacle)?.into()),
    }
}

fn attempt(frame: &Frame<'_>, max_excluded: f64) -> Result<Result<Plan, Obstacle>, EngineError> {
    let of = frame.persons.len() as u64;
    let too_many = |needed: usize| {
        let needed = needed as u64;
        let is_within = is_within(needed, of, max_excluded);
        (!is_within).then_some(Obstacle::MaxExcluded { needed, of })
    };
    Ok(match plan(frame) {
        Err(Failure::Stopped(error)) => return Err(error),
        Ok(plan) => match too_many(plan.unsatisfiable.len()) {
            Some(obstacle) => Err(obstacle),
            None => Ok(plan),
        },
        Err(Failure::Refused(Refusal::TooFew {
            left,
            unsatisfiable,
        })) => Err(too_many(unsatisfiable as usize).unwrap_or(Obstacle::K { left })),
        Err(Failure::Refused(Refusal::Delta { least })) => Err(Obstacle::Delta { least }),
    })
}

/// Names the first parameter that would help.
fn answer(
    frame: &Frame<'_>,
    max_excluded: f64,
    obstacle: Obstacle,
) -> Result<Infeasible, EngineError> {
    let of_itself = weaken(frame, max_excluded, obstacle)?;
    if let (None, Obstacle::MaxExcluded { .. }) = (of_itself, obstacle) {
        // Wider clusters may meet what leaving people out does not.
        let delta = Obstacle::Delta { least: frame.delta };
        if let Some(value) = weaken(frame, max_excluded, delta)? {
            return Ok(describe(
                frame,
                max_excluded,
                (obstacle, delta),
                Some(value),
            ));
        }
    }
    Ok(describe(
        frame,
        max_excluded,
        (obstacle, obstacle),
        of_itself,
    ))
}

/// The strongest value of the obstacle's parameter with which the run holds.
fn weaken(
    frame: &Frame<'_>,
    max_excluded: f64,
    obstacle: Obstacle,
) -> Result<Option<f64>, EngineError> {
    match obstacle {
        Obstacle::K { left } => {
            let top = u64::from(frame.k - 1).min(left) as u32;
            if top == 0 {
                return Ok(None);
            }
            let found = least_that_holds(0, top - 1, |weaker| {
                let k = top - weaker;
                Ok(attempt(&Frame { k, ..*frame }, max_excluded)?.is_ok())
            })?;
            Ok(found.map(|weaker| f64::from(top - weaker)))
        }
        Obstacle::Delta { least } => {
            let from = (least * f64::from(DELTA_PARTS)).ceil() as u32;
            let delta = |parts: u32| f64::from(parts) / f64::from(DELTA_PARTS);
            let found = least_that_holds(from.min(DELTA_PARTS), DELTA_PARTS, |parts| {
                let delta = delta(parts);
                Ok(attempt(&Frame { delta, ..*frame }, max_excluded)?.is_ok())
            })?;
            Ok(found.map(delta))
        }
        Obstacle::MaxExcluded { needed, of } => {
            let share = least_share(needed, of);
            Ok(attempt(frame, share)?.is_ok().then_some(share))
        }
    }
}

/// What cannot hold in counts, never in values, and the parameter to change.
fn describe(
    frame: &Frame<'_>,
    max_excluded: f64,
    (cause, lever): (Obstacle, Obstacle),
    value: Option<f64>,
) -> Infeasible {
    let condition = match cause {
        Obstacle::K { left } => format!("k={0} needs {0} subjects; there are {left}", frame.k),
        Obstacle::Delta { least } => format!(
            "delta={} is below the mean loss of quasi-identifiers before any merging, {least:.4}",
            frame.delta
        ),
        Obstacle::MaxExcluded { needed, of } => format!(
            "max_excluded={max_excluded} is too little for {needed} of {of} subjects, whose terms \
             cannot be met within delta={}",
            frame.delta
        ),
    };
    let (parameter, weaker) = match lever {
        Obstacle::K { .. } => ("k", "≤"),
        Obstacle::Delta { .. } => ("delta", "≥"),
        Obstacle::MaxExcluded { .. } => ("max_excluded", "≥"),
    };
    Infeasible {
        instead: None,
        attribute: None,
        parameter,
        condition,
        strongest: match value {
            Some(value) => format!("{parameter} {weaker} {value}"),
            None => format!("no {parameter}"),
        },
        strongest_value: value,
    }
}

/// The least of `from..=to` that holds, if the last does: the first is tried
/// first, it mostly does.
fn least_that_holds(
    from: u32,
    to: u32,
    mut holds: impl FnMut(u32) -> Result<bool, EngineError>,
) -> Result<Option<u32>, EngineError> {
    if from > to {
        return Ok(None);
    }
    if holds(from)? {
        return Ok(Some(from));
    }
    if from == to || !holds(to)? {
        return Ok(None);
    }
    let (mut fails, mut fits) = (from, to);
    while fits - fails > 1 {
        let middle = fails + (fits - fails) / 2;
        if holds(middle)? {
            fits = middle;
        } else {
            fails = middle;
        }
    }
    Ok(Some(fits))
}
