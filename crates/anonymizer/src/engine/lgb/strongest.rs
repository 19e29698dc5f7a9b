//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameter that would hold.
//!
//! The parameter is not estimated but tried: everything that can refuse a run
//! ([`prepare`]) is repeated under the weaker parameter, by bisection. Named
//! is one that makes the whole run hold, or, where no single parameter can,
//! one under which at least this condition holds, so that the next refusal is
//! another one.

use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::acceptance::instead_of_l;
use crate::engine::kernel::eligibility::least_share;
use crate::privacy::{InBucket, K, L, Model, Policy, ProtectedIndex, Protection, Share, Spread};

use super::exclusion::prepare;
use super::frame::Frame;
use super::refusal::{Condition, Failure, Refusal, Shortfall};

/// A parameter that can be weakened.
#[derive(Clone, Copy, Debug)]
enum Lever {
    K {
        left: u64,
    },
    L(Shortfall),
    MaxPosterior(Shortfall),
    MinSpread(Shortfall, f64),
    MaxExcluded {
        needed: u64,
        of: u64,
    },
    /// No parameter helps.
    TwoValues(Shortfall),
}

/// How weak a trial turned out to be needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wish {
    /// The whole run holds.
    Everything,
    /// The condition that refused holds.
    This,
}

/// The answer to a refusal.
pub(super) fn answer(frame: &Frame<'_>, refusal: Refusal) -> EngineError {
    match search(frame, refusal) {
        Ok(answer) => answer.into(),
        Err(stopped) => stopped,
    }
}

fn search(frame: &Frame<'_>, refusal: Refusal) -> Result<Infeasible, EngineError> {
    let levers = levers(refusal);
    for wish in [Wish::Everything, Wish::This] {
        for &lever in &levers {
            if let Some(value) = weakest_change(frame, lever, wish)? {
                return Ok(describe(frame, lever, Some(value)));
            }
        }
    }
    Ok(describe(frame, levers[0], None))
}

fn levers(refusal: Refusal) -> Vec<Lever> {
    match refusal {
        Refusal::TooFew { left } => vec![Lever::K { left }],
        Refusal::Shortfall(shortfall) => vec![of_shortfall(shortfall)],
        Refusal::Budget {
            needed,
            of,
            culprit,
        } => {
            let budget = Lever::MaxExcluded { needed, of };
            culprit
                .map(of_shortfall)
                .into_iter()
                .chain([budget])
                .collect()
        }
    }
}

fn of_shortfall(shortfall: Shortfall) -> Lever {
    match shortfall.condition {
        Condition::Diversity => Lever::L(shortfall),
        Condition::Posterior => Lever::MaxPosterior(shortfall),
        Condition::TwoValues => Lever::TwoValues(shortfall),
        Condition::Spread { widest } => Lever::MinSpread(shortfall, widest),
    }
}

/// The value of the parameter nearest to the job's for which the wish comes
/// true.
fn weakest_change(frame: &Frame<'_>, lever: Lever, wish: Wish) -> Result<Option<f64>, EngineError> {
    match lever {
        Lever::K { .. } => {
            let k = frame.requirements.policy().k.get();
            let top = (k - 1).min(frame.table.records() as u32);
            bisect(top, |weaker| {
                let k = K::new(top + 1 - weaker)?;
                let policy = Policy {
                    k,
                    ..frame.requirements.policy().clone()
                };
                holds(frame, policy, lever, wish)
            })
            .map(|weaker| weaker.map(|weaker| f64::from(top + 1 - weaker)))
        }
        Lever::L(shortfall) => {
            let l = floor_l(frame, shortfall.index);
            let top = (l - 1).min(frame.table.records() as u32);
            bisect(top, |weaker| {
                let l = L::new(top + 1 - weaker)?;
                let policy = with_protection(frame, shortfall.index, |protection| {
                    if let InBucket::Diversity { l: floor, .. } = protection {
                        *floor = l;
                    }
                });
                holds(frame, policy, lever, wish)
            })
            .map(|weaker| weaker.map(|weaker| f64::from(top + 1 - weaker)))
        }
        Lever::MaxPosterior(shortfall) => {
            let parts = floor_share(frame, shortfall.index).parts();
            let share = |weaker: u32| f64::from(parts + weaker) / Share::WHOLE_PARTS as f64;
            bisect(Share::ALL.parts() - parts, |weaker| {
                let share = Share::new(share(weaker))?;
                let policy = with_protection(frame, shortfall.index, |protection| {
                    if let InBucket::Closeness { max_posterior, .. } = protection {
                        *max_posterior = share;
                    }
                });
                holds(frame, policy, lever, wish)
            })
            .map(|weaker| weaker.map(share))
        }
        Lever::MinSpread(shortfall, widest) => {
            let policy = with_protection(frame, shortfall.index, |protection| {
                if let InBucket::Diversity { min_spread, .. } = protection {
                    *min_spread = Spread::AtLeast(widest);
                }
            });
            let holds = holds(frame, policy, lever, wish)?;
            Ok((holds && widest > 0.0).then_some(widest))
        }
        Lever::MaxExcluded { needed, of } => {
            let share = least_share(needed, of);
            let holds = wish == Wish::This || holds_excluding(frame, share)?;
            Ok(holds.then_some(share))
        }
        Lever::TwoValues(_) => Ok(None),
    }
}

