//! Opening a store by its address.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Store, StoreError, postgres, sqlite};
use crate::clock::Clock;

/// Where the store is and how it is used.
#[derive(Clone)]
pub struct StoreOptions {
    /// `sqlite:PATH` or `postgres://…`.
    pub url: String,
    /// Most connections (on SQLite: that read).
    pub connections_max: u32,
    /// Whether to be the one server of an SQLite file. Off for commands that
    /// work beside a running server (`vizard keys`). No meaning on PostgreSQL.
    pub exclusive: bool,
}

impl StoreOptions {
    /// Options for a server: up to 16 connections, alone on an SQLite file.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connections_max: 16,
            exclusive: true,
        }
    }
}

impl std::fmt::Debug for StoreOptions {
    /// An address may hold a password: never printed.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("StoreOptions")
            .field("connections_max", &self.connections_max)
            .field("exclusive", &self.exclusive)
            .finish_non_exhaustive()
    }
}

/// Opens the store and brings its tables up to date, under a lock.
///
/// `clock` decides about times on SQLite; on PostgreSQL the database's clock does.
pub async fn open(
    options: StoreOptions,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn Store>, StoreError> {
    let StoreOptions {
        url,
        connections_max,
        exclusive,
    } = options;
    match place(&url)? {
        Place::File(path) => Ok(Arc::new(
            sqlite::open(&path, connections_max, exclusive, clock).await?,
        )),
        Place::Server => Ok(Arc::new(
            postgres::open(&url, connections_max, clock).await?,
        )),
    }
}

/// Whether the text has the form of a store's address; nothing is opened.
pub fn check_url(url: &str) -> Result<(), StoreError> {
    place(url).map(|_| ())
}

enum Place {
    File(PathBuf),
    Server,
}

fn place(url: &str) -> Result<Place, StoreError> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
        if path.as_os_str().is_empty() {
            return Err(StoreError::driver("`sqlite:` needs the path of a file"));
        }
        Ok(Place::File(path))
    } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        Ok(Place::Server)
    } else {
        Err(StoreError::driver(
            "a store's address begins with `sqlite:` or `postgres://`",
        ))
    }
}
