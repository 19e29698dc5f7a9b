//! The store on PostgreSQL: any number of servers and workers on one database.
//!
//! The database's clock decides about leases, so that machines need not agree
//! on the time. Rows are locked (`statements::datasets` says which and in what
//! order); workers skip locked jobs instead of queueing for one. Signals travel
//! by `LISTEN`/`NOTIFY`, over a connection of their own.

mod listener;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions, PgSslMode};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection, PgPool, Row as _};
use tokio::task::AbortHandle;

use super::backend::{Backend, StoreFuture};
use super::journal::Journal;
use super::session::{Link, Session, Signals, Surroundings};
use super::statements::{POSTGRES, SCHEMA_VERSION};
use super::{PoolFigures, StoreError};
use crate::failpoint;

/// How long an operation waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the first connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Whether the connection is outside a transaction.
///
/// sqlx 0.9 may give a connection back whose `BEGIN` was sent and whose answer
/// nobody awaited; it believes that no transaction is open. In one simple
/// query outside a transaction both times are the same by definition; inside a
/// transaction that was opened earlier they differ.
const OUTSIDE_TRANSACTION: &str = "SELECT transaction_timestamp() = statement_timestamp()";

/// Removes dead rows of wrapped keys and of hierarchies, which no key seals.
const WIPE: &str = "VACUUM (SKIP_LOCKED) dataset_key, hierarchy";

/// Makes the room of all else that was erased free at once, so that what comes
/// next is written over it; empty ends of files go back to the disk. Without it
/// autovacuum comes in its time, and where much is kept that is late.
const FREE: &str = "VACUUM (SKIP_LOCKED) chunk, preference, population_table, subject_token, consent_receipt, \
    release, release_piece, job, dataset, idempotency";

/// The backend.
struct Postgres {
    pool: PgPool,
    surroundings: Surroundings,
    signals: Arc<Signals>,
    connections_max: u32,
    listener: AbortHandle,
}

/// Opens the store at `url` and brings its tables up to date, under a lock.
pub(super) async fn open(
    url: &str,
    connections_max: u32,
    surroundings: Surroundings,
) -> Result<Arc<dyn Backend>, StoreError> {
    let options = read_address(url)?;
    // The pool would go on trying for as long as an operation may wait.
    connect(&options).await?.close().await?;
    let pool = PgPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // Also tells whether the connection lives, as sqlx's own test would.
        .test_before_acquire(false)
        .before_acquire(|connection, _| {
            Box::pin(async move {
                let row = connection
                    .fetch_one(sqlx::raw_sql(OUTSIDE_TRANSACTION))
                    .await?;
                row.try_get::<bool, _>(0)
            })
        })
        .connect_with(options.clone())
        .await?;
    failpoint::reached("store-before-migration");
    sqlx::migrate!("migrations/postgres").run(&pool).await?;
    failpoint::reached("store-migrated");
    let signals = Arc::new(Signals::default());
    let listener = listener::start(options, Arc::clone(&signals)).await?;
    let backend = Postgres {
        pool,
        surroundings,
        signals,
        connections_max,
        listener,
    };
    Ok(Arc::new(backend))
}

fn read_address(url: &str) -> Result<PgConnectOptions, StoreError> {
    let options = url.parse::<PgConnectOptions>();
    let options = options.map_err(|_| StoreError::driver("the store's address cannot be read"))?;
    Ok(options.application_name("vizard"))
}

/// The host at `url`, if it is another machine and TLS is not required: the
/// default, `prefer`, falls back to plain text.
pub(super) fn open_host(url: &str) -> Result<Option<String>, StoreError> {
    let options = read_address(url)?;
    let host = options.get_host();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_here = options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || address
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback());
    let is_encrypted = matches!(
        options.get_ssl_mode(),
        PgSslMode::Require | PgSslMode::VerifyCa | PgSslMode::VerifyFull
    );
    Ok((!is_here && !is_encrypted).then(|| host.to_owned()))
}

