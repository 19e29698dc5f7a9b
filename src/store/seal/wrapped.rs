//! Wrapped data keys: rows of `dataset_key`, and their upkeep.
//!
//! A row is bound to its owner, its purpose and the id of the master key that
//! wrapped it: exchanged rows do not open. Before a server serves, one key of
//! each master key is opened, so that a missing or false one is found then and
//! not by somebody's request. Wrapping anew opens a row by the master key that
//! it names, and wraps the same bits under the current one; what they sealed
//! is not touched.

use std::sync::Arc;

use uuid::Uuid;

use super::master_keys::{MasterKey, MasterKeys};
use super::{AssociatedData, Purpose, SealError};
use crate::ids::DatasetId;
use crate::store::StoreError;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::dataset_keys as sql;

pub(super) const TABLE: &str = "dataset_key";

pub(super) fn unsealable(error: SealError) -> StoreError {
    StoreError::driver(error.to_string())
}

/// A wrapped key as a row keeps it.
pub(super) struct Wrapped {
    dataset: DatasetId,
    owner: Uuid,
    purpose: Purpose,
    master_key_id: String,
    pub(super) bytes: Vec<u8>,
}

impl Wrapped {
    /// `None`: the key was destroyed.
    pub(super) fn of(row: &Row) -> Result<Option<Self>, StoreError> {
        let Some(bytes) = row.bytes_or_null("wrapped")? else {
            return Ok(None);
        };
        Ok(Some(Self {
            dataset: DatasetId::from(row.uuid("dataset_id")?),
            owner: row.uuid("owner_id")?,
            purpose: row.word("purpose", Purpose::parse)?,
            master_key_id: row.text("master_key_id")?,
            bytes,
        }))
    }

    /// Where the bits are sealed, under a master key.
    pub(super) fn associated<'a>(&self, master_key: &'a str) -> AssociatedData<'a> {
        AssociatedData::DataKey {
            dataset: self.dataset,
            owner: self.owner,
            purpose: self.purpose,
            master_key,
        }
    }

    /// The master key that wrapped it, which this process must be given.
    pub(super) fn master_key(
        &self,
        keys: Option<&MasterKeys>,
    ) -> Result<Arc<MasterKey>, StoreError> {
        let id = &self.master_key_id;
        keys.and_then(|keys| keys.find(id)).ok_or_else(|| {
            StoreError::driver(format!(
                "datasets are sealed under the master key `{id}`, which is not given"
            ))
        })
    }
}

/// Whether every wrapped key could be opened: one of each master key is.
pub(in crate::store) async fn check_master_keys(session: &mut Session) -> Result<(), StoreError> {
    for named in session.rows(TABLE, sql::MASTER_KEYS, Vec::new()).await? {
        let id = named.text("master_key_id")?;
        let row = session.row(TABLE, sql::ONE_UNDER, cells![id]).await?;
        if let Some(wrapped) = row.as_ref().map(Wrapped::of).transpose()?.flatten() {
            let master_key = wrapped.master_key(session.master_keys())?;
            let associated = wrapped.associated(&master_key.id);
            let opened = master_key.unwrap(&associated, wrapped.bytes.clone());
            opened.map_err(|_| {
                StoreError::driver(format!(
                    "the master key `{}` is not the one that datasets are sealed under",
                    master_key.id
                ))
            })?;
        }
    }
    Ok(())
}

/// Wraps at most `limit` keys of earlier master keys anew; answers how many.
pub(in crate::store) async fn rewrap(
    session: &mut Session,
    current: &MasterKey,
    limit: u32,
) -> Result<u64, StoreError> {
    let statement = session.dialect().dataset_key_not_under;
    let cells = cells![current.id.as_str(), limit];
    let now = session.now().await?;
    let mut rewrapped = 0;
    for row in session.rows(TABLE, statement, cells).await? {
        let Some(wrapped) = Wrapped::of(&row)? else {
            continue;
        };
        let earlier = wrapped.master_key(session.master_keys())?;
        let bits = earlier
            .unwrap(&wrapped.associated(&earlier.id), wrapped.bytes.clone())
            .map_err(|_| row.inconsistent("wrapped"))?;
        let anew = current
            .wrap(&wrapped.associated(&current.id), &bits)
            .map_err(unsealable)?;
        let cells = cells![
            wrapped.owner,
            wrapped.purpose.as_str(),
            earlier.id.as_str(),
            current.id.as_str(),
            anew,
            now,
        ];
        rewrapped += session.run(sql::REWRAP, cells).await?;
    }
    Ok(rewrapped)
}
