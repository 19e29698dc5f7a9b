//! Tombstones: leaving one, and erasing again what a restored backup holds.

use std::sync::Arc;

use serde_json::json;

use super::Store;
use super::datasets::erase;
use super::entry::{Done, Entry};
use super::releases::withdraw;
use super::retention::purge_as_of;
use crate::ids::DatasetId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::tombstones as sql;
use crate::store::{Act, Buried, ErasureState, Reapplied, Remains, StoreError, Tombstone};

const TABLE: &str = "tombstone";

/// Who the audit log says erased it again.
const RESTORE: &str = "restore";

/// Leaves a tombstone, in the table and, before the commit, in the journal.
pub(super) async fn bury(session: &mut Session, tombstone: Tombstone) -> Result<(), StoreError> {
    let Tombstone { what, at } = tombstone;
    session
        .run(sql::CREATE, cells![what.word(), what.id(), at])
        .await?;
    session.note_tombstone(tombstone);
    Ok(())
}

pub(super) fn tombstone_of(row: &Row) -> Result<Tombstone, StoreError> {
    let id = row.uuid("object_id")?;
    Ok(Tombstone {
        what: row.word("what", |word| Buried::of(word, id))?,
        at: row.time("buried_at")?,
    })
}

async fn list(session: &mut Session) -> Result<Vec<Tombstone>, StoreError> {
    let rows = session.rows(TABLE, sql::LIST, Vec::new()).await?;
    rows.iter().map(tombstone_of).collect()
}

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

async fn erasure(
    session: &mut Session,
    id: DatasetId,
    overwrites: bool,
) -> Result<ErasureState, StoreError> {
    let row = session.row(TABLE, sql::ERASURE, cells![id.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("dataset"))?;
    let erased_at = row.time_or_null("erased_at")?;
    let wiped_at = row.time_or_null("wiped_at")?;
    let is_sealed = row.count("keys")? > 0;
    let remains = match wiped_at {
        Some(_) => Remains::after_wiping(overwrites, is_sealed),
        None => Remains::Wiping,
    };
    Ok(ErasureState {
        erased_at,
        completed_at: wiped_at.filter(|_| remains.is_complete()),
        remains: erased_at.map(|_| remains),
    })
}

impl Store {
    /// How far the erasure of a dataset is, if it was erased.
    pub async fn erasure_get(&self, dataset: DatasetId) -> Result<ErasureState, StoreError> {
        let overwrites = self.backend.overwrites();
        self.read(move |session| Box::pin(erasure(session, dataset, overwrites)))
            .await
    }

    /// Erasures, purges and withdrawals that are still wiped.
    pub async fn erasures_incomplete(&self) -> Result<u64, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                let row = session.row(TABLE, sql::UNWIPED_COUNT, Vec::new()).await?;
                row.map_or(Ok(0), |row| row.count("count"))
            })
        })
        .await
    }

    /// Wipes what erasures left behind, if anything may be left; how many are
    /// not complete yet.
    pub async fn erasures_complete(&self) -> Result<u64, StoreError> {
        self.wipe().await
    }

    /// All tombstones, oldest first.
    pub async fn tombstone_list(&self) -> Result<Vec<Tombstone>, StoreError> {
        self.read(|session| Box::pin(list(session))).await
    }

    /// Erases again what the journal says was erased, and writes into the
    /// journal what it does not say yet. Without a journal it changes nothing.
    /// [`open`](super::open()) does this for a server, before it serves.
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
