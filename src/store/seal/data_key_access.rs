//! DataKeyAccess: what an operation holds to write and read what is personal.
//!
//! A dataset that was made while a master key was given is sealed, for good;
//! one that was made without stays as it is. Which of the two is told by its
//! rows in `dataset_key` and never by the bytes: plain bytes in a sealed
//! dataset are damage. An operation looks up the access *before* it reads
//! what is sealed: if the key is destroyed in between, the row is gone too.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::Value;
use uuid::Uuid;

use super::data_key::{DataKey, DataKeyBits};
use super::wrapped::{TABLE, Wrapped, unsealable};
use super::{AssociatedData, Purpose};
use crate::ids::{DatasetId, ReleaseId};
use crate::store::StoreError;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::dataset_keys as sql;

/// How what is personal is kept.
pub(in crate::store) enum DataKeyAccess {
    /// As it is: the dataset was made without a master key.
    Plain,
    /// Sealed by this key.
    Sealed(Box<DataKey>),
    /// Sealed by a key that was destroyed: there is nothing to read any more,
    /// and nothing may be written.
    Destroyed,
}

impl DataKeyAccess {
    /// Bytes as they are to be kept.
    pub(in crate::store) fn kept(
        &self,
        associated: &AssociatedData<'_>,
        bytes: Vec<u8>,
    ) -> Result<Vec<u8>, StoreError> {
        match self {
            Self::Plain => Ok(bytes),
            Self::Sealed(key) => key.seal(associated, bytes).map_err(unsealable),
            Self::Destroyed => Err(StoreError::not_found("dataset")),
        }
    }

    /// A text as it is to be kept in a column of text.
    pub(in crate::store) fn kept_text(
        &self,
        associated: &AssociatedData<'_>,
        text: String,
    ) -> Result<String, StoreError> {
        match self {
            Self::Plain => Ok(text),
            _ => Ok(STANDARD_NO_PAD.encode(self.kept(associated, text.into_bytes())?)),
        }
    }

    /// What stands for a subject in the column `subject`.
    pub(in crate::store) fn kept_subject(&self, subject: &str) -> Vec<u8> {
        match self {
            Self::Plain | Self::Destroyed => subject.as_bytes().to_vec(),
            Self::Sealed(key) => key.lookup(subject),
        }
    }

    /// The bytes that a column keeps; damage is the row's.
    pub(in crate::store) fn bytes(
        &self,
        associated: &AssociatedData<'_>,
        kept: Vec<u8>,
        (row, column): (&Row, &'static str),
    ) -> Result<Vec<u8>, StoreError> {
        match self {
            Self::Plain => Ok(kept),
            Self::Sealed(key) => key
                .open(associated, kept)
                .map_err(|_| row.inconsistent(column)),
            Self::Destroyed => Err(row.inconsistent(column)),
        }
    }

    /// The text that a column keeps; damage is the row's.
    pub(in crate::store) fn text(
        &self,
        associated: &AssociatedData<'_>,
        (row, column): (&Row, &'static str),
    ) -> Result<String, StoreError> {
        let kept = row.text(column)?;
        if matches!(self, Self::Plain) {
            return Ok(kept);
        }
        let sealed = STANDARD_NO_PAD.decode(kept);
        let sealed = sealed.map_err(|_| row.inconsistent(column))?;
        let opened = self.bytes(associated, sealed, (row, column))?;
        String::from_utf8(opened).map_err(|_| row.inconsistent(column))
    }

    /// The document that a column keeps; damage is the row's.
    pub(in crate::store) fn document(
        &self,
        associated: &AssociatedData<'_>,
        (row, column): (&Row, &'static str),
    ) -> Result<Value, StoreError> {
        let text = self.text(associated, (row, column))?;
        serde_json::from_str(&text).map_err(|_| row.inconsistent(column))
    }
}

/// The access under which an owner's things of one purpose are kept.
pub(in crate::store) async fn of(
    session: &mut Session,
    owner: Uuid,
    purpose: Purpose,
) -> Result<DataKeyAccess, StoreError> {
    let cells = cells![owner, purpose.as_str()];
    let Some(row) = session.row(TABLE, sql::GET, cells).await? else {
        return Ok(DataKeyAccess::Plain);
    };
    let Some(wrapped) = Wrapped::of(&row)? else {
        return Ok(DataKeyAccess::Destroyed);
    };
    let master_key = wrapped.master_key(session.master_keys())?;
    let key = master_key
        .data_key(&wrapped.associated(&master_key.id), wrapped.bytes.clone())
        .map_err(|_| row.inconsistent("wrapped"))?;
    Ok(DataKeyAccess::Sealed(Box::new(key)))
}

/// Makes a key and keeps it, wrapped, by one of the two statements that do so.
async fn make(
    session: &mut Session,
    dataset: DatasetId,
    (owner, purpose): (Uuid, Purpose),
    statement: &'static str,
) -> Result<DataKeyAccess, StoreError> {
    let keys = session.master_keys().ok_or(StoreError::driver(
        "the dataset is sealed, and no master key is given",
    ))?;
    let master_key = keys
        .current()
        .map_err(|error| StoreError::driver(error.to_string()))?;
    let associated = AssociatedData::DataKey {
        dataset,
        owner,
        purpose,
        master_key: &master_key.id,
    };
    let bits = DataKeyBits::generate().map_err(unsealable)?;
    let wrapped = master_key.wrap(&associated, &bits).map_err(unsealable)?;
    let now = session.now().await?;
    let cells = cells![
        owner,
        purpose.as_str(),
        dataset.uuid(),
        master_key.id.as_str(),
        wrapped,
        now,
    ];
    if session.run(statement, cells).await? == 0 {
        return Err(StoreError::not_found("dataset"));
    }
    Ok(DataKeyAccess::Sealed(Box::new(
        bits.key().map_err(unsealable)?,
    )))
}

/// Makes the keys of a new dataset, if a master key is given.
pub(in crate::store) async fn create_dataset_keys(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<(), StoreError> {
    if session.master_keys().is_some() {
        for purpose in [Purpose::Records, Purpose::Preferences] {
            make(session, dataset, (dataset.uuid(), purpose), sql::CREATE).await?;
        }
    }
    Ok(())
}

/// Makes the key of a new release, if the records it was made from are sealed.
pub(in crate::store) async fn create_release_key(
    session: &mut Session,
    dataset: DatasetId,
    release: ReleaseId,
    records: &DataKeyAccess,
) -> Result<DataKeyAccess, StoreError> {
    match records {
        DataKeyAccess::Plain => Ok(DataKeyAccess::Plain),
        DataKeyAccess::Destroyed => Err(StoreError::not_found("dataset")),
        DataKeyAccess::Sealed(_) => {
            let owner = (release.uuid(), Purpose::Release);
            make(session, dataset, owner, sql::CREATE).await
        }
    }
}

/// Puts another key in the place of the one that sealed the records so far.
pub(in crate::store) async fn renew_records_key(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<(), StoreError> {
    let owner = (dataset.uuid(), Purpose::Records);
    if let DataKeyAccess::Sealed(_) = of(session, owner.0, owner.1).await? {
        make(session, dataset, owner, sql::RENEW).await?;
    }
    Ok(())
}

/// Destroys all keys of a dataset but those of releases that are still there.
pub(in crate::store) async fn destroy_keys_of_dataset(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<u64, StoreError> {
    let now = session.now().await?;
    session.run(sql::DESTROY, cells![dataset.uuid(), now]).await
}
