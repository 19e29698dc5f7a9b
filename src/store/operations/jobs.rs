//! Jobs as everybody sees them: queueing, reading, asking to stop, waiting.
//!
//! What a worker does with a job in its hands is in `leases` and `results`.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use serde_json::json;

use super::allowed;
use super::dataset_row::hold;
use super::entry::{Done, Entry};
use super::job_row::{TABLE, get, job_row};
use super::secrets::drawn_for_job;
use super::{Store, page_bounds, page_of};
use crate::ids::JobId;
use crate::store::session::{Session, Signal, cells};
use crate::store::statements::{jobs as sql, versions as version_sql};
use crate::store::{
    ATTEMPTS_MAX, AcquiredJob, Act, Conflict, Heartbeat, JobFilter, JobProblem, JobRow, JobSecrets,
    JobState, LeaseToken, NewJob, Page, PageRequest, ReleaseCommit, ReleaseState, StoreError,
    Swept,
};

/// Longest time between two looks while waiting: what a lost signal costs, and
/// how soon an expired lease is noticed (nothing signals the passing of time).
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

async fn create(session: &mut Session, job: NewJob) -> Result<Done<JobRow>, StoreError> {
    // Held against other jobs that are being queued: they are counted.
    let lock = session.dialect().dataset_lock;
    hold(session, job.dataset, lock).await?;
    let dataset = job.dataset.uuid();
    let queued = session.row(TABLE, sql::QUEUED, cells![dataset]).await?;
    let queued = queued.ok_or(StoreError::not_found("job"))?.count("jobs")?;
    if queued >= job.queued_jobs_max {
        return Err(Conflict::QueueFull.into());
    }
    let row = queue(session, job).await?;
    let mut detail = json!({
        "engine": row.engine,
        "version": row.dataset_version,
        "preference_version": row.preference_version,
        "publish": row.publish,
    });
    // The reason stands in the manifest: it is no count.
    if row.spec["floor_exception"].is_string() {
        detail["floor_exception"] = json!(true);
    }
    let entry = Entry::job("create_job", row.id, row.dataset).telling(detail);
    Ok(Done::one(row, entry))
}

