//! Upkeep of data keys, and the checks before a server serves.

use serde_json::json;

use super::Store;
use super::entry::{Done, Entry};
use crate::store::seal::{
    check_master_keys, check_webhook_secrets, rewrap, rewrap_webhook_secrets,
};
use crate::store::session::{Session, cells};
use crate::store::statements::{dataset_keys as sql, webhooks as webhook_sql};
use crate::store::{Act, DataKeyCounts, MasterKeyError, Reapplied, StoreError};

fn not_usable(error: MasterKeyError) -> StoreError {
    StoreError::driver(error.to_string())
}

async fn rewrap_some(session: &mut Session, limit: u32) -> Result<Done<u64>, StoreError> {
    let keys = session.master_keys();
    let keys = keys.ok_or(StoreError::driver("no master key is given"))?;
    let current = keys.current().map_err(not_usable)?;
    let keys = match rewrap(session, &current, limit).await? {
        0 => rewrap_webhook_secrets(session, &current.id, limit).await?,
        keys => keys,
    };
    Ok(match keys {
        0 => Done::unchanged(0),
        keys => {
            let detail = json!({"keys": keys, "master_key": current.id});
            Done::one(keys, Entry::data_keys("rewrap_data_keys").telling(detail))
        }
    })
}

impl Store {
    /// Wraps at most `limit` data keys of earlier master keys, and then secrets of
    /// webhooks, under the current
    /// one, in one transaction; answers how many. Those that somebody else
    /// holds at the moment are passed over.
    pub async fn data_keys_rewrap(&self, act: Act<u64>, limit: u32) -> Result<u64, StoreError> {
        self.write(act, move |session| Box::pin(rewrap_some(session, limit)))
            .await
    }

    /// Counts the data keys.
    pub async fn data_key_counts(&self) -> Result<DataKeyCounts, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                // Without a master key every wrapped key is one of another.
                let current = match session.master_keys() {
                    Some(keys) => keys.current().map_err(not_usable)?.id.clone(),
                    None => String::new(),
                };
                let row = session
                    .row("dataset_key", sql::COUNT, cells![current.as_str()])
                    .await?;
                let row = row.ok_or(StoreError::not_found("count"))?;
                let secrets = webhook_sql::COUNT_UNDER;
                let of_webhooks = session.row("webhook", secrets, cells![current]).await?;
                let of_webhooks = of_webhooks.ok_or(StoreError::not_found("count"))?;
                Ok(DataKeyCounts {
                    current: row.count("current")? + of_webhooks.count("current")?,
                    earlier: row.count("earlier")? + of_webhooks.count("earlier")?,
                    destroyed: row.count("destroyed")?,
                })
            })
        })
        .await
    }
}

impl Store {
    /// What must hold before a server serves: every sealed dataset can be
    /// opened, and what was erased is erased.
    pub(in crate::store) async fn prepare_to_serve(&self) -> Result<Reapplied, StoreError> {
        self.read(|session| Box::pin(check_master_keys(session)))
            .await?;
        self.read(|session| Box::pin(check_webhook_secrets(session)))
            .await?;
        self.tombstones_reapply().await
    }
}
