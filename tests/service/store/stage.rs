//! An empty store on either database, and short ways to fill it.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use tempfile::TempDir;
use vizard::clock::{ManualClock, SystemClock};
use vizard::ids::{DatasetId, JobId, ReleaseId};
use vizard::store::{
    AcquiredJob, Act, JobRow, NewChunk, NewDataset, NewJob, NewPiece, NewReleaseTable, NewVersion,
    ReleaseCommit, Retention, Store, StoreOptions, VersionMode, open,
};
use vizard_anonymizer::microdata::TextSize;

use crate::common::postgres::cluster;

/// Makes one test on each database of every async function over a `&Stage`.
macro_rules! on_both {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $test() {
                super::$test(&$crate::store::Stage::sqlite().await).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $test() {
                // Where PostgreSQL is missing the cluster says that it skips.
                if let Some(stage) = $crate::store::Stage::postgres().await {
                    super::$test(&stage).await;
                }
            })+
        }
    };
}
pub(crate) use on_both;

/// How long leases last in these tests: so long that none runs out by itself.
pub const LEASE: Duration = Duration::from_secs(600);

/// A retention of days alone: what public releases show is kept.
pub fn of_days(raw_days: Option<u32>) -> Retention {
    Retention {
        raw_days,
        ..Retention::default()
    }
}

/// Makes the same tests, and one more of each where what is personal is sealed.
macro_rules! on_both_and_sealed {
    ($($test:ident),+ $(,)?) => {
        $crate::store::on_both!($($test),+);
        mod sealed {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $test() {
                let stage = $crate::store::Stage::sqlite_with($crate::store::sealed).await;
                super::$test(&stage).await;
            })+
        }
    };
}
pub(crate) use on_both_and_sealed;

/// Where a store is.
pub(super) enum Database {
    Sqlite {
        folder: TempDir,
        url: String,
        clock: Arc<ManualClock>,
    },
    Postgres {
        url: String,
    },
}

/// An empty store.
pub struct Stage {
    pub store: Arc<Store>,
    pub(super) database: Database,
}

impl Stage {
    /// On SQLite, with a clock that stands still.
    pub async fn sqlite() -> Self {
        Self::sqlite_with(|_| ()).await
    }

    /// The same with options of its own.
    pub async fn sqlite_with(adjust: impl FnOnce(&mut StoreOptions)) -> Self {
        let folder = TempDir::new().expect("a folder for the store");
        let url = format!("sqlite:{}", folder.path().join("vizard.db").display());
        let start = DateTime::from_timestamp(1_800_000_000, 123_456_000).expect("in range");
        let clock = Arc::new(ManualClock::new(start));
        let mut options = StoreOptions::new(&url);
        adjust(&mut options);
        let store = open(options, clock.clone()).await.expect("it opens");
        Self {
            store,
            database: Database::Sqlite { folder, url, clock },
        }
    }

    /// On PostgreSQL, in a database of its own; `None` where there is none.
    pub async fn postgres() -> Option<Self> {
        Self::postgres_with(|_| ()).await
    }

    /// The same with options of its own.
    pub async fn postgres_with(adjust: impl FnOnce(&mut StoreOptions)) -> Option<Self> {
        let url = cluster()?.fresh_database();
        let mut options = StoreOptions::new(&url);
        adjust(&mut options);
        let store = open(options, Arc::new(SystemClock))
            .await
            .expect("it opens");
        Some(Self {
            store,
            database: Database::Postgres { url },
        })
    }

    /// The store's address.
    pub fn url(&self) -> &str {
        match &self.database {
            Database::Sqlite { url, .. } | Database::Postgres { url } => url,
        }
    }

    /// Lets minutes pass for sessions: moves the clock, or their times back where
    /// the clock is the database's.
    pub async fn let_sessions_wait(&self, minutes: i64) {
        match &self.database {
            Database::Sqlite { clock, .. } => clock.advance(TimeDelta::minutes(minutes)),
            Database::Postgres { .. } => {
                let back = format!(
                    "UPDATE web_session SET seen_at = seen_at - interval '{minutes} minutes', \
                     expires_at = expires_at - interval '{minutes} minutes'"
                );
                self.sabotage(&back).await;
            }
        }
    }

