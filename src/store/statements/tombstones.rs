//! Statements on tombstones.

use super::statements;

statements! {
    /// `$1` what, `$2` which, `$3` when.
    CREATE = "INSERT INTO tombstone (what, object_id, buried_at) VALUES ($1, $2, $3) \
        ON CONFLICT (what, object_id, buried_at) DO NOTHING";
    /// All.
    LIST = "SELECT what, object_id, buried_at FROM tombstone ORDER BY buried_at, object_id, what";
}
