//! Why there is no release: which condition failed, and the strongest
//! parameter that would hold, tried rather than estimated.
//!
//! Under a weaker l other subjects may be excluded. So what is named went
//! through [`exclude`] and was not refused for the same reason; where everyone
//! together is eligible a partition always exists.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Included;
use crate::engine::kernel::feasibility::{TooFrequent, largest, name_of};
use crate::engine::kernel::known::MISSING_COUNTS_NOT;
use crate::microdata::Table;
use crate::privacy::{L, Model, Policy, Requirements};

use super::exclusion::{Refusal, exclude};
use super::frame::published;
use super::initial::Least;

/// The run to diagnose.
#[derive(Clone, Copy)]
pub(super) struct Diagnosis<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub l: L,
    pub least: Least,
    pub context: &'a RunContext<'a>,
}

impl Diagnosis<'_> {
    /// The answer to a refusal.
    pub fn of(self, refusal: Refusal) -> EngineError {
        match refusal {
            Refusal::Empty => self.empty().into(),
            Refusal::TooNarrow(answer) => answer.into(),
            Refusal::TooFrequent(frequent) => {
                EngineError::of_diagnosis(self.too_frequent(frequent))
            }
        }
    }

    fn empty(self) -> Infeasible {
        let records = self.table.records();
        let condition = format!("nobody is left to be published of {records} records");
        Infeasible::at_most("l", None, condition)
    }

    fn too_frequent(self, frequent: TooFrequent) -> Result<Infeasible, EngineError> {
        let TooFrequent { index, most, of } = frequent;
        let job_l = self.l.get();
        let (kept, why) = if self.requirements.lacking().contains(index) {
            (job_l + 1, MISSING_COUNTS_NOT)
        } else {
            (job_l, "")
        };
        let allows = |frequent: TooFrequent| frequent.of / frequent.most.max(1);
        let start = u64::from(job_l - 1).min(allows(frequent));
        let l = largest(start, |l| {
            Ok(match self.refusal(l)? {
                Some(Refusal::TooFrequent(again)) => Some(allows(again)),
                Some(Refusal::Empty | Refusal::TooNarrow(_)) => Some(0),
                None => None,
            })
        })?;
        let name = name_of(self.table, self.requirements.attribute(index));
        let condition = format!(
            "{name}: l={job_l} needs at most 1 in {kept} records with one value; {most} of {of} \
             have it{why}"
        );
        Ok(Infeasible::at_most("l", l.map(f64::from), condition).of(name))
    }

    /// Why there would be no release with another l, if so.
    fn refusal(self, l: u32) -> Result<Option<Refusal>, EngineError> {
        self.context.check()?;
        let requirements = self.requirements.under_ordered(&self.policy(L::new(l)?));
        let Model::Blocks { sensitive, .. } = requirements.policy().model else {
            return Ok(None);
        };
        let mut included = Included::gather(self.table, &requirements)?;
        let columns = published(&included, sensitive);
        let excluded = exclude(&mut included, &columns, self.least, self.context);
        Ok(excluded.err())
    }

    fn policy(self, l: L) -> Policy {
        let mut policy = self.requirements.ordered().clone();
        policy.model.change_l(|_, floor| *floor = l.min(*floor));
        policy
    }
}
