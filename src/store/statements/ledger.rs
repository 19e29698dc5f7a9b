//! Statements on the ledger.
//!
//! A row is locked after its release's and before the head of the audit log.

use super::statements;

macro_rules! list {
    ($ids:literal) => {
        concat!(
            "SELECT release_id AS id, job_id, dataset_id, dataset_version, preference_version, \
             engine, claims, requested_by, created_at, published_at, published_by, withdrawn_at, \
             withdrawn_by, erased_at, erased_by, table_reads, report_reads, verification_reads, \
             queries, affected_at, affected_subjects FROM ledger WHERE release_id < $1 \
             AND (CAST($2 AS TEXT) IS NULL OR dataset_id IN (",
            $ids,
            ")) ORDER BY release_id DESC LIMIT $3"
        )
    };
}

/// `$1` release: one reading more.
macro_rules! count {
    ($column:literal) => {
        concat!(
            "UPDATE ledger SET ",
            $column,
            " = ",
            $column,
            " + 1 WHERE release_id = $1 RETURNING release_id, dataset_id"
        )
    };
}

statements! {
    /// `$1` release, `$2` job, `$3` claims, `$4` now.
    CREATE = "INSERT INTO ledger (release_id, job_id, dataset_id, dataset_version, \
        preference_version, engine, claims, requested_by, created_at) \
        SELECT $1, id, dataset_id, dataset_version, preference_version, engine, $3, created_by, \
        $4 FROM job WHERE id = $2";
    /// `$1` release, `$2` now, `$3` who.
    PUBLISH = "UPDATE ledger SET published_at = $2, published_by = $3 WHERE release_id = $1";
    /// `$1` release, `$2` now, `$3` subjects or null: terms ask for more than it gives.
    AFFECT = "UPDATE ledger SET affected_at = COALESCE(affected_at, $2), affected_subjects = $3 \
        WHERE release_id = $1";
    /// `$1` release, `$2` claims.
    CLAIM = "UPDATE ledger SET claims = $2 WHERE release_id = $1";
    /// `$1` release.
    CLAIMS = "SELECT release_id AS id, claims FROM ledger WHERE release_id = $1";
    /// `$1` release, `$2` now, `$3` who.
    WITHDRAW = "UPDATE ledger SET withdrawn_at = $2, withdrawn_by = $3 WHERE release_id = $1";
    /// `$1` dataset, `$2` now, `$3` who: its drafts.
    ERASE = "UPDATE ledger SET erased_at = $2, erased_by = $3 WHERE dataset_id = $1 \
        AND published_at IS NULL AND withdrawn_at IS NULL AND erased_at IS NULL";
    /// A table.
    COUNT_TABLE = count!("table_reads");
    /// The report.
    COUNT_REPORT = count!("report_reads");
    /// The verification.
    COUNT_VERIFICATION = count!("verification_reads");
    /// A query.
    COUNT_QUERY = count!("queries");
}

/// `$1` cursor, `$2` only these datasets (JSON or null), `$3` limit.
pub(in crate::store) const POSTGRES_LIST: &str =
    list!("SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($2 AS json))");
pub(in crate::store) const SQLITE_LIST: &str = list!("SELECT unhex(value) FROM json_each($2)");
