//! Statements on how long records stay.
//!
//! A version whose chunks are gone has `purged_at`. The version that a purge
//! leaves behind is empty and has none: it is the latest, and an upload may be
//! appended to it.

use super::statements;

macro_rules! held {
    ($tail:literal) => {
        concat!(
            "SELECT dataset.id, dataset.version, dataset.raw_retention_days, \
             (SELECT max(dataset_version.created_at) FROM dataset_version \
              WHERE dataset_version.dataset_id = dataset.id AND dataset_version.chunks > 0 \
              AND dataset_version.mode <> 'schema' \
              AND dataset_version.purged_at IS NULL) AS uploaded_at, \
             (SELECT min(dataset_version.created_at) FROM dataset_version \
              WHERE dataset_version.dataset_id = dataset.id AND dataset_version.chunks > 0 \
              AND dataset_version.purged_at IS NULL) AS first_uploaded_at, \
             (SELECT max(release.created_at) FROM release \
              WHERE release.dataset_id = dataset.id) AS released_at, \
             (SELECT max(release.published_at) FROM release \
              WHERE release.dataset_id = dataset.id) AS published_at \
             FROM dataset WHERE dataset.erased_at IS NULL \
             AND EXISTS (SELECT 1 FROM dataset_version \
             WHERE dataset_version.dataset_id = dataset.id AND dataset_version.chunks > 0 \
             AND dataset_version.purged_at IS NULL) AND ",
            $tail
        )
    };
}

statements! {
    /// `$1` id, `$2` days or null.
    SET = "UPDATE dataset SET raw_retention_days = $2 WHERE id = $1 AND erased_at IS NULL";
    /// `$1` days of the service, or null: datasets that hold records and have a limit.
    LIMITED = held!(
        "(dataset.raw_retention_days IS NOT NULL OR CAST($1 AS bigint) IS NOT NULL) \
         ORDER BY dataset.id"
    );
    /// `$1` id: the dataset, if it holds records.
    HELD = held!("dataset.id = $1");
    /// `$1` dataset, `$2` now.
    PURGE_VERSIONS = "UPDATE dataset_version SET purged_at = $2 \
        WHERE dataset_id = $1 AND purged_at IS NULL AND chunks > 0";
    /// `$1` dataset, `$2` now.
    PURGED = "UPDATE dataset SET records_purged_at = $2 WHERE id = $1";
    /// `$1` dataset, `$2` now.
    WITHDRAW_DRAFTS = "UPDATE release SET state = 'withdrawn', withdrawn_at = $2, lineage = NULL, \
        candidates = NULL \
        WHERE dataset_id = $1 AND state = 'draft'";
    /// `$1` dataset, `$2` now, `$3` who: the same in the ledger.
    LEDGER_WITHDRAW_DRAFTS = "UPDATE ledger SET withdrawn_at = $2, withdrawn_by = $3 \
        WHERE dataset_id = $1 AND published_at IS NULL AND withdrawn_at IS NULL \
        AND erased_at IS NULL";
}
