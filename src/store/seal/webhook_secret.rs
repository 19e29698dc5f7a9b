//! Secrets of webhooks: wrapped by a master key, as data keys are.
//!
//! A webhook belongs to no dataset, so there is no data key to seal its secret
//! with. A secret is 32 random bytes, and wrapped itself. Where no master key
//! is given it is kept as it is, until one is: wrapping anew wraps it too.

use zeroize::Zeroizing;

use super::data_key::DataKeyBits;
use super::wrapped::unsealable;
use super::{AssociatedData, MasterKeys};
use crate::ids::WebhookId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::webhooks as sql;
use crate::store::{StoreError, WebhookSecret};

const TABLE: &str = "webhook";

/// The secrets of a webhook, as a row keeps them.
pub(in crate::store) struct KeptSecrets {
    /// The present one.
    pub(in crate::store) secret: Vec<u8>,
    /// The one before, if it still signs.
    pub(in crate::store) before: Option<Vec<u8>>,
    /// The master key that wrapped both; `None`: none did.
    pub(in crate::store) master_key: Option<String>,
}

/// A new secret.
pub(in crate::store) fn draw_webhook_secret() -> Result<WebhookSecret, StoreError> {
    Ok(WebhookSecret(
        DataKeyBits::generate().map_err(unsealable)?.0,
    ))
}

/// Both secrets as they are to be kept now.
pub(in crate::store) fn keep_webhook_secrets(
    session: &Session,
    webhook: WebhookId,
    (secret, before): (&WebhookSecret, Option<&WebhookSecret>),
) -> Result<KeptSecrets, StoreError> {
    let Some(keys) = session.master_keys() else {
        return Ok(KeptSecrets {
            secret: secret.bytes().to_vec(),
            before: before.map(|secret| secret.bytes().to_vec()),
            master_key: None,
        });
    };
    let master_key = keys
        .current()
        .map_err(|error| StoreError::driver(error.to_string()))?;
    let associated = AssociatedData::WebhookSecret {
        webhook,
        master_key: &master_key.id,
    };
    let wrap = |secret: &WebhookSecret| {
        let bits = DataKeyBits(secret.0.clone());
        master_key.wrap(&associated, &bits).map_err(unsealable)
    };
    Ok(KeptSecrets {
        secret: wrap(secret)?,
        before: before.map(wrap).transpose()?,
        master_key: Some(master_key.id.clone()),
    })
}

/// The secret that a column keeps; damage is the row's.
pub(in crate::store) fn open_webhook_secret(
    keys: Option<&MasterKeys>,
    (row, column): (&Row, &'static str),
) -> Result<WebhookSecret, StoreError> {
    let kept = row.bytes(column)?;
    let Some(id) = row.text_or_null("master_key_id")? else {
        let bits = kept.try_into().map_err(|_| row.inconsistent(column))?;
        return Ok(WebhookSecret(Zeroizing::new(bits)));
    };
    let master_key = keys.and_then(|keys| keys.find(&id)).ok_or_else(|| {
        StoreError::driver(format!(
            "secrets of webhooks are sealed under the master key `{id}`, which is not given"
        ))
    })?;
    let associated = AssociatedData::WebhookSecret {
        webhook: WebhookId::from(row.uuid("id")?),
        master_key: &id,
    };
    let bits = master_key.unwrap(&associated, kept);
    Ok(WebhookSecret(bits.map_err(|_| row.inconsistent(column))?.0))
}

/// Whether every wrapped secret could be opened: one of each master key is.
pub(in crate::store) async fn check_webhook_secrets(
    session: &mut Session,
) -> Result<(), StoreError> {
    for named in session.rows(TABLE, sql::MASTER_KEYS, Vec::new()).await? {
        let id = named.text("master_key_id")?;
        let row = session
            .row(TABLE, sql::ONE_UNDER, cells![id.as_str()])
            .await?;
        if let Some(row) = row {
            let opened = open_webhook_secret(session.master_keys(), (&row, "secret"));
            opened.map_err(|error| match error {
                StoreError::Inconsistent { .. } => StoreError::driver(format!(
                    "the master key `{id}` is not the one that secrets of webhooks are sealed under"
                )),
                other => other,
            })?;
        }
    }
    Ok(())
}

/// Wraps the secrets of at most `limit` webhooks under the current master key;
/// answers of how many.
pub(in crate::store) async fn rewrap_webhook_secrets(
    session: &mut Session,
    current: &str,
    limit: u32,
) -> Result<u64, StoreError> {
    let statement = session.dialect().webhook_not_under;
    let rows = session
        .rows(TABLE, statement, cells![current, limit])
        .await?;
    let mut rewrapped = 0;
    for row in rows {
        let webhook = WebhookId::from(row.uuid("id")?);
        let secret = open_webhook_secret(session.master_keys(), (&row, "secret"))?;
        let before = match row.bytes_or_null("secret_before")? {
            None => None,
            Some(_) => Some(open_webhook_secret(
                session.master_keys(),
                (&row, "secret_before"),
            )?),
        };
        let kept = keep_webhook_secrets(session, webhook, (&secret, before.as_ref()))?;
        let until = row.time_or_null("secret_before_until")?;
        let cells = cells![
            webhook.uuid(),
            kept.secret,
            kept.before,
            until,
            kept.master_key
        ];
        rewrapped += session.run(sql::SECRETS_SET, cells).await?;
    }
    Ok(rewrapped)
}
