//! Statements on preferences.
//!
//! A document is in force at version v where `version <= v` and
//! `until_version` is null or above v. Bulk statements take a JSON array, so
//! that one text takes any number of documents; subjects stand in it in
//! hexadecimal, because a JSON text of PostgreSQL cannot hold every character.

use super::statements;

statements! {
    /// `$1` dataset, `$2` subject, `$3` new version.
    CLOSE = "UPDATE preference SET until_version = $3 \
        WHERE dataset_id = $1 AND subject = $2 AND until_version IS NULL";
    /// `$1` dataset, `$2` subject, `$3` new version, `$4` document, `$5` now.
    INSERT = "INSERT INTO preference (dataset_id, subject, version, document, created_at) \
        VALUES ($1, $2, $3, $4, $5)";
    /// `$1` dataset, `$2` subject.
    GET = "SELECT dataset_id, version, subject, document, created_at FROM preference \
        WHERE dataset_id = $1 AND subject = $2 AND until_version IS NULL";
    /// `$1` dataset, `$2` subject: in force and of before.
    HISTORY = "SELECT dataset_id, version, until_version, subject, document, created_at \
        FROM preference WHERE dataset_id = $1 AND subject = $2 ORDER BY version";
    /// `$1` dataset, `$2` subject.
    FORGET = "DELETE FROM preference WHERE dataset_id = $1 AND subject = $2";
    /// `$1` dataset, `$2` subject to begin with, `$3` limit.
    LIST = "SELECT dataset_id, version, subject, document, created_at FROM preference \
        WHERE dataset_id = $1 AND subject >= $2 AND until_version IS NULL \
        ORDER BY subject LIMIT $3";
    /// `$1` dataset, `$2` version.
    AT = "SELECT dataset_id, version, subject, document FROM preference \
        WHERE dataset_id = $1 AND version <= $2 \
        AND (until_version IS NULL OR until_version > $2) ORDER BY subject";
    /// `$1` dataset, `$2` version.
    CHANGED_SINCE = "SELECT touched.subject AS subject, \
        past.document AS past, past.version AS past_version, \
        present.document AS present, present.version AS present_version \
        FROM (SELECT DISTINCT subject FROM preference WHERE dataset_id = $1 \
              AND (version > $2 OR until_version > $2)) AS touched \
        LEFT JOIN preference AS past ON past.dataset_id = $1 \
             AND past.subject = touched.subject AND past.version <= $2 \
             AND (past.until_version IS NULL OR past.until_version > $2) \
        LEFT JOIN preference AS present ON present.dataset_id = $1 \
             AND present.subject = touched.subject AND present.until_version IS NULL \
        WHERE past.document IS DISTINCT FROM present.document ORDER BY touched.subject";
}

macro_rules! bulk_close {
    ($subjects:literal) => {
        concat!(
            "UPDATE preference SET until_version = $2 WHERE dataset_id = $1 \
             AND until_version IS NULL AND version < $2 AND subject IN (",
            $subjects,
            ")"
        )
    };
}

macro_rules! bulk_insert {
    ($pairs:literal) => {
        concat!(
            "INSERT INTO preference (dataset_id, version, subject, document, created_at) ",
            $pairs,
            " WHERE TRUE ON CONFLICT (dataset_id, subject, version) \
             DO UPDATE SET document = excluded.document"
        )
    };
}

pub(in crate::store) const POSTGRES_BULK_CLOSE: &str =
    bulk_close!("SELECT decode(value, 'hex') FROM json_array_elements_text(CAST($3 AS json))");
pub(in crate::store) const SQLITE_BULK_CLOSE: &str =
    bulk_close!("SELECT unhex(value) FROM json_each($3)");

pub(in crate::store) const POSTGRES_BULK_INSERT: &str = bulk_insert!(
    "SELECT CAST($1 AS uuid), CAST($2 AS bigint), decode(value ->> 0, 'hex'), value ->> 1, \
     CAST($4 AS timestamptz) FROM json_array_elements(CAST($3 AS json))"
);
pub(in crate::store) const SQLITE_BULK_INSERT: &str =
    bulk_insert!("SELECT $1, $2, unhex(value ->> 0), value ->> 1, $4 FROM json_each($3)");
