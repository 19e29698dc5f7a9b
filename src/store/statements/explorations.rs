//! Statements on explorations and the jobs of their settings.

use super::jobs::cancel_request;
use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT exploration.id, dataset_id, dataset_version, preference_version, spec, \
             created_by, created_at, ends_at, cancelled_at, \
             (SELECT count(*) FROM job WHERE job.exploration_id = exploration.id) \
             AS settings_total, \
             (SELECT count(*) FROM job WHERE job.exploration_id = exploration.id \
             AND job.state IN ('queued', 'running')) AS settings_open, \
             (SELECT count(*) FROM job WHERE job.exploration_id = exploration.id \
             AND job.state = 'cancelled') AS settings_cancelled, \
             (SELECT max(job.finished_at) FROM job WHERE job.exploration_id = exploration.id) \
             AS ended_at FROM exploration ",
            $tail
        )
    };
}

macro_rules! list {
    ($ids:literal) => {
        select!(concat!(
            "WHERE id < $1 AND (CAST($2 AS TEXT) IS NULL OR dataset_id IN (",
            $ids,
            ")) ORDER BY id DESC LIMIT $3"
        ))
    };
}

macro_rules! sweep {
    ($lock:literal) => {
        concat!(
            "UPDATE job SET state = 'cancelled', seed = NULL, finished_at = $1, \
             revision = revision + 1 WHERE id IN (SELECT id FROM job WHERE state = 'queued' \
             AND exploration_id IN (SELECT id FROM exploration WHERE ends_at <= $1)",
            $lock,
            ") RETURNING id, dataset_id"
        )
    };
}

statements! {
    /// `$1` id, `$2` dataset, `$3` version, `$4` preference version, `$5` spec, `$6` who,
    /// `$7` now, `$8` end.
    CREATE = "INSERT INTO exploration (id, dataset_id, dataset_version, preference_version, \
        spec, created_by, created_at, ends_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
        ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("WHERE id = $1");
    /// `$1` id, `$2` now.
    CANCEL = "UPDATE exploration SET cancelled_at = $2 WHERE id = $1 AND cancelled_at IS NULL";
    /// `$1` id, `$2` now: those of its jobs that have not ended.
    CANCEL_JOBS = cancel_request!("exploration_id = $1");
    /// `$1` dataset: queued jobs of its explorations.
    QUEUED = "SELECT count(*) AS jobs FROM job WHERE dataset_id = $1 AND state = 'queued' \
        AND exploration_id IS NOT NULL";
    /// `$1` id: its settings, and what became of them.
    SETTINGS = "SELECT job.id, job.setting, job.engine, job.spec, job.state, job.problem, \
        job.started_at, job.finished_at, release.id AS release_id, \
        release.state AS release_state, release.measures, \
        release_approval.release_id AS approval \
        FROM job LEFT JOIN release ON release.job_id = job.id \
        LEFT JOIN release_approval ON release_approval.release_id = release.id \
        WHERE job.exploration_id = $1 ORDER BY job.setting";
    /// `$1` release, `$2` measures.
    MEASURED = "UPDATE release SET measures = $2 WHERE id = $1";
}

/// `$1` id: one result at a time decides what is kept.
pub(in crate::store) const POSTGRES_LOCK: &str =
    "SELECT id, spec FROM exploration WHERE id = $1 FOR UPDATE";
pub(in crate::store) const SQLITE_LOCK: &str = "SELECT id, spec FROM exploration WHERE id = $1";

/// `$1` now.
pub(in crate::store) const POSTGRES_SWEEP: &str = sweep!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_SWEEP: &str = sweep!("");

/// `$1` cursor, `$2` only these datasets (JSON or null), `$3` limit.
pub(in crate::store) const POSTGRES_LIST: &str =
    list!("SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($2 AS json))");
pub(in crate::store) const SQLITE_LIST: &str = list!("SELECT unhex(value) FROM json_each($2)");
