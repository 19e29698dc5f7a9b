//! API keys: who may call, in which roles, on which datasets.
//!
//! The store keeps a hash and never sees a secret. Roles are text here: what
//! a role may do is settled in `http`.

use chrono::{DateTime, Utc};

use crate::ids::{DatasetId, KeyId};

/// A key to be kept.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its id.
    pub id: KeyId,
    /// What people call it.
    pub name: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// The datasets it is tied to; `None`: all.
    pub datasets: Option<Vec<DatasetId>>,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// How long it lives by the store's clock, in seconds; `None`: until it is revoked.
    pub lifetime_s: Option<u64>,
}

/// A key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its id.
    pub id: KeyId,
    /// What people call it.
    pub name: String,
    /// Its roles.
    pub roles: Vec<String>,
    /// The datasets it is tied to; `None`: all.
    pub datasets: Option<Vec<DatasetId>>,
    /// SHA-256 of the secret.
    pub secret_hash: [u8; 32],
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<DateTime<Utc>>,
    /// When it ends by itself, if it does.
    pub expires_at: Option<DateTime<Utc>>,
    /// Whether that time was over by the store's clock when the row was read.
    pub is_expired: bool,
    /// When it was last used, as told by [`Store::key_touch`](crate::store::Store::key_touch).
    pub last_used_at: Option<DateTime<Utc>>,
}

impl KeyRow {
    /// Whether it opens anything: neither revoked nor expired.
    pub fn is_live(&self) -> bool {
        self.revoked_at.is_none() && !self.is_expired
    }
}
