//! Statements on population tables.

use super::statements;

statements! {
    /// `$1` dataset, `$2` attributes, `$3` people, `$4` combinations, `$5` digest,
    /// `$6` content, `$7` who, `$8` now. Another one takes the place of what is there.
    PUT = "INSERT INTO population_table (dataset_id, attributes, people, combinations, sha256, \
        content, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
        ON CONFLICT (dataset_id) DO UPDATE SET attributes = excluded.attributes, \
        people = excluded.people, combinations = excluded.combinations, \
        sha256 = excluded.sha256, content = excluded.content, \
        created_by = excluded.created_by, created_at = excluded.created_at";
    /// `$1` dataset.
    GET = "SELECT dataset_id, attributes, people, combinations, sha256, created_by, created_at \
        FROM population_table WHERE dataset_id = $1";
    /// `$1` dataset.
    CONTENT = "SELECT dataset_id, attributes, people, combinations, sha256, created_by, \
        created_at, content FROM population_table WHERE dataset_id = $1";
    /// `$1` dataset.
    ERASE = "DELETE FROM population_table WHERE dataset_id = $1";
}
