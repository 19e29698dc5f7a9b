//! Leases: a job in the hands of one worker, and out of them again.
//!
//! Lease semantics after Janus. Acquiring sets a random token and an expiry
//! and counts the attempt at once, so a job that kills its worker still runs
//! out of attempts. Every later change asks for the token *and* for an expiry
//! that is not past, in the statement that makes the change: between looking
//! and changing nobody can slip in.
//!
//! An expired lease is over even while nobody else has taken the job; it is
//! not brought back by a late heartbeat. Otherwise a worker that slept could
//! go on in the moment before another acquires, and which of the two happened
//! would depend on chance.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};
use uuid::Uuid;

use super::dataset_row::hold;
use super::entry::{Done, Entry};
use super::job_row::{TABLE, get};
use crate::ids::{DatasetId, JobId};
use crate::store::session::{Cell, Session, Signal, Times, cells};
use crate::store::statements::jobs as sql;
use crate::store::{
    ATTEMPTS_MAX, AcquiredJob, FIGURES_TOLD_MAX, Heartbeat, JobProblem, LeaseToken, StoreError,
    Swept,
};

/// What a worker shows to change its job.
#[derive(Clone, Copy)]
pub(super) struct Lease {
    pub(super) id: JobId,
    pub(super) token: LeaseToken,
}

impl Lease {
    /// The cells of the guard that every statement of a worker has.
    pub(super) fn guard(self, times: Times) -> Vec<Cell> {
        cells![self.id.uuid(), self.token.0, times.lease]
    }

    /// The same for those that also end something: with the time of day.
    pub(super) fn end(self, times: Times) -> Vec<Cell> {
        let mut cells = self.guard(times);
        cells.push(times.now.into());
        cells
    }
}

/// A token that nobody can guess and no two leases share.
#[expect(
    clippy::disallowed_methods,
    reason = "a secret that must never come again; no result depends on it"
)]
fn token_generate() -> LeaseToken {
    LeaseToken(uuid::Builder::from_random_bytes(rand::random()).into_uuid())
}

fn expiry(now: DateTime<Utc>, lease_duration: Duration) -> DateTime<Utc> {
    let duration = TimeDelta::from_std(lease_duration).unwrap_or(TimeDelta::days(1));
    now + duration.min(TimeDelta::days(1))
}

pub(super) async fn acquire(
    session: &mut Session,
    worker: String,
    lease_duration: Duration,
) -> Result<Done<Option<AcquiredJob>>, StoreError> {
    let Times { now, lease } = session.times().await?;
    let lease_token = token_generate();
    let acquire = session.dialect().job_acquire;
    let expiry = expiry(lease, lease_duration);
    let cells = cells![lease_token.0, worker, now, expiry, ATTEMPTS_MAX, lease];
    let Some(row) = session.row(TABLE, acquire, cells).await? else {
        return Ok(Done::unchanged(None));
    };
    let id: Uuid = row.uuid("id")?;
    session.signal(Signal::JobChanged);
    let job = get(session, JobId::from(id)).await?;
    let entry =
        Entry::job("acquire_job", job.id, job.dataset).telling(json!({"attempt": job.attempts}));
    Ok(Done::one(Some(AcquiredJob { job, lease_token }), entry))
}

pub(super) async fn heartbeat(
    session: &mut Session,
    lease: Lease,
    lease_duration: Duration,
    progress: Option<Value>,
) -> Result<Heartbeat, StoreError> {
    let times = session.times().await?;
    let lease_expires_at = expiry(times.lease, lease_duration);
    let told = progress.is_some();
    let mut cells = lease.guard(times);
    cells.push(lease_expires_at.into());
    cells.push(progress.map(|progress| progress.to_string()).into());
    let row = session
        .row(TABLE, sql::HEARTBEAT, cells)
        .await?
        .ok_or(StoreError::LeaseLost)?;
    if told {
        session.signal(Signal::JobChanged);
    }
    Ok(Heartbeat {
        cancel_requested: row.truth("cancel_requested")?,
        lease_expires_at,
    })
}

