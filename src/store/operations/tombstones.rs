//! Tombstones: leaving one, and how far an erasure is.

use super::Store;
use crate::ids::DatasetId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::tombstones as sql;
use crate::store::{Buried, ErasureState, Remains, StoreError, Tombstone};

const TABLE: &str = "tombstone";

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
}