/// The smallest weakening in 1..=most that holds, if the weakest does.
fn bisect(
    most: u32,
    mut holds: impl FnMut(u32) -> Result<bool, EngineError>,
) -> Result<Option<u32>, EngineError> {
    if most == 0 || !holds(most)? {
        return Ok(None);
    }
    let (mut fails, mut fits) = (0, most);
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

fn holds(frame: &Frame<'_>, policy: Policy, lever: Lever, wish: Wish) -> Result<bool, EngineError> {
    let requirements = frame.requirements.under(policy);
    let trial = Frame {
        requirements: &requirements,
        ..*frame
    };
    match prepare(&trial) {
        Ok(_) => Ok(true),
        Err(Failure::Stopped(error)) => Err(error),
        Err(Failure::Refused(refusal)) => {
            let again = levers(refusal).iter().any(|&other| is_same(lever, other));
            Ok(wish == Wish::This && !again)
        }
    }
}

fn holds_excluding(frame: &Frame<'_>, share: f64) -> Result<bool, EngineError> {
    let params = super::params::Params {
        max_excluded: share,
        ..frame.params.clone()
    };
    let trial = Frame {
        params: &params,
        ..*frame
    };
    match prepare(&trial) {
        Ok(_) => Ok(true),
        Err(Failure::Stopped(error)) => Err(error),
        Err(Failure::Refused(_)) => Ok(false),
    }
}

fn is_same(one: Lever, other: Lever) -> bool {
    match (one, other) {
        (Lever::K { .. }, Lever::K { .. }) => true,
        (Lever::L(one), Lever::L(other))
        | (Lever::MaxPosterior(one), Lever::MaxPosterior(other))
        | (Lever::MinSpread(one, _), Lever::MinSpread(other, _)) => one.index == other.index,
        _ => false,
    }
}

fn with_protection(
    frame: &Frame<'_>,
    index: ProtectedIndex,
    change: impl FnOnce(&mut InBucket),
) -> Policy {
    let mut policy = frame.requirements.policy().clone();
    if let Model::Bucketized { protections } = &mut policy.model {
        change(&mut protections[index.at()].1);
    }
    policy
}

fn floor_l(frame: &Frame<'_>, index: ProtectedIndex) -> u32 {
    match frame.requirements.protection(index) {
        Protection::Diversity { l, .. } => l.get(),
        Protection::Closeness { .. } | Protection::Leakage { .. } | Protection::InGroup { .. } => 1,
    }
}

fn floor_share(frame: &Frame<'_>, index: ProtectedIndex) -> Share {
    match frame.requirements.protection(index) {
        Protection::Closeness { max_posterior, .. } => max_posterior,
        Protection::Diversity { .. } | Protection::Leakage { .. } | Protection::InGroup { .. } => {
            Share::ALL
        }
    }
}

fn describe(frame: &Frame<'_>, lever: Lever, value: Option<f64>) -> Infeasible {
    let (index, parameter) = match lever {
        Lever::K { .. } => (None, "k"),
        Lever::L(shortfall) => (Some(shortfall.index), "l"),
        Lever::MaxPosterior(shortfall) => (Some(shortfall.index), "max_posterior"),
        Lever::MinSpread(shortfall, _) => (Some(shortfall.index), "min_spread"),
        Lever::MaxExcluded { .. } => (None, "max_excluded"),
        Lever::TwoValues(shortfall) => (Some(shortfall.index), "t_closeness"),
    };
    let weaker = match lever {
        Lever::MaxPosterior(_) | Lever::MaxExcluded { .. } => "≥",
        _ => "≤",
    };
    Infeasible {
        instead: match lever {
            Lever::L(shortfall) => {
                let column = frame.protected_column(shortfall.index);
                let records = 0..frame.table.records() as u32;
                instead_of_l(column, records, floor_l(frame, shortfall.index))
            }
            _ => None,
        },
        attribute: index.map(|index| frame.name(index).into()),
        parameter,
        condition: condition(frame, lever),
        strongest: match value {
            Some(value) => format!("{parameter} {weaker} {value}"),
            None => format!("no {parameter}"),
        },
        strongest_value: value,
    }
}

/// The condition in counts, never in values.
fn condition(frame: &Frame<'_>, lever: Lever) -> String {
    let counted = |shortfall: Shortfall| {
        let Shortfall { size, most, .. } = shortfall;
        format!("{most} of {size} have it")
    };
    match lever {
        Lever::K { left } => {
            let k = frame.requirements.policy().k.get();
            format!("k={k} needs {k} records; there are {left}")
        }
        Lever::L(shortfall) => {
            let (name, l) = (frame.name(shortfall.index), floor_l(frame, shortfall.index));
            let counted = counted(shortfall);
            format!("{name}: l={l} needs at most 1 in {l} records with one value; {counted}")
        }
        Lever::MaxPosterior(shortfall) => {
            let name = frame.name(shortfall.index);
            let share = floor_share(frame, shortfall.index).get();
            let counted = counted(shortfall);
            format!(
                "{name}: max_posterior={share} needs at most that share of records with one \
                 value; {counted}"
            )
        }
        Lever::MinSpread(shortfall, _) => {
            let name = frame.name(shortfall.index);
            let Shortfall { size, most, .. } = shortfall;
            format!(
                "{name}: {size} records, {most} of them with one value, do not spread far enough \
                 for min_spread"
            )
        }
        Lever::MaxExcluded { needed, of } => {
            let share = frame.params.max_excluded;
            format!(
                "max_excluded={share} is too little for {needed} of {of} records, whose terms \
                 cannot be met"
            )
        }
        Lever::TwoValues(shortfall) => {
            let name = frame.name(shortfall.index);
            format!("{name}: t-closeness needs two values in a bucket; all records have one")
        }
    }
}
