//! Why there is no release: which condition failed, and the strongest
//! parameter that would hold.
//!
//! The parameter is not estimated but tried: everything that can refuse a run
//! ([`prepare`]) is repeated under the weaker parameter, by bisection. Named
//! is one that makes the whole run hold, or, where no single parameter can,
//! one under which at least this condition holds, so that the next refusal is
//! another one.

use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::feasibility::{OverBudget, instead_of_l, least};
use crate::privacy::{InBucket, K, L, Model, Policy, ProtectedIndex, Protection, Share, Spread};

use super::exclusion::prepare;
use super::frame::Frame;
use super::refusal::{BucketCondition, Failure, Refusal, Shortfall};

/// A parameter that can be weakened.
#[derive(Clone, Copy, Debug)]
enum Lever {
    K {
        left: u64,
    },
    L(Shortfall),
    MaxPosterior(Shortfall),
    MinSpread(Shortfall, f64),
    MaxExcluded(OverBudget),
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
pub(super) fn diagnosis(frame: &Frame<'_>, refusal: Refusal) -> EngineError {
    EngineError::of_diagnosis(search(frame, refusal))
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
        Refusal::Budget { over, culprit } => {
            let culprit = culprit.map(of_shortfall).into_iter();
            culprit.chain([Lever::MaxExcluded(over)]).collect()
        }
    }
}

fn of_shortfall(shortfall: Shortfall) -> Lever {
    match shortfall.condition {
        BucketCondition::Diversity => Lever::L(shortfall),
        BucketCondition::Posterior => Lever::MaxPosterior(shortfall),
        BucketCondition::TwoValues => Lever::TwoValues(shortfall),
        BucketCondition::Spread { widest } => Lever::MinSpread(shortfall, widest),
    }
}

/// The value of the parameter nearest to the job's for which the wish comes
/// true.
fn weakest_change(frame: &Frame<'_>, lever: Lever, wish: Wish) -> Result<Option<f64>, EngineError> {
    let policy = || frame.requirements.policy().clone();
    // The largest smaller value of a parameter that counts.
    let smaller = |job: u32, policy: &dyn Fn(u32) -> Result<Policy, EngineError>| {
        let top = (job - 1).min(frame.table.records() as u32);
        let found = least(1, top, |weaker| {
            holds(frame, policy(top + 1 - weaker)?, lever, wish)
        })?;
        Ok(found.map(|weaker| f64::from(top + 1 - weaker)))
    };
    match lever {
        Lever::K { .. } => smaller(frame.requirements.policy().k.get(), &|k| {
            let k = K::new(k)?;
            Ok(Policy { k, ..policy() })
        }),
        Lever::L(shortfall) => smaller(floor_l(frame, shortfall.index), &|value| {
            let weaker = L::new(value)?;
            Ok(with_protection(frame, shortfall.index, |protection| {
                if let InBucket::Diversity { l, .. } = protection {
                    *l = weaker;
                }
            }))
        }),
        Lever::MaxPosterior(shortfall) => {
            let parts = floor_share(frame, shortfall.index).parts();
            let share = |weaker: u32| f64::from(parts + weaker) / Share::WHOLE_PARTS as f64;
            let found = least(1, Share::ALL.parts() - parts, |weaker| {
                let share = Share::new(share(weaker))?;
                let policy = with_protection(frame, shortfall.index, |protection| {
                    if let InBucket::Closeness { max_posterior, .. } = protection {
                        *max_posterior = share;
                    }
                });
                holds(frame, policy, lever, wish)
            })?;
            Ok(found.map(share))
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
        Lever::MaxExcluded(over) => {
            let share = over.least_share();
            let holds = wish == Wish::This || holds_excluding(frame, share)?;
            Ok(holds.then_some(share))
        }
        Lever::TwoValues(_) => Ok(None),
    }
}

fn holds(frame: &Frame<'_>, policy: Policy, lever: Lever, wish: Wish) -> Result<bool, EngineError> {
    let requirements = frame.requirements.under(policy);
    let trial = Frame {
        requirements: &requirements,
        ..*frame
    };
    Ok(match Failure::refusal(prepare(&trial))? {
        None => true,
        Some(refusal) => {
            let again = levers(refusal).iter().any(|&other| is_same(lever, other));
            wish == Wish::This && !again
        }
    })
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
    Ok(Failure::refusal(prepare(&trial))?.is_none())
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
    let condition = condition(frame, lever);
    let of = |shortfall: Shortfall, answer: Infeasible| answer.of(frame.name(shortfall.index));
    match lever {
        Lever::K { .. } => Infeasible::at_most("k", value, condition),
        Lever::L(shortfall) => {
            let column = frame.protected_column(shortfall.index);
            let records = 0..frame.table.records() as u32;
            let instead = instead_of_l(column, records, floor_l(frame, shortfall.index));
            of(shortfall, Infeasible::at_most("l", value, condition)).or_instead(instead)
        }
        Lever::MaxPosterior(shortfall) => of(
            shortfall,
            Infeasible::at_least("max_posterior", value, condition),
        ),
        Lever::MinSpread(shortfall, _) => of(
            shortfall,
            Infeasible::at_most("min_spread", value, condition),
        ),
        Lever::MaxExcluded(_) => Infeasible::at_least("max_excluded", value, condition),
        Lever::TwoValues(shortfall) => of(
            shortfall,
            Infeasible::at_most("t_closeness", value, condition),
        ),
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
        Lever::MaxExcluded(OverBudget { needed, of }) => {
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
