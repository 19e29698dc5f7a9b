//! Turns a refusal into an answer: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Present;
use crate::engine::kernel::acceptance::{instead_of_l, over_budget};
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::AttributeIndex;
use crate::privacy::{InBucket, K, L, Model, Policy, Share, Spread, T};

use super::params::Params;
use super::prepare::{Failure, Refusal, prepare};

/// What is asked: records, columns, parameters, the run.
#[derive(Clone, Copy)]
pub(super) struct Question<'a> {
    pub present: &'a Present<'a>,
    pub slices: &'a Slices,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Question<'_> {
    /// The answer to a refusal.
    pub fn answer(self, refusal: Refusal) -> EngineError {
        let answer = match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget { needed, of } => Ok(over_budget(needed, of)),
            Refusal::TooFrequent { .. } => self.too_frequent(refusal),
            Refusal::TooNarrow { attribute, widest } => self.too_narrow(attribute, widest),
            Refusal::TooFar { .. } => self.too_far(refusal),
        };
        answer.map_or_else(|stopped| stopped, EngineError::from)
    }

    /// Why there would be no release under a changed policy, if so.
    fn refusal(self, change: impl FnOnce(&mut Policy)) -> Result<Option<Refusal>, EngineError> {
        let mut policy = self.present.requirements.policy().clone();
        change(&mut policy);
        let requirements = self.present.requirements.under(policy);
        let max_excluded = self.params.max_excluded;
        match prepare(
            self.present,
            &requirements,
            self.slices,
            max_excluded,
            self.context,
        ) {
            Ok(_) => Ok(None),
            Err(Failure::Refused(refusal)) => Ok(Some(refusal)),
            Err(Failure::Stopped(error)) => Err(error),
        }
    }

    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let mut strongest = left;
        while strongest > 0 {
            let k = K::new(u32::try_from(strongest).unwrap_or(u32::MAX))?;
            match self.refusal(|policy| policy.k = k)? {
                Some(Refusal::TooFew { left }) if left < strongest => strongest = left,
                _ => break,
            }
        }
        Ok(Infeasible {
            instead: None,
            attribute: None,
            parameter: "k",
            condition: format!("k needs as many records; there are {left}"),
            strongest: match strongest {
                0 => "no k".into(),
                _ => format!("k ≤ {strongest}"),
            },
            strongest_value: (strongest > 0).then_some(strongest as f64),
        })
    }

    fn too_frequent(self, refusal: Refusal) -> Result<Infeasible, EngineError> {
        let (mut l, mut next) = (u32::MAX, Some(refusal));
        while let Some(Refusal::TooFrequent { peak, .. }) = next {
            l = peak.largest_l().min(l.saturating_sub(1)).max(1);
            if l == 1 {
                break;
            }
            let weaker = L::new(l)?;
            next = self.refusal(|policy| weaken(policy, |l, _| *l = weaker))?;
        }
        let Refusal::TooFrequent { attribute, peak } = refusal else {
            return Err(EngineError::Cancelled);
        };
        let name = self.name(attribute);
        let asked = self.params.l.unwrap_or(L::NONE).get();
        let mut sensitive = self.present.sensitive.iter();
        let column = sensitive.find(|column| column.attribute == attribute);
        let records = || self.present.records.iter().copied();
        let one_in = (peak.total as f64 / peak.most.max(1) as f64 * 100.0).floor() / 100.0;
        Ok(Infeasible {
            instead: column.and_then(|found| instead_of_l(found.column, records(), asked)),
            condition: format!(
                "{name}: l={asked} needs at most 1 in {asked} records with one value beside any \
                 combination of the quasi-identifiers that its columns show; beside one it is 1 \
                 in {one_in}"
            ),
            attribute: Some(name),
            parameter: "l",
            strongest: format!("l ≤ {l} with these columns"),
            strongest_value: Some(f64::from(l)),
        })
    }

    fn too_narrow(
        self,
        attribute: AttributeIndex,
        narrowest: f64,
    ) -> Result<Infeasible, EngineError> {
        let mut widest = narrowest;
        loop {
            let next = self.refusal(|policy| {
                weaken(policy, |_, spread| {
                    if spread.get().is_some_and(|asked| asked > widest) {
                        *spread = Spread::AtLeast(widest);
                    }
                });
            })?;
            match next {
                Some(Refusal::TooNarrow { widest: less, .. }) if less < widest => widest = less,
                _ => break,
            }
        }
        let name = self.name(attribute);
        Ok(Infeasible {
            instead: None,
            condition: format!(
                "{name}: beside a combination of the quasi-identifiers that its column shows its \
                 known values span less than min_spread"
            ),
            attribute: Some(name),
            parameter: "min_spread",
            strongest: format!("min_spread ≤ {widest} with these columns"),
            strongest_value: Some(widest),
        })
    }

    fn too_far(self, refusal: Refusal) -> Result<Infeasible, EngineError> {
        let mut farthest = 0;
        let mut next = Some(refusal);
        while let Some(Refusal::TooFar { parts, .. }) = next {
            farthest = parts.max(farthest + 1).min(Share::WHOLE_PARTS);
            let protection = InBucket::Closeness {
                t: T::new(farthest as f64 / 1e9)?,
                max_posterior: Share::ALL,
            };
            next = self.refusal(|policy| {
                if let Model::Sliced { protections, .. } = &mut policy.model {
                    protections
                        .iter_mut()
                        .for_each(|entry| entry.1 = protection);
                }
            })?;
        }
        let Refusal::TooFar { attribute, .. } = refusal else {
            return Err(EngineError::Cancelled);
        };
        let name = self.name(attribute);
        let t = farthest as f64 / 1e9;
        Ok(Infeasible {
            instead: None,
            condition: format!(
                "{name}: beside a combination of the quasi-identifiers that its columns show its \
                 values are farther from the whole table's than t_closeness"
            ),
            attribute: Some(name),
            parameter: "t_closeness",
            strongest: format!("t_closeness ≥ {t} with these columns"),
            strongest_value: Some(t),
        })
    }

    fn name(self, attribute: AttributeIndex) -> String {
        self.present
            .table
            .schema()
            .attribute(attribute)
            .name
            .clone()
    }
}

/// Changes the l and the least spread of every attribute.
fn weaken(policy: &mut Policy, change: impl Fn(&mut L, &mut Spread)) {
    if let Model::Sliced { protections, .. } = &mut policy.model {
        for (_, protection) in protections {
            if let InBucket::Diversity { l, min_spread } = protection {
                change(l, min_spread);
            }
        }
    }
}
