//! Explorations: many settings on one version, each a job of low priority.
//!
//! An exploration is a row; its settings are jobs that name it. They are queued
//! together, taken after all other jobs, and tried again as others are: an
//! exploration survives the end of any process. A setting whose release is not
//! among the best so far is withdrawn in the transaction that commits it: its
//! tables are gone, its figures stay. docs/STORE.md tells more.

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::catalog::exploration::Measures;

use super::jobs::{JobState, NewJob};
use super::releases::ReleaseState;
use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};

/// An exploration to be begun.
#[derive(Debug, Clone)]
pub struct NewExploration {
    /// Its id.
    pub id: ExplorationId,
    /// The dataset.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// What was asked (`job::exploration`).
    pub spec: Value,
    /// Who asked for it.
    pub created_by: String,
    /// Seconds after which no job of it is begun any more.
    pub seconds_max: u64,
    /// A job for each setting, in order.
    pub jobs: Vec<NewJob>,
    /// Queued jobs of explorations that the dataset may have, these included.
    pub queued_jobs_max: u64,
}

/// An exploration as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplorationRow {
    /// Its id.
    pub id: ExplorationId,
    /// The dataset.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// What was asked.
    pub spec: Value,
    /// Who asked for it.
    pub created_by: String,
    /// When it was begun.
    pub created_at: DateTime<Utc>,
    /// When no job of it is begun any more.
    pub ends_at: DateTime<Utc>,
    /// When somebody stopped it.
    pub cancelled_at: Option<DateTime<Utc>>,
    /// Number of its settings.
    pub settings_total: u32,
    /// Those that have not ended.
    pub settings_open: u32,
    /// Those that were cancelled.
    pub settings_cancelled: u32,
    /// When the last one ended; `None` where none has.
    pub ended_at: Option<DateTime<Utc>>,
    /// Its settings in order; empty in a list of explorations.
    pub settings: Vec<SettingRow>,
}

/// A setting, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingRow {
    /// Its number, from 1.
    pub number: u32,
    /// The job that runs it.
    pub job: JobId,
    /// The engine's name.
    pub engine: String,
    /// The job's specification.
    pub spec: Value,
    /// Where the job stands.
    pub state: JobState,
    /// Why it failed.
    pub problem: Option<Value>,
    /// What it made, and whether its tables are kept.
    pub release: Option<(ReleaseId, ReleaseState)>,
    /// Whether a first of two stewards said that it may go out.
    pub is_approved: bool,
    /// The figures of what it made.
    pub measures: Option<Measures>,
    /// When it was first acquired.
    pub started_at: Option<DateTime<Utc>>,
    /// When it ended.
    pub finished_at: Option<DateTime<Utc>>,
}
