//! Statements on hierarchies.
//!
//! `dataset_id` is null for those of the library. A dataset sees its own and
//! the library's, of one name its own first.

use super::statements;

macro_rules! list {
    ($names:literal) => {
        concat!(
            "SELECT dataset_id, name, revision, digest, media_type, leaves, height, created_at \
             FROM hierarchy WHERE name > $2 AND (dataset_id = $1 OR (dataset_id IS NULL \
             AND (CAST($3 AS TEXT) IS NULL OR name IN (",
            $names,
            ")) AND NOT EXISTS (SELECT 1 FROM hierarchy AS own \
             WHERE own.dataset_id = $1 AND own.name = hierarchy.name))) \
             AND NOT EXISTS (SELECT 1 FROM hierarchy AS later WHERE later.name = hierarchy.name \
             AND later.dataset_id IS NOT DISTINCT FROM hierarchy.dataset_id \
             AND later.revision > hierarchy.revision) ORDER BY name LIMIT $4"
        )
    };
}

statements! {
    /// `$1` dataset or null, `$2` name, `$3` digest or null: the latest revision
    /// that the dataset sees, or the one with the digest.
    GET = "SELECT dataset_id, name, revision, digest, media_type, content, leaves, height, \
        created_at FROM hierarchy WHERE name = $2 AND (dataset_id IS NULL OR dataset_id = $1) \
        AND (CAST($3 AS TEXT) IS NULL OR digest = $3) \
        ORDER BY dataset_id IS NULL, revision DESC LIMIT 1";
    /// `$1` owner or null, `$2` name: the owner's latest revision.
    LATEST = "SELECT revision, digest FROM hierarchy \
        WHERE name = $2 AND dataset_id IS NOT DISTINCT FROM $1 ORDER BY revision DESC LIMIT 1";
    /// `$1` owner or null, `$2` name, `$3` revision, `$4` digest, `$5` media type,
    /// `$6` content, `$7` leaves, `$8` height, `$9` now. Changes no row where
    /// another took the revision first.
    CREATE = "INSERT INTO hierarchy (dataset_id, name, revision, digest, media_type, content, \
        leaves, height, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
        ON CONFLICT DO NOTHING";
    /// `$1` the name as JSON, `$2` the name, `$3` id to go on behind, `$4` limit:
    /// datasets that have none of the name, and whose schemas hold the name
    /// somewhere. PostgreSQL reads no JSON that holds a NUL: the caller reads it.
    NAMING = "SELECT id, schema FROM dataset WHERE erased_at IS NULL AND id > $3 \
        AND replace(schema, $1, '') <> schema AND NOT EXISTS (SELECT 1 FROM hierarchy \
        WHERE hierarchy.dataset_id = dataset.id AND hierarchy.name = $2) ORDER BY id LIMIT $4";
    /// `$1` id.
    SCHEMA = "SELECT id, schema FROM dataset WHERE id = $1 AND erased_at IS NULL";
    /// `$1` dataset.
    ERASE = "DELETE FROM hierarchy WHERE dataset_id = $1";
}

pub(in crate::store) const POSTGRES_LIST: &str =
    list!("SELECT json_array_elements_text(CAST($3 AS json))");
pub(in crate::store) const SQLITE_LIST: &str = list!("SELECT value FROM json_each($3)");
