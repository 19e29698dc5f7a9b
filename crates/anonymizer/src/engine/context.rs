//! What a run is handed beside its data: seed, progress, cancellation.
//!
//! Threads are those of the rayon pool that the caller runs the engine in;
//! their number never changes the result.

use rand_chacha::ChaCha12Rng;

use super::error::EngineError;
use crate::privacy::{CancelFlag, Seed};

/// Receives what a run has done so far. Called from any thread, often; an
/// implementation only stores the figures.
pub trait Progress: Send + Sync {
    /// Step `step` of `steps` (from 1), what it is, and the share of it that
    /// is done, 0 to 1.
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64);
}

/// A progress that nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _step: u32, _steps: u32, _label: &'static str, _fraction: f64) {}
}

/// What a run is handed beside its data.
pub struct RunContext<'a> {
    /// Decides what is drawn of single rows, and numbers whose content is the same.
    pub seed: Seed,
    /// Decides who stands together, and who is left out: it must be the same in
    /// every release of the same people, since two different groupings of them
    /// tell more than each.
    pub dataset_secret: Seed,
    /// Receives progress.
    pub progress: &'a dyn Progress,
    /// Polled at every group boundary.
    pub cancel: CancelFlag,
}

impl<'a> RunContext<'a> {
    /// A context that nobody watches, with the seed of a number, which is the
    /// dataset's secret as well (tests and figures).
    pub fn silent(seed: u64) -> RunContext<'static> {
        RunContext {
            seed: Seed::of_number(seed),
            dataset_secret: Seed::of_number(seed),
            progress: &Silent,
            cancel: CancelFlag::default(),
        }
    }

    /// An error if somebody asked to stop.
    pub fn check(&self) -> Result<(), EngineError> {
        if self.cancel.is_cancelled() {
            Err(EngineError::Cancelled)
        } else {
            Ok(())
        }
    }

    /// The random stream of one place of the run that decides who stands
    /// together: `stage` tells stages apart, `index` the groups within. Streams of
    /// different places are independent, so the order in which threads reach them
    /// does not matter. It is the dataset's: a run on the same records makes the
    /// same groups.
    pub fn stream(&self, stage: u32, index: u64) -> ChaCha12Rng {
        self.dataset_secret.stream(stage, index)
    }
}
