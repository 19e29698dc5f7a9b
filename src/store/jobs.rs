//! Jobs: the queue, the leases and the result.
//!
//! A worker that acquires a job gets a random token and a time until which
//! the job is its own. Everything it does to the job later is guarded by that
//! token *and* that time: a worker that was away too long changes nothing and
//! learns it by `StoreError::LeaseLost`. docs/STORE.md draws the states.

use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;
use vizard_anonymizer::privacy::Seed;

use super::releases::{ReleaseCommit, ReleaseState};
use super::{Act, Page, PageRequest, StoreFuture};
use crate::ids::{DatasetId, JobId, ReleaseId};

/// How often a job may be acquired before it is given up.
pub const ATTEMPTS_MAX: u32 = 5;

/// How many problems with figures of its records a version of a dataset gives
/// out. Each figure is one of a coarse scale (`job::coarse`): twenty of them
/// are what a steward needs who looks for parameters, and too few to walk
/// along the frequencies of the values.
pub const FIGURES_TOLD_MAX: u64 = 20;

/// Where a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// Waits for a worker.
    Queued,
    /// A worker holds a lease on it, or held one that ran out.
    Running,
    /// There is a release.
    Succeeded,
    /// There is a problem.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

impl JobState {
    /// All states, in the order of a job's life.
    pub const ALL: [Self; 5] = [
        Self::Queued,
        Self::Running,
        Self::Succeeded,
        Self::Failed,
        Self::Cancelled,
    ];

    /// The word used in the database, the API and the metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The state that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Whether nothing will happen to the job any more.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// A job to be queued.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its id.
    pub id: JobId,
    /// The dataset.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// The engine's name.
    pub engine: String,
    /// The whole specification.
    pub spec: Value,
    /// `manual` or `automatic`.
    pub publish: String,
    /// Who asked for it.
    pub created_by: String,
    /// Bytes of memory that it is estimated to need.
    pub memory_bytes: u64,
    /// Queued jobs that the dataset may have, this one included.
    pub queued_jobs_max: u64,
}

/// A job as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct JobRow {
    /// Its id.
    pub id: JobId,
    /// The dataset.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// The engine's name.
    pub engine: String,
    /// The whole specification.
    pub spec: Value,
    /// `manual` or `automatic`.
    pub publish: String,
    /// Who asked for it.
    pub created_by: String,
    /// Bytes of memory that it is estimated to need; `None`: no estimate was kept.
    pub memory_bytes: Option<u64>,
    /// Where it stands.
    pub state: JobState,
    /// Grows by one with every visible change; events resume from it.
    pub revision: u64,
    /// What the worker last told; `None` before it told anything.
    pub progress: Option<Value>,
    /// Why it failed.
    pub problem: Option<Value>,
    /// What it produced; `None` also where a draft was erased.
    pub release: Option<ReleaseId>,
    /// How often it was acquired.
    pub attempts: u32,
    /// Whether somebody asked to stop it.
    pub cancel_requested: bool,
    /// Name of the worker that acquired it last.
    pub worker: Option<String>,
    /// When the present lease runs out.
    pub lease_expires_at: Option<DateTime<Utc>>,
    /// When it was queued.
    pub created_at: DateTime<Utc>,
    /// When it was first acquired.
    pub started_at: Option<DateTime<Utc>>,
    /// When it reached a final state.
    pub finished_at: Option<DateTime<Utc>>,
}

/// The proof of holding a lease: 122 random bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LeaseToken(pub(super) Uuid);

impl std::fmt::Debug for LeaseToken {
    /// A token is a secret of its worker: never printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("LeaseToken(…)")
    }
}

/// A job in the hands of a worker.
#[derive(Debug, Clone, PartialEq)]
pub struct AcquiredJob {
    /// The job, as it is after it was acquired.
    pub job: JobRow,
    /// What every later call must show.
    pub lease_token: LeaseToken,
}

/// What decides every random choice of a job. Never printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobSecrets {
    /// Of the job: the same for each of its attempts.
    pub seed: Seed,
    /// Of its dataset: the same for each of its jobs.
    pub dataset_secret: Seed,
}

/// Why a job failed, as it is to be told.
#[derive(Debug, Clone, PartialEq)]
pub struct JobProblem {
    /// Without any figure of the records.
    pub plain: Value,
    /// With figures, where there are any.
    pub with_figures: Option<Value>,
}

