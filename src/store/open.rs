//! Opening a store by its address.

use std::path::PathBuf;
use std::sync::Arc;

use super::journal::Journal;
use super::session::Surroundings;
use super::{MasterKeys, Reapplied, Store, StoreError, postgres, sqlite};
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
    /// What wraps the keys that datasets are sealed with; `None`: datasets made
    /// from now on are kept as they are, and a server refuses sealed ones.
    pub master_keys: Option<Arc<MasterKeys>>,
    /// File of the journal of tombstones, outside the database.
    pub tombstones: Option<PathBuf>,
    /// Bytes held back beside an SQLite file, so that an erasure is possible on
    /// a full disk; 0: none. No meaning on PostgreSQL.
    pub erasure_reserve_bytes: u64,
}

impl StoreOptions {
    /// Options for a server: up to 16 connections, alone on an SQLite file.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            connections_max: 16,
            exclusive: true,
            master_keys: None,
            tombstones: None,
            erasure_reserve_bytes: 0,
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
/// For a server (`exclusive`) it also refuses sealed datasets whose master key
/// is missing, and erases again what the journal of tombstones says.
///
/// `clock` decides about times on SQLite; on PostgreSQL the database's clock does.
pub async fn open(options: StoreOptions, clock: Arc<dyn Clock>) -> Result<Arc<Store>, StoreError> {
    let StoreOptions {
        url,
        connections_max,
        exclusive,
        master_keys,
        tombstones,
        erasure_reserve_bytes,
    } = options;
    let journal = tombstones.map(|path| Journal::open(&path)).transpose()?;
    let surroundings = Surroundings {
        clock,
        master_keys,
        journal: journal.map(Arc::new),
    };
    let backend = match place(&url)? {
        StoreAddress::File(path) => {
            let exclusive = exclusive.then_some(erasure_reserve_bytes);
            sqlite::open(&path, connections_max, exclusive, surroundings).await?
        }
        StoreAddress::Server => postgres::open(&url, connections_max, surroundings).await?,
    };
    let store = Store::new(backend);
    if exclusive {
        let reapplied = store.prepare_to_serve().await?;
        if reapplied != Reapplied::default() {
            tracing::warn!(?reapplied, "the journal of tombstones was applied");
        }
    }
    Ok(Arc::new(store))
}

/// What is at a store's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// No store yet; one can be made there.
    Nothing,
    /// A store whose latest migration has this number.
    Store(u64),
}

/// Looks at what is at an address, without changing anything there.
///
/// A place where no store could be made, a database that does not answer, and
/// tables that are not a store's are errors.
pub async fn inspect(url: &str) -> Result<Found, StoreError> {
    let version = match place(url)? {
        StoreAddress::File(path) => sqlite::version(&path).await?,
        StoreAddress::Server => postgres::version(url).await?,
    };
    Ok(version.map_or(Found::Nothing, Found::Store))
}

/// The host of a PostgreSQL on another machine whose address does not require
/// TLS: what travels to it may be read on the way. `None` for any other store.
pub fn open_host(url: &str) -> Result<Option<String>, StoreError> {
    match place(url)? {
        StoreAddress::File(_) => Ok(None),
        StoreAddress::Server => postgres::open_host(url),
    }
}

enum StoreAddress {
    File(PathBuf),
    Server,
}

fn place(url: &str) -> Result<StoreAddress, StoreError> {
    if let Some(path) = url.strip_prefix("sqlite:") {
        let path = PathBuf::from(path.strip_prefix("//").unwrap_or(path));
        if path.as_os_str().is_empty() {
            return Err(StoreError::driver("`sqlite:` needs the path of a file"));
        }
        Ok(StoreAddress::File(path))
    } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
        Ok(StoreAddress::Server)
    } else {
        Err(StoreError::driver(
            "a store's address begins with `sqlite:` or `postgres://`",
        ))
    }
}
