//! How much of everything, and which random moments.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::pin::pin;
use std::time::Duration;

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

/// Longest time of a test in CI, in seconds.
const TEST_S_MAX: usize = 600;

/// Runs a test that must come to its end: one that waits for ever fails alone,
/// with the logs of its processes, and not the whole suite.
pub async fn in_time(test: impl Future<Output = ()>) {
    let limit = Duration::from_secs(size(TEST_S_MAX) as u64);
    // Held until the panic has begun, so that its processes tell what they wrote.
    let mut test = pin!(test);
    let ended = tokio::time::timeout(limit, test.as_mut()).await;
    assert!(ended.is_ok(), "the test does not end");
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
