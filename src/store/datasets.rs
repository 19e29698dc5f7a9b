//! Datasets: a schema, and counters that name the latest version of the
//! records and of the preferences.
//!
//! The dataset's row is also the lock that orders what must not overlap: two
//! commits of a version, a change of preferences and a publishing.

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::privacy::Floors;

use super::{Remains, Retention, VersionRow};
use crate::ids::DatasetId;
use crate::job::JobSize;

/// A dataset to be created.
#[derive(Debug, Clone)]
pub struct NewDataset {
    /// Its id.
    pub id: DatasetId,
    /// Its name.
    pub name: String,
    /// Its schema, as the client gave it.
    pub schema: Value,
    /// Who made it (a key's id, or another principal).
    pub created_by: String,
    /// The population that it belongs to; `None`: it is one by itself.
    pub population: Option<String>,
}

/// A dataset as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetRow {
    /// Its id.
    pub id: DatasetId,
    /// Its name.
    pub name: String,
    /// Its schema.
    pub schema: Value,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Latest version of the records; 0 before the first upload.
    pub version: u64,
    /// Records in the latest version.
    pub records: u64,
    /// Digests of the hierarchies that the latest version pins, by name; `{}` before.
    pub hierarchies: Value,
    /// Latest version of the preferences; 0 before the first.
    pub preference_version: u64,
    /// How many subjects have a preference in force.
    pub subjects_with_preference: u64,
    /// How long its records stay.
    pub retention: Retention,
    /// When retention last purged its records.
    pub records_purged_at: Option<DateTime<Utc>>,
    /// The population that it belongs to; `None`: it is one by itself.
    pub population: Option<String>,
    /// Floors of its own beside the service's.
    pub floors: Floors,
    /// Combinations of its population table; 0 where it has none.
    pub population_combinations: u64,
}

impl DatasetRow {
    /// Its entity tag, without quotes: its two versions.
    pub fn tag(&self) -> String {
        format!("{}-{}", self.version, self.preference_version)
    }

    /// What a job on a version of it is estimated from, with so many attributes.
    pub fn job_size(&self, version: &VersionRow, attributes: u64) -> JobSize {
        JobSize {
            records: version.total_records,
            attributes,
            text: version.text,
            preferences: self.subjects_with_preference,
            population_combinations: self.population_combinations,
        }
    }
}

/// What an erasure removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Erasure {
    /// Chunks of records.
    pub chunks: u64,
    /// Preferences, their history included.
    pub preferences: u64,
    /// Revisions of hierarchies of its own.
    pub hierarchies: u64,
    /// Drafts, with their tables.
    pub drafts: u64,
    /// Jobs that were queued or running and are now cancelled.
    pub jobs_cancelled: u64,
    /// What stays of its bytes: while wiping goes on, `erasure_get` tells when
    /// it is over.
    pub remains: Remains,
}
