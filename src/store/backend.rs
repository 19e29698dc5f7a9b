//! What a database gives to the operations.

use std::pin::Pin;
use std::sync::Arc;

use super::journal::Journal;
use super::session::{Session, Signals};
use super::{PoolFigures, StoreError};

/// An answer of a backend, on its way.
pub(super) type StoreFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A future inside a session.
pub(super) type SessionFuture<'s, T> =
    Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 's>>;

/// A database: where sessions come from.
pub(super) trait Backend: Send + Sync + 'static {
    /// A session outside a transaction.
    fn read(&self) -> StoreFuture<'_, Session>;

    /// A session inside a transaction that may write; one that erases may
    /// use the room that is held back for it.
    fn write(&self, erases: bool) -> StoreFuture<'_, Session>;

    /// The signals of this process.
    fn signals(&self) -> &Signals;

    /// The journal of tombstones, if there is one.
    fn journal(&self) -> Option<Arc<Journal>>;

    /// Wipes what erasures left behind: old pages, dead rows of keys. False
    /// where somebody is in the way.
    fn wipe(&self) -> StoreFuture<'_, bool>;

    /// Whether nothing stays in the files of what was wiped.
    fn overwrites(&self) -> bool;

    /// Gives room that nothing stands in back to the disk, or to what comes next.
    fn give_back(&self) -> StoreFuture<'_, ()>;

    /// How busy the connections are.
    fn pool_figures(&self) -> PoolFigures;

    /// Closes all connections.
    fn close(&self) -> StoreFuture<'_, ()>;
}
