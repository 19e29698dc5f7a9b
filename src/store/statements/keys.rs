//! Statements on API keys.
//!
//! Roles are a JSON array in text; a role is found in it by its quoted name,
//! which is exact because role names hold neither quotes nor wildcards. So are
//! datasets, by their ids; null: all.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT id, name, roles, datasets, secret_hash, created_at, revoked_at, expires_at, \
             last_used_at FROM api_key ",
            $tail
        )
    };
}

statements! {
    /// `$1` id, `$2` name, `$3` roles, `$4` datasets, `$5` hash, `$6` now, `$7` end.
    CREATE = "INSERT INTO api_key (id, name, roles, datasets, secret_hash, created_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("WHERE id = $1");
    /// `$1` id, `$2` now.
    REVOKE = "UPDATE api_key SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
    /// `$1` id, `$2` now.
    TOUCH = "UPDATE api_key SET last_used_at = $2 WHERE id = $1";
    /// `$1` now. How many live keys may administer.
    ADMIN_COUNT = "SELECT count(*) AS keys FROM api_key \
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) AND roles LIKE '%\"admin\"%'";
}

macro_rules! list {
    ($lies_within:literal) => {
        select!(concat!(
            "WHERE id < $1 AND (CAST($2 AS TEXT) IS NULL OR ",
            $lies_within,
            ") ORDER BY id DESC LIMIT $3"
        ))
    };
}

/// A key that is tied to nothing lies within nobody's datasets.
pub(in crate::store) const POSTGRES_LIST: &str =
    list!("(datasets <> '[]' AND CAST(datasets AS jsonb) <@ CAST($2 AS jsonb))");
pub(in crate::store) const SQLITE_LIST: &str = list!(
    "(datasets <> '[]' AND NOT EXISTS (SELECT 1 FROM json_each(api_key.datasets) AS tied \
     WHERE tied.value NOT IN (SELECT value FROM json_each($2))))"
);

/// Held until the transaction ends; the number is this lock's name.
pub(in crate::store) const POSTGRES_FIRST_ADMIN_LOCK: &str =
    "SELECT pg_advisory_xact_lock(8406229571)";
