//! The audit log: what was done, by whom, in a chain that cannot be mended.
//!
//! One row a change of state and a read of a release, written in the
//! transaction of what it records. Positions have no gap. Each row holds the
//! SHA-256 of itself and of the row before it, so that a row that was changed,
//! put in or taken out breaks the chain there; rows taken off the end are
//! missed by the head, and, where the head was turned back too or the chain
//! hashed anew, by an anchor: a position and its hash that an operator keeps
//! elsewhere. No row holds a subject or a cell.

use chrono::{DateTime, Utc};

use crate::ids::DatasetId;

/// One row of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRow {
    /// 1, 2, … without a gap.
    pub position: u64,
    /// When it was done.
    pub occurred_at: DateTime<Utc>,
    /// By whom.
    pub actor: String,
    /// Behind which request; `None`: none stood behind it.
    pub request: Option<String>,
    /// What was done: `create_dataset`, `complete_job`, …
    pub action: String,
    /// To what kind of thing.
    pub object_kind: String,
    /// To which; `None` where that would name a person.
    pub object: Option<String>,
    /// The dataset that it concerns, if one.
    pub dataset: Option<DatasetId>,
    /// Counts, versions and digests: JSON, as the text that was hashed.
    pub detail: String,
    /// `hash` of the row before; zeros in the first.
    pub previous: [u8; 32],
    /// SHA-256 of all that stands above.
    pub hash: [u8; 32],
}

/// A place in the chain: what an operator keeps elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditAnchor {
    /// A position; 0: before the first row.
    pub position: u64,
    /// The hash of the row there; zeros at 0.
    pub hash: [u8; 32],
}

/// What is wrong with a link of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditBreak {
    /// The row's content is not what its hash says.
    ContentChanged,
    /// The row does not name the hash of the row before it.
    LinkBroken,
    /// Rows are missing before this one.
    Gap,
    /// Rows are missing at the end.
    Truncated,
    /// The chain holds together and is not the one that was anchored.
    Rewritten,
}

impl AuditBreak {
    /// The word used in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ContentChanged => "content_changed",
            Self::LinkBroken => "link_broken",
            Self::Gap => "gap",
            Self::Truncated => "truncated",
            Self::Rewritten => "rewritten",
        }
    }
}

/// What a walk along the chain found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditVerdict {
    /// Rows that were walked; all of them where nothing is broken.
    pub rows: u64,
    /// The last place that held.
    pub head: AuditAnchor,
    /// The first place that did not, and why.
    pub broken: Option<(u64, AuditBreak)>,
}

/// Which rows a list holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only about this dataset.
    pub dataset: Option<DatasetId>,
    /// Only about these datasets (what the caller may see); `None`: all rows.
    pub only: Option<Vec<DatasetId>>,
    /// Only by this actor.
    pub actor: Option<String>,
    /// Only of this kind.
    pub action: Option<String>,
}

/// One page of the log, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The rows.
    pub items: Vec<AuditRow>,
    /// What to give as `before` for the next page; `None`: this is the last.
    pub next: Option<u64>,
}

/// Requests of one actor for one operation that were refused in the same way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// By whom.
    pub actor: String,
    /// What was asked for: the operation's name in openapi.yaml.
    pub operation: &'static str,
    /// The status of the answer: 401, 403 or 429.
    pub status: u16,
    /// How often.
    pub requests: u64,
}
