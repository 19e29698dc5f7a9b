//! Admission by memory: a job waits until its estimate fits, rather than die.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes per permit: a semaphore counts 32-bit numbers of permits.
const PERMIT_BYTES: u64 = 1 << 20;

/// The memory that all jobs of a process may use together.
pub struct MemoryBudget {
    permits: Arc<Semaphore>,
    bytes_max: u64,
}

impl MemoryBudget {
    /// A budget of `bytes_max` bytes, counted in whole MiB, at least one.
    pub fn new(bytes_max: u64) -> Self {
        Self {
            permits: Arc::new(Semaphore::new(permits(bytes_max) as usize)),
            bytes_max,
        }
    }

    /// Bytes that all jobs may use together.
    pub fn bytes_max(&self) -> u64 {
        self.bytes_max
    }

    /// Waits until `bytes` are free; `None` if they never will be.
    pub async fn admit(&self, bytes: u64) -> Option<OwnedSemaphorePermit> {
        if permits(bytes) > permits(self.bytes_max) {
            return None;
        }
        Arc::clone(&self.permits)
            .acquire_many_owned(permits(bytes))
            .await
            .ok()
    }
}

fn permits(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PERMIT_BYTES))
        .unwrap_or(u32::MAX)
        .max(1)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn jobs_wait_for_memory_and_giants_are_refused() {
        let budget = MemoryBudget::new(10 << 20);
        let giant = budget.admit((10 << 20) + 1).now_or_never();
        assert!(matches!(giant, Some(None)), "it would wait for ever");
        let first = budget.admit(6 << 20).await.unwrap();
        let waiting = budget.admit(6 << 20);
        tokio::pin!(waiting);
        assert!((&mut waiting).now_or_never().is_none());
        drop(first);
        assert!(waiting.await.is_some());
    }
}
