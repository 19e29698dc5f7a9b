//! Ends jobs whose lease ran out and that nobody may acquire again, and forgets
//! subject tokens whose time is over.

use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::job::JobFailure;
use crate::store::Act;

/// Who the audit log says did it.
const NAME: &str = "janitor";

/// Sweeps twice a lease until shutdown. Any number of processes may do so.
pub async fn sweep(shared: &Shared, shutdown: &CancellationToken) {
    let interval = shared.settings.lease_duration / 2;
    loop {
        match shared
            .store
            .job_sweep(Act::by(NAME), JobFailure::AttemptsExhausted.problem())
            .await
        {
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
        if let Err(error) = shared.store.subject_tokens_sweep().await {
            tracing::warn!(%error, "subject tokens were not swept");
        }
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(interval) => {}
        }
    }
}
