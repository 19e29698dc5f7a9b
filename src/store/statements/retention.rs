//! Statements on how long records stay.
//!
//! A version whose chunks are gone has `purged_at`. The version that a purge
//! leaves behind is empty and has none: it is the latest, and an upload may be
//! appended to it.

use super::statements;

macro_rules! held {
    ($tail:literal) => {
        concat!(
            "SELECT dataset.id, dataset.version, dataset.raw_retention_days, dataset.series_memory, \
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

/// Versions of one epoch.
macro_rules! of_epoch {
    ($head:literal) => {
        concat!(
            $head,
            " AND dataset_version IN (SELECT old.version FROM dataset_version AS old \
             WHERE old.dataset_id = $1 AND old.epoch = $2)"
        )
    };
}

macro_rules! replaced {
    ($tail:literal) => {
        concat!(
            "SELECT dataset.id, dataset.raw_retention_days, dataset.series_memory, old.epoch, \
             (SELECT min(later.created_at) FROM dataset_version AS later \
              WHERE later.dataset_id = dataset.id AND later.epoch > old.epoch) AS uploaded_at, \
             (SELECT max(release.created_at) FROM release JOIN dataset_version AS its \
              ON its.dataset_id = release.dataset_id AND its.version = release.dataset_version \
              WHERE release.dataset_id = dataset.id AND its.epoch = old.epoch) AS released_at, \
             (SELECT max(release.published_at) FROM release JOIN dataset_version AS its \
              ON its.dataset_id = release.dataset_id AND its.version = release.dataset_version \
              WHERE release.dataset_id = dataset.id AND its.epoch = old.epoch) AS published_at \
             FROM dataset JOIN dataset_version AS old \
             ON old.dataset_id = dataset.id AND old.version = old.epoch \
             WHERE dataset.erased_at IS NULL AND old.purged_at IS NULL AND old.chunks > 0 \
             AND EXISTS (SELECT 1 FROM dataset_version AS later \
             WHERE later.dataset_id = dataset.id AND later.epoch > old.epoch) \
             AND NOT EXISTS (SELECT 1 FROM job JOIN dataset_version AS its \
             ON its.dataset_id = job.dataset_id AND its.version = job.dataset_version \
             WHERE job.dataset_id = dataset.id AND its.epoch = old.epoch \
             AND job.state IN ('queued', 'running')) AND ",
            $tail
        )
    };
}

statements! {
    /// `$1` days of the service, or null: replaced records of datasets that have a limit.
    REPLACED = replaced!(
        "(dataset.raw_retention_days IS NOT NULL OR CAST($1 AS bigint) IS NOT NULL) \
         ORDER BY dataset.id, old.epoch"
    );
    /// `$1` id: its replaced records, if there are any.
    REPLACED_OF = replaced!("dataset.id = $1 ORDER BY old.epoch");
    /// `$1` dataset, `$2` epoch.
    PURGE_EPOCH_CHUNKS = "DELETE FROM chunk WHERE dataset_id = $1 AND epoch = $2";
    /// `$1` dataset, `$2` epoch.
    PURGE_EPOCH_LINEAGE = of_epoch!("UPDATE release SET lineage = NULL \
        WHERE dataset_id = $1 AND lineage IS NOT NULL");
    /// `$1` dataset, `$2` epoch, `$3` now, `$4` who: first the ledger, while drafts are drafts.
    PURGE_EPOCH_LEDGER = "UPDATE ledger SET withdrawn_at = $3, withdrawn_by = $4 \
        WHERE dataset_id = $1 AND published_at IS NULL AND withdrawn_at IS NULL \
        AND erased_at IS NULL AND dataset_version IN (SELECT old.version \
        FROM dataset_version AS old WHERE old.dataset_id = $1 AND old.epoch = $2)";
    /// `$1` dataset, `$2` epoch.
    PURGE_EPOCH_PIECES = "DELETE FROM release_piece WHERE release_id IN \
        (SELECT release.id FROM release WHERE release.dataset_id = $1 AND release.state = 'draft' \
        AND release.dataset_version IN (SELECT old.version \
        FROM dataset_version AS old WHERE old.dataset_id = $1 AND old.epoch = $2))";
    /// `$1` dataset, `$2` epoch, `$3` now.
    PURGE_EPOCH_DRAFTS = of_epoch!("UPDATE release SET state = 'withdrawn', withdrawn_at = $3, \
        lineage = NULL, candidates = NULL WHERE dataset_id = $1 AND state = 'draft'");
    /// `$1` dataset, `$2` epoch: after drafts are withdrawn, of public releases alone.
    PURGE_EPOCH_CANDIDATES = of_epoch!("UPDATE release SET candidates = NULL \
        WHERE dataset_id = $1 AND candidates IS NOT NULL");
    /// `$1` dataset, `$2` epoch, `$3` now.
    PURGE_EPOCH_VERSIONS = "UPDATE dataset_version SET purged_at = $3 \
        WHERE dataset_id = $1 AND epoch = $2 AND purged_at IS NULL";
    /// `$1` id, `$2` days or null, `$3` what becomes of what public releases show.
    SET = "UPDATE dataset SET raw_retention_days = $2, series_memory = $3 \
        WHERE id = $1 AND erased_at IS NULL";
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
