//! The store on SQLite: one process, one file, zero set-up.
//!
//! One connection writes, and every write transaction begins IMMEDIATE: it
//! waits for the writer before it, and never finds out half way that it read
//! something stale. Other connections only read, and see the last committed
//! state while somebody writes (WAL). `synchronous=FULL`: what was answered is
//! on the disk. A lock file keeps a second server away from the file.

mod lock;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Executor, Row as _, SqliteConnection, SqlitePool};

use self::lock::FileLock;
use super::journal::Journal;
use super::operations::{Backend, SqlStore};
use super::session::{Link, Session, Signals, Surroundings};
use super::statements::{SCHEMA_VERSION, SQLITE};
use super::{PoolFigures, StoreError, StoreFuture};
use crate::failpoint;

/// How long an operation waits for its turn: a large upload may be before it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(120);

/// How long SQLite itself waits for another process (`vizard keys`) to finish.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Brings the write-ahead log into the file and empties it.
const WIPE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// The backend.
struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    readers_max: u32,
    surroundings: Surroundings,
    signals: Signals,
    /// Released when the store is dropped.
    _lock: Option<FileLock>,
}

/// Opens the store in the file at `path`, making it if need be, and brings its
/// tables up to date. `exclusive`: as the one server of this file.
pub(super) async fn open(
    path: &Path,
    connections_max: u32,
    exclusive: bool,
    surroundings: Surroundings,
) -> Result<SqlStore, StoreError> {
    let lock = lock::prepare(path, exclusive)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        // What is erased is overwritten.
        .pragma("secure_delete", "ON");
    let writer = pool_options(1)
        // On a full disk SQLite ends the transaction by itself; sqlx 0.9 then
        // believes for good that it is inside one. Such a connection is replaced.
        .before_acquire(|connection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        })
        .connect_with(options.clone().create_if_missing(true))
        .await?;
    failpoint::reached("store-before-migration");
    sqlx::migrate!("migrations/sqlite").run(&writer).await?;
    failpoint::reached("store-migrated");
    if exclusive {
        writer.execute(sqlx::query(SQLITE.job_abandon)).await?;
    }
    let readers_max = connections_max.max(1);
    let readers = pool_options(readers_max)
        .connect_with(options.read_only(true))
        .await?;
    let backend = Sqlite {
        writer,
        readers,
        readers_max,
        surroundings,
        signals: Signals::default(),
        _lock: lock,
    };
    Ok(SqlStore::new(Arc::new(backend)))
}

/// Number of the latest migration of the store in the file at `path`; `None`
/// where there is no file yet and one can be made.
pub(super) async fn version(path: &Path) -> Result<Option<u64>, StoreError> {
    if !lock::exists(path)? {
        return Ok(None);
    }
    let options = SqliteConnectOptions::new().filename(path).read_only(true);
    let mut connection = options.connect().await?;
    let found = read_version(&mut connection).await;
    connection.close().await?;
    found
}

async fn read_version(connection: &mut SqliteConnection) -> Result<Option<u64>, StoreError> {
    let tables = sqlx::query("SELECT count(*), sum(name = '_sqlx_migrations') FROM sqlite_schema");
    let row = tables.fetch_one(&mut *connection).await?;
    match (row.try_get::<i64, _>(0)?, row.try_get::<Option<i64>, _>(1)?) {
        (0, _) => return Ok(None),
        (_, Some(1)) => {}
        _ => return Err(StoreError::driver("the file holds something else")),
    }
    let row = sqlx::query(SCHEMA_VERSION).fetch_one(connection).await?;
    let version = row.try_get::<Option<i64>, _>("version")?;
    Ok(version.and_then(|version| version.try_into().ok()))
}

/// Connections are kept for good: opening one reads the whole schema again.
fn pool_options(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(1)
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .idle_timeout(None)
        .max_lifetime(None)
}

impl Sqlite {
    fn session(&self, link: Link) -> Session {
        Session::new(link, self.surroundings.clone(), &SQLITE)
    }
}

impl Backend for Sqlite {
    fn read(&self) -> StoreFuture<'_, Session> {
        Box::pin(async move { Ok(self.session(Link::SqliteRead(self.readers.acquire().await?))) })
    }

    fn write(&self) -> StoreFuture<'_, Session> {
        Box::pin(async move {
            let transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
            Ok(self.session(Link::SqliteWrite(transaction)))
        })
    }

    fn signals(&self) -> &Signals {
        &self.signals
    }

    fn journal(&self) -> Option<Arc<Journal>> {
        self.surroundings.journal.clone()
    }

    fn wipe(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            // The log still holds pages as they were before the erasure.
            let row = sqlx::query(WIPE).fetch_one(&self.writer).await?;
            match row.try_get::<i64, _>(0)? {
                0 => Ok(()),
                _ => Err(StoreError::driver("the log is in use and was not emptied")),
            }
        })
    }

    fn pool_figures(&self) -> PoolFigures {
        let idle = self.readers.num_idle() + self.writer.num_idle();
        PoolFigures {
            open: self.readers.size() + self.writer.size(),
            idle: u32::try_from(idle).unwrap_or(u32::MAX),
            max: self.readers_max + 1,
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            // The writer last: closing it folds the write-ahead log into the file.
            self.readers.close().await;
            self.writer.close().await;
            Ok(())
        })
    }
}
