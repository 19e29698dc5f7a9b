//! Why there is no release: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.
//!
//! Under another parameter other persons are excluded and other fingerprints
//! published. So what is named was run through [`prepare`] and was not refused
//! for the same reason.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::feasibility::{largest, least, most_left};
use crate::privacy::{K, L};

use super::exclusion::{Failure, Refusal, prepare};
use super::params::Params;
use super::persons::Persons;

/// The run to diagnose.
#[derive(Clone, Copy)]
pub(super) struct Diagnosis<'a> {
    pub persons: &'a Persons<'a>,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Diagnosis<'_> {
    /// The answer to a refusal.
    pub fn of(self, refusal: Refusal) -> EngineError {
        EngineError::of_diagnosis(match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget(over) => Ok(over.infeasible()),
            Refusal::TooFrequent { largest, of } => self.too_frequent(largest, of),
        })
    }

    /// Why there would be no release under other parameters, if so.
    fn refusal(self, params: &Params) -> Result<Option<Refusal>, EngineError> {
        Failure::refusal(prepare(self.persons, params, self.context))
    }

    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let is_k = u64::from(self.params.k.get()) > left;
        let parameter = if is_k { "k" } else { "k_group" };
        let strongest = most_left(left, |value| {
            let mut params = self.params.clone();
            if is_k {
                params.k = K::new(value)?;
            } else {
                params.k_group = Some(K::new(value)?);
            }
            Ok(match self.refusal(&params)? {
                Some(Refusal::TooFew { left }) => Some(left),
                _ => None,
            })
        })?;
        let condition = format!("{parameter} needs as many subjects; there are {left}");
        Ok(Infeasible::at_most(
            parameter,
            strongest.map(f64::from),
            condition,
        ))
    }

    fn too_frequent(self, most: u64, of: u64) -> Result<Infeasible, EngineError> {
        // An l of 1 asks for nothing.
        let l = largest(of / most, |l| {
            if l == 1 {
                return Ok(None);
            }
            let params = Params {
                l: L::new(l)?,
                ..self.params.clone()
            };
            Ok(match self.refusal(&params)? {
                Some(Refusal::TooFrequent { largest, of }) => Some((of / largest).max(1)),
                _ => None,
            })
        })?;
        let (job_k, job_l) = (self.params.k.get(), self.params.l.get());
        let condition = format!(
            "l={job_l} with k={job_k} needs at most 1 in {job_l} subjects with one published \
             fingerprint; {most} of {of} have it"
        );
        let answer = Infeasible::at_most("l", l.map(f64::from), condition);
        Ok(match self.weaker_k()? {
            Some(k) => answer.strongest_with(&format!(", or k ≤ {k} with l = {job_l},")),
            None => answer,
        })
    }

    /// A smaller k with which the job's l holds. Fewer subjects a fingerprint
    /// mostly, though not always, mean rarer fingerprints: what is named was
    /// tried, and a larger one may hold.
    fn weaker_k(self) -> Result<Option<u32>, EngineError> {
        let job_k = self.params.k.get();
        let weaker = least(1, job_k - 1, |weaker| {
            let params = Params {
                k: K::new(job_k - weaker)?,
                ..self.params.clone()
            };
            Ok(self.refusal(&params)?.is_none())
        })?;
        Ok(weaker.map(|weaker| job_k - weaker))
    }
}
