//! The ledger: every release that ever was, and how it was read.
//!
//! A row outlives its release: drafts that went with an erased dataset and
//! releases that were withdrawn stay in it, with what they claimed, who let
//! them out and who took them back.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::ids::{DatasetId, JobId, ReleaseId};

/// When something was done to a release, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerStep {
    /// When.
    pub at: DateTime<Utc>,
    /// By whom; `None` where it was done before there was a ledger.
    pub by: Option<String>,
}

/// How often a release was read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LedgerReads {
    /// Downloads of tables; each part of one counts.
    pub tables: u64,
    /// Readings of the report.
    pub reports: u64,
    /// Readings of the verification.
    pub verifications: u64,
    /// Queries that were answered.
    pub queries: u64,
}

/// One release in the ledger.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerRow {
    /// The release, which may be gone.
    pub release: ReleaseId,
    /// The job that made it.
    pub job: JobId,
    /// The dataset it was made from, which may be erased.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// The engine's name.
    pub engine: String,
    /// What it claimed: guarantees and counts.
    pub claims: Value,
    /// Who asked for it.
    pub requested_by: String,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// Its publishing, if it was published.
    pub published: Option<LedgerStep>,
    /// Its withdrawal, if it was withdrawn.
    pub withdrawn: Option<LedgerStep>,
    /// Its end as a draft of an erased dataset.
    pub erased: Option<LedgerStep>,
    /// When terms first asked for more than it gives, after it was published.
    pub affected_at: Option<DateTime<Utc>>,
    /// By how many of its subjects, up to tens, as was last known; `None` beside a
    /// time: nobody can know.
    pub affected_subjects: Option<u64>,
    /// How often it was read.
    pub reads: LedgerReads,
}

/// What somebody reads of a release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseRead {
    /// A table, in a format.
    Table {
        /// The table's name.
        name: String,
        /// The format's name.
        format: &'static str,
    },
    /// All of it, as one bundle.
    Bundle,
    /// The report.
    Report,
    /// The verification.
    Verification,
    /// An answer to a query.
    Query,
}
