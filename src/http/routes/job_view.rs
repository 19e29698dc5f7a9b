//! How a job is shown.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::problem::ProblemDocument;
use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};
use crate::store::{JobRow, JobState};

/// A job.
#[derive(Debug, Serialize, ToSchema)]
pub struct JobView {
    /// Its id.
    id: JobId,
    /// What people call it; null where nobody named it.
    #[schema(value_type = Option<String>)]
    name: Value,
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
    /// The exploration that it belongs to.
    exploration: Option<ExplorationId>,
    /// Why the job may be below the operator's floors, where it asked for that.
    #[schema(value_type = Option<String>)]
    floor_exception: Value,
    /// Bytes of memory that it is estimated to need; a worker lets it wait until they
    /// are free. `null` for a job that was queued by a version without estimates.
    memory_bytes: Option<u64>,
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
    /// The present step, from 1; 0 before the first; the last of a job that succeeded.
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

/// How far a job in this state is. Workers tell progress with heartbeats, so
/// the last one told is behind the end of a job, or missing where it was short.
fn progress(state: JobState, told: Option<Value>) -> ProgressView {
    let told: ProgressView = told
        .and_then(|told| serde_json::from_value(told).ok())
        .unwrap_or_default();
    match state {
        JobState::Succeeded => ProgressView {
            step: told.steps.max(1),
            steps: told.steps.max(1),
            label: "done".into(),
            fraction: 1.0,
        },
        _ => told,
    }
}

impl From<JobRow> for JobView {
    fn from(mut row: JobRow) -> Self {
        Self {
            id: row.id,
            name: row.spec["name"].take(),
            state: row.state,
            dataset: row.dataset,
            version: row.dataset_version,
            preference_version: row.preference_version,
            engine: row.engine,
            parameters: row.spec["parameters"].take(),
            publish: row.publish,
            exploration: row.exploration,
            floor_exception: row.spec["floor_exception"].take(),
            memory_bytes: row.memory_bytes,
            progress: progress(row.state, row.progress),
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
            progress: progress(row.state, row.progress),
            attempts: row.attempts,
            release: row.release,
            problem: row.problem,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(state: JobState, told: Option<Value>) -> Value {
        serde_json::to_value(progress(state, told)).unwrap()
    }

    #[test]
    fn a_job_that_succeeded_is_complete_whatever_was_told_last() {
        let told = json!({"step": 2, "steps": 7, "label": "groups", "fraction": 0.25});
        assert_eq!(
            shown(JobState::Succeeded, Some(told.clone())),
            json!({"step": 7, "steps": 7, "label": "done", "fraction": 1.0})
        );
        assert_eq!(
            shown(JobState::Succeeded, None),
            json!({"step": 1, "steps": 1, "label": "done", "fraction": 1.0})
        );
        for state in [JobState::Running, JobState::Failed, JobState::Cancelled] {
            assert_eq!(shown(state, Some(told.clone())), told);
        }
    }

    #[test]
    fn a_job_of_which_nothing_was_told_has_not_begun() {
        let none = json!({"step": 0, "steps": 0, "label": "", "fraction": 0.0});
        assert_eq!(shown(JobState::Queued, None), none);
    }
}
