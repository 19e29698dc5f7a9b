//! Datasets: a schema, and counters that name the latest version of the
//! records and of the preferences.
//!
//! The dataset's row is also the lock that orders what must not overlap: two
//! commits of a version, a change of preferences and a publishing.

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::privacy::Floors;

use super::{Act, Page, PageRequest, Remains, StoreFuture};
use crate::ids::DatasetId;

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
    /// Days that its records stay; `None`: as the service's settings say.
    pub raw_retention_days: Option<u32>,
    /// When retention last purged its records.
    pub records_purged_at: Option<DateTime<Utc>>,
    /// The population that it belongs to; `None`: it is one by itself.
    pub population: Option<String>,
    /// Floors of its own beside the service's.
    pub floors: Floors,
}

impl DatasetRow {
    /// Its entity tag, without quotes: its two versions.
    pub fn tag(&self) -> String {
        format!("{}-{}", self.version, self.preference_version)
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

/// Operations on datasets.
pub trait Datasets {
    /// Creates a dataset without records. `Conflict::Exists` if the id is taken.
    /// One that joins a population takes over the terms in force there.
    fn dataset_create(
        &self,
        act: Act<DatasetRow>,
        dataset: NewDataset,
    ) -> StoreFuture<'_, DatasetRow>;

    /// One dataset; an erased one is not found.
    fn dataset_get(&self, id: DatasetId) -> StoreFuture<'_, DatasetRow>;

    /// The datasets of a dataset's population, itself too, in order of ids;
    /// erased ones left out.
    fn dataset_population(&self, id: DatasetId) -> StoreFuture<'_, Vec<DatasetId>>;

    /// Datasets, newest first, erased ones left out; `only` restricts to some.
    fn dataset_list(
        &self,
        page: PageRequest,
        only: Option<Vec<DatasetId>>,
    ) -> StoreFuture<'_, Page<DatasetRow>>;

    /// Gives a dataset floors of its own. Whatever publishes meanwhile comes
    /// before, or compares its draft with these.
    fn dataset_set_floors(
        &self,
        act: Act<DatasetRow>,
        id: DatasetId,
        floors: Floors,
    ) -> StoreFuture<'_, DatasetRow>;

    /// Erases records, lineage, preferences, drafts and the dataset's own
    /// hierarchies in one transaction.
    ///
    /// Published and withdrawn releases stay (without lineage), the rows of
    /// versions and jobs stay, and the dataset's row stays as a tombstone.
    /// Jobs under way are cancelled, so that none can bring a draft back, and
    /// the keys of all that goes are destroyed. Leaves a tombstone.
    fn dataset_erase(&self, act: Act<Erasure>, id: DatasetId) -> StoreFuture<'_, Erasure>;
}
