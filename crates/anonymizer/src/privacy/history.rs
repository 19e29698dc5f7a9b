//! What public releases show of the subjects of a table, where a job keeps it:
//! the set of values of each subject's bucket (design: series, *invariant*), or
//! the group of each subject (*nested*).
//!
//! A subject who was public keeps the set that was shown of them. So the set is
//! part of what a record asks for, as k and l are.

use rustc_hash::FxHashMap;

use super::kept_groups::KeptGroups;
use super::parameter::Share;
use super::protected::ProtectedIndex;

/// Stands for a record of which no public release shows a set.
pub const NO_SET: u32 = u32::MAX;

/// The sets that public releases show of one attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptSets {
    /// The different sets: codes, ascending.
    pub sets: Vec<Vec<u32>>,
    /// Set of each record of the table, [`NO_SET`] for none; empty where no
    /// record has one.
    set_of: Vec<u32>,
}

impl KeptSets {
    /// The sets of records, none of a table without one.
    pub fn of(sets: impl Iterator<Item = Option<Vec<u32>>>) -> Self {
        let mut numbers: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut kept = Self::default();
        let set_of = sets.map(|set| {
            let Some(set) = set else { return NO_SET };
            let next = numbers.len() as u32;
            *numbers.entry(set).or_insert_with_key(|set| {
                kept.sets.push(set.clone());
                next
            })
        });
        kept.set_of = set_of.collect();
        kept
    }

    /// Number of the set of a record; none where no release shows one.
    pub fn number(&self, record: u32) -> Option<u32> {
        let number = self.set_of.get(record as usize).copied();
        number.filter(|&number| number != NO_SET)
    }

    /// The set of a record; none where no release shows one.
    pub fn set(&self, record: u32) -> Option<&[u32]> {
        let number = self.number(record)?;
        Some(&self.sets[number as usize])
    }
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
        static NONE: KeptSets = KeptSets {
            sets: Vec::new(),
            set_of: Vec::new(),
        };
        self.attributes.get(index.at()).unwrap_or(&NONE)
    }
}
