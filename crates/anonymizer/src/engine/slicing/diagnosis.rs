//! Why there is no release: which condition failed, and the strongest
//! parameters that would hold, tried rather than estimated.

use crate::engine::context::RunContext;
use crate::engine::error::{EngineError, Infeasible};
use crate::engine::kernel::Included;
use crate::engine::kernel::feasibility::{instead_of_l, largest, most_left, name_of};
use crate::engine::kernel::known::MISSING_COUNTS_NOT;
use crate::engine::kernel::sliced_table::Slices;
use crate::microdata::AttributeIndex;
use crate::privacy::{InBucket, K, L, Model, Policy, Share, Spread, T};

use super::exclusion::{Failure, Refusal, prepare};
use super::maximal_share::MaximalShare;
use super::params::Params;

/// Words behind a setting that depends on which attributes form a column.
const WITH_COLUMNS: &str = " with these columns";

/// The run to diagnose.
#[derive(Clone, Copy)]
pub(super) struct Diagnosis<'a> {
    pub included: &'a Included<'a>,
    pub slices: &'a Slices,
    pub params: &'a Params,
    pub context: &'a RunContext<'a>,
}

impl Diagnosis<'_> {
    /// The answer to a refusal.
    pub fn of(self, refusal: Refusal) -> EngineError {
        EngineError::of_diagnosis(match refusal {
            Refusal::TooFew { left } => self.too_few(left),
            Refusal::Budget(over) => Ok(over.infeasible()),
            Refusal::TooFrequent {
                attribute,
                maximal_share,
            } => self.too_frequent(attribute, maximal_share),
            Refusal::TooNarrow { attribute, widest } => self.too_narrow(attribute, widest),
            Refusal::TooFar { attribute, parts } => self.too_far(attribute, parts),
        })
    }

    /// Why there would be no release under a changed order, if so.
    fn refusal(self, change: impl FnOnce(&mut Policy)) -> Result<Option<Refusal>, EngineError> {
        let mut ordered = self.included.requirements.ordered().clone();
        change(&mut ordered);
        let requirements = self.included.requirements.under_ordered(&ordered);
        let max_excluded = self.params.max_excluded;
        Failure::refusal(prepare(
            self.included,
            &requirements,
            self.slices,
            max_excluded,
            self.context,
        ))
    }

    fn too_few(self, left: u64) -> Result<Infeasible, EngineError> {
        let strongest = most_left(left, |value| {
            let k = K::new(value)?;
            Ok(match self.refusal(|policy| policy.k = k)? {
                Some(Refusal::TooFew { left }) => Some(left),
                _ => None,
            })
        })?;
        let condition = format!("k needs as many records; there are {left}");
        Ok(Infeasible::at_most(
            "k",
            strongest.map(f64::from),
            condition,
        ))
    }

    fn too_frequent(
        self,
        attribute: AttributeIndex,
        maximal_share: MaximalShare,
    ) -> Result<Infeasible, EngineError> {
        // An l of 1 asks for nothing.
        let allows = |maximal_share: MaximalShare| u64::from(maximal_share.largest_l()).max(1);
        let l = largest(allows(maximal_share), |l| {
            if l == 1 {
                return Ok(None);
            }
            let weaker = L::new(l)?;
            Ok(
                match self.refusal(|policy| weaken(policy, |l, _| *l = weaker))? {
                    Some(Refusal::TooFrequent { maximal_share, .. }) => Some(allows(maximal_share)),
                    _ => None,
                },
            )
        })?;
        let name = name_of(self.included.table, attribute);
        let requirements = self.included.requirements;
        let lacks = |index| {
            requirements.attribute(index) == attribute && requirements.lacking().contains(index)
        };
        let why = if requirements.protected().any(lacks) {
            MISSING_COUNTS_NOT
        } else {
            ""
        };
        let asked = self.params.l.unwrap_or(L::NONE).get();
        let one_in =
            (maximal_share.total as f64 / maximal_share.most.max(1) as f64 * 100.0).floor() / 100.0;
        let condition = format!(
            "{name}: l={asked} needs at most 1 in {asked} records with one value beside any \
             combination of the quasi-identifiers that its columns show; beside one it is 1 in \
             {one_in}{why}"
        );
        let mut sensitive = self.included.sensitive.iter();
        let column = sensitive.find(|column| column.attribute == attribute);
        let records = || self.included.records.iter().copied();
        let instead = column.and_then(|found| instead_of_l(found.column, records(), asked));
        Ok(Infeasible::at_most("l", l.map(f64::from), condition)
            .strongest_with(WITH_COLUMNS)
            .of(name)
            .or_instead(instead))
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
        let name = name_of(self.included.table, attribute);
        let condition = format!(
            "{name}: beside a combination of the quasi-identifiers that its column shows its \
             known values span less than min_spread"
        );
        Ok(Infeasible::at_most("min_spread", Some(widest), condition)
            .strongest_with(WITH_COLUMNS)
            .of(name))
    }

    fn too_far(self, attribute: AttributeIndex, parts: u64) -> Result<Infeasible, EngineError> {
        let (mut farthest, mut next) = (0, Some(parts));
        while let Some(parts) = next {
            farthest = parts.max(farthest + 1).min(Share::WHOLE_PARTS);
            let protection = InBucket::Closeness {
                t: T::new(farthest as f64 / 1e9)?,
                max_posterior: Share::ALL,
            };
            let refusal = self.refusal(|policy| {
                if let Model::Sliced { protections, .. } = &mut policy.model {
                    protections
                        .iter_mut()
                        .for_each(|entry| entry.1 = protection);
                }
            })?;
            next = match refusal {
                Some(Refusal::TooFar { parts, .. }) => Some(parts),
                _ => None,
            };
        }
        let name = name_of(self.included.table, attribute);
        let condition = format!(
            "{name}: beside a combination of the quasi-identifiers that its columns show its \
             values are farther from the whole table's than t_closeness"
        );
        let t = farthest as f64 / 1e9;
        Ok(Infeasible::at_least("t_closeness", Some(t), condition)
            .strongest_with(WITH_COLUMNS)
            .of(name))
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
