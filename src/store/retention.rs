//! How long records stay.
//!
//! A dataset may say for how many days its records and lineage are kept after
//! its last release, or after its last upload if that came later (or if there
//! was no release); where it says nothing, the service's own setting counts. A
//! purge removes chunks and lineage, destroys the key that sealed them,
//! withdraws drafts (nobody could check them any more), cancels jobs, and
//! leaves an empty version behind, so that another upload may follow.
//! Published releases and preferences stay. What these releases show of each
//! subject stays as well, unless the dataset says that it goes with the records.
//!
//! Records that an upload replaced have days of their own, which begin with
//! that upload or with the last release made of them; jobs may work on them
//! until then. Their purge leaves the records that replaced them alone.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::ids::DatasetId;

/// Most days that records may be kept: a hundred years.
pub const RAW_RETENTION_DAYS_MAX: u32 = 36_500;

/// What becomes of what public releases show of each subject, once their records
/// are purged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesMemory {
    /// It stays, sealed: the next release is checked together with them.
    #[default]
    Keep,
    /// It goes with the records. Nobody can check the next release of the same
    /// people then, so two stewards have to give a reason for it.
    Drop,
}

impl SeriesMemory {
    /// The word kept in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Keep => "keep",
            Self::Drop => "drop",
        }
    }

    /// The one that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Keep, Self::Drop]
            .into_iter()
            .find(|memory| memory.as_str() == word)
    }
}

/// How long the records of a dataset stay, and what is known of them afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Retention {
    /// Days, 1 to [`RAW_RETENTION_DAYS_MAX`]; `None`: as the service's settings say.
    pub raw_days: Option<u32>,
    /// What becomes of what public releases show.
    pub series_memory: SeriesMemory,
}

/// What one purge removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purge {
    /// The dataset.
    pub dataset: DatasetId,
    /// Chunks of records.
    pub chunks: u64,
    /// Releases whose lineage went.
    pub lineages: u64,
    /// Drafts that were withdrawn.
    pub drafts: u64,
    /// Jobs that were queued or running.
    pub jobs_cancelled: u64,
    /// Public releases of which it is not known any more what they show.
    pub memories: u64,
}
