//! Classes of rows by their sizes: what measures of groups are made from.
//!
//! A portion of a release parts no class, so the classes of the whole are those
//! of its portions together. How many classes have each size is all that is
//! kept: classes of d different sizes have at least d²/2 rows, so there are few
//! sizes however many classes there are.

use std::collections::BTreeMap;

/// How many classes there are of each size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ClassSizes {
    counts: BTreeMap<u32, u64>,
}

impl ClassSizes {
    /// Classes of these sizes.
    pub(super) fn of(sizes: &[u32]) -> Self {
        let mut all = Self::default();
        all.add(sizes);
        all
    }

    /// Adds classes of these sizes.
    pub(super) fn add(&mut self, sizes: &[u32]) {
        for &size in sizes {
            *self.counts.entry(size).or_default() += 1;
        }
    }

    /// Each size with the number of its classes, ascending.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, u64)> + Clone {
        self.counts.iter().map(|(&size, &classes)| (size, classes))
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Number of rows of all classes.
    pub(super) fn rows(&self) -> u64 {
        let sizes = self.iter();
        sizes.map(|(size, classes)| u64::from(size) * classes).sum()
    }

    /// Size of the smallest class; none without a class.
    pub(super) fn min(&self) -> Option<u32> {
        self.counts.keys().next().copied()
    }

    /// Size of the largest class; none without a class.
    pub(super) fn max(&self) -> Option<u32> {
        self.counts.keys().next_back().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_portions_are_those_of_the_whole() {
        let mut parts = ClassSizes::of(&[3, 1, 3]);
        parts.add(&[2, 3]);
        assert_eq!(parts, ClassSizes::of(&[1, 2, 3, 3, 3]));
        assert_eq!((parts.classes(), parts.rows()), (5, 12));
        assert_eq!((parts.min(), parts.max()), (Some(1), Some(3)));
        assert_eq!(ClassSizes::default().min(), None);
    }
}
