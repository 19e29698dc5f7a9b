//! What can go wrong in the store.
//!
//! Five kinds, told apart by what the caller does about them: try again
//! (`Driver`, `LeaseLost`), answer the client (`NotFound`, `Conflict`), or
//! wake somebody (`Inconsistent`). No message carries a value from a row: a
//! database's own text may quote one (PostgreSQL's `Key (subject)=(…) already
//! exists`), so of a database's error only its code and the constraint's name
//! are kept.

use chrono::{DateTime, Utc};

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database or the way to it failed; the operation may be tried again.
    #[error("the database failed: {0}")]
    Driver(DriverError),
    /// There is no such thing, or it was erased.
    #[error("there is no such {what}")]
    NotFound {
        /// The kind of thing that was looked for: `dataset`, `job`, …
        what: &'static str,
    },
    /// The thing is not in the state that the operation needs.
    #[error("conflict: {0}")]
    Conflict(Conflict),
    /// The lease is over: its token is not the job's token, or its time is up.
    #[error("the lease on the job is lost")]
    LeaseLost,
    /// A row holds what the store never writes: damage, or a foreign hand.
    #[error("table {table}, column {column}, row {row}: not what was written")]
    Inconsistent {
        /// The table's name.
        table: &'static str,
        /// The column's name.
        column: &'static str,
        /// The row's key: ids and positions, never a subject.
        row: String,
    },
}

/// Why an operation does not fit the present state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// The dataset got another version since the caller looked.
    #[error("the dataset got another version in the meantime")]
    VersionMoved,
    /// The thing is not as the change demands.
    #[error("the thing is not as the change demands")]
    PreconditionFailed,
    /// Datasets of the population normalize subject keys by other rules.
    #[error("datasets of the population normalize subject keys by other rules")]
    KeyRules,
    /// An id or a name is already taken.
    #[error("it exists already")]
    Exists,
    /// The request's idempotency key went to another request.
    #[error("the idempotency key is not reserved for this request any more")]
    ReservationLost,
    /// The dataset has as many queued jobs as it may have.
    #[error("the dataset's queue is full")]
    QueueFull,
    /// As many webhooks are told of all datasets as the store keeps.
    #[error("there are as many webhooks as the store keeps")]
    WebhooksFull,
    /// A dataset has as many webhooks as may be tied to it.
    #[error("a dataset has as many webhooks as may be tied to it")]
    WebhooksOfDatasetFull,
    /// The secret before the webhook's present one signs still.
    #[error("the secret before the present one signs still")]
    SecretBefore {
        /// Until when.
        until: DateTime<Utc>,
        /// Seconds from now to then.
        after_s: u64,
    },
    /// The release is not in a state from which this is possible.
    #[error("the release is not in a state that allows this")]
    ReleaseState,
    /// Another release of the same people became public since the draft was
    /// compared with those that were.
    #[error("another release of the same people became public in the meantime")]
    SeriesMoved,
    /// The steward who approved a draft cannot be its second one too.
    #[error("the draft needs another steward than the one who approved it")]
    SecondSteward,
    /// The steward who asked who stands behind a row cannot decide on it too.
    #[error("the re-identification needs another steward than the one who asked")]
    OwnQuestion,
    /// Another steward asked who stands behind a row: only they may take it back.
    #[error("another steward asked for the re-identification")]
    ForeignQuestion,
    /// The re-identification is not pending any more.
    #[error("the re-identification is not pending any more")]
    Decided,
    /// As many re-identifications of the dataset were asked for as a day allows.
    #[error("the dataset has as many re-identifications as a day allows")]
    TooManyReidentifications,
}

/// SQLite's code of a full disk.
pub(super) const SQLITE_FULL: &str = "13";
/// PostgreSQL's code of a full disk.
const POSTGRES_FULL: &str = "53100";

/// What the driver said, without anything that a row may hold.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct DriverError {
    /// SQLSTATE on PostgreSQL, extended result code on SQLite, if a database answered.
    pub code: Option<String>,
    /// The kind of failure, with the constraint's name if one was violated.
    pub message: String,
}

impl StoreError {
    /// A `NotFound` for a kind of thing.
    pub(super) fn not_found(what: &'static str) -> Self {
        Self::NotFound { what }
    }

    /// A failure outside the database: a file, a task.
    pub(super) fn driver(message: impl Into<String>) -> Self {
        Self::Driver(DriverError {
            code: None,
            message: message.into(),
        })
    }

    /// Whether the disk that holds the store is full.
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Driver(error) => {
                matches!(error.code.as_deref(), Some(SQLITE_FULL | POSTGRES_FULL))
            }
            _ => false,
        }
    }
}

impl From<Conflict> for StoreError {
    fn from(conflict: Conflict) -> Self {
        Self::Conflict(conflict)
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let error = match error {
            sqlx::Error::Database(database) => {
                let code = database.code().map(|code| code.into_owned());
                let message = match (database.constraint(), code.as_deref()) {
                    (Some(constraint), _) => format!("constraint {constraint} is violated"),
                    (None, Some(code)) => format!("code {code}"),
                    (None, None) => "no code".to_owned(),
                };
                DriverError { code, message }
            }
            sqlx::Error::ColumnDecode { index, .. } => DriverError {
                code: None,
                message: format!("column {index} cannot be read"),
            },
            sqlx::Error::Io(error) => DriverError {
                code: None,
                message: format!("input or output: {}", error.kind()),
            },
            sqlx::Error::PoolTimedOut => DriverError {
                code: None,
                message: "no connection became free in time".to_owned(),
            },
            sqlx::Error::PoolClosed => DriverError {
                code: None,
                message: "the store is closed".to_owned(),
            },
            sqlx::Error::Tls(_) => DriverError {
                code: None,
                message: "the encrypted connection failed".to_owned(),
            },
            _ => DriverError {
                code: None,
                message: "the driver gave up".to_owned(),
            },
        };
        Self::Driver(error)
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        // Migrations run before there is a row: their errors name versions and
        // statements of ours only.
        Self::driver(format!("migration: {error}"))
    }
}
