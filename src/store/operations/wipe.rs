//! Wiping: until the bytes of what was erased are gone, an erasure is not over.
//!
//! PostgreSQL has no way to write over what it deleted. There wiping ends with
//! the keys of sealed datasets, and [`Remains`](crate::store::Remains) says of
//! all else that it stays until the room is used again.
//!
//! A tombstone without the time at which its traces were wiped is an erasure
//! that somebody's reading, a full disk or the end of the process held up.
//! Wiping is tried a few times before the erasure is answered, and then by
//! the janitor of any process, until it succeeds.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use super::Store;
use super::tombstones::tombstone_of;
use crate::store::StoreError;
use crate::store::backend::Backend;
use crate::store::session::cells;
use crate::store::statements::tombstones as sql;

/// Attempts before an erasure is answered as one that goes on.
const ATTEMPTS: u32 = 4;
/// Time between two of them.
const PAUSE: Duration = Duration::from_millis(100);

/// Wipes after an erasure was committed, as far as nobody is in the way for long.
/// Boxed: wiping ends with a transaction of its own.
pub(super) fn after_commit(backend: Arc<dyn Backend>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let store = Store::new(Arc::clone(&backend));
        for attempt in 1..=ATTEMPTS {
            match store.wipe().await {
                Ok(0) => {
                    // Nobody waits for it, and an end in the middle loses nothing.
                    tokio::spawn(async move { backend.give_back().await });
                    return;
                }
                Ok(_) if attempt < ATTEMPTS => tokio::time::sleep(PAUSE).await,
                Ok(left) => tracing::warn!(left, "the bytes of what was erased are not gone yet"),
                Err(error) => {
                    tracing::warn!(%error, "the bytes of what was erased are not gone yet");
                    return;
                }
            }
        }
    })
}

impl Store {
    /// Wipes what erasures left behind; how many are not complete yet.
    pub(super) async fn wipe(&self) -> Result<u64, StoreError> {
        let unwiped = self.read(|session| {
            Box::pin(async move {
                let rows = session.rows("tombstone", sql::UNWIPED, Vec::new()).await?;
                rows.iter().map(tombstone_of).collect::<Result<Vec<_>, _>>()
            })
        });
        let unwiped = unwiped.await?;
        let count = unwiped.len() as u64;
        if count == 0 || !self.backend.wipe().await? {
            return Ok(count);
        }
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let now = session.now().await?;
                for tombstone in unwiped {
                    let what = tombstone.what;
                    let cells = cells![what.word(), what.id(), tombstone.at, now];
                    session.run(sql::WIPED, cells).await?;
                }
                Ok(0)
            })
        })
        .await
    }
}
