//! Tokens by which subjects say their own terms.
//!
//! The store keeps a token's hash, whose terms it may set and until when. It
//! never asks whether the subject has a record: neither giving a token out nor
//! using it tells anybody who is in a dataset. A token can be used until its
//! time is over; then it looks like one that never was, and takes the same
//! statements to refuse.

use chrono::{DateTime, Utc};

use crate::ids::DatasetId;

/// Tokens to be kept, all for one dataset and one time.
#[derive(Clone)]
pub struct NewSubjectTokens {
    /// The dataset whose preferences they may change.
    pub dataset: DatasetId,
    /// For each token the SHA-256 of its text, and the subject who gets it.
    pub tokens: Vec<([u8; 32], String)>,
    /// How long they live, in seconds.
    pub lifetime_s: u64,
    /// Who asked for them.
    pub created_by: String,
}

impl std::fmt::Debug for NewSubjectTokens {
    /// Says nothing of subjects: none may reach a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("NewSubjectTokens")
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}

/// Whose terms a token may set.
#[derive(Clone, PartialEq, Eq)]
pub struct SubjectTokenRow {
    /// The dataset.
    pub dataset: DatasetId,
    /// The subject.
    pub subject: String,
    /// Until when.
    pub expires_at: DateTime<Utc>,
}

impl std::fmt::Debug for SubjectTokenRow {
    /// Says nothing of the subject: none may reach a log.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SubjectTokenRow")
            .field("dataset", &self.dataset)
            .finish_non_exhaustive()
    }
}
