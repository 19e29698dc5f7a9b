//! The bridge from the async runtime to the CPU pool.
//!
//! Engines run on a rayon pool of their own, never on the runtime's threads,
//! so a long job cannot starve heartbeats or requests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use tokio::sync::oneshot;

/// A rayon pool that async code can wait for.
pub struct CpuPool(rayon::ThreadPool);

/// The work ended by a panic. What it said is dropped: it may quote data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the work panicked")]
pub struct Panicked;

impl CpuPool {
    /// A pool of `threads` threads.
    pub fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        Ok(Self(
            builder
                .thread_name(|index| format!("engine-{index}"))
                .build()?,
        ))
    }

    /// Runs `work` on the pool, and everything that it spawns there.
    ///
    /// Dropping the future does not stop the work; it has a cancel flag for that.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Panicked> {
        let (sender, receiver) = oneshot::channel();
        self.0.spawn(move || {
            // Unwind safety: whatever the work shared is thrown away with it.
            let result = catch_unwind(AssertUnwindSafe(work)).map_err(|_| Panicked);
            // Nobody may be waiting any more; then the result is not wanted.
            let _ = sender.send(result);
        });
        receiver.await.unwrap_or(Err(Panicked))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_ends_the_work_and_not_the_pool() {
        let pool = CpuPool::new(1).unwrap();
        assert_eq!(
            pool.run(|| -> u8 { panic!("made to fail") }).await,
            Err(Panicked)
        );
        assert_eq!(pool.run(|| 7).await, Ok(7));
    }
}
