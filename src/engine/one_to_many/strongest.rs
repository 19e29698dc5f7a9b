//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::privacy::{K, L};

use super::params::Params;
use super::persons::Persons;
use super::prepare::{Failure, Refusal, prepare};

/// The answer to a refusal.
pub(super) fn answer(
    persons: &Persons<'_>,
    params: &Params,
    context: &RunContext<'_>,
    refusal: Refusal,
) -> EngineError {
    match refusal {
        Refusal::TooFew { left } => too_few(params, left).into(),
        Refusal::Budget { needed, of } => budget(needed, of).into(),
        Refusal::TooFrequent { largest, of } => {
            match too_frequent(persons, params, context, (largest, of)) {
                Ok(answer) => answer.into(),
                Err(stopped) => stopped,
            }
        }
    }
}

fn too_few(params: &Params, left: u64) -> Infeasible {
    let parameter = match u64::from(params.k.get()) > left {
        true => "k",
        false => "k_group",
    };
    Infeasible {
        attribute: None,
        parameter,
        condition: format!("{parameter} needs as many subjects; there are {left}"),
        strongest: match left {
            0 => format!("no {parameter}"),
            _ => format!("{parameter} ≤ {left}"),
        },
        strongest_value: (left > 0).then_some(left as f64),
    }
}

fn budget(needed: u64, of: u64) -> Infeasible {
    // Rounded up to the precision in which shares are compared.
    let share = (needed as f64 / of as f64 * 1e9).ceil() / 1e9;
    Infeasible {
        attribute: None,
        parameter: "max_excluded",
        condition: format!(
            "the terms of {needed} of {of} subjects cannot be met, more than may be left out"
        ),
        strongest: format!("max_excluded ≥ {share}"),
        strongest_value: Some(share),
    }
}

fn too_frequent(
    persons: &Persons<'_>,
    params: &Params,
    context: &RunContext<'_>,
    (largest, of): (u64, u64),
) -> Result<Infeasible, EngineError> {
    // Partition knows nothing of l, so this l is met by the same fingerprints.
    let l = (of / largest) as u32;
    let weaker = weaker_k(persons, params, context)?;
    let strongest = match weaker {
        Some(k) => format!("l ≤ {l}, or k ≤ {k} with l = {},", params.l.get()),
        None => format!("l ≤ {l}"),
    };
    Ok(Infeasible {
        attribute: None,
        parameter: "l",
        condition: format!(
            "l={} with k={} needs at most 1 in {} subjects with one published fingerprint; \
             {largest} of {of} have it",
            params.l.get(),
            params.k.get(),
            params.l.get()
        ),
        strongest,
        strongest_value: Some(f64::from(l)),
    })
}

/// The largest smaller k with which the job's l holds. Fewer subjects a
/// fingerprint mostly, though not always, mean rarer fingerprints: what is
/// named was tried.
fn weaker_k(
    persons: &Persons<'_>,
    params: &Params,
    context: &RunContext<'_>,
) -> Result<Option<u32>, EngineError> {
    let holds = |k: u32| -> Result<bool, EngineError> {
        let params = Params {
            k: K::new(k)?,
            k_group: Some(params.k_group()?),
            l: L::new(params.l.get())?,
            ..params.clone()
        };
        match prepare(persons, &params, context) {
            Ok(_) => Ok(true),
            Err(Failure::Refused(_)) => Ok(false),
            Err(Failure::Stopped(error)) => Err(error),
        }
    };
    let (mut low, mut high) = (0, params.k.get());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match holds(middle)? {
            true => low = middle,
            false => high = middle,
        }
    }
    Ok((low > 0).then_some(low))
}
