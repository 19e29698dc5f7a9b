//! Statements on releases, their tables and pieces.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT id, job_id, dataset_id, dataset_version, preference_version, engine, state, \
             (SELECT spec FROM job WHERE job.id = release.job_id) AS job_spec, \
             manifest, composition, release.grounds, created_at, published_at, withdrawn_at, \
             release_approval.grounds AS approved_grounds, acknowledged, approved_by, \
             approved_at FROM release LEFT JOIN release_approval \
             ON release_approval.release_id = release.id ",
            $tail
        )
    };
}

macro_rules! list {
    ($states:literal, $ids:literal) => {
        select!(concat!(
            "WHERE id < $1 AND state IN (",
            $states,
            ") AND (CAST($3 AS TEXT) IS NULL OR dataset_id IN (",
            $ids,
            ")) ORDER BY id DESC LIMIT $4"
        ))
    };
}

macro_rules! table_select {
    ($tail:literal) => {
        concat!(
            "SELECT release_id, position, name, columns, rows, raw_bytes, sha256, pieces \
             FROM release_table WHERE release_id = $1 ",
            $tail
        )
    };
}

statements! {
    /// `$1` id, `$2` job, `$3` manifest, `$4` report, `$5` verification, `$6` lineage, `$7` now,
    /// `$8` candidates.
    /// What the release was made from is what the job names.
    CREATE = "INSERT INTO release (id, job_id, dataset_id, dataset_version, preference_version, \
        engine, state, manifest, report, verification, lineage, created_at, candidates) \
        SELECT $1, id, dataset_id, dataset_version, preference_version, engine, 'draft', \
        $3, $4, $5, $6, $7, $8 FROM job WHERE id = $2";
    /// `$1` release, `$2` position, `$3` name, `$4` columns, `$5` rows, `$6` raw bytes,
    /// `$7` sha256, `$8` pieces.
    TABLE_CREATE = "INSERT INTO release_table (release_id, position, name, columns, rows, \
        raw_bytes, sha256, pieces) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
    /// `$1` release, `$2` table's position, `$3` position, `$4` rows, `$5` raw bytes,
    /// `$6` sha256, `$7` bytes.
    PIECE_CREATE = "INSERT INTO release_piece (release_id, table_position, position, rows, \
        raw_bytes, sha256, bytes) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    /// `$1` id.
    GET = select!("WHERE id = $1");
    /// `$1` id.
    MANIFEST = "SELECT id, manifest AS document FROM release WHERE id = $1";
    /// `$1` id.
    REPORT = "SELECT id, report AS document FROM release WHERE id = $1";
    /// `$1` id.
    VERIFICATION = "SELECT id, verification AS document FROM release WHERE id = $1";
    /// `$1` id.
    LINEAGE = "SELECT id, lineage FROM release WHERE id = $1";
    /// `$1` id.
    CANDIDATES = "SELECT id, candidates FROM release WHERE id = $1";
    /// `$1` dataset: all that ever were public.
    PUBLIC = "SELECT id FROM release WHERE dataset_id = $1 AND published_at IS NOT NULL \
        ORDER BY id";
    /// `$1` id, `$2` composition.
    COMPOSE = "UPDATE release SET composition = $2 WHERE id = $1";
    /// `$1` id, `$2` grounds.
    GROUNDS = "UPDATE release SET grounds = $2 WHERE id = $1";
    /// `$1` release.
    TABLE_LIST = table_select!("ORDER BY position");
    /// `$1` release, `$2` name.
    TABLE_GET = table_select!("AND name = $2");
    /// `$1` release, `$2` name, `$3` position.
    PIECE_GET = "SELECT release_piece.release_id, table_position, release_piece.position, \
        release_piece.sha256, bytes FROM release_table JOIN release_piece \
        ON release_piece.release_id = release_table.release_id \
        AND release_piece.table_position = release_table.position \
        WHERE release_table.release_id = $1 AND release_table.name = $2 \
        AND release_piece.position = $3";
    /// `$1` id, `$2` now.
    PUBLISH = "UPDATE release SET state = 'published', published_at = $2 \
        WHERE id = $1 AND state = 'draft'";
    /// `$1` id, `$2` now.
    WITHDRAW = "UPDATE release SET state = 'withdrawn', withdrawn_at = $2, lineage = NULL, \
        candidates = CASE WHEN published_at IS NULL THEN NULL ELSE candidates END \
        WHERE id = $1 AND state <> 'withdrawn'";
    /// Public ones of datasets whose preferences moved since it was looked.
    UNLOOKED = "SELECT release.id, release.job_id, release.dataset_id, release.dataset_version, \
        release.preference_version, dataset.preference_version AS latest_preferences \
        FROM release JOIN dataset ON dataset.id = release.dataset_id \
        WHERE release.state = 'published' AND dataset.erased_at IS NULL \
        AND COALESCE(release.terms_looked_at, release.preference_version) \
        < dataset.preference_version ORDER BY release.id";
    /// `$1` id, `$2` preference version up to which was looked, and found what was known.
    LOOKED = "UPDATE release SET terms_looked_at = $2 \
        WHERE id = $1 AND COALESCE(terms_looked_at, 0) < $2";
    /// `$1` id, `$2` preference version, `$3` since when or null, `$4` subjects or null.
    AFFECT = "UPDATE release SET terms_looked_at = $2, affected_at = $3, affected_subjects = $4 \
        WHERE id = $1 AND state = 'published' AND COALESCE(terms_looked_at, 0) < $2";
    /// `$1` id: a public release that is affected.
    AFFECTED_GET = "SELECT id, affected_at, affected_subjects FROM release \
        WHERE id = $1 AND state = 'published' AND affected_at IS NOT NULL";
    /// `$1` dataset: its public releases that are affected.
    AFFECTED = "SELECT id, affected_at, affected_subjects FROM release \
        WHERE dataset_id = $1 AND state = 'published' AND affected_at IS NOT NULL ORDER BY id";
    /// All of them.
    AFFECTED_COUNT = "SELECT count(*) AS count FROM release \
        WHERE state = 'published' AND affected_at IS NOT NULL";
    /// `$1` dataset.
    OF_DATASET = "SELECT id FROM release WHERE dataset_id = $1 ORDER BY id";
    /// `$1` id, `$2` lineage: only where there is one.
    LINEAGE_SET = "UPDATE release SET lineage = $2 WHERE id = $1 AND lineage IS NOT NULL";
    /// `$1` id, `$2` candidates: only where there are some.
    CANDIDATES_SET = "UPDATE release SET candidates = $2 \
        WHERE id = $1 AND candidates IS NOT NULL";
    /// `$1` release.
    WITHDRAW_PIECES = "DELETE FROM release_piece WHERE release_id = $1";
}

pub(in crate::store) const POSTGRES_LOCK: &str = "SELECT id, state, dataset_version, preference_version, lineage FROM release \
     WHERE id = $1 FOR UPDATE";
pub(in crate::store) const SQLITE_LOCK: &str = "SELECT id, state, dataset_version, preference_version, lineage FROM release \
     WHERE id = $1";

pub(in crate::store) const POSTGRES_LIST: &str = list!(
    "SELECT value FROM json_array_elements_text(CAST($2 AS json))",
    "SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($3 AS json))"
);
pub(in crate::store) const SQLITE_LIST: &str = list!(
    "SELECT value FROM json_each($2)",
    "SELECT unhex(value) FROM json_each($3)"
);
