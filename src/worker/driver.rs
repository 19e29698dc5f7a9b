//! The acquire loop: a slot, a job, a task; and the orderly end.
//!
//! A slot is taken before a job is acquired, so a lease never waits for a
//! slot. Shutdown stops acquiring at once; running jobs get `drain_timeout`,
//! then they are told to stop and go back to the queue unharmed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::memory::MemoryBudget;
use super::pool::CpuPool;
use super::{Shared, WorkerSettings, janitor, step};
use crate::store::{AcquiredJob, Store};

/// Pause after the store failed, so that a dead database is not hammered.
const STORE_ERROR_PAUSE: Duration = Duration::from_secs(1);

/// Works on jobs until `shutdown`, then drains. Fails only if the CPU pool
/// cannot be built.
pub async fn run(
    store: Arc<Store>,
    settings: WorkerSettings,
    shutdown: CancellationToken,
) -> Result<(), rayon::ThreadPoolBuildError> {
    let shared = Arc::new(Shared {
        store,
        pool: CpuPool::new(settings.threads)?,
        memory: MemoryBudget::new(settings.memory_bytes_max),
        settings,
    });
    show_failures_at_zero();
    let slots = Arc::new(Semaphore::new(shared.settings.workers));
    let tasks = TaskTracker::new();
    let drain = CancellationToken::new();
    tasks.spawn({
        let store = Arc::clone(&shared.store);
        janitor::keep_house(store, shared.settings.clone(), shutdown.clone())
    });
    loop {
        let slot = tokio::select! {
            slot = Arc::clone(&slots).acquire_owned() => slot,
            () = shutdown.cancelled() => break,
        };
        let Ok(slot) = slot else { break };
        let Some(acquired) = next_job(&shared, &shutdown).await else {
            break;
        };
        let (shared, drain) = (Arc::clone(&shared), drain.clone());
        tasks.spawn(async move {
            step::run_job(&shared, acquired, &drain).await;
            drop(slot);
        });
    }
    tasks.close();
    if tokio::time::timeout(shared.settings.drain_timeout, tasks.wait())
        .await
        .is_err()
    {
        tracing::info!("drain timeout: running jobs go back to the queue");
        drain.cancel();
        tasks.wait().await;
    }
    Ok(())
}

/// A rule on the growth of a counter sees its first step only from a zero before it.
fn show_failures_at_zero() {
    for figures in ["told", "withheld"] {
        metrics::counter!("vizard_infeasible_answers_total", "figures" => figures).increment(0);
    }
    let engines = vizard_anonymizer::catalog::descriptions();
    for engine in engines.as_array().into_iter().flatten() {
        if let Some(name) = engine["name"].as_str() {
            metrics::counter!("vizard_verification_failures_total", "engine" => name.to_owned())
                .increment(0);
        }
    }
}

/// The next job, waiting as long as it takes; `None` on shutdown.
async fn next_job(shared: &Shared, shutdown: &CancellationToken) -> Option<AcquiredJob> {
    loop {
        if shutdown.is_cancelled() {
            return None;
        }
        // Not raced against shutdown: a job that was acquired must not be dropped.
        match shared
            .store
            .job_acquire(shared.act(), shared.settings.lease_duration)
            .await
        {
            Ok(Some(acquired)) => return Some(acquired),
            Ok(None) => {
                let waited = shared.store.job_wait(shared.settings.poll_interval);
                tokio::select! {
                    waited = waited => if waited.is_err() { tokio::time::sleep(STORE_ERROR_PAUSE).await },
                    () = shutdown.cancelled() => return None,
                }
            }
            Err(error) => {
                tracing::warn!(%error, "no job could be acquired");
                tokio::select! {
                    () = tokio::time::sleep(STORE_ERROR_PAUSE) => {}
                    () = shutdown.cancelled() => return None,
                }
            }
        }
    }
}
