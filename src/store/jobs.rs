//! Jobs: the queue, the leases and the result.
//!
//! A worker that acquires a job gets a random token and a time until which
//! the job is its own. Everything it does to the job later is guarded by that
//! token *and* that time: a worker that was away too long changes nothing and
//! learns it by `StoreError::LeaseLost`. docs/STORE.md draws the states.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;
use vizard_anonymizer::privacy::Seed;

use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};

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
    /// The exploration that it belongs to, and its number there.
    pub setting: Option<(ExplorationId, u32)>,
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
    /// The exploration that it belongs to.
    pub exploration: Option<ExplorationId>,
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