impl From<Value> for JobProblem {
    /// A problem that has no figures.
    fn from(plain: Value) -> Self {
        Self {
            plain,
            with_figures: None,
        }
    }
}

/// Which jobs a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobFilter {
    /// Only in these states; empty: any.
    pub states: Vec<JobState>,
    /// Only of this dataset.
    pub dataset: Option<DatasetId>,
    /// Only of these datasets (what the caller may see); `None`: all.
    pub only: Option<Vec<DatasetId>>,
}

/// What a heartbeat learned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Whether somebody asked to stop the job.
    pub cancel_requested: bool,
    /// How long the lease lasts now.
    pub lease_expires_at: DateTime<Utc>,
}

/// What a sweep changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Expired with no attempt left: failed.
    pub failed: u64,
    /// Expired after somebody asked to stop them: cancelled.
    pub cancelled: u64,
}

/// Operations on jobs.
pub trait Jobs {
    /// Queues a job and wakes a worker. Not found: the dataset or its version.
    fn job_create(&self, act: Act<JobRow>, job: NewJob) -> StoreFuture<'_, JobRow>;

    /// One job.
    fn job_get(&self, id: JobId) -> StoreFuture<'_, JobRow>;

    /// Jobs, newest first.
    fn job_list(&self, page: PageRequest, filter: JobFilter) -> StoreFuture<'_, Page<JobRow>>;

    /// Asks to stop a job: a queued one is cancelled at once, a running one is
    /// flagged, a finished one stays as it is.
    fn job_cancel_request(&self, act: Act<JobRow>, id: JobId) -> StoreFuture<'_, JobRow>;

    /// Takes the oldest job that is queued, or whose lease ran out with an
    /// attempt left; `None` if there is none. Counts the attempt. The act names
    /// the worker.
    fn job_acquire(
        &self,
        act: Act<Option<AcquiredJob>>,
        lease_duration: Duration,
    ) -> StoreFuture<'_, Option<AcquiredJob>>;

    /// What the run of a job in hand is decided by. Draws what a row of before
    /// there were secrets does not have.
    fn job_secrets(
        &self,
        act: Act<JobSecrets>,
        id: JobId,
        token: LeaseToken,
    ) -> StoreFuture<'_, JobSecrets>;

    /// Extends the lease by `lease_duration` from now and tells the progress, if any.
    fn job_heartbeat(
        &self,
        id: JobId,
        token: LeaseToken,
        lease_duration: Duration,
        progress: Option<Value>,
    ) -> StoreFuture<'_, Heartbeat>;

    /// Commits a job's release in one transaction; answers the release's state.
    fn job_complete(
        &self,
        act: Act<ReleaseState>,
        id: JobId,
        token: LeaseToken,
        release: ReleaseCommit,
    ) -> StoreFuture<'_, ReleaseState>;

    /// Ends a job with a problem; answers whether it has its figures. Of one
    /// version of a dataset [`FIGURES_TOLD_MAX`] problems have them.
    fn job_fail(
        &self,
        act: Act<bool>,
        id: JobId,
        token: LeaseToken,
        problem: JobProblem,
    ) -> StoreFuture<'_, bool>;

    /// Ends a job because somebody asked to.
    fn job_cancelled(&self, act: Act<()>, id: JobId, token: LeaseToken) -> StoreFuture<'_, ()>;

    /// Gives a job back unharmed (the worker drains): queued again, the
    /// attempt not counted; cancelled if somebody asked for that.
    fn job_yield(&self, act: Act<()>, id: JobId, token: LeaseToken) -> StoreFuture<'_, ()>;

    /// Ends jobs whose lease ran out and that nobody may acquire again; those
    /// out of attempts fail with `problem`.
    fn job_sweep(&self, act: Act<Swept>, problem: Value) -> StoreFuture<'_, Swept>;

    /// Waits until there may be a job to acquire, at most `timeout`; tells
    /// whether there may be one.
    ///
    /// Interest is registered before the first look, so a job that is queued
    /// between the two is not missed.
    fn job_wait(&self, timeout: Duration) -> StoreFuture<'_, bool>;

    /// Waits until a job's revision is above `revision`, at most `timeout`;
    /// answers the job as it then is.
    fn job_watch(&self, id: JobId, revision: u64, timeout: Duration) -> StoreFuture<'_, JobRow>;

    /// Number of jobs in each state, all states named.
    fn queue_depth(&self) -> StoreFuture<'_, Vec<(JobState, u64)>>;
}
