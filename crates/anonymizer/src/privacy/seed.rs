//! The secrets that decide every random choice: of a run, and of a dataset.
//!
//! 256 bits from the operating system. A seed that can be guessed lets anyone
//! repeat a run and place its rows, so it is sealed with the job, and no
//! manifest, report, log line or error names it.
//!
//! Streams are derived by ChaCha12 as a keyed function: the seed is the key
//! under which each stage gets a key of its own, and under the key of a stage
//! the index is the nonce. Streams of different places are independent, and
//! who has some of them learns nothing of the others or of the seed. The
//! verifier derives the same streams where it draws again what an engine drew.

use std::fmt;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::microdata::Sha256;

/// 256 secret bits.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; Self::BYTES]);

impl Seed {
    /// Stage of the draws between numbers whose content is the same. Stages
    /// from here on are drawn by the verifier as well.
    pub const TIES_OF_NUMBERS: u32 = 1 << 16;
    /// Stage of randomized response; one stream a record.
    pub const RANDOMIZED_RESPONSE: u32 = (1 << 16) + 1;
    /// Stage of rings and their shifts; one stream a block, by its first record.
    pub const RINGS: u32 = (1 << 16) + 2;
    /// Stage of dealing records to blocks, by the dataset's secret; one number
    /// a subject and sensitive attribute, by its position among the protectable
    /// ones.
    pub const DEALING: u32 = (1 << 16) + 3;
    /// Stage of the neighbours that blocks are merged with; one stream a block
    /// that is split.
    pub const NEIGHBOURS: u32 = (1 << 16) + 4;
    /// Stage of the days by which a subject's dates are moved, by the dataset's
    /// secret; one number a subject.
    pub const SHIFT_DAYS: u32 = (1 << 16) + 5;

    /// Length of a seed in bytes.
    pub const BYTES: usize = 32;

    /// A seed of these bytes.
    pub const fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// The seed that a number stands for. It can be guessed: for the offline
    /// command, where the manifest says so, and for tests.
    pub fn of_number(number: u64) -> Self {
        let mut digest = Sha256::new();
        digest.update(b"vizard seed of a number ");
        digest.update(number.to_le_bytes());
        Self(digest.finish())
    }

    /// The bytes, for who keeps them sealed.
    pub const fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }

    /// The random stream number `index` of `stage`.
    pub fn stream(&self, stage: u32, index: u64) -> ChaCha12Rng {
        let mut keys = ChaCha12Rng::from_seed(self.0);
        keys.set_stream(u64::from(stage));
        let mut key = [0_u8; Self::BYTES];
        keys.fill_bytes(&mut key);
        let mut random = ChaCha12Rng::from_seed(key);
        random.set_stream(index);
        random
    }

    /// The number of a text at place `index` of `stage`: anyone who does not have
    /// the seed cannot tell it from a random one, and it stays the same
    /// whatever other texts there are.
    pub fn number(&self, (stage, index): (u32, u64), text: &str) -> u64 {
        let mut digest = Sha256::new();
        digest.update(self.0);
        digest.update(stage.to_le_bytes());
        digest.update(index.to_le_bytes());
        digest.update(text);
        let digest = digest.finish();
        digest[..8]
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte))
    }
}

impl fmt::Debug for Seed {
    /// Says nothing of the bytes.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Seed(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: &Seed, stage: u32, index: u64) -> u64 {
        seed.stream(stage, index).next_u64()
    }

    #[test]
    fn streams_repeat_and_differ_by_seed_stage_and_index() {
        let seed = Seed::of_number(7);
        let mut seen = vec![first(&Seed::of_number(8), 1, 1)];
        for stage in 0..8 {
            for index in [0, 1, 2, u64::MAX] {
                let drawn = first(&seed, stage, index);
                assert_eq!(drawn, first(&seed.clone(), stage, index));
                assert!(!seen.contains(&drawn), "stage {stage}, index {index}");
                seen.push(drawn);
            }
        }
        // Every bit of a seed counts.
        let bytes = [0_u8; Seed::BYTES];
        let none = first(&Seed::from_bytes(bytes), 1, 1);
        for bit in 0..256 {
            let mut other = bytes;
            other[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(first(&Seed::from_bytes(other), 1, 1), none, "bit {bit}");
        }
    }

    #[test]
    fn numbers_of_texts_repeat_and_differ_by_seed_place_and_text() {
        let seed = Seed::of_number(7);
        let number = seed.number((1, 2), "a");
        assert_eq!(number, seed.clone().number((1, 2), "a"));
        let others = [
            seed.number((2, 2), "a"),
            seed.number((1, 1), "a"),
            seed.number((1, 2), "b"),
            Seed::of_number(8).number((1, 2), "a"),
        ];
        assert!(!others.contains(&number));
    }

    #[test]
    fn a_seed_is_never_printed() {
        let seed = Seed::from_bytes([171; Seed::BYTES]);
        assert_eq!(format!("{seed:?}"), "Seed(..)");
    }
}
