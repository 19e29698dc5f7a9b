//! What public releases show of the subjects of a table, where a job keeps it:
//! the set of values of each subject's bucket (design: series, *invariant*), or
//! the group of each subject (*nested*).
//!
//! A subject who was public keeps the set that was shown of them, or gets one with
//! which it has no value in common. So the set is part of what a record asks for,
//! as k and l are.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::kept_groups::KeptGroups;
use super::parameter::Share;
use super::protected::ProtectedIndex;

/// Stands for a record of which no public release shows a set.
pub const NO_SET: u32 = u32::MAX;

/// What becomes of a subject whose value is not in the set any more that was
/// shown of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Changes {
    /// The set is shown again: nobody sees that the value changed.
    #[default]
    Hidden,
    /// Another set is shown, which has none of the values that were shown of them
    /// before: everybody sees that the value changed.
    Visible,
}

impl Changes {
    /// Whether they are hidden, as where a job says nothing.
    pub fn is_hidden(&self) -> bool {
        *self == Self::Hidden
    }
}

/// The sets that public releases show of one attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSets {
    /// The different sets: codes, ascending.
    pub sets: Vec<Vec<u32>>,
    /// Whether each set has a value that nobody has any more.
    has_gone: Vec<bool>,
    /// What becomes of who has another value now.
    pub changes: Changes,
    /// The set that was shown last of each record of the table, [`NO_SET`] for
    /// none; empty where no record has one.
    set_of: Vec<u32>,
    /// The other sets that were shown of a record, where there are any.
    former: FxHashMap<u32, Vec<u32>>,
}

impl KeptSets {
    /// The sets that were shown of each record, the last one behind the others;
    /// `occurs` says of each code whether somebody has it.
    pub fn of(
        shown: impl Iterator<Item = Vec<Vec<u32>>>,
        changes: Changes,
        occurs: &[bool],
    ) -> Self {
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut kept = Self {
            changes,
            ..Self::default()
        };
        for (record, sets) in (0..).zip(shown) {
            let all = sets.into_iter().map(|set| {
                let next = numbers.len() as u32;
                *numbers.entry(set).or_insert_with_key(|set| {
                    kept.sets.push(set.clone());
                    next
                })
            });
            let mut all: Vec<u32> = all.collect();
            kept.set_of.push(all.pop().unwrap_or(NO_SET));
            if !all.is_empty() {
                kept.former.insert(record, all);
            }
        }
        let is_gone = |&code: &u32| !occurs.get(code as usize).copied().unwrap_or(false);
        let sets = kept.sets.iter();
        kept.has_gone = sets.map(|set| set.iter().any(is_gone)).collect();
        kept
    }

    /// Whether a record shows another set now, if there is one, because its value
    /// is not in the last one. Not where a value of that set is nobody's any more:
    /// it may have another name now, and who knows both names would find the value
    /// that both sets have.
    pub fn renews(&self, record: u32, code: u32) -> bool {
        let number = self.number(record).filter(|_| !self.changes.is_hidden());
        number.is_some_and(|number| {
            let number = number as usize;
            self.sets[number].binary_search(&code).is_err() && !self.has_gone[number]
        })
    }

    /// Whether a set, ascending, may be shown of a record: it was, or has no value
    /// of those that were. Then who intersects sets learns nothing.
    pub fn may_show(&self, record: u32, set: &[u32]) -> bool {
        let former = self.former.get(&record).into_iter().flatten().copied();
        let mut all = former.chain(self.number(record));
        all.all(|number| are_apart(&self.sets[number as usize], set))
    }

    /// Number of the last set of a record; none where no release shows one.
    pub fn number(&self, record: u32) -> Option<u32> {
        let number = self.set_of.get(record as usize).copied();
        number.filter(|&number| number != NO_SET)
    }

    /// The last set of a record; none where no release shows one.
    pub fn set(&self, record: u32) -> Option<&[u32]> {
        let number = self.number(record)?;
        Some(&self.sets[number as usize])
    }
}

/// Whether two sets, ascending, have no value in common, or are one.
pub fn are_apart(one: &[u32], other: &[u32]) -> bool {
    one == other || !one.iter().any(|value| other.binary_search(value).is_ok())
}

/// What public releases show of the subjects of a table, by protectable
/// attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The groups that are shown, where these are kept and not sets of values.
    pub groups: Option<KeptGroups>,
    /// The sets of each attribute.
    pub attributes: Vec<KeptSets>,
    /// Largest share of counterfeits among the published values of an attribute.
    pub max_counterfeits: Share,
}

impl History {
    /// Whether no public release shows a subject of the table.
    pub fn is_empty(&self) -> bool {
        match &self.groups {
            Some(groups) => groups.classes.is_empty(),
            None => self.attributes.iter().all(|kept| kept.sets.is_empty()),
        }
    }

    /// Whether no public release shows the group of a record, or its set for some
    /// of these attributes.
    pub fn is_new(&self, record: u32, mut of: impl Iterator<Item = ProtectedIndex>) -> bool {
        if let Some(groups) = &self.groups {
            return groups.class(record).is_none();
        }
        of.any(|index| self.of(index).number(record).is_none())
    }

    /// The sets of an attribute.
    pub fn of(&self, index: ProtectedIndex) -> &KeptSets {
        static NONE: LazyLock<KeptSets> = LazyLock::new(KeptSets::default);
        self.attributes.get(index.at()).unwrap_or(&NONE)
    }

    /// Whether the release joins public groups to larger ones.
    pub fn joins_groups(&self) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.joins)
    }

    /// Whether subjects whose value changed are shown in another set.
    pub fn shows_changes(&self) -> bool {
        !self.changes().is_hidden()
    }

    /// What becomes of subjects who have other values now.
    pub fn changes(&self) -> Changes {
        let mut all = self.attributes.iter().map(|kept| kept.changes);
        all.find(|changes| !changes.is_hidden()).unwrap_or_default()
    }
}
