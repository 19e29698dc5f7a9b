//! Which of the protectable attributes of a schema is meant: one, or a set.

/// Position of an attribute among the protectable ones of a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtectedIndex(pub u8);

impl ProtectedIndex {
    /// The position as a `usize`.
    pub const fn at(self) -> usize {
        self.0 as usize
    }
}

/// A set of protectable attributes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProtectedSet(pub u64);

impl ProtectedSet {
    /// Whether the attribute is in the set.
    pub const fn contains(self, index: ProtectedIndex) -> bool {
        self.0 >> index.0 & 1 == 1
    }

    /// The set with the attribute in it.
    #[must_use]
    pub const fn with(self, index: ProtectedIndex) -> Self {
        Self(self.0 | 1 << index.0)
    }

    /// Attributes that are in exactly one of the two sets.
    #[must_use]
    pub const fn symmetric_difference(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// Number of attributes in the set.
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether no attribute is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