/// The first connection: what is in its way is told at once.
async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let place = format!("{}:{}", options.get_host(), options.get_port());
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, options.connect()).await;
    let told = match connected {
        Ok(Ok(connection)) => return Ok(connection),
        Ok(Err(sqlx::Error::Io(error))) => format!("{place}: {}", error.kind()),
        Ok(Err(sqlx::Error::Database(error))) => match error.code().as_deref() {
            Some("28P01" | "28000") => format!("{place} refuses the user or the password"),
            Some("3D000") => format!("{place} has no such database"),
            Some("57P03") => format!("{place} is starting up or shutting down"),
            Some("53300") => format!("{place} has no connection left"),
            _ => return Err(sqlx::Error::Database(error).into()),
        },
        Ok(Err(sqlx::Error::Protocol(_))) => format!("{place} does not answer as PostgreSQL does"),
        Ok(Err(error)) => return Err(error.into()),
        Err(_) => format!(
            "{place} does not answer within {} s",
            CONNECT_TIMEOUT.as_secs()
        ),
    };
    Err(StoreError::driver(told))
}

/// Number of the latest migration of the store at `url`; `None` where the
/// database holds no store yet.
pub(super) async fn version(url: &str) -> Result<Option<u64>, StoreError> {
    let mut connection = connect(&read_address(url)?).await?;
    let row = connection
        .fetch_one("SELECT to_regclass('_sqlx_migrations') IS NOT NULL")
        .await?;
    let version = if row.try_get::<bool, _>(0)? {
        let row = connection.fetch_one(SCHEMA_VERSION).await?;
        row.try_get::<Option<i64>, _>("version")?
    } else {
        None
    };
    connection.close().await?;
    Ok(version.and_then(|version| version.try_into().ok()))
}

impl Postgres {
    fn session(&self, link: Link) -> Session {
        Session::new(link, self.surroundings.clone(), &POSTGRES)
    }
}

impl Backend for Postgres {
    fn read(&self) -> StoreFuture<'_, Session> {
        Box::pin(async move { Ok(self.session(Link::PostgresRead(self.pool.acquire().await?))) })
    }

    fn write(&self, _erases: bool) -> StoreFuture<'_, Session> {
        Box::pin(async move { Ok(self.session(Link::PostgresWrite(self.pool.begin().await?))) })
    }

    fn signals(&self) -> &Signals {
        &self.signals
    }

    fn journal(&self) -> Option<Arc<Journal>> {
        self.surroundings.journal.clone()
    }

    fn wipe(&self) -> StoreFuture<'_, bool> {
        Box::pin(async move {
            self.pool.execute(sqlx::raw_sql(WIPE)).await?;
            Ok(true)
        })
    }

    fn overwrites(&self) -> bool {
        // Free room keeps what stood in it, and so does the write-ahead log:
        // VACUUM FULL would lock everybody out and leave the log as it is.
        false
    }

    fn give_back(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            // An end of the process does not wait for it.
            let freeing = self.pool.execute(sqlx::raw_sql(FREE));
            self.pool.close_event().do_until(freeing).await??;
            Ok(())
        })
    }

    fn pool_figures(&self) -> PoolFigures {
        let idle = u32::try_from(self.pool.num_idle()).unwrap_or(u32::MAX);
        PoolFigures {
            open: self.pool.size(),
            idle,
            max: self.connections_max,
        }
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            self.listener.abort();
            self.pool.close().await;
            Ok(())
        })
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.listener.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_machine_needs_tls_that_does_not_fall_back() {
        for (url, host) in [
            ("postgres://v@db.example/v", "db.example"),
            ("postgres://v@db.example/v?sslmode=prefer", "db.example"),
            ("postgres://v@db.example/v?sslmode=allow", "db.example"),
            ("postgres://v@db.example/v?sslmode=disable", "db.example"),
            ("postgres://v@10.0.0.7/v", "10.0.0.7"),
            ("postgres://v@localhost/v?host=10.0.0.7", "10.0.0.7"),
            ("postgres://v@localhost/v?hostaddr=10.0.0.7", "10.0.0.7"),
            ("postgres://v@localhost.example/v", "localhost.example"),
            ("postgres://v@[2001:db8::1]/v", "[2001:db8::1]"),
        ] {
            let open = open_host(url).expect("an address");
            assert_eq!(open.as_deref(), Some(host), "{url}");
        }
        for url in [
            "postgres://v@db.example/v?sslmode=require",
            "postgres://v@db.example/v?sslmode=verify-ca&sslrootcert=ca.pem",
            "postgres://v@db.example/v?sslmode=verify-full&sslrootcert=ca.pem",
            "postgres://v@localhost/v",
            "postgres://v@127.0.0.1:5433/v",
            "postgres://v@[::1]/v",
            "postgres://v@db.example/v?host=/run/postgresql",
            "postgres://v@%2Frun%2Fpostgresql/v",
        ] {
            assert_eq!(open_host(url).expect("an address"), None, "{url}");
        }
    }
}
