//! A session: one connection that runs constant statements with cells.
//!
//! sqlx has a type for each database and no cheap way to be generic over two.
//! A session closes that gap at its narrowest place: the operations of
//! `store::operations` are written once, over `Session`, with statements whose
//! text is the same on both databases wherever SQL allows; what differs is
//! named in `statements::Dialect`. A session is either for reading (a bare
//! connection) or for writing (a transaction, `BEGIN IMMEDIATE` on SQLite).
//!
//! A writing session also remembers which signals its changes mean, and gives
//! them out when it commits, never before.

mod cell;
mod row;
mod signal;
mod surroundings;

use chrono::{DateTime, Utc};
use sqlx::pool::PoolConnection;
use sqlx::{Executor, PgConnection, Postgres, Row as _, Sqlite, SqliteConnection, Transaction};

pub(super) use cell::{Cell, cells, id_list};
pub(super) use row::Row;
pub(super) use signal::{Signal, Signals};
pub(super) use surroundings::Surroundings;

use super::seal::MasterKeys;
use super::statements::{Dialect, PG_NOTIFY, POSTGRES_NOW};
use super::{Precondition, StoreError, Tombstone};

/// The connection under a session.
pub(super) enum Link {
    /// PostgreSQL, outside a transaction.
    PostgresRead(PoolConnection<Postgres>),
    /// PostgreSQL, inside a transaction.
    PostgresWrite(Transaction<'static, Postgres>),
    /// SQLite, from the pool that only reads.
    SqliteRead(PoolConnection<Sqlite>),
    /// SQLite, the one connection that writes, inside a transaction.
    SqliteWrite(Transaction<'static, Sqlite>),
}

/// The connection under a link, whatever surrounds it.
enum Connection<'a> {
    Postgres(&'a mut PgConnection),
    Sqlite(&'a mut SqliteConnection),
}

/// What time it is.
#[derive(Clone, Copy)]
pub(super) struct Times {
    /// The time of day, for people.
    pub(super) now: DateTime<Utc>,
    /// The time by which leases run out.
    pub(super) lease: DateTime<Utc>,
}

/// One connection, what surrounds it, and the statements of its database.
pub(super) struct Session {
    link: Link,
    surroundings: Surroundings,
    dialect: &'static Dialect,
    signals: Vec<Signal>,
    changes: u64,
    tombstones: Vec<Tombstone>,
    precondition: Option<Precondition>,
}

impl Session {
    /// A session over `link`; the clock of `surroundings` counts on SQLite only.
    pub(super) fn new(link: Link, surroundings: Surroundings, dialect: &'static Dialect) -> Self {
        Self {
            link,
            surroundings,
            dialect,
            signals: Vec::new(),
            changes: 0,
            tombstones: Vec::new(),
            precondition: None,
        }
    }

    /// The statements that differ between the databases.
    pub(super) fn dialect(&self) -> &'static Dialect {
        self.dialect
    }

    /// The master keys, if any are given.
    pub(super) fn master_keys(&self) -> Option<&MasterKeys> {
        self.surroundings.master_keys.as_deref()
    }

    fn connection(&mut self) -> Connection<'_> {
        match &mut self.link {
            Link::PostgresRead(connection) => Connection::Postgres(connection),
            Link::PostgresWrite(transaction) => Connection::Postgres(transaction),
            Link::SqliteRead(connection) => Connection::Sqlite(connection),
            Link::SqliteWrite(transaction) => Connection::Sqlite(transaction),
        }
    }

    /// Says which statement runs, in its constant text: never a value.
    fn tell(statement: &'static str) {
        tracing::trace!(target: "vizard::statements", statement, "runs");
    }

    /// How many rows were changed so far.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Counts the rows of a statement that changes them.
    fn count(&mut self, statement: &'static str, rows: u64) {
        if !statement.starts_with("SELECT") {
            self.changes += rows;
        }
    }

    /// Runs a statement; answers how many rows it changed.
    pub(super) async fn run(
        &mut self,
        statement: &'static str,
        cells: Vec<Cell>,
    ) -> Result<u64, StoreError> {
        Self::tell(statement);
        let rows = match self.connection() {
            Connection::Postgres(connection) => connection
                .execute(cell::postgres_query(statement, cells))
                .await?
                .rows_affected(),
            Connection::Sqlite(connection) => connection
                .execute(cell::sqlite_query(statement, cells))
                .await?
                .rows_affected(),
        };
        self.count(statement, rows);
        Ok(rows)
    }

    /// Runs a statement that answers rows of `table` (or what is made of them).
    pub(super) async fn rows(
        &mut self,
        table: &'static str,
        statement: &'static str,
        cells: Vec<Cell>,
    ) -> Result<Vec<Row>, StoreError> {
        Self::tell(statement);
        let rows: Vec<Row> = match self.connection() {
            Connection::Postgres(connection) => {
                let rows = connection
                    .fetch_all(cell::postgres_query(statement, cells))
                    .await?;
                rows.into_iter()
                    .map(|row| Row::postgres(table, row))
                    .collect()
            }
            Connection::Sqlite(connection) => {
                let rows = connection
                    .fetch_all(cell::sqlite_query(statement, cells))
                    .await?;
                rows.into_iter()
                    .map(|row| Row::sqlite(table, row))
                    .collect()
            }
        };
        self.count(statement, rows.len() as u64);
        Ok(rows)
    }

    /// Runs a statement that answers one row at most.
    pub(super) async fn row(
        &mut self,
        table: &'static str,
        statement: &'static str,
        cells: Vec<Cell>,
    ) -> Result<Option<Row>, StoreError> {
        Ok(self.rows(table, statement, cells).await?.pop())
    }

    /// The time that decides: the database's on PostgreSQL (many machines, one
    /// clock), the process's on SQLite (one process).
    pub(super) async fn now(&mut self) -> Result<DateTime<Utc>, StoreError> {
        match self.connection() {
            Connection::Postgres(connection) => Ok(connection
                .fetch_one(sqlx::query(POSTGRES_NOW))
                .await?
                .try_get(0)?),
            Connection::Sqlite(_) => Ok(self.surroundings.clock.now()),
        }
    }

    /// The time of day, and the time that decides about leases, which on SQLite
    /// is the process's steady one: a clock that somebody sets must take no job
    /// from its worker.
    pub(super) async fn times(&mut self) -> Result<Times, StoreError> {
        let now = self.now().await?;
        let lease = match self.connection() {
            Connection::Postgres(_) => now,
            Connection::Sqlite(_) => self.surroundings.clock.steady(),
        };
        Ok(Times { now, lease })
    }

    /// Prepares a statement without running it: whether its text fits the tables.
    pub(super) async fn prepare(&mut self, statement: &'static str) -> Result<(), StoreError> {
        use sqlx::SqlSafeStr as _;
        match self.connection() {
            Connection::Postgres(connection) => {
                connection.prepare(statement.into_sql_str()).await?;
            }
            Connection::Sqlite(connection) => {
                connection.prepare(statement.into_sql_str()).await?;
            }
        }
        Ok(())
    }

    /// What the change of this session demands.
    pub(super) fn demand(&mut self, precondition: Option<Precondition>) {
        self.precondition = precondition;
    }

    /// Whether something is demanded that was not looked at yet.
    pub(super) fn demands(&self) -> bool {
        self.precondition.is_some()
    }

    /// Decides what is demanded, of the present tag of a thing whose row is held.
    pub(super) fn decide(&mut self, tag: Option<&str>) -> Result<(), StoreError> {
        match self.precondition.take() {
            Some(precondition) => precondition.require(tag),
            None => Ok(()),
        }
    }

    /// Notes a signal, to be given out by `commit`.
    pub(super) fn signal(&mut self, signal: Signal) {
        if !self.signals.contains(&signal) {
            self.signals.push(signal);
        }
    }

    /// Notes a tombstone, to be put into the journal before `commit` commits.
    pub(super) fn note_tombstone(&mut self, tombstone: Tombstone) {
        self.tombstones.push(tombstone);
    }

    /// Whether something was erased: its traces are to be wiped after the commit.
    pub(super) fn erases(&self) -> bool {
        !self.tombstones.is_empty()
    }

    /// Puts the noted tombstones into the journal, commits, then wakes who
    /// waits for the noted signals. A journal that takes no tombstone takes
    /// everything back.
    ///
    /// PostgreSQL carries the signals to every process, this one included.
    pub(super) async fn commit(mut self, signals: &Signals) -> Result<(), StoreError> {
        let tombstones = std::mem::take(&mut self.tombstones);
        if let Err(error) = self.surroundings.journal_append(tombstones).await {
            let _ = self.rollback().await;
            return Err(error);
        }
        let noted = std::mem::take(&mut self.signals);
        match self.link {
            Link::PostgresWrite(mut transaction) => {
                for signal in noted {
                    let channel = Cell::from(signal.channel());
                    let query = cell::postgres_query(PG_NOTIFY, vec![channel]);
                    transaction.execute(query).await?;
                }
                transaction.commit().await?;
            }
            Link::SqliteWrite(transaction) => {
                transaction.commit().await?;
                for signal in noted {
                    signals.give(signal);
                }
            }
            Link::PostgresRead(_) | Link::SqliteRead(_) => {}
        }
        Ok(())
    }

    /// Takes everything back.
    pub(super) async fn rollback(self) -> Result<(), StoreError> {
        match self.link {
            Link::PostgresWrite(transaction) => transaction.rollback().await?,
            Link::SqliteWrite(transaction) => transaction.rollback().await?,
            Link::PostgresRead(_) | Link::SqliteRead(_) => {}
        }
        Ok(())
    }
}
