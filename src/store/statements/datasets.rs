//! Statements on datasets.
//!
//! On PostgreSQL a dataset's row is locked at three strengths. `KEEP` (KEY
//! SHARE) is what a job's commit takes first: erasing must wait, a change of
//! preferences need not. `LOCK` (NO KEY UPDATE) is what publishing takes, and
//! what every update of the row takes by itself. `LOCK_ERASE` (UPDATE) waits
//! for both. A transaction that takes this row and rows of jobs or releases takes
//! this row first, so that no two can wait for each other. One that takes rows of
//! several datasets takes the lock of their population before any of them, and
//! then the rows in the order of their ids.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT dataset.id, dataset.name, dataset.schema, dataset.created_by, \
             dataset.created_at, dataset.version, dataset.preference_version, \
             dataset.raw_retention_days, dataset.series_memory, dataset.records_purged_at, dataset.population, \
             dataset.floors, \
             COALESCE(latest.total_records, 0) AS records, \
             COALESCE(latest.hierarchies, '{}') AS hierarchies, \
             COALESCE((SELECT combinations FROM population_table \
              WHERE population_table.dataset_id = dataset.id), 0) AS population_combinations, \
             (SELECT count(*) FROM preference WHERE preference.dataset_id = dataset.id \
              AND preference.until_version IS NULL) AS subjects_with_preference \
             FROM dataset LEFT JOIN dataset_version AS latest \
             ON latest.dataset_id = dataset.id AND latest.version = dataset.version \
             WHERE dataset.erased_at IS NULL AND ",
            $tail
        )
    };
}

macro_rules! list {
    ($ids:literal) => {
        select!(concat!(
            "dataset.id < $1 AND (CAST($2 AS TEXT) IS NULL OR dataset.id IN (",
            $ids,
            ")) ORDER BY dataset.id DESC LIMIT $3"
        ))
    };
}

statements! {
    /// `$1` id, `$2` name, `$3` schema, `$4` who, `$5` now, `$6` population or null.
    CREATE = "INSERT INTO dataset (id, name, schema, created_by, created_at, population) \
        VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("dataset.id = $1");
    /// `$1` id.
    POPULATION = "SELECT population FROM dataset WHERE id = $1 AND erased_at IS NULL";
    /// `$1` id: every dataset of its population, itself too, in order of ids.
    MEMBERS = "SELECT member.id FROM dataset AS member JOIN dataset AS own \
        ON member.id = own.id OR member.population = own.population \
        WHERE own.id = $1 AND own.erased_at IS NULL AND member.erased_at IS NULL \
        ORDER BY member.id";
    /// `$1` population.
    SCHEMAS_OF_POPULATION = "SELECT id, schema FROM dataset \
        WHERE population = $1 AND erased_at IS NULL ORDER BY id";
    /// `$1` id, `$2` the version that must be the latest. Locks the row.
    VERSION_ADVANCE = "UPDATE dataset SET version = version + 1 \
        WHERE id = $1 AND version = $2 AND erased_at IS NULL";
    /// `$1` id, `$2` floors or null. Locks the row.
    FLOORS_SET = "UPDATE dataset SET floors = $2 WHERE id = $1 AND erased_at IS NULL";
    /// `$1` id.
    FLOORS = "SELECT id, floors FROM dataset WHERE id = $1";
    /// `$1` id, `$2` name, `$3` schema.
    SCHEMA_SET = "UPDATE dataset SET name = $2, schema = $3 WHERE id = $1";
    /// `$1` id. Locks the row.
    PREFERENCE_ADVANCE = "UPDATE dataset SET preference_version = preference_version + 1 \
        WHERE id = $1 AND erased_at IS NULL RETURNING preference_version";
    /// `$1` id.
    SECRET = "SELECT secret FROM dataset WHERE id = $1 AND erased_at IS NULL";
    /// `$1` id, `$2` secret. One that is there stays.
    SECRET_SET = "UPDATE dataset SET secret = $2 \
        WHERE id = $1 AND secret IS NULL AND erased_at IS NULL";
    /// `$1` id, `$2` version: the schema now and then; purged versions too.
    SCHEMAS = "SELECT dataset.schema, dataset_version.schema AS version_schema \
        FROM dataset JOIN dataset_version ON dataset_version.dataset_id = dataset.id \
        WHERE dataset.id = $1 AND dataset_version.version = $2";
    /// `$1` id.
    EXISTS = "SELECT id FROM dataset WHERE id = $1 AND erased_at IS NULL";
    /// `$1` id, `$2` now.
    ERASE = "UPDATE dataset SET erased_at = $2, secret = NULL \
        WHERE id = $1 AND erased_at IS NULL";
    /// `$1` dataset.
    ERASE_CHUNKS = "DELETE FROM chunk WHERE dataset_id = $1";
    /// `$1` dataset.
    ERASE_PREFERENCES = "DELETE FROM preference WHERE dataset_id = $1";
    /// `$1` dataset, `$2` now.
    ERASE_JOBS = "UPDATE job SET state = 'cancelled', cancel_requested = TRUE, \
        lease_token = NULL, lease_expires_at = NULL, seed = NULL, finished_at = $2, \
        revision = revision + 1 WHERE dataset_id = $1 AND state IN ('queued', 'running')";
    /// `$1` dataset.
    ERASE_DRAFT_PIECES = "DELETE FROM release_piece WHERE release_id IN \
        (SELECT id FROM release WHERE dataset_id = $1 AND state = 'draft')";
    /// `$1` dataset.
    ERASE_DRAFT_TABLES = "DELETE FROM release_table WHERE release_id IN \
        (SELECT id FROM release WHERE dataset_id = $1 AND state = 'draft')";
    /// `$1` dataset.
    ERASE_DRAFTS = "DELETE FROM release WHERE dataset_id = $1 AND state = 'draft'";
    /// `$1` dataset.
    ERASE_LINEAGE = "UPDATE release SET lineage = NULL \
        WHERE dataset_id = $1 AND lineage IS NOT NULL";
    /// `$1` dataset.
    ERASE_CANDIDATES = "UPDATE release SET candidates = NULL \
        WHERE dataset_id = $1 AND candidates IS NOT NULL";
}

pub(in crate::store) const POSTGRES_LIST: &str =
    list!("SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($2 AS json))");
pub(in crate::store) const SQLITE_LIST: &str = list!("SELECT unhex(value) FROM json_each($2)");

/// `$1` name of a population. Two names may share a number: then their changes wait for each other.
pub(in crate::store) const POSTGRES_POPULATION_LOCK: &str =
    "SELECT pg_advisory_xact_lock(hashtextextended($1, 8406229572))";
/// A transaction that began IMMEDIATE holds everything already.
pub(in crate::store) const SQLITE_POPULATION_LOCK: &str = "SELECT CAST($1 AS TEXT) AS name";

pub(in crate::store) const POSTGRES_LOCK: &str =
    "SELECT id FROM dataset WHERE id = $1 AND erased_at IS NULL FOR NO KEY UPDATE";
pub(in crate::store) const POSTGRES_KEEP: &str =
    "SELECT id FROM dataset WHERE id = $1 AND erased_at IS NULL FOR KEY SHARE";
pub(in crate::store) const POSTGRES_LOCK_ERASE: &str =
    "SELECT id FROM dataset WHERE id = $1 AND erased_at IS NULL FOR UPDATE";
/// A transaction that began IMMEDIATE holds everything already.
pub(in crate::store) const SQLITE_LOCK: &str = EXISTS;
