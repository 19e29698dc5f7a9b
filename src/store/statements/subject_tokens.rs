//! Statements on subject tokens.
//!
//! Expiry is part of every condition, so a token whose time is over is found
//! by none of them, whether or not it was swept. Sweeping passes over rows
//! that others hold: it takes no dataset's row first (`statements::datasets`),
//! so it must not wait for anybody.

use super::statements;

statements! {
    /// `$1` hash, `$2` dataset, `$3` subject, `$4` who, `$5` now, `$6` expiry.
    CREATE = "INSERT INTO subject_token \
        (token_hash, dataset_id, subject, created_by, created_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (token_hash) DO NOTHING";
    /// `$1` hash, `$2` now.
    FIND = "SELECT dataset_id, subject, expires_at FROM subject_token \
        WHERE token_hash = $1 AND expires_at > $2";
    /// `$1` dataset, `$2` now.
    OF_DATASET = "SELECT token_hash, dataset_id, subject, created_at, expires_at \
        FROM subject_token WHERE dataset_id = $1 AND expires_at > $2 ORDER BY created_at, token_hash";
    /// `$1` hash.
    FORGET = "DELETE FROM subject_token WHERE token_hash = $1";
    /// `$1` dataset.
    ERASE = "DELETE FROM subject_token WHERE dataset_id = $1";
}

macro_rules! sweep {
    ($tail:literal) => {
        concat!(
            "DELETE FROM subject_token WHERE token_hash IN (SELECT token_hash FROM subject_token \
             WHERE expires_at <= $1 ORDER BY expires_at LIMIT 10000",
            $tail,
            ")"
        )
    };
}

pub(in crate::store) const POSTGRES_SWEEP: &str = sweep!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_SWEEP: &str = sweep!("");
