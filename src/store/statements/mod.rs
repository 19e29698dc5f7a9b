//! Every statement that the store runs, as a constant, an area each file.
//!
//! Most texts are the same on both databases. `Dialect` names those that are
//! not: row locks (SQLite has none and needs none, it has one writer) and
//! reading a JSON array as rows. `all` lists every text, so that
//! `Store::statements_check` can prepare each of them on a real database.
//!
//! Placeholders are `$1`, `$2`, … on both. A placeholder whose kind PostgreSQL
//! could not infer from its place is wrapped in a `CAST`.

pub(super) mod approvals;
pub(super) mod audit;
pub(super) mod dataset_keys;
pub(super) mod datasets;
pub(super) mod explorations;
pub(super) mod hierarchies;
pub(super) mod idempotency;
pub(super) mod jobs;
pub(super) mod keys;
pub(super) mod ledger;
pub(super) mod population_tables;
pub(super) mod preferences;
pub(super) mod receipts;
pub(super) mod reidentifications;
pub(super) mod releases;
pub(super) mod retention;
pub(super) mod sessions;
pub(super) mod subject_tokens;
pub(super) mod tombstones;
pub(super) mod versions;
pub(super) mod webhooks;

/// Defines constants and lists them in `ALL`.
macro_rules! statements {
    ($($(#[$doc:meta])* $name:ident = $text:expr;)*) => {
        $($(#[$doc])* pub(in crate::store) const $name: &str = $text;)*

        /// Every statement of this area.
        pub(in crate::store) const ALL: &[&str] = &[$($name),*];
    };
}
use statements;

/// The database's clock. Not `now()`, which stands still during a transaction.
pub(super) const POSTGRES_NOW: &str = "SELECT clock_timestamp()";

/// Sends a signal to every process when the transaction commits.
pub(super) const PG_NOTIFY: &str = "SELECT pg_notify($1, '')";

/// Answers if the database does.
pub(super) const PING: &str = "SELECT 1 AS one";

/// The latest migration.
pub(super) const SCHEMA_VERSION: &str =
    "SELECT max(version) AS version FROM _sqlx_migrations WHERE success";

/// The statements whose text differs between the databases.
pub(super) struct Dialect {
    /// `$1` master key, `$2` limit: keys that another one wraps, held.
    pub(super) dataset_key_not_under: &'static str,
    /// Lets one process at a time make the first admin key.
    pub(super) first_admin_lock: &'static str,
    /// `$1` cursor, `$2` within these datasets (JSON or null), `$3` limit.
    pub(super) key_list: &'static str,
    /// Reads the head of the audit log and holds it.
    pub(super) audit_lock: &'static str,
    /// `$1` cursor, `$2` only these datasets (JSON or null), `$3` actor or null,
    /// `$4` action or null, `$5` limit.
    pub(super) audit_list: &'static str,
    /// `$1` cursor, `$2` only these datasets (JSON or null), `$3` limit.
    pub(super) ledger_list: &'static str,
    /// `$1` cursor, `$2` only these datasets (JSON or null), `$3` limit.
    pub(super) dataset_list: &'static str,
    /// `$1` dataset or null, `$2` cursor, `$3` only these names of the library (JSON
    /// or null), `$4` limit.
    pub(super) hierarchy_list: &'static str,
    /// `$1` name: orders whatever concerns all datasets of a population.
    pub(super) population_lock: &'static str,
    /// Holds a dataset against changes of its records, preferences and publicity.
    pub(super) dataset_lock: &'static str,
    /// Holds a dataset against erasure only.
    pub(super) dataset_keep: &'static str,
    /// Holds a dataset against everything.
    pub(super) dataset_lock_erase: &'static str,
    /// `$1` dataset, `$2` new version, `$3` JSON array of subjects in hexadecimal.
    pub(super) preference_bulk_close: &'static str,
    /// `$1` dataset, `$2` new version, `$3` JSON array of `[subject in hexadecimal,
    /// document]`, `$4` now.
    pub(super) preference_bulk_insert: &'static str,
    /// Ends the leases of a process that is gone for certain.
    pub(super) job_abandon: &'static str,
    /// `$1` token, `$2` worker, `$3` now, `$4` expiry, `$5` most attempts, `$6` time of leases.
    pub(super) job_acquire: &'static str,
    /// `$1` now, `$2` most attempts, `$3` problem, `$4` time of leases.
    pub(super) job_sweep_failed: &'static str,
    /// `$1` now, `$2` time of leases.
    pub(super) job_sweep_cancelled: &'static str,
    /// `$1` cursor, `$2` states (JSON), `$3` only these datasets (JSON or null), `$4` limit.
    pub(super) job_list: &'static str,
    /// `$1` cursor, `$2` only these datasets (JSON or null), `$3` limit.
    pub(super) exploration_list: &'static str,
    /// Reads an exploration and holds its row.
    pub(super) exploration_lock: &'static str,
    /// `$1` now.
    pub(super) exploration_sweep: &'static str,
    /// `$1` cursor, `$2` states (JSON), `$3` only these datasets (JSON or null), `$4` limit.
    pub(super) release_list: &'static str,
    /// Reads a release's state and holds its row.
    pub(super) release_lock: &'static str,
    /// `$1` now.
    pub(super) subject_tokens_sweep: &'static str,
    /// `$1` cursor, `$2` within these datasets (JSON or null), `$3` limit.
    pub(super) webhook_list: &'static str,
    /// `$1` id: the secrets of a webhook, held.
    pub(super) webhook_lock: &'static str,
    /// `$1` master key, `$2` limit: webhooks whose secrets it does not wrap, held.
    pub(super) webhook_not_under: &'static str,
    /// `$1` now, `$2` time of leases, `$3` most attempts: a webhook to send to, held.
    pub(super) webhook_ready: &'static str,
    /// Lets one process at a time make a webhook.
    pub(super) webhook_create_lock: &'static str,
    /// Ends the leases on messages of a process that is gone for certain.
    pub(super) webhook_abandon: &'static str,
}

/// PostgreSQL's.
pub(super) const POSTGRES: Dialect = Dialect {
    dataset_key_not_under: dataset_keys::POSTGRES_NOT_UNDER,
    first_admin_lock: keys::POSTGRES_FIRST_ADMIN_LOCK,
    key_list: keys::POSTGRES_LIST,
    audit_lock: audit::POSTGRES_LOCK,
    audit_list: audit::POSTGRES_LIST,
    ledger_list: ledger::POSTGRES_LIST,
    dataset_list: datasets::POSTGRES_LIST,
    hierarchy_list: hierarchies::POSTGRES_LIST,
    population_lock: datasets::POSTGRES_POPULATION_LOCK,
    dataset_lock: datasets::POSTGRES_LOCK,
    dataset_keep: datasets::POSTGRES_KEEP,
    dataset_lock_erase: datasets::POSTGRES_LOCK_ERASE,
    preference_bulk_close: preferences::POSTGRES_BULK_CLOSE,
    preference_bulk_insert: preferences::POSTGRES_BULK_INSERT,
    job_abandon: PING,
    job_acquire: jobs::POSTGRES_ACQUIRE,
    job_sweep_failed: jobs::POSTGRES_SWEEP_FAILED,
    job_sweep_cancelled: jobs::POSTGRES_SWEEP_CANCELLED,
    job_list: jobs::POSTGRES_LIST,
    exploration_list: explorations::POSTGRES_LIST,
    exploration_lock: explorations::POSTGRES_LOCK,
    exploration_sweep: explorations::POSTGRES_SWEEP,
    release_list: releases::POSTGRES_LIST,
    release_lock: releases::POSTGRES_LOCK,
    subject_tokens_sweep: subject_tokens::POSTGRES_SWEEP,
    webhook_list: webhooks::POSTGRES_LIST,
    webhook_lock: webhooks::POSTGRES_LOCK,
    webhook_not_under: webhooks::POSTGRES_NOT_UNDER,
    webhook_ready: webhooks::POSTGRES_READY,
    webhook_create_lock: webhooks::POSTGRES_CREATE_LOCK,
    webhook_abandon: PING,
};

/// SQLite's.
pub(super) const SQLITE: Dialect = Dialect {
    dataset_key_not_under: dataset_keys::SQLITE_NOT_UNDER,
    first_admin_lock: PING,
    key_list: keys::SQLITE_LIST,
    audit_lock: audit::SQLITE_LOCK,
    audit_list: audit::SQLITE_LIST,
    ledger_list: ledger::SQLITE_LIST,
    dataset_list: datasets::SQLITE_LIST,
    hierarchy_list: hierarchies::SQLITE_LIST,
    population_lock: datasets::SQLITE_POPULATION_LOCK,
    dataset_lock: datasets::SQLITE_LOCK,
    dataset_keep: datasets::SQLITE_LOCK,
    dataset_lock_erase: datasets::SQLITE_LOCK,
    preference_bulk_close: preferences::SQLITE_BULK_CLOSE,
    preference_bulk_insert: preferences::SQLITE_BULK_INSERT,
    job_abandon: jobs::SQLITE_ABANDON,
    job_acquire: jobs::SQLITE_ACQUIRE,
    job_sweep_failed: jobs::SQLITE_SWEEP_FAILED,
    job_sweep_cancelled: jobs::SQLITE_SWEEP_CANCELLED,
    job_list: jobs::SQLITE_LIST,
    exploration_list: explorations::SQLITE_LIST,
    exploration_lock: explorations::SQLITE_LOCK,
    exploration_sweep: explorations::SQLITE_SWEEP,
    release_list: releases::SQLITE_LIST,
    release_lock: releases::SQLITE_LOCK,
    subject_tokens_sweep: subject_tokens::SQLITE_SWEEP,
    webhook_list: webhooks::SQLITE_LIST,
    webhook_lock: webhooks::SECRETS,
    webhook_not_under: webhooks::SQLITE_NOT_UNDER,
    webhook_ready: webhooks::SQLITE_READY,
    webhook_create_lock: PING,
    webhook_abandon: webhooks::SQLITE_ABANDON,
};

/// Every statement that is run on the database of `dialect`.
pub(super) fn all(dialect: &Dialect) -> Vec<&'static str> {
    let shared: [&[&str]; 22] = [
        &[PING, SCHEMA_VERSION],
        keys::ALL,
        dataset_keys::ALL,
        datasets::ALL,
        versions::ALL,
        hierarchies::ALL,
        population_tables::ALL,
        preferences::ALL,
        jobs::ALL,
        explorations::ALL,
        releases::ALL,
        receipts::ALL,
        approvals::ALL,
        reidentifications::ALL,
        subject_tokens::ALL,
        sessions::ALL,
        ledger::ALL,
        audit::ALL,
        retention::ALL,
        tombstones::ALL,
        idempotency::ALL,
        webhooks::ALL,
    ];
    let own = [
        dialect.dataset_key_not_under,
        dialect.first_admin_lock,
        dialect.key_list,
        dialect.audit_lock,
        dialect.audit_list,
        dialect.ledger_list,
        dialect.dataset_list,
        dialect.hierarchy_list,
        dialect.population_lock,
        dialect.dataset_lock,
        dialect.dataset_keep,
        dialect.dataset_lock_erase,
        dialect.preference_bulk_close,
        dialect.preference_bulk_insert,
        dialect.job_abandon,
        dialect.job_acquire,
        dialect.job_sweep_failed,
        dialect.job_sweep_cancelled,
        dialect.job_list,
        dialect.exploration_list,
        dialect.exploration_lock,
        dialect.exploration_sweep,
        dialect.release_list,
        dialect.release_lock,
        dialect.subject_tokens_sweep,
        dialect.webhook_list,
        dialect.webhook_lock,
        dialect.webhook_not_under,
        dialect.webhook_ready,
        dialect.webhook_create_lock,
        dialect.webhook_abandon,
    ];
    shared.into_iter().flatten().copied().chain(own).collect()
}
