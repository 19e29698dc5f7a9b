//! Erasing again what a restored backup holds.

use std::sync::Arc;

use serde_json::json;

use super::Store;
use super::datasets::erase;
use super::entry::{Done, Entry};
use super::releases::withdraw;
use super::retention::purge_as_of;
use super::tombstones::bury;
use crate::store::session::Session;
use crate::store::{Act, Buried, Reapplied, StoreError, Tombstone};

/// Who the audit log says erased it again.
const RESTORE: &str = "restore";

/// Erases again what one line of the journal says; tells whether it was there.
async fn reapply(session: &mut Session, tombstone: Tombstone) -> Result<Done<bool>, StoreError> {
    let actor = RESTORE.to_owned();
    let erased = match tombstone.what {
        Buried::Dataset(id) => erase(session, id, actor).await.map(|done| done.entries),
        Buried::Records(id) => purge_as_of(session, id, (tombstone.at, actor)).await,
        Buried::Release(id) => withdraw(session, id, actor).await.map(|done| done.entries),
    };
    let mut entries = match erased {
        // Erased already, or not made yet when the backup was: the tombstone stays.
        Err(StoreError::NotFound { .. }) => Vec::new(),
        entries => entries?,
    };
    let was_there = !entries.is_empty();
    bury(session, tombstone).await?;
    let detail = json!({"what": tombstone.what.word(), "was_there": was_there});
    entries.push(Entry::tombstone("reapply_tombstone", tombstone.what).telling(detail));
    Ok(Done::many(was_there, entries))
}

impl Store {
    /// Erases again what the journal says was erased, and writes into the
    /// journal what it does not say yet. Without a journal it changes nothing.
    /// [`open`](crate::store::open()) does this for a server, before it serves.
    pub async fn tombstones_reapply(&self) -> Result<Reapplied, StoreError> {
        let Some(journal) = self.backend.journal() else {
            return Ok(Reapplied::default());
        };
        let mut done = Reapplied::default();
        let kept = self.tombstone_list().await?;
        for tombstone in journal.tombstones() {
            if kept.contains(&tombstone) {
                continue;
            }
            let erased = self.write(Act::by(RESTORE), move |session| {
                Box::pin(reapply(session, tombstone))
            });
            let count = match tombstone.what {
                Buried::Dataset(_) => &mut done.datasets,
                Buried::Records(_) => &mut done.records,
                Buried::Release(_) => &mut done.releases,
            };
            *count += u64::from(erased.await?);
        }
        let journaled = journal.tombstones();
        for tombstone in kept {
            if !journaled.contains(&tombstone) {
                let journal = Arc::clone(&journal);
                tokio::task::spawn_blocking(move || journal.append(&tombstone))
                    .await
                    .map_err(|_| StoreError::driver("writing the journal panicked"))??;
                done.journaled += 1;
            }
        }
        Ok(done)
    }
}
