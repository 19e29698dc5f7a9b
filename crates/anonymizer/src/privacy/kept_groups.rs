//! The groups that public releases show of the subjects of a table, where a job
//! keeps them (design: series, *nested*).
//!
//! A *class* is all subjects with the same history: who are in the same group
//! of each public release, or absent from the same ones. Whoever knows all
//! releases knows what stands in each class. So a class is published again as
//! it was, or not at all, or parted into two that are both large and diverse.

use super::parameter::Share;
use super::requirements::Requirements;
use crate::microdata::RecordIndex;

/// Stands for a record that no public release shows.
pub const NO_KEPT_CLASS: u32 = u32::MAX;

/// A subject whom a public release shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptMember {
    /// Their record; none where the table has them no more.
    pub record: Option<u32>,
    /// The value that was shown last, a code for each protectable attribute.
    pub values: Vec<u32>,
    /// The largest k that a release promised to them by their own terms.
    pub k: u32,
    /// The same of l, for each protectable attribute.
    pub l: Vec<u32>,
}

/// Subjects with the same history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptClass {
    /// All of them.
    pub members: Vec<KeptMember>,
    /// Cell of each quasi-identifier, by position in [`KeptGroups::cells`].
    pub cells: Vec<u32>,
    /// Whether it is a whole group of the last release that shows it. Who was
    /// parted from a group stays out.
    pub is_whole: bool,
    /// Whether k and l of the series are all that was claimed of its groups, so
    /// that part of it can be judged.
    pub is_divisible: bool,
}

/// The groups of public releases.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptGroups {
    /// The classes.
    pub classes: Vec<KeptClass>,
    /// Whether the release joins these groups to larger ones, and has nobody else;
    /// else it shows them again, beside those of new subjects.
    pub joins: bool,
    /// Class of each record of the table, [`NO_KEPT_CLASS`] for none; empty
    /// where no record has one.
    pub class_of: Vec<u32>,
    /// Whether each record is still as it was shown: its quasi-identifiers in
    /// the cells, its sensitive values the same.
    pub is_same: Vec<bool>,
    /// Texts of the distinct cells of each quasi-identifier, in schema order.
    pub cells: Vec<Vec<String>>,
    /// The largest k that a release claims.
    pub k: u32,
    /// The largest l that a release claims of each protectable attribute, at
    /// least 2.
    pub l: Vec<u32>,
    /// Largest share of the subjects of the last release who are still there that
    /// may be left out with those who left.
    pub max_companions: Share,
}

impl KeptGroups {
    /// Number of the class of a record; none where no release shows it.
    pub fn class(&self, record: u32) -> Option<usize> {
        let class = self.class_of.get(record as usize).copied();
        let class = class.filter(|&class| class != NO_KEPT_CLASS);
        class.map(|class| class as usize)
    }

    /// Whether a public release shows a record, the last one in a whole group.
    pub fn is_in_whole(&self, record: u32) -> bool {
        self.class(record)
            .is_some_and(|class| self.classes[class].is_whole)
    }

    /// Whether a member can be shown as before: they are in the table, as they
    /// were, and did not ask to be left out.
    pub fn can_stay(&self, member: &KeptMember, requirements: &Requirements) -> bool {
        let Some(record) = member.record else {
            return false;
        };
        let is_same = self.is_same.get(record as usize).copied();
        is_same.unwrap_or(false) && !requirements.of(RecordIndex(record)).exclude
    }
}
