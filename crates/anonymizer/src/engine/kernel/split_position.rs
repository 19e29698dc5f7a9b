//! Positions in a tree of splits, and their random streams.
//!
//! A set that is split again and again is named by the path that led to it.
//! Its random choices come from a ChaCha stream derived from the run's seed
//! and that path, so they are the same whichever thread gets there first.

use rand_chacha::ChaCha12Rng;

use crate::engine::context::RunContext;

/// A position in a tree of splits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitPosition(u64);

impl SplitPosition {
    /// The root of tree number `index` of a stage.
    pub const fn root(index: u64) -> Self {
        Self(mix(index))
    }

    /// The position as a number, to be handed on.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The position that [`Self::number`] gave.
    pub const fn of_number(number: u64) -> Self {
        Self(number)
    }

    /// The part with the lower values.
    #[must_use]
    pub const fn left(self) -> Self {
        Self(mix(self.0 ^ 0x5bf0_3635_dcd1_d867))
    }

    /// The part with the higher values.
    #[must_use]
    pub const fn right(self) -> Self {
        Self(mix(self.0 ^ 0x9e6c_63d0_876a_68de))
    }

    /// The root of a tree that goes on from here, where `root` is that of the same
    /// tree without a part: the first tree of all goes on as if it had never been
    /// parted.
    #[must_use]
    pub const fn grown(self, root: Self) -> Self {
        Self(self.0 ^ Self::root(0).0 ^ root.0)
    }

    /// The index of a stream that is number `index` without a part; at the root of
    /// the first tree it stays as it is.
    pub const fn among(self, index: u64) -> u64 {
        index ^ self.0 ^ Self::root(0).0
    }

    /// The random stream of this place in `stage`.
    pub fn stream(self, context: &RunContext<'_>, stage: u32) -> ChaCha12Rng {
        context.dataset_secret.stream(stage, self.0)
    }
}

/// The finalizer of SplitMix64: a bijection without visible pattern, so that
/// two paths of one tree practically never meet.
const fn mix(value: u64) -> u64 {
    let mut mixed = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_one_tree_are_distinct() {
        let mut level = vec![SplitPosition::root(0), SplitPosition::root(1)];
        let mut seen: Vec<u64> = level.iter().map(|place| place.0).collect();
        for _ in 0..10 {
            level = level
                .iter()
                .flat_map(|place| [place.left(), place.right()])
                .collect();
            seen.extend(level.iter().map(|place| place.0));
        }
        let all = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), all);
    }
}
