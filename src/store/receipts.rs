//! Receipts of consent: proof of a choice, kept without whose it is.
//!
//! Who says their own terms gets a code. The store keeps its hash, and the terms
//! by their place in the history; so a receipt can say of each public release
//! whether the choice was kept in it, and goes with the terms when they are
//! erased. It never says whether the subject has a record.

use chrono::{DateTime, Utc};

use crate::ids::{DatasetId, ReleaseId};

/// What a public release made of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReceiptOutcome {
    /// It was made, or let out, while the choice was in force, and held to it.
    Kept,
    /// It was public before the choice.
    MadeBefore,
    /// Another choice, or none, was in force when it was made or let out.
    Replaced,
    /// Its job did not apply what single subjects ask for.
    NotApplied,
}

/// A public release beside a receipt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptRelease {
    /// The release.
    pub id: ReleaseId,
    /// Since when it is public.
    pub published_at: DateTime<Utc>,
    /// What became of the choice.
    pub kept: ReceiptOutcome,
}

/// What a code stands for.
#[derive(Clone, PartialEq, Eq)]
pub struct ReceiptRow {
    /// A dataset whose population the terms are for.
    pub dataset: DatasetId,
    /// The subject.
    pub subject: String,
    /// When the terms were said.
    pub made_at: DateTime<Utc>,
    /// Whether they are in force.
    pub is_in_force: bool,
    /// When other terms replaced them; `None` too where they were taken out of force.
    pub replaced_at: Option<DateTime<Utc>>,
    /// The public releases of all datasets that the terms were written to, oldest first.
    pub releases: Vec<ReceiptRelease>,
}

impl std::fmt::Debug for ReceiptRow {
    /// Says nothing of the subject: none may reach a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("ReceiptRow")
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}
