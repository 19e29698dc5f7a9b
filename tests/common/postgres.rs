//! A throw-away PostgreSQL server, one for each test process.
//!
//! `initdb` runs once and leaves a template; every test process copies the
//! template (about 25 ms), starts a server on it that listens on a Unix socket
//! only, and hands out one empty database a call. `VIZARD_TEST_POSTGRES` names
//! a running server to use instead.
//!
//! Nothing outlives the test process, however it ends. The server is the child
//! of a small shell that waits for the end of a pipe whose other end only this
//! process holds: when the process is gone, killed or not, the shell stops the
//! server and deletes its folder. A parent-death signal would need unsafe code
//! and fires when the *thread* that started the server ends, which for a test
//! is far too early.

mod owner;
mod server;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

/// Databases left on a server of the operator's are dropped after this time.
const LEFTOVER_AGE_S: u64 = 3_600;

/// A PostgreSQL server that the tests of this process may fill as they like.
pub struct Cluster {
    /// URL of the maintenance database; another database is a change of path.
    maintenance_url: String,
    databases: AtomicU32,
    /// The server of our own, kept running; absent where the server is another's.
    own: Option<server::Server>,
}

/// The cluster of this test process, started by the first call.
///
/// `None` where PostgreSQL is not installed: the test then says that it skips.
/// Under `CI=true` that is a failure instead.
pub fn cluster() -> Option<&'static Cluster> {
    static CLUSTER: OnceLock<Option<Cluster>> = OnceLock::new();
    CLUSTER.get_or_init(start).as_ref()
}

/// A cluster that one test has for itself, to let it crash.
///
/// Always a server of our own, whatever `VIZARD_TEST_POSTGRES` says; `None`
/// where PostgreSQL is not installed, as for [`cluster`].
pub fn cluster_of_its_own() -> Option<Cluster> {
    start_own()
}

impl Cluster {
    fn on(maintenance_url: String, own: Option<server::Server>) -> Self {
        Self {
            maintenance_url,
            databases: AtomicU32::new(0),
            own,
        }
    }

    /// The folder of the files of a server of our own.
    pub fn files(&self) -> PathBuf {
        self.own.as_ref().expect("a server of our own").files()
    }

    /// Lets the server crash and starts it again; returns once it is back.
    pub fn restart_immediately(&mut self) {
        let server = self.own.as_mut().expect("a server of our own");
        server.restart_immediately().expect("it starts again");
    }

    /// Creates an empty database and returns its `postgres://` URL.
    pub fn fresh_database(&self) -> String {
        let name = self.fresh_name();
        // template0 is never connected to, so creations do not wait for each other.
        create_database(&self.maintenance_url, &name, "template0");
        with_database(&self.maintenance_url, &name)
    }

    /// Copies the database at `url`, which nobody may be connected to.
    pub fn copy_of(&self, url: &str) -> String {
        let name = self.fresh_name();
        let path = url.split('?').next().unwrap_or(url);
        let original = path.rsplit('/').next().expect("the name of a database");
        create_database(&self.maintenance_url, &name, original);
        with_database(&self.maintenance_url, &name)
    }
}

impl Cluster {
    /// Creates an empty database whose tables lie in `folder`, on a disk of the
    /// test's own; returns its URL. The cluster must end before the disk goes.
    pub fn database_in(&self, folder: &Path) -> String {
        let name = self.fresh_name();
        let tables = folder.join("tables");
        std::fs::create_dir(&tables).expect("a folder for the tables");
        server::give_to_owner(&tables).expect("it can be given away");
        let made = [
            format!("CREATE TABLESPACE {name} LOCATION '{}'", tables.display()),
            format!("CREATE DATABASE {name} TEMPLATE template0 TABLESPACE {name}"),
        ];
        finish(async {
            let mut connection = PgConnection::connect(&self.maintenance_url).await?;
            for statement in made {
                connection.execute(AssertSqlSafe(statement)).await?;
            }
            connection.close().await
        });
        with_database(&self.maintenance_url, &name)
    }

    fn fresh_name(&self) -> String {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        format!("vizard_test_{}_{process}_{number}", unix_time_s())
    }
}

fn start() -> Option<Cluster> {
    if let Ok(maintenance_url) = std::env::var("VIZARD_TEST_POSTGRES") {
        drop_leftovers(&maintenance_url);
        return Some(Cluster::on(maintenance_url, None));
    }
    start_own()
}

fn start_own() -> Option<Cluster> {
    let Some(programs) = server::programs() else {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(
            !in_ci,
            "PostgreSQL is not installed, and under CI=true its tests must run"
        );
        eprintln!("skipped: PostgreSQL is not installed (scripts/test installs it)");
        return None;
    };
    let own = server::start(&programs)
        .unwrap_or_else(|error| panic!("PostgreSQL did not start: {error}"));
    Some(Cluster::on(own.url(), Some(own)))
}

/// Drops what earlier test processes left on a server that outlives them.
fn drop_leftovers(maintenance_url: &str) {
    finish(async {
        let mut connection = PgConnection::connect(maintenance_url).await?;
        let listed = "SELECT datname::text FROM pg_database WHERE datname LIKE 'vizard\\_test\\_%'";
        let names: Vec<String> = sqlx::query_scalar(listed)
            .fetch_all(&mut connection)
            .await?;
        for name in names {
            let made_s = name
                .split('_')
                .nth(2)
                .and_then(|part| part.parse::<u64>().ok())
                .unwrap_or(u64::MAX);
            if made_s.saturating_add(LEFTOVER_AGE_S) < unix_time_s() {
                // Another process may be dropping the same one.
                let statement = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
                let _ = connection.execute(AssertSqlSafe(statement)).await;
            }
        }
        connection.close().await
    });
}

fn create_database(maintenance_url: &str, name: &str, template: &str) {
    finish(async {
        let mut connection = PgConnection::connect(maintenance_url).await?;
        let statement = format!("CREATE DATABASE {name} TEMPLATE {template}");
        // A connection that was just closed may take a moment to end.
        for _ in 0..50 {
            let made = connection.execute(AssertSqlSafe(statement.clone())).await;
            match made {
                Err(sqlx::Error::Database(error)) if error.code().as_deref() == Some("55006") => {
                    std::thread::sleep(std::time::Duration::from_millis(100));
                }
                made => {
                    made?;
                    break;
                }
            }
        }
        connection.close().await
    });
}

/// Waits for database work on a thread of its own, since the caller may be inside a runtime.
fn finish(work: impl Future<Output = Result<(), sqlx::Error>> + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(work).map_err(io::Error::other)
        });
        thread
            .join()
            .expect("the thread does not panic")
            .expect("the test server answers");
    });
}

/// `url` with another database in its path.
fn with_database(url: &str, name: &str) -> String {
    let (address, query) = url
        .split_once('?')
        .map_or((url, None), |(address, query)| (address, Some(query)));
    let after_scheme = address.find("://").map_or(0, |at| at + 3);
    let server = address[after_scheme..]
        .find('/')
        .map_or(address, |at| &address[..after_scheme + at]);
    match query {
        Some(query) => format!("{server}/{name}?{query}"),
        None => format!("{server}/{name}"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "names a database by the real time, so that a later run can tell its age"
)]
fn unix_time_s() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |passed| passed.as_secs())
}
