//! What a run is handed beside its data: seed, progress, cancellation.
//!
//! Threads are those of the rayon pool that the caller runs the engine in;
//! their number never changes the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use super::error::EngineError;

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

/// A request to stop, shared between the run and whoever may cancel it.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Asks the run to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a run is handed beside its data.
pub struct RunContext<'a> {
    /// Decides every random choice of the run.
    pub seed: u64,
    /// Receives progress.
    pub progress: &'a dyn Progress,
    /// Polled at every group boundary.
    pub cancel: CancelFlag,
}

impl<'a> RunContext<'a> {
    /// A context that nobody watches.
    pub fn silent(seed: u64) -> RunContext<'static> {
        RunContext {
            seed,
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

    /// The random stream of one place of the run: `stage` tells stages apart,
    /// `index` the groups within. Streams of different places are independent,
    /// so the order in which threads reach them does not matter.
    pub fn stream(&self, stage: u32, index: u64) -> ChaCha12Rng {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..12].copy_from_slice(&stage.to_le_bytes());
        key[12..20].copy_from_slice(&index.to_le_bytes());
        ChaCha12Rng::from_seed(key)
    }
}
