//! Where a store is: an SQLite file in a folder of its own, or a database on
//! the test cluster. A place outlives the processes that work on it.

use std::path::Path;
use std::sync::Arc;

use tempfile::TempDir;
use vizard::clock::SystemClock;
use vizard::store::{Store, StoreOptions, open};

use super::common;
use super::launch::Launch;

/// A store and a data folder.
pub struct Place {
    folder: TempDir,
    url: String,
}

impl Place {
    /// An SQLite file that is not there yet.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self::sqlite_in(folder)
    }

    /// The same in a folder that the caller chose.
    pub fn sqlite_in(folder: TempDir) -> Self {
        let url = format!("sqlite:{}", folder.path().join("vizard.db").display());
        Self { folder, url }
    }

    /// An empty database; `None` where PostgreSQL is missing, which says so.
    pub fn postgres() -> Option<Self> {
        Some(Self::at(common::postgres::cluster()?.fresh_database()))
    }

    /// The database at `url`.
    pub fn at(url: String) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder, url }
    }

    /// An empty place of the same kind.
    pub fn another(&self) -> Self {
        if self.is_shared() {
            Self::postgres().expect("it was there before")
        } else {
            Self::sqlite()
        }
    }

    /// The store's address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The data folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Whether many processes may work on it.
    pub fn is_shared(&self) -> bool {
        !self.url.starts_with("sqlite:")
    }

    /// A process to be started here.
    pub fn launch(&self) -> Launch<'_> {
        Launch::new(self)
    }

    /// The store as a neighbour of the server sees it. Close it before the
    /// next server starts: what an open neighbour keeps is not recovered.
    pub async fn look_inside(&self) -> Arc<Store> {
        let options = StoreOptions {
            exclusive: false,
            connections_max: 2,
            ..StoreOptions::new(&self.url)
        };
        open(options, Arc::new(SystemClock))
            .await
            .expect("the store opens")
    }
}

/// Makes one test on each store of every async function over a `Place`.
macro_rules! on_each_store {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                $crate::size::in_time(super::$test($crate::place::Place::sqlite())).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(place) = $crate::place::Place::postgres() {
                    $crate::size::in_time(super::$test(place)).await;
                }
            })+
        }
    };
}
pub(crate) use on_each_store;
