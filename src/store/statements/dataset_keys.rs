//! Statements on wrapped data keys.
//!
//! A key is named by its owner (a dataset or a release) and its purpose. To
//! destroy or replace one takes the dataset's row; wrapping anew takes rows
//! of this table only, a batch at a time, and waits for nobody.

use super::statements;

statements! {
    /// `$1` owner, `$2` purpose.
    GET = "SELECT dataset_id, owner_id, purpose, master_key_id, wrapped \
        FROM dataset_key WHERE owner_id = $1 AND purpose = $2";
    /// `$1` owner, `$2` purpose, `$3` dataset, `$4` master key, `$5` wrapped, `$6` now.
    CREATE = "INSERT INTO dataset_key (owner_id, purpose, dataset_id, master_key_id, wrapped, \
        created_at, wrapped_at) VALUES ($1, $2, $3, $4, $5, $6, $6)";
    /// The same: another key in the place of one that is needed no more.
    RENEW = "UPDATE dataset_key SET master_key_id = $4, wrapped = $5, created_at = $6, \
        wrapped_at = $6 WHERE owner_id = $1 AND purpose = $2 AND dataset_id = $3 \
        AND wrapped IS NOT NULL";
    /// `$1` dataset, `$2` now. Keys of releases that are still there stay.
    DESTROY = "UPDATE dataset_key SET wrapped = NULL, destroyed_at = $2 \
        WHERE dataset_id = $1 AND wrapped IS NOT NULL \
        AND owner_id NOT IN (SELECT id FROM release WHERE dataset_id = $1)";
    /// `$1` owner, `$2` purpose, `$3` master key before, `$4` master key, `$5` wrapped, `$6` now.
    REWRAP = "UPDATE dataset_key SET master_key_id = $4, wrapped = $5, wrapped_at = $6 \
        WHERE owner_id = $1 AND purpose = $2 AND master_key_id = $3 AND wrapped IS NOT NULL";
    /// The master keys that wrap any.
    MASTER_KEYS = "SELECT DISTINCT master_key_id FROM dataset_key WHERE wrapped IS NOT NULL";
    /// `$1` master key: one of the keys that it wraps.
    ONE_UNDER = "SELECT dataset_id, owner_id, purpose, master_key_id, wrapped FROM dataset_key \
        WHERE wrapped IS NOT NULL AND master_key_id = $1 LIMIT 1";
    /// `$1` master key.
    COUNT = "SELECT \
        (SELECT count(*) FROM dataset_key WHERE wrapped IS NOT NULL AND master_key_id = $1) \
        AS current, \
        (SELECT count(*) FROM dataset_key WHERE wrapped IS NOT NULL AND master_key_id <> $1) \
        AS earlier, \
        (SELECT count(*) FROM dataset_key WHERE wrapped IS NULL) AS destroyed";
}

macro_rules! not_under {
    ($lock:literal) => {
        concat!(
            "SELECT dataset_id, owner_id, purpose, master_key_id, wrapped FROM dataset_key \
             WHERE wrapped IS NOT NULL AND master_key_id <> $1 \
             ORDER BY owner_id, purpose LIMIT $2",
            $lock
        )
    };
}

/// `$1` master key, `$2` limit.
pub(in crate::store) const POSTGRES_NOT_UNDER: &str = not_under!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_NOT_UNDER: &str = not_under!("");
