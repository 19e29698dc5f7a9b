//! Requirements in numbers, for another process that has the parameters of the job.
//!
//! Guarded nodes are named by labels, which are somebody's texts: the caller says
//! which number stands for which.

use serde::{Deserialize, Serialize};

use crate::microdata::Codes;

use super::parameter::Share;
use super::policy::Policy;
use super::protected::{ProtectedIndex, ProtectedSet};
use super::protection::Spread;
use super::requirements::{Companion, OwnTerms, RecordTerms, Requirements};

/// What requirements say beside the policy that a job's parameters give.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedRequirements {
    apply_preferences: bool,
    lacking: u64,
    spreads: Vec<StatedSpread>,
    terms: Vec<StatedTerms>,
}

/// A least spread; numbers by their bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum StatedSpread {
    Nothing,
    OfScale,
    AtLeast(u64),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StatedTerms {
    flags: u64,
    bounds: StatedBounds,
    max_leakage_parts: Vec<u32>,
    guard: Vec<(u8, Vec<u32>)>,
    own: StatedBounds,
    exclude: bool,
    personal: bool,
}

/// k, and l and parts of the largest share of each attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StatedBounds(u32, Vec<u32>, Vec<u32>);

impl StatedBounds {
    fn of(k: u32, l: &[u32], shares: &[Share]) -> Self {
        let parts = shares.iter().map(|share| share.parts());
        Self(k, l.to_vec(), parts.collect())
    }

    fn shares(&self) -> Vec<Share> {
        let parts = self.2.iter();
        parts.map(|&parts| Share::of_parts(parts)).collect()
    }
}

impl StatedRequirements {
    /// Number of distinct terms.
    pub fn distinct_terms(&self) -> usize {
        self.terms.len()
    }
}

impl Requirements {
    /// What these requirements say, but for which record asks for what; `number` gives
    /// the number of a label.
    pub fn stated(&self, number: impl Fn(&str) -> u32) -> StatedRequirements {
        let mut spreads = Vec::new();
        let mut ordered = self.ordered().clone();
        ordered.model.change_spreads(|_, spread| {
            spreads.push(match *spread {
                Spread::Nothing => StatedSpread::Nothing,
                Spread::OfScale => StatedSpread::OfScale,
                Spread::AtLeast(least) => StatedSpread::AtLeast(least.to_bits()),
            });
        });
        let terms = self.distinct_terms().iter().map(|terms| StatedTerms {
            flags: terms.flags.0,
            bounds: StatedBounds::of(terms.k, &terms.l, &terms.max_share),
            max_leakage_parts: terms.max_leakage_parts.clone(),
            guard: terms
                .guard
                .iter()
                .map(|(index, labels)| {
                    let labels = labels.iter();
                    (index.0, labels.map(|label| number(label)).collect())
                })
                .collect(),
            own: StatedBounds::of(terms.own.k, &terms.own.l, &terms.own.share),
            exclude: terms.exclude,
            personal: terms.personal,
        });
        StatedRequirements {
            apply_preferences: self.ordered().apply_preferences,
            lacking: self.lacking().0,
            spreads,
            terms: terms.collect(),
        }
    }

    /// The requirements of no record that say the same under the policy of the same
    /// parameters; `label` gives the label of a number.
    pub fn of_stated(
        stated: &StatedRequirements,
        mut ordered: Policy,
        label: impl Fn(u32) -> String,
    ) -> Self {
        ordered.apply_preferences = stated.apply_preferences;
        let mut spreads = stated.spreads.iter();
        ordered.model.change_spreads(|_, spread| {
            *spread = match spreads.next() {
                Some(StatedSpread::AtLeast(bits)) => Spread::AtLeast(f64::from_bits(*bits)),
                Some(StatedSpread::OfScale) => Spread::OfScale,
                Some(StatedSpread::Nothing) | None => Spread::Nothing,
            };
        });
        let terms = stated.terms.iter().map(|terms| RecordTerms {
            flags: ProtectedSet(terms.flags),
            k: terms.bounds.0,
            l: terms.bounds.1.clone(),
            max_share: terms.bounds.shares(),
            max_leakage_parts: terms.max_leakage_parts.clone(),
            guard: terms
                .guard
                .iter()
                .map(|(index, labels)| {
                    let labels = labels.iter().map(|&number| label(number));
                    (ProtectedIndex(*index), labels.collect())
                })
                .collect(),
            own: OwnTerms {
                k: terms.own.0,
                l: terms.own.1.clone(),
                share: terms.own.shares(),
            },
            exclude: terms.exclude,
            personal: terms.personal,
        });
        let of_policy = (ordered, ProtectedSet(stated.lacking));
        Self::of_terms(of_policy, terms.collect(), (Codes::default(), None))
    }

    /// The same for records that ask for the terms at these positions, with their
    /// companions where these are decided.
    #[must_use]
    pub fn of_records(&self, terms: Codes, companions: Option<Vec<Companion>>) -> Self {
        let records: Vec<u32> = (0..terms.len() as u32).collect();
        let of_policy = (self.ordered().clone(), self.lacking());
        let distinct = self.distinct_terms().to_vec();
        Self::of_terms(of_policy, distinct, (terms, companions)).part(&records)
    }
}
