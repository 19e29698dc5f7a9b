//! Versions of a dataset's records, and the chunks they are made of.
//!
//! A chunk belongs to an *epoch*: the version that last replaced anything.
//! A version sees the first `chunks` chunks of its epoch, so an `append` adds
//! chunks behind those of the version before and copies nothing, and a
//! `replace` begins a new epoch. An `upsert` does the one where all subjects
//! are new, and the other where records go: then it brings those that stay
//! too. Chunks are opaque bytes with a SHA-256.

use chrono::{DateTime, Utc};
use serde_json::Value;
use vizard_anonymizer::microdata::TextSize;

use crate::ids::DatasetId;

/// How a version relates to the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VersionMode {
    /// The records of the version before, and these.
    Append,
    /// These records alone.
    Replace,
    /// The records before of subjects that have none here, and these.
    Upsert,
    /// The records before, under another schema.
    Schema,
}

impl VersionMode {
    /// The word kept in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Replace => "replace",
            Self::Upsert => "upsert",
            Self::Schema => "schema",
        }
    }

    /// The mode that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Append, Self::Replace, Self::Upsert, Self::Schema]
            .into_iter()
            .find(|mode| mode.as_str() == word)
    }
}

/// One chunk on its way into the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewChunk {
    /// The bytes, at most 8 MiB.
    pub bytes: Vec<u8>,
    /// Records in it.
    pub records: u64,
    /// Bytes of text in it.
    pub text: TextSize,
}

/// Chunks in order, drawn one at a time on a thread that may block.
pub type ChunkSource = Box<dyn Iterator<Item = std::io::Result<NewChunk>> + Send>;

/// A version to be committed.
pub struct NewVersion {
    /// The dataset.
    pub dataset: DatasetId,
    /// The version that the caller saw as the latest; 0 before the first.
    pub base_version: u64,
    /// Whether the records before stay.
    pub mode: VersionMode,
    /// Records in this upload; with those of `rewrites`, the sum over `chunks`.
    pub records: u64,
    /// Of an upsert under which records go: so many that stay stand in `chunks`,
    /// before the upload's. `None`: the chunks before stay as `mode` says.
    pub rewrites: Option<u64>,
    /// Records that the missing-value policy left out.
    pub dropped: u64,
    /// Digest of each hierarchy that was used, by name: `{"icd10": "<hex>"}`.
    pub hierarchies: Value,
    /// Spellings of one value in this upload, by attribute: counts alone.
    pub near_duplicates: Value,
    /// Who uploaded.
    pub created_by: String,
    /// The records.
    pub chunks: ChunkSource,
}

/// Another schema for the records that are there.
#[derive(Debug, Clone)]
pub struct NewSchema {
    /// The dataset.
    pub dataset: DatasetId,
    /// The version that the caller saw as the latest.
    pub base_version: u64,
    /// The preferences that the caller looked at.
    pub preference_version: u64,
    /// The dataset's new name.
    pub name: String,
    /// The schema, as the client gave it.
    pub schema: Value,
    /// Digest of each hierarchy that the records are read with, by name.
    pub hierarchies: Value,
    /// Who changed it.
    pub created_by: String,
}

/// A version as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionRow {
    /// The dataset.
    pub dataset: DatasetId,
    /// 1, 2, …
    pub version: u64,
    /// How it relates to the version before.
    pub mode: VersionMode,
    /// Records that this upload brought.
    pub records: u64,
    /// Records that its missing-value policy left out.
    pub dropped: u64,
    /// Records in the version.
    pub total_records: u64,
    /// Bytes of text in the version.
    pub text: TextSize,
    /// Chunks in the version.
    pub chunks: u32,
    /// The version whose epoch it belongs to: versions of one share their chunks.
    pub epoch: u64,
    /// Digest of each hierarchy in use, by name.
    pub hierarchies: Value,
    /// Spellings of one value in its upload, by attribute: counts alone.
    pub near_duplicates: Value,
    /// What its columns are.
    pub schema: Value,
    /// Who uploaded.
    pub created_by: String,
    /// When it was committed.
    pub created_at: DateTime<Utc>,
    /// When retention took its chunks away, if it did.
    pub purged_at: Option<DateTime<Utc>>,
}

/// What is known of a chunk without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkRow {
    /// Its place in the version, from 0.
    pub position: u32,
    /// Records in it.
    pub records: u64,
    /// Its size as it is stored.
    pub bytes: u64,
    /// SHA-256 of its bytes as they are stored.
    pub sha256: [u8; 32],
}
