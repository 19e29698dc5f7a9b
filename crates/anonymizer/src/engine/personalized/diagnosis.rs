//! Why there is no release: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.
//!
//! What is named was run through [`settle`](super::settle()) and was not refused
//! for the same reason.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Included;
use crate::engine::kernel::feasibility::{OverBudget, least, most_left};
use crate::microdata::Table;
use crate::privacy::{K, Requirements, Share};

use super::params::Params;
use super::settle::{Failure, Refusal, settle};

/// Steps of the search for a bound that holds.
const HUNDREDTHS: u32 = 100;
/// Parts per billion in one of them.
const HUNDREDTH_PARTS: u32 = 10_000_000;

/// The run to diagnose.
#[derive(Clone, Copy)]
pub(super) struct Diagnosis<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Diagnosis<'_> {
    /// The answer to a refusal.
    pub fn of(self, refusal: Refusal) -> EngineError {
        EngineError::of_diagnosis(match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget(over) => self.budget(over),
        })
    }

    /// Why there would be no release under other parameters, if so.
    fn refusal(self, params: &Params) -> Result<Option<Refusal>, EngineError> {
        let policy = params.policy(self.table.schema())?;
        let requirements = self.requirements.under(policy);
        let included = Included::gather(self.table, &requirements)?;
        Failure::refusal(settle(included, &requirements, params, self.context))
    }

    /// Fewer records than k, or than 1 / `max_leakage`.
    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let needed = self.params.k_of_all();
        let condition = |name: &str| format!("{name} needs {needed} records; there are {left}");
        if u64::from(self.params.k.get()) > left {
            let k = self.weaker_k(left)?;
            return Ok(Infeasible::at_most("k", k.map(f64::from), condition("k")));
        }
        let (name, share) = ("max_leakage", self.leakage_for(left)?);
        Ok(Infeasible::at_least(name, share, condition(name)).of(&self.params.sensitive))
    }

    /// The largest k up to the number of records for which there are enough.
    fn weaker_k(self, left: u64) -> Result<Option<u32>, EngineError> {
        most_left(left, |k| {
            let params = Params {
                k: K::new(k)?,
                ..self.params.clone()
            };
            Ok(match self.refusal(&params)? {
                Some(Refusal::TooFew { left }) => Some(left),
                _ => None,
            })
        })
    }

    /// The smallest bound for which there are enough records, or which holds
    /// altogether.
    fn leakage_for(self, left: u64) -> Result<Option<f64>, EngineError> {
        let mut is_over_budget = false;
        let enough = most_left(left, |left| {
            let params = Params {
                max_leakage: one_in(left),
                ..self.params.clone()
            };
            let refusal = self.refusal(&params)?;
            is_over_budget = matches!(refusal, Some(Refusal::Budget(_)));
            Ok(match refusal {
                Some(Refusal::TooFew { left }) => Some(left),
                _ => None,
            })
        })?;
        let enough = enough.map(|left| one_in(left).get());
        let altogether = if is_over_budget {
            self.weaker_leakage()?
        } else {
            None
        };
        Ok(altogether.or(enough))
    }

    /// More records would be excluded than may be: because of the job's bound
    /// on leakage, if another one would do, else because of subjects' own
    /// terms.
    fn budget(self, over: OverBudget) -> Result<Infeasible, EngineError> {
        let Some(share) = self.weaker_leakage()? else {
            return Ok(over.infeasible());
        };
        let OverBudget { needed, of } = over;
        let bound = self.params.max_leakage.get();
        let name = &self.params.sensitive;
        let condition = format!(
            "{name}: max_leakage={bound} cannot be met for {needed} of {of} subjects, more than \
             may be left out"
        );
        Ok(Infeasible::at_least("max_leakage", Some(share), condition).of(name))
    }

    /// The smallest bound in hundredths that was found to hold; `None` if not
    /// even 1 does. A bound between may hold as well: leakage is not monotone.
    fn weaker_leakage(self) -> Result<Option<f64>, EngineError> {
        let share = |hundredths: u32| Share::new(f64::from(hundredths) / f64::from(HUNDREDTHS));
        let job = self.params.max_leakage.parts() / HUNDREDTH_PARTS;
        let found = least(job + 1, HUNDREDTHS, |hundredths| {
            let params = Params {
                max_leakage: share(hundredths)?,
                ..self.params.clone()
            };
            Ok(self.refusal(&params)?.is_none())
        })?;
        Ok(found.map(share).transpose()?.map(|share| share.get()))
    }
}

/// The smallest share whose reciprocal is at most `records`.
fn one_in(records: u32) -> Share {
    let records = u64::from(records).clamp(1, Share::WHOLE_PARTS);
    let parts = Share::WHOLE_PARTS.div_ceil(records);
    Share::new(parts as f64 / 1e9).unwrap_or(Share::ALL)
}
