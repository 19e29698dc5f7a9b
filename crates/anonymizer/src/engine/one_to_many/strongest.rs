//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.
//!
//! Under another parameter other persons leave and other fingerprints are
//! published. So what is named was run through [`prepare`] and was not refused
//! for the same reason.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::acceptance::over_budget;
use crate::privacy::{K, L};

use super::params::Params;
use super::persons::Persons;
use super::prepare::{Failure, Refusal, prepare};

/// What is asked: persons, parameters, the run.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub persons: &'a Persons<'a>,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Question<'_> {
    /// The answer to a refusal.
    pub fn answer(self, refusal: Refusal) -> EngineError {
        let answer = match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget { needed, of } => Ok(over_budget(needed, of)),
            Refusal::TooFrequent { largest, of } => self.too_frequent(largest, of),
        };
        answer.map_or_else(|stopped| stopped, EngineError::from)
    }

    /// Why there would be no release under other parameters, if so.
    fn refusal(self, params: &Params) -> Result<Option<Refusal>, EngineError> {
        match prepare(self.persons, params, self.context) {
            Ok(_) => Ok(None),
            Err(Failure::Refused(refusal)) => Ok(Some(refusal)),
            Err(Failure::Stopped(error)) => Err(error),
        }
    }

    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let is_k = u64::from(self.params.k.get()) > left;
        let parameter = if is_k { "k" } else { "k_group" };
        let mut strongest = left;
        while strongest > 0 {
            let mut params = self.params.clone();
            let value = K::new(u32::try_from(strongest).unwrap_or(u32::MAX))?;
            if is_k {
                params.k = value
            } else {
                params.k_group = Some(value)
            }
            match self.refusal(&params)? {
                Some(Refusal::TooFew { left }) if left < strongest => strongest = left,
                _ => break,
            }
        }
        Ok(Infeasible {
            instead: None,
            attribute: None,
            parameter,
            condition: format!("{parameter} needs as many subjects; there are {left}"),
            strongest: match strongest {
                0 => format!("no {parameter}"),
                _ => format!("{parameter} ≤ {strongest}"),
            },
            strongest_value: (strongest > 0).then_some(strongest as f64),
        })
    }

    fn too_frequent(self, largest: u64, of: u64) -> Result<Infeasible, EngineError> {
        let mut l = (of / largest) as u32;
        while l > 1 {
            let params = Params {
                l: L::new(l)?,
                ..self.params.clone()
            };
            match self.refusal(&params)? {
                Some(Refusal::TooFrequent { largest, of }) => {
                    l = (l - 1).min((of / largest) as u32)
                }
                _ => break,
            }
        }
        let (job_k, job_l) = (self.params.k.get(), self.params.l.get());
        Ok(Infeasible {
            instead: None,
            attribute: None,
            parameter: "l",
            condition: format!(
                "l={job_l} with k={job_k} needs at most 1 in {job_l} subjects with one published \
                 fingerprint; {largest} of {of} have it"
            ),
            strongest: match self.weaker_k()? {
                Some(k) => format!("l ≤ {l}, or k ≤ {k} with l = {job_l},"),
                None => format!("l ≤ {l}"),
            },
            strongest_value: Some(f64::from(l)),
        })
    }

    /// A smaller k with which the job's l holds. Fewer subjects a fingerprint
    /// mostly, though not always, mean rarer fingerprints: what is named was
    /// tried, and a larger one may hold.
    fn weaker_k(self) -> Result<Option<u32>, EngineError> {
        let (mut holds, mut fails) = (0, self.params.k.get());
        while fails - holds > 1 {
            let middle = holds + (fails - holds) / 2;
            let params = Params {
                k: K::new(middle)?,
                ..self.params.clone()
            };
            match self.refusal(&params)? {
                None => holds = middle,
                Some(_) => fails = middle,
            }
        }
        Ok((holds > 0).then_some(holds))
    }
}
