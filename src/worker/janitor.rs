//! Keeping house: jobs that nobody may acquire again end, sessions and subject
//! tokens whose time is over are forgotten, erasures that somebody held up are brought to
//! their end, records whose time is up go, published releases are held
//! against terms that changed, and webhooks are told.
//!
//! Any number of processes may do so at once; each step is a transaction that
//! looks again before it changes anything. A process without workers keeps
//! house as well, so that retention does not depend on who computes.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::WorkerSettings;
use super::webhooks::{Teller, tell};
use crate::job::JobFailure;
use crate::store::{Act, Store};

/// Who the audit log says did it.
const NAME: &str = "janitor";

/// Sweeps twice a lease, and looks for records whose time is up, until shutdown.
pub async fn keep_house(store: Arc<Store>, settings: WorkerSettings, shutdown: CancellationToken) {
    let teller = Teller {
        name: settings.name.clone(),
        origins: settings.webhook_origins.clone(),
        retry_after: settings.webhook_retry_after.clone(),
    };
    let telling = tell(Arc::clone(&store), teller, shutdown.clone());
    let store = store.as_ref();
    let sweeping = async {
        loop {
            sweep(store).await;
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(settings.lease_duration / 2) => {}
            }
        }
    };
    let purging = async {
        loop {
            purge(store, settings.raw_retention_days).await;
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(settings.retention_interval) => {}
            }
        }
    };
    let looking = async {
        loop {
            super::affected::look(store, NAME).await;
            tokio::select! {
                () = shutdown.cancelled() => return,
                () = tokio::time::sleep(settings.terms_interval) => {}
            }
        }
    };
    tokio::join!(sweeping, purging, looking, telling);
}

async fn sweep(store: &Store) {
    let problem = JobFailure::AttemptsExhausted.problem();
    match store.job_sweep(Act::by(NAME), problem).await {
        Ok(swept) if swept.failed + swept.cancelled > 0 => {
            tracing::warn!(
                failed = swept.failed,
                cancelled = swept.cancelled,
                "ended abandoned jobs"
            );
        }
        Ok(_) => {}
        Err(error) => tracing::warn!(%error, "sweep failed"),
    }
    match store.exploration_sweep(Act::by(NAME)).await {
        Ok(0) => {}
        Ok(jobs) => tracing::info!(jobs, "the time of explorations was up"),
        Err(error) => tracing::warn!(%error, "explorations were not swept"),
    }
    if let Err(error) = store.sessions_sweep().await {
        tracing::warn!(%error, "sessions were not swept");
    }
    if let Err(error) = store.subject_tokens_sweep().await {
        tracing::warn!(%error, "subject tokens were not swept");
    }
    if let Err(error) = store.erasures_complete().await {
        tracing::warn!(%error, "the bytes of what was erased are not gone yet");
    }
}

async fn purge(store: &Store, default_days: Option<u32>) {
    let due = match store.retention_due(default_days).await {
        Ok(due) => due,
        Err(error) => return tracing::warn!(%error, "no look at retention"),
    };
    for dataset in due {
        match store
            .retention_purge(Act::by(NAME), dataset, default_days)
            .await
        {
            Ok(Some(purge)) => {
                tracing::info!(%dataset, chunks = purge.chunks, "records were purged: their time was up");
            }
            // Another process was faster, or somebody uploaded.
            Ok(None) => {}
            Err(error) => tracing::warn!(%dataset, %error, "purge failed"),
        }
    }
}
