//! Releases: documents, tables in pieces, and the step from draft to public.
//!
//! A release comes into being by `job_complete` alone. Publishing re-reads
//! what changed in the preferences and changes the state in one transaction
//! that holds the dataset's row, as every change of preferences does: anyone who
//! withdraws consent before the publishing is seen by it.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use vizard_anonymizer::catalog::exploration::Measures;

use super::approvals::{Approval, PublishRules};
use super::preferences::PreferenceChange;
use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};
use crate::job::approval::Ground;
use crate::job::floors::Below;

/// Where a release stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReleaseState {
    /// Made and verified; only stewards see it.
    Draft,
    /// Public.
    Published,
    /// Taken back: its bytes are gone.
    Withdrawn,
}

impl ReleaseState {
    /// All states, in the order of a release's life.
    pub const ALL: [Self; 3] = [Self::Draft, Self::Published, Self::Withdrawn];

    /// The word used in the database and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Draft => "draft",
            Self::Published => "published",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// The state that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }
}

/// What a check answers about a draft whose preferences may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PublishDecision {
    /// The draft still gives everyone what they ask for.
    Allow,
    /// It does not.
    Refuse,
    /// It does, and another steward has to agree. No check answers this.
    Awaited,
    /// It is below the operator's floors. No check answers this.
    BelowFloor,
}

/// What became of a publishing.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishOutcome {
    /// What the check said; `Allow` also where the release was public already.
    pub decision: PublishDecision,
    /// What is below the operator's floors, where that is why it was refused.
    pub below: Vec<Below>,
    /// The release as it is afterwards.
    pub release: ReleaseRow,
}

/// Decides, inside the publishing transaction, whether the draft may go out.
///
/// Gets the changes since the preference version that the job pinned, and the
/// lineage. It must not wait: the dataset's row is locked meanwhile.
pub type PublishCheck = Box<dyn FnMut(&[PreferenceChange], &[u8]) -> PublishDecision + Send>;

/// How a draft is to become public.
pub struct PublishRequest {
    /// Whether preferences allow it.
    pub check: PublishCheck,
    /// The public releases of the same people that it was compared with; where
    /// there are others by now, nothing is published (`Conflict::SeriesMoved`).
    /// `None`: whatever there is.
    pub beside: Option<Vec<ReleaseId>>,
    /// What is to be kept of releases that share subjects with it.
    pub composed: Option<Composed>,
    /// What the operator asks; `None`: nothing.
    pub rules: Option<PublishRules>,
}

impl From<PublishCheck> for PublishRequest {
    /// Publishes whatever else is public.
    fn from(check: PublishCheck) -> Self {
        Self {
            check,
            beside: None,
            composed: None,
            rules: None,
        }
    }
}

/// Releases that share subjects with one that becomes public.
#[derive(Debug, Clone, PartialEq)]
pub struct Composed {
    /// Why it is published all the same; `None` where all of them keep together
    /// what each claims.
    pub reason: Option<String>,
    /// Each of them with what both tell together.
    pub with: Vec<(ReleaseId, Value)>,
}

/// A part of a table, cut at a row boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPiece {
    /// Compressed bytes.
    pub bytes: Vec<u8>,
    /// Size before compression.
    pub raw_bytes: u64,
    /// Rows in it.
    pub rows: u64,
}

/// A table of a release on its way into the store.
#[derive(Debug, Clone, PartialEq)]
pub struct NewReleaseTable {
    /// Its name.
    pub name: String,
    /// Its columns, as in the manifest.
    pub columns: Value,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of its canonical text.
    pub sha256: [u8; 32],
    /// Its bytes.
    pub pieces: Vec<NewPiece>,
}

/// All that a job produced.
pub struct ReleaseCommit {
    /// The release's id.
    pub id: ReleaseId,
    /// The manifest.
    pub manifest: Value,
    /// What the ledger keeps of it for good: guarantees and counts.
    pub claims: Value,
    /// The report.
    pub report: Value,
    /// The verification.
    pub verification: Value,
    /// Which row is which record: private.
    pub lineage: Vec<u8>,
    /// What the release shows of each subject: private.
    pub candidates: Vec<u8>,
    /// The tables in order.
    pub tables: Vec<NewReleaseTable>,
    /// The exploration whose job it is, with the figures that decide whether its
    /// tables are kept.
    pub explored: Option<(ExplorationId, Measures)>,
    /// With a check: publish in the same transaction if it allows; else stay a draft.
    pub publish: Option<PublishRequest>,
}

/// A release as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseRow {
    /// Its id.
    pub id: ReleaseId,
    /// The job that made it.
    pub job: JobId,
    /// What people call the job, if anybody named it.
    pub name: Option<String>,
    /// The dataset it was made from (which may be erased).
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The version of the preferences.
    pub preference_version: u64,
    /// The engine's name.
    pub engine: String,
    /// Where it stands.
    pub state: ReleaseState,
    /// The manifest.
    pub manifest: Value,
    /// Other public releases of the same people, and what they tell together; a
    /// list, or null.
    pub composition: Value,
    /// Why it took more than one steward; empty before it is public.
    pub grounds: Vec<Ground>,
    /// What the first of two stewards said.
    pub approval: Option<Approval>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was published, if it was.
    pub published_at: Option<DateTime<Utc>>,
    /// When it was withdrawn, if it was.
    pub withdrawn_at: Option<DateTime<Utc>>,
}

/// A table of a release as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct ReleaseTableRow {
    /// The release.
    pub release: ReleaseId,
    /// Its name.
    pub name: String,
    /// Its columns, as in the manifest.
    pub columns: Value,
    /// Its rows.
    pub rows: u64,
    /// SHA-256 of its canonical text.
    pub sha256: [u8; 32],
    /// Size of its canonical text.
    pub raw_bytes: u64,
    /// Number of pieces, also after a withdrawal took them away.
    pub pieces: u32,
}

/// A document kept beside a release's row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReleaseDocument {
    /// The manifest.
    Manifest,
    /// Utility and risk.
    Report,
    /// What the verifier found.
    Verification,
}

/// Which releases a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseFilter {
    /// Only in these states; empty: any.
    pub states: Vec<ReleaseState>,
    /// Only of this dataset.
    pub dataset: Option<DatasetId>,
    /// Only of these datasets (what the caller may see); `None`: all.
    pub only: Option<Vec<DatasetId>>,
}
