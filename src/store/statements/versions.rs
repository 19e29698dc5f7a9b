//! Statements on versions of records and their chunks.
//!
//! The chunks of a version are the first `chunks` of its epoch.

use super::statements;

macro_rules! select {
    ($tail:literal) => {
        concat!(
            "SELECT dataset_version.dataset_id, dataset_version.version, mode, epoch, chunks, \
             records, dropped, total_records, cells_text_bytes, labels_text_bytes, hierarchies, \
             near_duplicates, dataset_version.schema, \
             dataset_version.created_by, dataset_version.created_at, dataset_version.purged_at FROM dataset_version JOIN dataset \
             ON dataset.id = dataset_version.dataset_id AND dataset.erased_at IS NULL \
             WHERE dataset_version.dataset_id = $1 ",
            $tail
        )
    };
}

statements! {
    /// `$1` dataset, `$2` version; not one whose chunks are gone.
    GET = select!("AND dataset_version.version = $2 AND dataset_version.purged_at IS NULL");
    /// `$1` dataset, `$2` version, purged or not.
    PINS = "SELECT dataset_id, version, hierarchies FROM dataset_version \
        WHERE dataset_id = $1 AND version = $2";
    /// `$1` dataset.
    LIST = select!("ORDER BY dataset_version.version DESC");
    /// `$1` dataset, `$2` version, `$3` mode, `$4` epoch, `$5` chunks, `$6` records,
    /// `$7` dropped, `$8` total, `$9` hierarchies, `$10` who, `$11` now, `$12`
    /// spellings, `$13` bytes of cells, `$14` bytes of labels; its schema is the one
    /// that the dataset has.
    CREATE = "INSERT INTO dataset_version (dataset_id, version, mode, epoch, chunks, records, \
        dropped, total_records, hierarchies, created_by, created_at, near_duplicates, \
        cells_text_bytes, labels_text_bytes, schema) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
        (SELECT schema FROM dataset WHERE id = $1))";
    /// `$1` dataset, `$2` version: epochs with chunks before the one of that version.
    EPOCHS_BEFORE = "SELECT DISTINCT dataset_id, epoch FROM dataset_version \
        WHERE dataset_id = $1 AND purged_at IS NULL AND epoch < (SELECT latest.epoch \
        FROM dataset_version AS latest WHERE latest.dataset_id = $1 AND latest.version = $2) \
        ORDER BY epoch";
    /// `$1` dataset, `$2` epoch, `$3` position, `$4` records, `$5` sha256, `$6` bytes.
    CHUNK_CREATE = "INSERT INTO chunk (dataset_id, epoch, position, records, sha256, bytes) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    /// `$1` dataset, `$2` epoch, `$3` number of chunks.
    CHUNK_LIST = "SELECT dataset_id, epoch, position, records, sha256, CAST(length(bytes) AS bigint) AS size \
        FROM chunk WHERE dataset_id = $1 AND epoch = $2 AND position < $3 ORDER BY position";
    /// `$1` dataset, `$2` version, `$3` position.
    CHUNK_GET = "SELECT chunk.dataset_id, chunk.epoch, chunk.position, chunk.sha256, chunk.bytes \
        FROM dataset_version JOIN chunk ON chunk.dataset_id = dataset_version.dataset_id \
        AND chunk.epoch = dataset_version.epoch AND chunk.position < dataset_version.chunks \
        WHERE dataset_version.dataset_id = $1 AND dataset_version.version = $2 \
        AND chunk.position = $3";
}
