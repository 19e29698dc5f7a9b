//! Statements on tombstones.

use super::statements;

statements! {
    /// `$1` what, `$2` which, `$3` when.
    CREATE = "INSERT INTO tombstone (what, object_id, buried_at) VALUES ($1, $2, $3) \
        ON CONFLICT (what, object_id, buried_at) DO NOTHING";
    /// `$1` dataset.
    ERASURE = "SELECT dataset.erased_at, \
        (SELECT CASE WHEN count(*) = count(tombstone.wiped_at) THEN max(tombstone.wiped_at) END \
        FROM tombstone WHERE tombstone.what = 'dataset_erased' \
        AND tombstone.object_id = dataset.id) AS wiped_at, \
        (SELECT count(*) FROM dataset_key WHERE dataset_key.dataset_id = dataset.id) AS keys \
        FROM dataset WHERE dataset.id = $1";
    /// Those whose traces may be left.
    UNWIPED = "SELECT what, object_id, buried_at FROM tombstone WHERE wiped_at IS NULL";
    /// `$1` which: its tombstones whose traces may be left.
    UNWIPED_OF = "SELECT count(*) AS count FROM tombstone \
        WHERE object_id = $1 AND wiped_at IS NULL";
    /// Those of them.
    UNWIPED_COUNT = "SELECT count(*) AS count FROM tombstone WHERE wiped_at IS NULL";
    /// `$1` what, `$2` which, `$3` when, `$4` now.
    WIPED = "UPDATE tombstone SET wiped_at = $4 WHERE what = $1 AND object_id = $2 \
        AND buried_at = $3 AND wiped_at IS NULL";
    /// All.
    LIST = "SELECT what, object_id, buried_at FROM tombstone ORDER BY buried_at, object_id, what";
}
