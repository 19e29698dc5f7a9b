//! Tombstones: what was erased, so that it stays erased.
//!
//! An erasure, a purge of records by retention and a withdrawal each leave a
//! tombstone: what, which, when; nothing of what it was. It stands in a table
//! and, where the operator gives a file, in a journal outside the database.
//! When an old backup is restored, its table knows nothing of what was erased
//! since; the journal does, and the store applies it before it serves.
//!
//! The journal's line is on the disk *before* the transaction commits. So no
//! erasure is ever in the database and not in the journal. A line whose
//! transaction did not commit after all (the process died in between) is an
//! erasure that was asked for and not acknowledged: the next start completes it.

use chrono::{DateTime, Utc};
use serde::Serialize;
use uuid::Uuid;

use crate::ids::{DatasetId, ReleaseId};

/// What a tombstone stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buried {
    /// A dataset with all that is personal in it.
    Dataset(DatasetId),
    /// The records and lineage of a dataset, as they were then.
    Records(DatasetId),
    /// The bytes of a release.
    Release(ReleaseId),
}

impl Buried {
    /// The word kept in the table and in the journal.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dataset(_) => "dataset_erased",
            Self::Records(_) => "records_purged",
            Self::Release(_) => "release_withdrawn",
        }
    }

    /// Which dataset or release.
    pub(super) fn id(self) -> Uuid {
        match self {
            Self::Dataset(id) | Self::Records(id) => id.uuid(),
            Self::Release(id) => id.uuid(),
        }
    }

    /// What a word and an id name.
    pub(super) fn of(word: &str, id: Uuid) -> Option<Self> {
        match word {
            "dataset_erased" => Some(Self::Dataset(id.into())),
            "records_purged" => Some(Self::Records(id.into())),
            "release_withdrawn" => Some(Self::Release(id.into())),
            _ => None,
        }
    }
}

/// One tombstone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tombstone {
    /// What was erased.
    pub what: Buried,
    /// When, by the store's clock.
    pub at: DateTime<Utc>,
}

/// What stays of erased bytes in the store's files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Remains {
    /// Nothing: what was deleted is overwritten, in the log too.
    Nothing,
    /// The service still wipes them.
    #[default]
    Wiping,
    /// Bytes whose key was destroyed, until PostgreSQL writes over them. Until
    /// then its files may hold the key too, wrapped by the master key of that time.
    Sealed,
    /// Bytes that can be read, until PostgreSQL writes over them. The service
    /// does no more.
    UntilOverwritten,
}

impl Remains {
    /// What stays when wiping is over.
    pub(super) fn after_wiping(overwrites: bool, is_key_destroyed: bool) -> Self {
        match (overwrites, is_key_destroyed) {
            (true, _) => Self::Nothing,
            (false, true) => Self::Sealed,
            (false, false) => Self::UntilOverwritten,
        }
    }

    /// Whether nothing stays that the key in use opens.
    pub fn is_complete(self) -> bool {
        matches!(self, Self::Nothing | Self::Sealed)
    }
}

/// How far an erasure is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErasureState {
    /// When the dataset was erased: nobody finds it since; `None`: it was not.
    pub erased_at: Option<DateTime<Utc>>,
    /// When its bytes were gone from the database's files, but for sealed ones
    /// without a key; `None`: they may still be there.
    pub completed_at: Option<DateTime<Utc>>,
    /// What stays of them; `None`: it was not erased.
    pub remains: Option<Remains>,
}

/// What applying the journal changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reapplied {
    /// Datasets that a restored backup had brought back.
    pub datasets: u64,
    /// Datasets whose purged records it had brought back.
    pub records: u64,
    /// Withdrawn releases that it had brought back.
    pub releases: u64,
    /// Tombstones of the table that the journal did not have.
    pub journaled: u64,
}
