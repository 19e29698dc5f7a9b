//! The store on SQLite: one process, one file, zero set-up.
//!
//! One connection writes, and every write transaction begins IMMEDIATE: it
//! waits for the writer before it, and never finds out half way that it read
//! something stale. Other connections only read, and see the last committed
//! state while somebody writes (WAL). `synchronous=FULL`: what was answered is
//! on the disk. A lock file keeps a second server away from the file.

mod lock;
mod reserve;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::sqlite::{
    SqliteAutoVacuum, SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, Executor, Row as _, SqliteConnection, SqlitePool};

use self::lock::FileLock;
use self::reserve::Reserve;
use super::backend::{Backend, StoreFuture};
use super::journal::Journal;
use super::session::{Link, Session, Signals, Surroundings};
use super::statements::{SCHEMA_VERSION, SQLITE};
use super::{PoolFigures, StoreError};
use crate::failpoint;

/// How long an operation waits for its turn: a large upload may be before it.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(120);

/// How long SQLite itself waits for another process (`vizard keys`) to finish.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

/// Brings the write-ahead log into the file and empties it.
const WIPE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// While the log is emptied nobody writes, and its readers are waited for:
/// not for long, since it is tried again.
const WIPE_IMPATIENCE: &str = "PRAGMA busy_timeout = 250";
/// As [`BUSY_TIMEOUT`] says.
const PATIENCE: &str = "PRAGMA busy_timeout = 30000";

/// Pages that nothing stands in.
const FREE_PAGES: &str = "PRAGMA freelist_count";
/// Gives some of them back to the disk: few, since nobody writes meanwhile.
const GIVE_BACK: &str = "PRAGMA incremental_vacuum(1024)";

/// The backend.
struct Sqlite {
    writer: SqlitePool,
    readers: SqlitePool,
    readers_max: u32,
    surroundings: Surroundings,
    signals: Signals,
    reserve: Reserve,
    /// Released when the store is dropped.
    _lock: Option<FileLock>,
}

/// Opens the store in the file at `path`, making it if need be, and brings its
/// tables up to date. `exclusive`: as the one server of this file, with so many
/// bytes held back for erasures.
pub(super) async fn open(
    path: &Path,
    connections_max: u32,
    exclusive: Option<u64>,
    surroundings: Surroundings,
) -> Result<Arc<dyn Backend>, StoreError> {
    let lock = lock::prepare(path, exclusive.is_some())?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .foreign_keys(true)
        // What is erased is overwritten.
        .pragma("secure_delete", "ON");
    // How free pages are given back is decided when the file is made.
    let writes = options.clone().create_if_missing(true);
    let writes = writes.auto_vacuum(SqliteAutoVacuum::Incremental);
    let writer = pool_options(1)
        // On a full disk SQLite ends the transaction by itself; sqlx 0.9 then
        // believes for good that it is inside one. Such a connection is replaced.
        .before_acquire(|connection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        })
        .connect_with(writes)
        .await?;
    failpoint::reached("store-before-migration");
    sqlx::migrate!("migrations/sqlite").run(&writer).await?;
    failpoint::reached("store-migrated");
    if exclusive.is_some() {
        writer.execute(sqlx::query(SQLITE.job_abandon)).await?;
        writer.execute(sqlx::query(SQLITE.webhook_abandon)).await?;
    }
    let readers_max = connections_max.max(1);
    let readers = pool_options(readers_max)
        .connect_with(options.read_only(true))
        .await?;
    let reserve = Reserve::beside(path, exclusive.unwrap_or_default());
    if let Err(error) = reserve.hold() {
        tracing::warn!(kind = %error.kind(), "no room is held back: an erasure needs a disk that is not full");
    }
    let backend = Sqlite {
        writer,
        readers,
        readers_max,
        surroundings,
        signals: Signals::default(),
        reserve,
        _lock: lock,
    };
    Ok(Arc::new(backend))
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

    fn write(&self, erases: bool) -> StoreFuture<'_, Session> {
        Box::pin(async move {
            let transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
            if erases && let Err(error) = self.reserve.give() {
                tracing::warn!(kind = %error.kind(), "the room held back is not given");
            }
            Ok(self.session(Link::SqliteWrite(transaction)))
        })
    }

    fn signals(&self) -> &Signals {
        &self.signals
    }

    fn journal(&self) -> Option<Arc<Journal>> {
        self.surroundings.journal.clone()
    }

    fn wipe(&self) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            // The log still holds pages as they were before the erasure.
            let mut writer = self.writer.acquire().await?;
            writer.execute(WIPE_IMPATIENCE).await?;
            let wiped = sqlx::query(WIPE).fetch_one(&mut *writer).await;
            writer.execute(PATIENCE).await?;
            drop(writer);
            let is_wiped = wiped?.try_get::<i64, _>(0)? == 0;
            if let Err(error) = self.reserve.hold() {
                tracing::warn!(kind = %error.kind(), "no room is held back for an erasure");
            }
            Ok(is_wiped)
        })
    }

    fn overwrites(&self) -> bool {
        true
    }

    fn give_back(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let mut free = i64::MAX;
            loop {
                // Each step for itself: others write in between.
                let mut writer = self.writer.acquire().await?;
                let row = sqlx::query(FREE_PAGES).fetch_one(&mut *writer).await?;
                let left = row.try_get::<i64, _>(0)?;
                // A file that was made before pages were given back keeps them.
                if left == 0 || left >= free {
                    return Ok(());
                }
                free = left;
                sqlx::query(GIVE_BACK).fetch_all(&mut *writer).await?;
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
