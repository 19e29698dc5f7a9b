//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameter that would hold, tried rather than estimated.
//!
//! Under a weaker l other subjects may have to leave. So what is named went
//! through [`leave`] and was not refused for the same reason; where everyone
//! together is eligible a partition always exists.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Present;
use crate::engine::kernel::acceptance::{over_budget, too_narrow};
use crate::engine::kernel::known::MISSING_COUNTS_NOT;
use crate::microdata::Table;
use crate::privacy::{L, Model, Policy, ProtectedIndex, Requirements};

use super::frame::published;
use super::initial::Least;
use super::leave::{Refusal, leave};

/// What was asked.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub l: L,
    pub least: Least,
    pub context: &'a RunContext<'a>,
}

impl Question<'_> {
    /// The answer to a refusal.
    pub fn answer(self, refusal: Refusal) -> EngineError {
        let answer = match refusal {
            Refusal::Nobody => Ok(nobody(self.table.records())),
            Refusal::Budget { needed, of } => Ok(over_budget(needed, of)),
            Refusal::Narrow {
                index,
                wanted,
                widest,
            } => Ok(too_narrow(self.name(index), wanted, widest)),
            Refusal::TooFrequent { index, most, of } => {
                let lacks = self.requirements.lacking().contains(index);
                self.too_frequent((self.name(index), lacks), (most, of))
            }
        };
        answer.map_or_else(|stopped| stopped, EngineError::from)
    }

    fn name(self, index: ProtectedIndex) -> String {
        let attribute = self.requirements.attribute(index);
        self.table.schema().attribute(attribute).name.clone()
    }

    fn too_frequent(
        self,
        (name, lacks): (String, bool),
        (most, of): (u64, u64),
    ) -> Result<Infeasible, EngineError> {
        let job_l = self.l.get();
        let (kept, why) = if lacks {
            (job_l + 1, MISSING_COUNTS_NOT)
        } else {
            (job_l, "")
        };
        let mut l = self.weaker(job_l, (most, of));
        while l > 0 {
            match self.refusal(l)? {
                Some(Refusal::TooFrequent { most, of, .. }) => l = self.weaker(l, (most, of)),
                Some(Refusal::Nobody | Refusal::Narrow { .. }) => l = 0,
                _ => break,
            }
        }
        Ok(Infeasible {
            instead: None,
            condition: format!(
                "{name}: l={job_l} needs at most 1 in {kept} records with one value; {most} of \
                 {of} have it{why}"
            ),
            attribute: Some(name),
            parameter: "l",
            strongest: match l {
                0 => "no l".into(),
                _ => format!("l ≤ {l}"),
            },
            strongest_value: (l > 0).then_some(f64::from(l)),
        })
    }

    /// The next l to try.
    fn weaker(self, l: u32, (most, of): (u64, u64)) -> u32 {
        (l - 1).min((of / most.max(1)) as u32)
    }

    /// Why there would be no release with another l, if so.
    fn refusal(self, l: u32) -> Result<Option<Refusal>, EngineError> {
        self.context.check()?;
        let requirements = self.requirements.under_ordered(&self.policy(L::new(l)?));
        let Model::Blocks { sensitive, .. } = requirements.policy().model else {
            return Ok(None);
        };
        let mut present = Present::gather(self.table, &requirements)?;
        let columns = published(&present, sensitive);
        let left = leave(&mut present, &columns, self.least, self.context);
        Ok(left.err())
    }

    fn policy(self, l: L) -> Policy {
        let mut policy = self.requirements.ordered().clone();
        policy.model.change_l(|_, floor| *floor = l.min(*floor));
        policy
    }
}

fn nobody(records: usize) -> Infeasible {
    Infeasible {
        instead: None,
        attribute: None,
        parameter: "l",
        condition: format!("nobody is left to be published of {records} records"),
        strongest: "no l".into(),
        strongest_value: None,
    }
}
