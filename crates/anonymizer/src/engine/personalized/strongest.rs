//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.
//!
//! What is named was run through [`settle`](super::settle()) and was not refused
//! for the same reason.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Present;
use crate::engine::kernel::acceptance::over_budget;
use crate::microdata::Table;
use crate::privacy::{K, Requirements, Share};

use super::params::Params;
use super::settle::{Failure, Refusal, settle};

/// Steps of the search for a bound that holds.
const HUNDREDTHS: u32 = 100;
/// Parts per billion in one of them.
const HUNDREDTH_PARTS: u32 = 10_000_000;

/// What is asked: table, terms, parameters, the run.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Question<'_> {
    /// The answer to a refusal.
    pub fn answer(self, refusal: Refusal) -> EngineError {
        let answer = match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget { needed, of } => self.budget(needed, of),
        };
        answer.map_or_else(|stopped| stopped, EngineError::from)
    }

    /// Why there would be no release under other parameters, if so.
    fn refusal(self, params: &Params) -> Result<Option<Refusal>, EngineError> {
        let policy = params.policy(self.table.schema())?;
        let requirements = self.requirements.under(policy);
        let present = Present::gather(self.table, &requirements)?;
        match settle(present, &requirements, params, self.context) {
            Ok(_) => Ok(None),
            Err(Failure::Refused(refusal)) => Ok(Some(refusal)),
            Err(Failure::Stopped(error)) => Err(error),
        }
    }

    /// Fewer records than k, or than 1 / `max_leakage`.
    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let is_k = u64::from(self.params.k.get()) > left;
        let (parameter, value) = if is_k {
            ("k", self.weaker_k(left)?.map(f64::from))
        } else {
            ("max_leakage", self.leakage_for(left)?)
        };
        let needed = self.params.k_of_all();
        Ok(Infeasible {
            instead: None,
            attribute: (!is_k).then(|| self.params.sensitive.clone()),
            parameter,
            condition: format!("{parameter} needs {needed} records; there are {left}"),
            strongest: match (value, is_k) {
                (None, _) => format!("no {parameter}"),
                (Some(value), true) => format!("k ≤ {value}"),
                (Some(value), false) => format!("max_leakage ≥ {value}"),
            },
            strongest_value: value,
        })
    }

    /// The largest k up to the number of records for which there are enough.
    fn weaker_k(self, mut left: u64) -> Result<Option<u32>, EngineError> {
        while left > 0 {
            let k = u32::try_from(left).unwrap_or(u32::MAX);
            let params = Params {
                k: K::new(k)?,
                ..self.params.clone()
            };
            match self.refusal(&params)? {
                Some(Refusal::TooFew { left: fewer }) if fewer < left => left = fewer,
                _ => return Ok(Some(k)),
            }
        }
        Ok(None)
    }

    /// The smallest bound for which there are enough records, or which holds
    /// altogether.
    fn leakage_for(self, mut left: u64) -> Result<Option<f64>, EngineError> {
        while left > 0 {
            let max_leakage = one_in(left);
            let params = Params {
                max_leakage,
                ..self.params.clone()
            };
            match self.refusal(&params)? {
                Some(Refusal::TooFew { left: fewer }) if fewer < left => left = fewer,
                Some(Refusal::Budget { .. }) => {
                    let holds = self.weaker_leakage()?;
                    return Ok(holds.or(Some(max_leakage.get())));
                }
                _ => return Ok(Some(max_leakage.get())),
            }
        }
        Ok(None)
    }

    /// More records have to leave than may: because of the job's bound on
    /// leakage, if another one would do, else because of subjects' own terms.
    fn budget(self, needed: u64, of: u64) -> Result<Infeasible, EngineError> {
        if let Some(share) = self.weaker_leakage()? {
            let bound = self.params.max_leakage.get();
            let name = &self.params.sensitive;
            return Ok(Infeasible {
                instead: None,
                attribute: Some(name.clone()),
                parameter: "max_leakage",
                condition: format!(
                    "{name}: max_leakage={bound} cannot be met for {needed} of {of} subjects, \
                     more than may be left out"
                ),
                strongest: format!("max_leakage ≥ {share}"),
                strongest_value: Some(share),
            });
        }
        Ok(over_budget(needed, of))
    }

    /// The smallest bound in hundredths that was found to hold; `None` if not
    /// even 1 does. A bound between may hold as well: leakage is not monotone.
    fn weaker_leakage(self) -> Result<Option<f64>, EngineError> {
        let with = |hundredths: u32| -> Result<Params, EngineError> {
            Ok(Params {
                max_leakage: Share::new(f64::from(hundredths) / f64::from(HUNDREDTHS))?,
                ..self.params.clone()
            })
        };
        let mut fails = self.params.max_leakage.parts() / HUNDREDTH_PARTS;
        let mut holds = HUNDREDTHS;
        if fails >= holds || self.refusal(&with(holds)?)?.is_some() {
            return Ok(None);
        }
        while holds - fails > 1 {
            let middle = fails + (holds - fails) / 2;
            match self.refusal(&with(middle)?)? {
                None => holds = middle,
                Some(_) => fails = middle,
            }
        }
        Ok(Some(with(holds)?.max_leakage.get()))
    }
}

/// The smallest share whose reciprocal is at most `records`.
fn one_in(records: u64) -> Share {
    let records = records.clamp(1, Share::WHOLE_PARTS);
    let parts = Share::WHOLE_PARTS.div_ceil(records);
    Share::new(parts as f64 / 1e9).unwrap_or(Share::ALL)
}
