//! How a job is shown.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::super::problem::ProblemDocument;
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::store::{JobRow, JobState};

/// A job.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Its id.
    id: JobId,
    /// Where it stands.
    state: JobState,
    /// The dataset.
    dataset: DatasetId,
    /// The version of the records.
    version: u64,
    /// The version of the preferences.
    preference_version: u64,
    /// The engine's name.
    engine: String,
    /// The engine's parameters, as they were given.
    #[schema(value_type = Object)]
    parameters: Value,
    /// `manual` or `automatic`.
    publish: String,
    /// How far the present attempt is.
    progress: ProgressView,
    /// How often a worker took it up.
    attempts: u32,
    /// Whether somebody asked to stop it.
    cancel_requested: bool,
    /// What it produced.
    release: Option<ReleaseId>,
    /// Why it failed.
    #[schema(value_type = Option<ProblemDocument>)]
    problem: Option<Value>,
    /// When it was queued.
    created_at: DateTime<Utc>,
    /// When a worker first took it up.
    started_at: Option<DateTime<Utc>>,
    /// When it ended.
    finished_at: Option<DateTime<Utc>>,
    /// Id of the key that asked for it.
    created_by: String,
}

/// How far a job is.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct ProgressView {
    /// The present step, from 1; 0 before the first.
    #[schema(examples(2))]
    step: u32,
    /// Number of steps; 0 while it is not known.
    #[schema(examples(7))]
    steps: u32,
    /// What the step is.
    label: String,
    /// Share of the step that is done, 0 to 1.
    fraction: f64,
}

/// What an event tells of a job.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobEvent)]
pub struct EventView {
    state: JobState,
    progress: ProgressView,
    attempts: u32,
    release: Option<ReleaseId>,
    #[schema(value_type = Option<ProblemDocument>)]
    problem: Option<Value>,
}

fn progress(told: Option<Value>) -> ProgressView {
    told.and_then(|told| serde_json::from_value(told).ok())
        .unwrap_or_default()
}

impl From<JobRow> for JobView {
    fn from(mut row: JobRow) -> Self {
        Self {
            id: row.id,
            state: row.state,
            dataset: row.dataset,
            version: row.dataset_version,
            preference_version: row.preference_version,
            engine: row.engine,
            parameters: row.spec["parameters"].take(),
            publish: row.publish,
            progress: progress(row.progress),
            attempts: row.attempts,
            cancel_requested: row.cancel_requested,
            release: row.release,
            problem: row.problem,
            created_at: row.created_at,
            started_at: row.started_at,
            finished_at: row.finished_at,
            created_by: row.created_by,
        }
    }
}

impl From<JobRow> for EventView {
    fn from(row: JobRow) -> Self {
        Self {
            state: row.state,
            progress: progress(row.progress),
            attempts: row.attempts,
            release: row.release,
            problem: row.problem,
        }
    }
}
