//! One person's rights: what is held of them, told or forgotten.
//!
//! Records and lineages are read by the caller, who knows their form; the
//! store knows a subject's terms and tokens, and forgets everything of a
//! subject in one transaction: the version that the caller made without them,
//! the epochs before it, their rows in lineages, their terms and tokens.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::Remains;
use super::versions::ChunkSource;
use crate::ids::{DatasetId, ReleaseId};

/// Terms of a subject, in force or of before.
#[derive(Clone, PartialEq)]
pub struct HeldTerms {
    /// The document.
    pub document: Value,
    /// The preference version that brought it.
    pub version: u64,
    /// The one that replaced or removed it; `None`: it is in force.
    pub until_version: Option<u64>,
    /// When it was brought.
    pub created_at: DateTime<Utc>,
}

/// A token that was made for a subject and can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeldToken {
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Until when it can be used.
    pub expires_at: DateTime<Utc>,
}

/// What the store knows of a subject beside records and releases.
#[derive(Clone, PartialEq)]
pub struct SubjectHeld {
    /// Terms and their history, oldest first.
    pub terms: Vec<HeldTerms>,
    /// Tokens that can be used.
    pub tokens: Vec<HeldToken>,
}

/// What is to be forgotten of a subject, by one who looked at all of it.
pub struct SubjectErasure {
    /// The dataset.
    pub dataset: DatasetId,
    /// The subject's key.
    pub subject: String,
    /// The version that the caller saw as the latest; 0 where there is none.
    pub base_version: u64,
    /// All releases of the dataset that the caller saw.
    pub releases: Vec<ReleaseId>,
    /// Whether any version that is held has records of the subject.
    pub is_in_records: bool,
    /// Digests of the hierarchies that the latest version pins, by name.
    pub hierarchies: Value,
    /// Drafts that hold the subject.
    pub drafts: Vec<ReleaseId>,
    /// Releases that hold the subject, with their lineage without the subject.
    pub lineages: Vec<(ReleaseId, Vec<u8>)>,
    /// The same with what they show of each subject.
    pub candidates: Vec<(ReleaseId, Vec<u8>)>,
    /// Whether an exclusion stays in force.
    pub keep_exclusion: bool,
    /// Who erased.
    pub created_by: String,
}

/// The latest version without a subject: how many records, and their chunks.
pub type Rewritten = (u64, ChunkSource);

/// What an erasure of a subject removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SubjectErased {
    /// The latest version of the records.
    pub version: u64,
    /// Chunks of records of earlier versions.
    pub chunks: u64,
    /// Jobs that were queued or running.
    pub jobs_cancelled: u64,
    /// Drafts that held the subject.
    pub drafts: u64,
    /// Documents of terms, their history included.
    pub terms: u64,
    /// Tokens that could be used.
    pub tokens: u64,
    /// What stays of the bytes in the database's files.
    pub remains: Remains,
}
