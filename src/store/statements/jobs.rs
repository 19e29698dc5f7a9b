//! Statements on jobs.
//!
//! Every statement of a worker has the same guard: the token matches, the job
//! runs, and the lease's time is not up. What it changes is then the worker's
//! own; else it changes no row.

use super::statements;

macro_rules! select {
    ($tail:expr) => {
        concat!(
            "SELECT job.id, job.dataset_id, job.dataset_version, job.preference_version, \
             job.engine, job.spec, job.publish, job.created_by, job.memory_bytes, job.state, job.revision, \
             job.progress, job.problem, job.attempts, job.cancel_requested, job.worker, \
             job.lease_expires_at, job.created_at, job.started_at, job.finished_at, \
             job.exploration_id, release.id AS release_id \
             FROM job LEFT JOIN release ON release.job_id = job.id ",
            $tail
        )
    };
}

/// `$1` job, `$2` token, `$3` time of leases: the lease is held.
macro_rules! guard {
    ($head:literal) => {
        concat!(
            "UPDATE job SET ",
            $head,
            " WHERE id = $1 AND lease_token = $2 AND state = 'running' AND lease_expires_at > $3"
        )
    };
}

/// Which jobs; `$2` now: queued ones are cancelled, running ones are asked to stop.
macro_rules! cancel_request {
    ($which:literal) => {
        concat!(
            "UPDATE job SET cancel_requested = TRUE, revision = revision + 1, \
             finished_at = CASE WHEN state = 'queued' THEN $2 ELSE finished_at END, \
             seed = CASE WHEN state = 'queued' THEN NULL ELSE seed END, \
             state = CASE WHEN state = 'queued' THEN 'cancelled' ELSE state END WHERE ",
            $which,
            " AND state IN ('queued', 'running') AND NOT cancel_requested"
        )
    };
}
pub(super) use cancel_request;

macro_rules! acquire {
    ($lock:literal) => {
        concat!(
            "UPDATE job SET state = 'running', lease_token = $1, worker = $2, \
             started_at = COALESCE(started_at, $3), lease_expires_at = $4, \
             attempts = attempts + 1, revision = revision + 1, \
             progress = CASE WHEN state = 'running' THEN '{\"step\":0,\"steps\":0,\
             \"label\":\"worker lost, taking over\",\"fraction\":0}' ELSE NULL END \
             WHERE id = (SELECT id FROM job WHERE state = 'queued' OR (state = 'running' \
             AND lease_expires_at <= $6 AND attempts < $5 AND NOT cancel_requested) \
             ORDER BY CASE WHEN exploration_id IS NULL THEN 0 ELSE 1 END, id LIMIT 1",
            $lock,
            ") RETURNING id"
        )
    };
}

macro_rules! sweep {
    ($change:literal, $time:literal, $which:literal, $lock:literal) => {
        concat!(
            "UPDATE job SET ",
            $change,
            ", lease_token = NULL, lease_expires_at = NULL, seed = NULL, finished_at = $1, \
             revision = revision + 1 WHERE id IN (SELECT id FROM job WHERE state = 'running' \
             AND lease_expires_at <= ",
            $time,
            " AND ",
            $which,
            $lock,
            ") RETURNING id, dataset_id"
        )
    };
}

macro_rules! list {
    ($states:literal, $ids:literal) => {
        select!(concat!(
            "WHERE job.id < $1 AND job.state IN (",
            $states,
            ") AND (CAST($3 AS TEXT) IS NULL OR job.dataset_id IN (",
            $ids,
            ")) ORDER BY job.id DESC LIMIT $4"
        ))
    };
}