/// Runs a statement of the lease's holder that changes the job's state.
pub(super) async fn change(
    session: &mut Session,
    statement: &'static str,
    cells: Vec<Cell>,
) -> Result<(), StoreError> {
    match session.run(statement, cells).await? {
        0 => Err(StoreError::LeaseLost),
        _ => {
            session.signal(Signal::JobChanged);
            Ok(())
        }
    }
}

/// What the holder of a lease did to its job.
async fn told(
    session: &mut Session,
    lease: Lease,
    action: &'static str,
    detail: Value,
) -> Result<Done<()>, StoreError> {
    let dataset = get(session, lease.id).await?.dataset;
    let entry = Entry::job(action, lease.id, dataset).telling(detail);
    Ok(Done::one((), entry))
}

pub(super) async fn fail(
    session: &mut Session,
    lease: Lease,
    problem: JobProblem,
) -> Result<Done<bool>, StoreError> {
    let with_figures = match problem.with_figures {
        Some(problem) if may_tell_figures(session, lease).await? => Some(problem),
        _ => None,
    };
    let has_figures = with_figures.is_some();
    let problem = with_figures.unwrap_or(problem.plain);
    let mut cells = lease.end(session.times().await?);
    cells.push(Cell::from(&problem));
    cells.push(Cell::from(u32::from(has_figures)));
    change(session, sql::FAIL, cells).await?;
    // The kind of problem, and nothing of what it says.
    let detail = json!({"problem": problem["type"].as_str()});
    let done = told(session, lease, "fail_job", detail).await?;
    Ok(Done::many(has_figures, done.entries))
}

/// Whether the version has told fewer figures than it may. Its dataset's row
/// is held from here on: two jobs that fail together are counted one by one.
async fn may_tell_figures(session: &mut Session, lease: Lease) -> Result<bool, StoreError> {
    let job = get(session, lease.id).await?;
    let lock = session.dialect().dataset_lock;
    match hold(session, job.dataset, lock).await {
        Err(StoreError::NotFound { .. }) => return Err(StoreError::LeaseLost),
        other => other?,
    }
    let cells = cells![job.dataset.uuid(), job.dataset_version];
    let row = session.row(TABLE, sql::FIGURES, cells).await?;
    let told = row.ok_or(StoreError::not_found("job"))?.count("jobs")?;
    Ok(told < FIGURES_TOLD_MAX)
}

pub(super) async fn cancel(session: &mut Session, lease: Lease) -> Result<Done<()>, StoreError> {
    let cells = lease.end(session.times().await?);
    change(session, sql::CANCEL, cells).await?;
    told(session, lease, "stop_job", json!({})).await
}

pub(super) async fn give_back(session: &mut Session, lease: Lease) -> Result<Done<()>, StoreError> {
    let cells = lease.end(session.times().await?);
    session.signal(Signal::JobQueued);
    change(session, sql::YIELD, cells).await?;
    told(session, lease, "yield_job", json!({})).await
}

pub(super) async fn sweep(
    session: &mut Session,
    problem: Value,
) -> Result<Done<Swept>, StoreError> {
    let Times { now, lease } = session.times().await?;
    let dialect = session.dialect();
    let cells = cells![now, ATTEMPTS_MAX, &problem, lease];
    let failed = session.rows(TABLE, dialect.job_sweep_failed, cells).await?;
    let stopped = dialect.job_sweep_cancelled;
    let cancelled = session.rows(TABLE, stopped, cells![now, lease]).await?;
    let detail = json!({"problem": problem["type"].as_str(), "abandoned": true});
    let failures = failed.iter().map(|row| ("fail_job", row, detail.clone()));
    let stops = cancelled
        .iter()
        .map(|row| ("stop_job", row, json!({"abandoned": true})));
    let entries: Vec<Entry> = failures
        .chain(stops)
        .map(|(action, row, detail)| {
            let job = JobId::from(row.uuid("id")?);
            let dataset = DatasetId::from(row.uuid("dataset_id")?);
            Ok(Entry::job(action, job, dataset).telling(detail))
        })
        .collect::<Result<_, StoreError>>()?;
    if !entries.is_empty() {
        session.signal(Signal::JobChanged);
    }
    let swept = Swept {
        failed: failed.len() as u64,
        cancelled: cancelled.len() as u64,
    };
    Ok(Done::many(swept, entries))
}
