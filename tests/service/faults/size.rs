//! How much of everything, and which random moments.

use std::hash::{BuildHasher, Hasher, RandomState};

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// How many times CI's size a full run has.
const FULL: usize = 10;

/// `ci` in CI, ten times that in a full run.
pub fn size(ci: usize) -> usize {
    match std::env::var("VIZARD_FAULTS_FULL") {
        Ok(value) if value != "0" => FULL * ci,
        _ => ci,
    }
}

/// The random moments of one test; prints the seed that brings them back.
pub fn moments(test: &str) -> ChaCha8Rng {
    let seed = match std::env::var("VIZARD_FAULTS_SEED") {
        Ok(seed) => seed.parse().expect("VIZARD_FAULTS_SEED is a number"),
        Err(_) => RandomState::new().build_hasher().finish(),
    };
    eprintln!("{test}: VIZARD_FAULTS_SEED={seed}");
    ChaCha8Rng::seed_from_u64(seed)
}
