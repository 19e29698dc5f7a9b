//! Keeping a job's lease: heartbeats that extend it, carry progress out and
//! a request to cancel in.
//!
//! The run is told to stop through its cancel flag in three cases, and the
//! reason is kept: somebody cancelled the job, the lease is lost, or the
//! process drains.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use vizard_anonymizer::engine::{CancelFlag, Progress};

use crate::ids::JobId;
use crate::store::{LeaseToken, Store, StoreError};

/// Why a run was told to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// Somebody asked to cancel the job.
    Cancelled,
    /// Another worker may hold the job; nothing of ours may be written.
    LeaseLost,
    /// This process ends; the job goes back to the queue.
    Drained,
}

/// What a run tells and is told, shared by the run and its heartbeat.
#[derive(Clone, Default)]
pub struct Watch(Arc<WatchState>);

#[derive(Default)]
struct WatchState {
    progress: Mutex<Option<Value>>,
    stop: Mutex<Option<StopReason>>,
    flag: CancelFlag,
}

impl Watch {
    /// The flag that the engine polls.
    pub fn flag(&self) -> CancelFlag {
        self.0.flag.clone()
    }

    /// Tells the run to stop. The first reason counts, unless the lease is lost.
    pub fn stop(&self, reason: StopReason) {
        let mut stop = self.0.stop.lock().unwrap_or_else(PoisonError::into_inner);
        if stop.is_none() || reason == StopReason::LeaseLost {
            *stop = Some(reason);
        }
        self.0.flag.cancel();
    }

    /// Why the run was told to stop, if it was.
    pub fn stopped(&self) -> Option<StopReason> {
        *self.0.stop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The progress told since the last call.
    fn take_progress(&self) -> Option<Value> {
        self.0
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }
}

impl Progress for Watch {
    fn report(&self, step: u32, steps: u32, label: &'static str, fraction: f64) {
        let fraction = (fraction.clamp(0.0, 1.0) * 1000.0).round() / 1000.0;
        let told = json!({"step": step, "steps": steps, "label": label, "fraction": fraction});
        *self
            .0
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(told);
    }
}

/// A lease being kept.
pub struct Lease {
    /// The job.
    pub job: JobId,
    /// Proof of holding it.
    pub token: LeaseToken,
    /// How long it lasts unless extended.
    pub duration: Duration,
    /// How often it is extended.
    pub interval: Duration,
}

impl Lease {
    /// Extends the lease until `done`; ends early when the lease is lost.
    ///
    /// A store that does not answer is tried again until the lease has run out
    /// by our own measure: from then on another worker may hold the job.
    pub async fn keep(&self, store: &Store, watch: &Watch, done: &CancellationToken) {
        let mut extended = tokio::time::Instant::now();
        let mut unsent = None;
        loop {
            tokio::select! {
                () = done.cancelled() => return,
                () = tokio::time::sleep(self.interval) => {}
            }
            unsent = watch.take_progress().or(unsent);
            let asked = tokio::time::Instant::now();
            match store
                .job_heartbeat(self.job, self.token, self.duration, unsent.clone())
                .await
            {
                Ok(heartbeat) => {
                    extended = asked;
                    unsent = None;
                    if heartbeat.cancel_requested {
                        watch.stop(StopReason::Cancelled);
                    }
                }
                Err(StoreError::LeaseLost | StoreError::NotFound { .. }) => {
                    metrics::counter!("vizard_lease_losses_total").increment(1);
                    return watch.stop(StopReason::LeaseLost);
                }
                Err(error) => {
                    tracing::warn!(job = %self.job, %error, "heartbeat failed");
                    if extended.elapsed() >= self.duration {
                        metrics::counter!("vizard_lease_losses_total").increment(1);
                        return watch.stop(StopReason::LeaseLost);
                    }
                }
            }
        }
    }
}
