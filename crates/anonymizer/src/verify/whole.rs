//! What the classes of a portion of a release are held against.

use crate::privacy::ProtectedIndex;

use super::wishes::Wishes;

/// What is counted of the whole release, by protectable attribute.
#[derive(Debug)]
pub(super) struct OfWhole {
    pub(super) published: Vec<Vec<u64>>,
    pub(super) all: Vec<Vec<u64>>,
    pub(super) wishes: Wishes,
}

impl OfWhole {
    /// How often each code occurs in all classes that are published.
    pub(super) fn published(&self, index: ProtectedIndex) -> &[u64] {
        &self.published[index.at()]
    }

    /// How often each code occurs among all records.
    pub(super) fn all(&self, index: ProtectedIndex) -> &[u64] {
        &self.all[index.at()]
    }

    /// What those flagged whose rows show the same.
    pub(super) fn wishes(&self) -> &Wishes {
        &self.wishes
    }
}
