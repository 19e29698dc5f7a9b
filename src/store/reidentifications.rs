//! Re-identifications: who stands behind one row of a published table, told to
//! two stewards together.
//!
//! One steward asks, with a reason; another one confirms or refuses. Only while
//! it is confirmed, and only to these two, the subject is told, each time with
//! a row in the audit log. The subject is kept nowhere but in the release's
//! sealed lineage, and read there each time: where that does not have them any
//! more (erasure, withdrawal, purge), nobody stands behind the row.

use std::fmt;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use crate::ids::{DatasetId, ReidentificationId, ReleaseId};

/// How many may be asked for of all releases of a dataset in 24 hours; those
/// that were refused or taken back do not count.
pub const REIDENTIFICATIONS_A_DAY_MAX: u64 = 20;

/// How long another steward may confirm.
pub(super) const PENDING: TimeDelta = TimeDelta::hours(72);
/// How long the subject is told after it was confirmed.
pub(super) const TOLD: TimeDelta = TimeDelta::days(7);

/// Where a re-identification stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReidentificationState {
    /// Another steward is to confirm or refuse it.
    Pending,
    /// Both stewards are told the subject.
    Confirmed,
    /// Another steward refused it.
    Refused,
    /// Who asked took it back.
    Withdrawn,
    /// Its time is over.
    Ended,
}

impl ReidentificationState {
    /// The states that are kept; that one has ended is told by the time.
    const KEPT: [Self; 4] = [
        Self::Pending,
        Self::Confirmed,
        Self::Refused,
        Self::Withdrawn,
    ];

    /// The word used in the database and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Refused => "refused",
            Self::Withdrawn => "withdrawn",
            Self::Ended => "ended",
        }
    }

    /// The kept state that a word names.
    pub(super) fn parse(word: &str) -> Option<Self> {
        Self::KEPT.into_iter().find(|state| state.as_str() == word)
    }

    /// The same at a time, of one that ends then.
    pub(super) fn at(self, now: DateTime<Utc>, ends_at: DateTime<Utc>) -> Self {
        match self {
            Self::Pending | Self::Confirmed if ends_at <= now => Self::Ended,
            state => state,
        }
    }
}

/// A question that a steward asks.
#[derive(Debug, Clone)]
pub struct NewReidentification {
    /// Its id.
    pub id: ReidentificationId,
    /// The published release.
    pub release: ReleaseId,
    /// Name of the table.
    pub table: String,
    /// Number of the row in the canonical text, from 1.
    pub row: u64,
    /// Why.
    pub reason: String,
}

/// A re-identification as it is kept; never the subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReidentificationRow {
    /// Its id.
    pub id: ReidentificationId,
    /// The release.
    pub release: ReleaseId,
    /// The dataset that the release was made from.
    pub dataset: DatasetId,
    /// Name of the table.
    pub table: String,
    /// Number of the row, from 1.
    pub row: u64,
    /// Why.
    pub reason: String,
    /// Where it stands now.
    pub state: ReidentificationState,
    /// Who asked.
    pub asked_by: String,
    /// When.
    pub asked_at: DateTime<Utc>,
    /// When its state ends, or ended.
    pub ends_at: DateTime<Utc>,
    /// Who confirmed, refused or took it back.
    pub decided_by: Option<String>,
    /// When.
    pub decided_at: Option<DateTime<Utc>>,
}

impl ReidentificationRow {
    /// Whether the subject is told to `actor` now: to the two stewards, while it
    /// is confirmed.
    pub fn is_told_to(&self, actor: &str) -> bool {
        self.state == ReidentificationState::Confirmed
            && (self.asked_by == actor || self.decided_by.as_deref() == Some(actor))
    }
}

/// A confirmed re-identification, for one of its two stewards.
#[derive(Clone, PartialEq, Eq)]
pub struct ReidentificationTold {
    /// What is kept.
    pub row: ReidentificationRow,
    /// The subject's key; `None`: nobody stands behind the row any more.
    pub subject: Option<String>,
}

impl fmt::Debug for ReidentificationTold {
    /// Says nothing of the subject: none may reach a log.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ReidentificationTold")
            .field("row", &self.row)
            .finish_non_exhaustive()
    }
}