statements! {
    /// `$1` id, `$2` dataset, `$3` version, `$4` preference version, `$5` engine, `$6` spec,
    /// `$7` publish, `$8` who, `$9` now, `$10` seed, `$11` memory, `$12` exploration or null,
    /// `$13` setting or null.
    CREATE = "INSERT INTO job (id, dataset_id, dataset_version, preference_version, engine, \
        spec, publish, created_by, state, revision, attempts, cancel_requested, created_at, seed, \
        memory_bytes, exploration_id, setting) \
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', 1, 0, FALSE, $9, $10, $11, $12, $13) \
        ON CONFLICT (id) DO NOTHING";
    /// `$1` id.
    GET = select!("WHERE job.id = $1");
    /// `$1` id, `$2` now.
    CANCEL_REQUEST = cancel_request!("id = $1");
    /// `$4` expiry, `$5` progress or null. Only progress that is new is a visible change.
    HEARTBEAT = concat!(guard!("lease_expires_at = $4, \
        revision = revision + CASE WHEN CAST($5 AS TEXT) IS NULL \
            OR progress IS NOT DISTINCT FROM CAST($5 AS TEXT) THEN 0 ELSE 1 END, \
        progress = COALESCE(CAST($5 AS TEXT), progress)"),
        " RETURNING id, cancel_requested, revision");
    /// `$4` now. The job has its release.
    SUCCEED = guard!("state = 'succeeded', seed = NULL, lease_token = NULL, \
        lease_expires_at = NULL, finished_at = $4, revision = revision + 1");
    /// `$4` now, `$5` problem, `$6` 1 where it has figures, else 0.
    FAIL = guard!("state = 'failed', problem = $5, tells_figures = (CAST($6 AS bigint) = 1), \
        seed = NULL, lease_token = NULL, lease_expires_at = NULL, finished_at = $4, revision = revision + 1");
    /// `$4` now. Somebody asked for it.
    CANCEL = guard!("state = 'cancelled', seed = NULL, lease_token = NULL, \
        lease_expires_at = NULL, finished_at = $4, revision = revision + 1");
    /// `$4` now. Back to the queue, the attempt not counted.
    YIELD = guard!("state = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'queued' END, \
        finished_at = CASE WHEN cancel_requested THEN $4 ELSE finished_at END, \
        seed = CASE WHEN cancel_requested THEN NULL ELSE seed END, \
        attempts = attempts - 1, lease_token = NULL, lease_expires_at = NULL, \
        progress = NULL, revision = revision + 1");
    /// `$1` time of leases, `$2` most attempts.
    WAITING = "SELECT count(*) AS jobs FROM job WHERE state = 'queued' OR (state = 'running' \
        AND lease_expires_at <= $1 AND attempts < $2 AND NOT cancel_requested)";
    /// `$1` dataset: jobs of it that wait, but for those of explorations.
    QUEUED = "SELECT count(*) AS jobs FROM job WHERE dataset_id = $1 AND state = 'queued' \
        AND exploration_id IS NULL";
    /// `$1` dataset, `$2` version: problems of its jobs that have figures.
    FIGURES = "SELECT count(*) AS jobs FROM job WHERE dataset_id = $1 \
        AND dataset_version = $2 AND tells_figures";
    /// The secrets of a job whose lease is held.
    SECRETS = "SELECT job.id, job.seed, dataset.secret FROM job \
        JOIN dataset ON dataset.id = job.dataset_id AND dataset.erased_at IS NULL \
        WHERE job.id = $1 AND job.lease_token = $2 AND job.state = 'running' \
        AND job.lease_expires_at > $3";
    /// `$1` job, `$2` seed. One that is there stays.
    SEED_SET = "UPDATE job SET seed = $2 WHERE id = $1 AND seed IS NULL";
    /// Jobs by state.
    DEPTH = "SELECT state, count(*) AS jobs FROM job GROUP BY state";
}

pub(in crate::store) const POSTGRES_ACQUIRE: &str = acquire!(" FOR UPDATE SKIP LOCKED");
pub(in crate::store) const SQLITE_ACQUIRE: &str = acquire!("");

/// The one server of an SQLite file begins: the holders of leases are gone, and
/// by whose clock it would run out nobody knows any more.
pub(in crate::store) const SQLITE_ABANDON: &str =
    "UPDATE job SET lease_expires_at = 0 WHERE state = 'running'";

pub(in crate::store) const POSTGRES_SWEEP_FAILED: &str = sweep!(
    "state = 'failed', problem = $3",
    "$4",
    "attempts >= $2 AND NOT cancel_requested",
    " FOR UPDATE SKIP LOCKED"
);
pub(in crate::store) const SQLITE_SWEEP_FAILED: &str = sweep!(
    "state = 'failed', problem = $3",
    "$4",
    "attempts >= $2 AND NOT cancel_requested",
    ""
);

pub(in crate::store) const POSTGRES_SWEEP_CANCELLED: &str = sweep!(
    "state = 'cancelled'",
    "$2",
    "cancel_requested",
    " FOR UPDATE SKIP LOCKED"
);
pub(in crate::store) const SQLITE_SWEEP_CANCELLED: &str =
    sweep!("state = 'cancelled'", "$2", "cancel_requested", "");

pub(in crate::store) const POSTGRES_LIST: &str = list!(
    "SELECT value FROM json_array_elements_text(CAST($2 AS json))",
    "SELECT CAST(value AS uuid) FROM json_array_elements_text(CAST($3 AS json))"
);
pub(in crate::store) const SQLITE_LIST: &str = list!(
    "SELECT value FROM json_each($2)",
    "SELECT unhex(value) FROM json_each($3)"
);