    /// Lets every lease run out: moves the clock, or the leases where the
    /// clock is the database's.
    pub async fn let_leases_run_out(&self) {
        match &self.database {
            Database::Sqlite { clock, .. } => {
                clock.advance(TimeDelta::from_std(LEASE).expect("in range"));
            }
            Database::Postgres { .. } => {
                self.sabotage(
                    "UPDATE job SET lease_expires_at = clock_timestamp() \
                     WHERE lease_expires_at IS NOT NULL",
                )
                .await;
                self.sabotage(
                    "UPDATE idempotency SET lease_expires_at = clock_timestamp() \
                     WHERE lease_expires_at IS NOT NULL",
                )
                .await;
            }
        }
    }

    /// Lets subject tokens that were made for so many seconds run out.
    pub async fn let_subject_tokens_run_out(&self, lifetime_s: u64) {
        match &self.database {
            Database::Sqlite { clock, .. } => {
                clock.advance(
                    TimeDelta::from_std(Duration::from_secs(lifetime_s)).expect("in range"),
                );
            }
            Database::Postgres { .. } => {
                self.sabotage("UPDATE subject_token SET expires_at = clock_timestamp()")
                    .await;
            }
        }
    }

    /// Lets API keys that were made for so many seconds run out.
    pub async fn let_keys_run_out(&self, lifetime_s: i64) {
        match &self.database {
            Database::Sqlite { clock, .. } => clock.advance(TimeDelta::seconds(lifetime_s)),
            Database::Postgres { .. } => {
                self.sabotage("UPDATE api_key SET expires_at = clock_timestamp()")
                    .await;
            }
        }
    }

    /// Lets days pass: moves the clock, or everything that was done where the
    /// clock is the database's.
    pub async fn let_days_pass(&self, days: i64) {
        match &self.database {
            Database::Sqlite { clock, .. } => clock.advance(TimeDelta::days(days)),
            Database::Postgres { .. } => {
                for (table, column) in [
                    ("dataset_version", "created_at"),
                    ("release", "created_at"),
                    ("release", "published_at"),
                    ("reidentification", "asked_at"),
                    ("reidentification", "ends_at"),
                ] {
                    let moved = format!("{column} - interval '{days} days'");
                    self.sabotage(&format!("UPDATE {table} SET {column} = {moved}"))
                        .await;
                }
            }
        }
    }

