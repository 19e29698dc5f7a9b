//! Statements on the audit log. None changes or deletes a row: the table's
//! triggers would refuse it, and they advance the head with every row.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT position, occurred_at, actor, request_id, action, object_kind, object_id, \
             dataset_id, detail, previous, hash FROM audit WHERE ",
            $tail
        )
    };
}

macro_rules! list {
    ($ids:literal) => {
        select!(concat!(
            "position < $1 AND (CAST($2 AS TEXT) IS NULL OR dataset_id IN (",
            $ids,
            ")) AND (CAST($3 AS TEXT) IS NULL OR actor = $3) \
             AND (CAST($4 AS TEXT) IS NULL OR action = $4) ORDER BY position DESC LIMIT $5"
        ))
    };
}

statements! {
    /// `$1` position, `$2` now, `$3` actor, `$4` request, `$5` action, `$6` kind and `$7` id of
    /// the object, `$8` dataset, `$9` detail, `$10` previous hash, `$11` hash.
    APPEND = "INSERT INTO audit (position, occurred_at, actor, request_id, action, object_kind, \
        object_id, dataset_id, detail, previous, hash) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    /// The last position and its hash.
    HEAD = "SELECT position, hash FROM audit_head";
    /// The row with the largest position.
    LAST = select!("1 = 1 ORDER BY position DESC LIMIT 1");
    /// `$1` position, `$2` limit: what comes behind it.
    AFTER = select!("position > $1 ORDER BY position LIMIT $2");
}

/// The same as `HEAD`, held until the transaction ends.
pub(in crate::store) const POSTGRES_LOCK: &str = "SELECT position, hash FROM audit_head FOR UPDATE";
/// A transaction that began IMMEDIATE holds everything already.
pub(in crate::store) const SQLITE_LOCK: &str = HEAD;

pub(in crate::store) const POSTGRES_LIST: &str =
    list!("SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($2 AS json))");
pub(in crate::store) const SQLITE_LIST: &str = list!("SELECT unhex(value) FROM json_each($2)");
