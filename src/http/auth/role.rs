//! The roles that a key may hold.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a key may do. A key may hold several.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Published releases only.
    Analyst,
    /// Preferences only.
    Consent,
    /// Create datasets, upload, see what was uploaded.
    Uploader,
    /// Everything on datasets, jobs, releases and reports.
    Steward,
    /// Read audit and ledger.
    Auditor,
    /// Keys and retention; no data.
    Admin,
}

impl Role {
    /// All roles, least first.
    pub const ALL: &[Self] = &[
        Self::Analyst,
        Self::Consent,
        Self::Uploader,
        Self::Steward,
        Self::Auditor,
        Self::Admin,
    ];

    /// The word used in the API and in the store.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Analyst => "analyst",
            Self::Consent => "consent",
            Self::Uploader => "uploader",
            Self::Steward => "steward",
            Self::Auditor => "auditor",
            Self::Admin => "admin",
        }
    }

    /// The role that a word names.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|role| role.as_str() == word)
    }
}