/// Writes the row of a job that waits for a worker, and wakes one.
pub(super) async fn queue(session: &mut Session, job: NewJob) -> Result<JobRow, StoreError> {
    let dataset = job.dataset.uuid();
    let version = cells![dataset, job.dataset_version];
    let version = session
        .row("dataset_version", version_sql::GET, version)
        .await?;
    version.ok_or(StoreError::not_found("version"))?;
    let seed = drawn_for_job(session, job.dataset, job.id).await?;
    let now = session.now().await?;
    let cells = cells![
        job.id.uuid(),
        dataset,
        job.dataset_version,
        job.preference_version,
        job.engine,
        &job.spec,
        job.publish,
        job.created_by,
        now,
        seed,
        job.memory_bytes,
        job.setting.map(|(exploration, _)| exploration.uuid()),
        job.setting.map(|(_, number)| u64::from(number)),
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    session.signal(Signal::JobQueued);
    get(session, job.id).await
}

async fn cancel_request(session: &mut Session, id: JobId) -> Result<Done<JobRow>, StoreError> {
    let now = session.now().await?;
    let cells = cells![id.uuid(), now];
    let changed = session.run(sql::CANCEL_REQUEST, cells).await?;
    let row = get(session, id).await?;
    if changed == 0 {
        return Ok(Done::unchanged(row));
    }
    session.signal(Signal::JobChanged);
    let entry = Entry::job("cancel_job", id, row.dataset);
    Ok(Done::one(row, entry))
}

async fn list(
    session: &mut Session,
    page: PageRequest,
    filter: JobFilter,
) -> Result<Page<JobRow>, StoreError> {
    let states = match filter.states.as_slice() {
        [] => JobState::ALL.as_slice(),
        states => states,
    };
    let states: serde_json::Value = states.iter().map(|state| state.as_str()).collect();
    let only = allowed(filter.dataset, filter.only);
    let (cursor, limit) = page_bounds(page);
    let statement = session.dialect().job_list;
    let rows = session
        .rows(TABLE, statement, cells![cursor, &states, only, limit])
        .await?;
    page_of(rows, page, job_row)
}

async fn waiting(session: &mut Session) -> Result<bool, StoreError> {
    let lease = session.times().await?.lease;
    let row = session
        .row(TABLE, sql::WAITING, cells![lease, ATTEMPTS_MAX])
        .await?;
    Ok(row.ok_or(StoreError::not_found("job"))?.count("jobs")? > 0)
}

async fn depth(session: &mut Session) -> Result<Vec<(JobState, u64)>, StoreError> {
    let mut depth: Vec<(JobState, u64)> = JobState::ALL.iter().map(|state| (*state, 0)).collect();
    for row in session.rows(TABLE, sql::DEPTH, Vec::new()).await? {
        let state = row.word("state", JobState::parse)?;
        for (named, jobs) in &mut depth {
            if *named == state {
                *jobs = row.count("jobs")?;
            }
        }
    }
    Ok(depth)
}

impl Store {
    /// Queues a job and wakes a worker. Not found: the dataset or its version.
    pub async fn job_create(&self, act: Act<JobRow>, job: NewJob) -> Result<JobRow, StoreError> {
        self.write(act, |session| Box::pin(create(session, job)))
            .await
    }

    /// One job.
    pub async fn job_get(&self, id: JobId) -> Result<JobRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Jobs, newest first.
    pub async fn job_list(
        &self,
        page: PageRequest,
        filter: JobFilter,
    ) -> Result<Page<JobRow>, StoreError> {
        self.read(move |session| Box::pin(list(session, page, filter)))
            .await
    }

    /// Asks to stop a job: a queued one is cancelled at once, a running one is
    /// flagged, a finished one stays as it is.
    pub async fn job_cancel_request(
        &self,
        act: Act<JobRow>,
        id: JobId,
    ) -> Result<JobRow, StoreError> {
        self.write(act, move |session| Box::pin(cancel_request(session, id)))
            .await
    }

    /// Takes the oldest job that is queued, or whose lease ran out with an
    /// attempt left; `None` if there is none. Counts the attempt. The act names
    /// the worker.
    pub async fn job_acquire(
        &self,
        act: Act<Option<AcquiredJob>>,
        lease_duration: Duration,
    ) -> Result<Option<AcquiredJob>, StoreError> {
        let worker = act.actor().to_owned();
        self.write(act, move |session| {
            Box::pin(super::leases::acquire(session, worker, lease_duration))
        })
        .await
    }

    /// What the run of a job in hand is decided by. Draws what a row of before
    /// there were secrets does not have.
    pub async fn job_secrets(
        &self,
        act: Act<JobSecrets>,
        id: JobId,
        token: LeaseToken,
    ) -> Result<JobSecrets, StoreError> {
        let lease = super::leases::Lease { id, token };
        self.write(act, move |session| {
            Box::pin(super::secrets::of_job(session, lease))
        })
        .await
    }

    /// Extends the lease by `lease_duration` from now and tells the progress, if any.
    pub async fn job_heartbeat(
        &self,
        id: JobId,
        token: LeaseToken,
        lease_duration: Duration,
        progress: Option<serde_json::Value>,
    ) -> Result<Heartbeat, StoreError> {
        let lease = super::leases::Lease { id, token };
        self.write_unaudited(move |session| {
            Box::pin(super::leases::heartbeat(
                session,
                lease,
                lease_duration,
                progress,
            ))
        })
        .await
    }

    /// Commits a job's release in one transaction; answers the release's state.
    pub async fn job_complete(
        &self,
        act: Act<ReleaseState>,
        id: JobId,
        token: LeaseToken,
        release: ReleaseCommit,
    ) -> Result<ReleaseState, StoreError> {
        let lease = super::leases::Lease { id, token };
        let actor = act.actor().to_owned();
        self.write(act, move |session| {
            Box::pin(super::results::complete(session, lease, release, actor))
        })
        .await
    }

    /// Ends a job with a problem; answers whether it has its figures. Of one
    /// version of a dataset [`FIGURES_TOLD_MAX`](crate::store::FIGURES_TOLD_MAX) problems have them.
    pub async fn job_fail(
        &self,
        act: Act<bool>,
        id: JobId,
        token: LeaseToken,
        problem: JobProblem,
    ) -> Result<bool, StoreError> {
        let lease = super::leases::Lease { id, token };
        self.write(act, move |session| {
            Box::pin(super::leases::fail(session, lease, problem))
        })
        .await
    }

    /// Ends a job because somebody asked to.
    pub async fn job_cancelled(
        &self,
        act: Act<()>,
        id: JobId,
        token: LeaseToken,
    ) -> Result<(), StoreError> {
        let lease = super::leases::Lease { id, token };
        self.write(act, move |session| {
            Box::pin(super::leases::cancel(session, lease))
        })
        .await
    }

    /// Gives a job back unharmed (the worker drains): queued again, the
    /// attempt not counted; cancelled if somebody asked for that.
    pub async fn job_yield(
        &self,
        act: Act<()>,
        id: JobId,
        token: LeaseToken,
    ) -> Result<(), StoreError> {
        let lease = super::leases::Lease { id, token };
        self.write(act, move |session| {
            Box::pin(super::leases::give_back(session, lease))
        })
        .await
    }

    /// Ends jobs whose lease ran out and that nobody may acquire again; those
    /// out of attempts fail with `problem`.
    pub async fn job_sweep(
        &self,
        act: Act<Swept>,
        problem: serde_json::Value,
    ) -> Result<Swept, StoreError> {
        self.write(act, move |session| {
            Box::pin(super::leases::sweep(session, problem))
        })
        .await
    }

    /// Waits until there may be a job to acquire, at most `timeout`; tells
    /// whether there may be one.
    ///
    /// Interest is registered before the first look, so a job that is queued
    /// between the two is not missed.
    pub async fn job_wait(&self, timeout: Duration) -> Result<bool, StoreError> {
        let end = Instant::now() + timeout;
        let mut signal = self.backend.signals().subscribe(Signal::JobQueued);
        loop {
            if self.read(|session| Box::pin(waiting(session))).await? {
                return Ok(true);
            }
            let now = Instant::now();
            if now >= end {
                return Ok(false);
            }
            let next_look = end.min(now + LOOK_INTERVAL);
            // Signalled or timed out: either way, look again.
            let _ = timeout_at(next_look, signal.changed()).await;
        }
    }

    /// Waits until a job's revision is above `revision`, at most `timeout`;
    /// answers the job as it then is.
    pub async fn job_watch(
        &self,
        id: JobId,
        revision: u64,
        timeout: Duration,
    ) -> Result<JobRow, StoreError> {
        let end = Instant::now() + timeout;
        let mut signal = self.backend.signals().subscribe(Signal::JobChanged);
        loop {
            let job = self.job_get(id).await?;
            let now = Instant::now();
            if job.revision > revision || now >= end {
                return Ok(job);
            }
            let next_look = end.min(now + LOOK_INTERVAL);
            let _ = timeout_at(next_look, signal.changed()).await;
        }
    }

    /// Number of jobs in each state, all states named.
    pub async fn queue_depth(&self) -> Result<Vec<(JobState, u64)>, StoreError> {
        self.read(|session| Box::pin(depth(session))).await
    }
}