    /// Whether the store is on PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        matches!(self.database, Database::Postgres { .. })
    }

    /// Bytes as a literal of the database.
    pub fn literal(&self, bytes: &[u8]) -> String {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        if self.is_postgres() {
            format!("decode('{hex}', 'hex')")
        } else {
            format!("X'{hex}'")
        }
    }

    /// Runs a statement behind the store's back.
    pub async fn sabotage(&self, statement: &str) {
        self.attempt(statement).await.expect("it runs");
    }

    /// Tries a statement behind the store's back; answers the rows it changed.
    pub async fn attempt(&self, statement: &str) -> Result<u64, sqlx::Error> {
        let statement = AssertSqlSafe(statement.to_owned());
        match &self.database {
            Database::Sqlite { url, .. } => {
                let mut connection = SqliteConnection::connect(url).await?;
                let changed = connection.execute(sqlx::query(statement)).await?;
                connection.close().await?;
                Ok(changed.rows_affected())
            }
            Database::Postgres { url } => {
                let mut connection = PgConnection::connect(url).await?;
                let changed = connection.execute(sqlx::query(statement)).await?;
                connection.close().await?;
                Ok(changed.rows_affected())
            }
        }
    }

    /// A dataset without records.
    pub async fn dataset(&self) -> DatasetId {
        self.dataset_of(None).await
    }

    /// The same, of a population.
    pub async fn dataset_of(&self, population: Option<&str>) -> DatasetId {
        let dataset = NewDataset {
            id: DatasetId::generate(),
            name: "admissions".to_owned(),
            schema: json!({"name": "admissions", "attributes": []}),
            created_by: "a test".to_owned(),
            population: population.map(str::to_owned),
        };
        self.store
            .dataset_create(act(), dataset)
            .await
            .expect("a dataset")
            .id
    }

    /// A dataset with one version of one chunk.
    pub async fn filled_dataset(&self) -> DatasetId {
        self.filled_dataset_of(None).await
    }

    /// The same in a population.
    pub async fn filled_dataset_of(&self, population: Option<&str>) -> DatasetId {
        let dataset = self.dataset_of(population).await;
        let version = version(dataset, 0, VersionMode::Append, &[b"records"]);
        self.store
            .version_commit(act(), version)
            .await
            .expect("a version");
        dataset
    }

    /// A queued job on the first version of a dataset.
    pub async fn job(&self, dataset: DatasetId) -> JobRow {
        let job = self.new_job(dataset).await;
        self.store.job_create(act(), job).await.expect("a job")
    }

    /// The same, not yet queued.
    pub async fn new_job(&self, dataset: DatasetId) -> NewJob {
        let preference_version = self
            .store
            .dataset_get(dataset)
            .await
            .expect("the dataset")
            .preference_version;
        NewJob {
            id: JobId::generate(),
            dataset,
            dataset_version: 1,
            preference_version,
            engine: "lgb".to_owned(),
            spec: json!({"engine": "lgb"}),
            publish: "manual".to_owned(),
            created_by: "a test".to_owned(),
            memory_bytes: 1 << 20,
            queued_jobs_max: u64::MAX,
            setting: None,
        }
    }

    /// Acquires the next job, which must be there.
    pub async fn acquire(&self) -> AcquiredJob {
        let acquired = self.store.job_acquire(Act::by("worker"), LEASE).await;
        acquired.expect("acquiring works").expect("a job waits")
    }

    /// A job of the dataset brought to a draft.
    pub async fn draft_release(&self, dataset: DatasetId) -> ReleaseId {
        self.job(dataset).await;
        let acquired = self.acquire().await;
        let release = draft();
        let id = release.id;
        let state = self
            .store
            .job_complete(act(), acquired.job.id, acquired.lease_token, release)
            .await;
        assert_eq!(
            state.expect("it completes"),
            vizard::store::ReleaseState::Draft
        );
        id
    }
}

/// An act of these tests.
pub fn act<T>() -> Act<T> {
    Act::by("a test").in_request("request-1")
}

/// Bytes of text in each chunk of a [`version`].
pub const CHUNK_TEXT: TextSize = TextSize {
    cells_bytes: 70,
    labels_bytes: 30,
};

/// A version whose chunks are the given bytes, ten records each.
pub fn version(
    dataset: DatasetId,
    base_version: u64,
    mode: VersionMode,
    chunks: &[&[u8]],
) -> NewVersion {
    let chunks: Vec<NewChunk> = chunks
        .iter()
        .map(|bytes| NewChunk {
            bytes: bytes.to_vec(),
            records: 10,
            text: CHUNK_TEXT,
        })
        .collect();
    NewVersion {
        dataset,
        base_version,
        mode,
        records: 10 * chunks.len() as u64,
        rewrites: None,
        dropped: 3,
        hierarchies: json!({"icd10": "abc"}),
        near_duplicates: json!([]),
        created_by: "a test".to_owned(),
        chunks: Box::new(chunks.into_iter().map(Ok)),
    }
}

/// What a job may produce: two tables, one in two pieces.
pub fn draft() -> ReleaseCommit {
    let piece = |bytes: &[u8], rows| NewPiece {
        bytes: bytes.to_vec(),
        raw_bytes: 100,
        rows,
    };
    let table = |name: &str, pieces: Vec<NewPiece>| NewReleaseTable {
        name: name.to_owned(),
        columns: json!([{"name": "age"}]),
        rows: pieces.iter().map(|piece| piece.rows).sum(),
        sha256: [9; 32],
        pieces,
    };
    ReleaseCommit {
        id: ReleaseId::generate(),
        manifest: json!({"format": "vizard-release/1"}),
        claims: json!({"records": 10, "excluded": 1, "suppressed": 3, "guarantees": []}),
        report: json!({"c_dm": 12}),
        verification: json!({"holds": true}),
        lineage: b"table,row,subject".to_vec(),
        candidates: b"of subjects".to_vec(),
        tables: vec![
            table("microdata", vec![piece(b"first", 6), piece(b"second", 4)]),
            table("buckets", vec![piece(b"third", 2)]),
        ],
        explored: None,
        publish: None,
    }
}
