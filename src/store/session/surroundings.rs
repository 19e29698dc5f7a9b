//! What a session is given besides its connection.
//!
//! All of it is optional but the clock: a store without master keys keeps
//! bytes as they are, one without a journal keeps tombstones in its own table
//! only, where a restored backup forgets them.

use std::sync::Arc;

use crate::clock::Clock;
use crate::store::journal::Journal;
use crate::store::seal::MasterKeys;
use crate::store::{StoreError, Tombstone};

/// Clock, master keys and journal of a store.
#[derive(Clone)]
pub(in crate::store) struct Surroundings {
    pub(in crate::store) clock: Arc<dyn Clock>,
    pub(in crate::store) master_keys: Option<Arc<MasterKeys>>,
    pub(in crate::store) journal: Option<Arc<Journal>>,
}

impl Surroundings {
    /// Puts tombstones into the journal, if there is one, and waits until they
    /// are on the disk.
    pub(super) async fn journal_append(
        &self,
        tombstones: Vec<Tombstone>,
    ) -> Result<(), StoreError> {
        let Some(journal) = self.journal.clone().filter(|_| !tombstones.is_empty()) else {
            return Ok(());
        };
        let written = tokio::task::spawn_blocking(move || {
            tombstones
                .iter()
                .try_for_each(|tombstone| journal.append(tombstone))
        });
        written
            .await
            .unwrap_or_else(|_| Err(StoreError::driver("writing the journal panicked")))
    }
}
