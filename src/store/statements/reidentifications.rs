//! Statements on re-identifications. Their dataset's row is held by whoever
//! changes one, so that of two one comes first.

use super::statements;

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT id, release_id, dataset_id, table_name, table_row, reason, state, asked_by, \
             asked_at, ends_at, decided_by, decided_at FROM reidentification ",
            $tail
        )
    };
}

statements! {
    /// `$1` id, `$2` release, `$3` dataset, `$4` table, `$5` row, `$6` reason, `$7` who, `$8` now,
    /// `$9` end.
    CREATE = "INSERT INTO reidentification (id, release_id, dataset_id, table_name, table_row, \
        reason, state, asked_by, asked_at, ends_at) \
        VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9) ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("WHERE id = $1");
    /// `$1` release, `$2` cursor, `$3` limit.
    LIST = select!("WHERE release_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3");
    /// `$1` dataset, `$2` since when.
    ASKED_SINCE = "SELECT count(*) AS count FROM reidentification WHERE dataset_id = $1 \
        AND asked_at > $2 AND state IN ('pending', 'confirmed')";
    /// `$1` id, `$2` state, `$3` who, `$4` now, `$5` end.
    DECIDE = "UPDATE reidentification SET state = $2, decided_by = $3, decided_at = $4, \
        ends_at = $5 WHERE id = $1 AND state = 'pending'";
    /// `$1` dataset.
    ERASE = "DELETE FROM reidentification WHERE dataset_id = $1";
}
