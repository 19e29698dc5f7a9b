//! What is under a store: its file or its database, looked at from outside.
//!
//! Stopping a stage leaves its ground, which can be copied as a backup is, and
//! opened again with other options: as an operator does who restores.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};
use tempfile::TempDir;
use vizard::clock::SystemClock;
use vizard::store::{MasterKeys, Store, StoreError, StoreOptions, open};

use super::stage::{Database, Stage};
use crate::common::postgres::cluster;

/// Tables of PostgreSQL that hold, or must not hold, what is personal.
const TABLES: [&str; 17] = [
    "consent_receipt",
    "population_table",
    "dataset",
    "job",
    "idempotency",
    "chunk",
    "preference",
    "subject_token",
    "reidentification",
    "release",
    "release_piece",
    "release_table",
    "dataset_key",
    "dataset_version",
    "webhook",
    "audit",
    "ledger",
];

/// Master keys of these ids, the first one current.
pub fn master_keys(ids: &[&str]) -> Arc<MasterKeys> {
    let lines = ids
        .iter()
        .map(|id| format!("{id} {}\n", STANDARD.encode(Sha256::digest(id))));
    let text: String = lines.collect();
    Arc::new(MasterKeys::from_text(&text).expect("keys"))
}

/// Gives a store a master key.
pub fn sealed(options: &mut StoreOptions) {
    options.master_keys = Some(master_keys(&["one"]));
}

/// Where a store was, after it was closed.
pub struct Ground(Database);

impl Ground {
    /// Opens the store again, as a server does.
    pub async fn open(
        &self,
        adjust: impl FnOnce(&mut StoreOptions),
    ) -> Result<Arc<Store>, StoreError> {
        match &self.0 {
            Database::Sqlite { url, clock, .. } => {
                let mut options = StoreOptions::new(url);
                adjust(&mut options);
                open(options, clock.clone()).await
            }
            Database::Postgres { url } => {
                let mut options = StoreOptions::new(url);
                adjust(&mut options);
                open(options, Arc::new(SystemClock)).await
            }
        }
    }

    /// The same, which must succeed.
    pub async fn start(self, adjust: impl FnOnce(&mut StoreOptions)) -> Stage {
        let store = self.open(adjust).await.expect("it opens");
        Stage {
            store,
            database: self.0,
        }
    }

    /// A copy: the file, or the database.
    pub fn backup(&self) -> Self {
        Self(match &self.0 {
            Database::Sqlite { folder, clock, .. } => {
                let copy = TempDir::new().expect("a folder for the copy");
                for file in std::fs::read_dir(folder.path()).expect("the folder") {
                    let file = file.expect("a file");
                    std::fs::copy(file.path(), copy.path().join(file.file_name())).expect("copied");
                }
                Database::Sqlite {
                    url: format!("sqlite:{}", copy.path().join("vizard.db").display()),
                    folder: copy,
                    clock: clock.clone(),
                }
            }
            Database::Postgres { url } => Database::Postgres {
                url: cluster().expect("it is there").copy_of(url),
            },
        })
    }
}

impl Stage {
    /// Closes the store; answers where it was.
    pub async fn stop(self) -> Ground {
        self.store.close().await.expect("it closes");
        Ground(self.database)
    }

    /// Whether any dataset has a key.
    pub async fn is_sealed(&self) -> bool {
        let counts = self.store.data_key_counts().await.expect("counts");
        counts != vizard::store::DataKeyCounts::default()
    }

    /// Everything that is kept: on SQLite the bytes of all files, on PostgreSQL
    /// the text of all rows, bytes in hexadecimal digits.
    async fn everything(&self) -> Vec<u8> {
        match &self.database {
            Database::Sqlite { folder, .. } => {
                let mut all = Vec::new();
                for file in std::fs::read_dir(folder.path()).expect("the folder") {
                    all.extend(std::fs::read(file.expect("a file").path()).expect("its bytes"));
                }
                all
            }
            Database::Postgres { url } => {
                let mut connection = PgConnection::connect(url).await.expect("the database");
                let mut all = Vec::new();
                for table in TABLES {
                    let rows =
                        format!("SELECT coalesce(string_agg(t::text, ' '), '') FROM {table} AS t");
                    let text: String = sqlx::query_scalar(AssertSqlSafe(rows))
                        .fetch_one(&mut connection)
                        .await
                        .expect("its rows");
                    all.extend(text.into_bytes());
                }
                connection.close().await.expect("it closes");
                all
            }
        }
    }

    /// Which of these byte strings are kept in the open.
    pub async fn in_the_open<'a>(&self, wanted: &[&'a [u8]]) -> Vec<&'a [u8]> {
        let everything = self.everything().await;
        let has = |bytes: &[u8]| everything.windows(bytes.len()).any(|part| part == bytes);
        let found = |bytes: &&&[u8]| {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            has(bytes) || (self.is_postgres() && has(digits.as_bytes()))
        };
        wanted.iter().filter(found).copied().collect()
    }
}

impl Stage {
    /// The values of one column of bytes.
    pub async fn byte_column(&self, statement: &'static str) -> Vec<Vec<u8>> {
        match &self.database {
            Database::Sqlite { url, .. } => {
                let mut connection = SqliteConnection::connect(url).await.expect("the file");
                let values = sqlx::query_scalar(statement)
                    .fetch_all(&mut connection)
                    .await;
                connection.close().await.expect("it closes");
                values.expect("values")
            }
            Database::Postgres { url } => {
                let mut connection = PgConnection::connect(url).await.expect("the database");
                let values = sqlx::query_scalar(statement)
                    .fetch_all(&mut connection)
                    .await;
                connection.close().await.expect("it closes");
                values.expect("values")
            }
        }
    }
}
