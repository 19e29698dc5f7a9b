//! Draws in integers from one seeded generator.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

/// A seeded source of made-up values.
pub struct Draw(ChaCha20Rng);

impl Draw {
    /// The same seed gives the same draws.
    pub fn new(seed: u64) -> Self {
        Self(ChaCha20Rng::seed_from_u64(seed))
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        self.0.random_range(low..=high)
    }

    /// True in so many of a hundred draws.
    pub fn percent(&mut self, share: i64) -> bool {
        self.between(1, 100) <= share
    }

    /// True in so many of a thousand draws.
    pub fn per_mille(&mut self, share: i64) -> bool {
        self.between(1, 1_000) <= share
    }

    /// About normal, from twelve even draws: mean and standard deviation as given.
    pub fn bell(&mut self, mean: i64, spread: i64) -> i64 {
        let sum: i64 = (0..12).map(|_| self.between(0, 1_000)).sum();
        mean + (sum - 6_000) * spread / 1_000
    }

    /// Index of one of the weights, each as likely as it is heavy.
    pub fn weighted(&mut self, weights: impl Iterator<Item = i64> + Clone) -> usize {
        let total: i64 = weights.clone().sum();
        let mut left = self.between(1, total);
        let found = weights.clone().position(|weight| {
            left -= weight;
            left <= 0
        });
        found.unwrap_or(0)
    }
}
