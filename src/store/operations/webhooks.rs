//! Webhooks: made, read, given another secret, asked for a message, deleted.
//!
//! What is told to them is in `messages`.

use chrono::TimeDelta;
use serde_json::{Value, json};

use super::entry::{Done, Entry};
use super::messages::{Message, put};
use super::{Store, page_bounds, page_of, tie};
use crate::ids::{DatasetId, WebhookId};
use crate::store::seal::{draw_webhook_secret, keep_webhook_secrets, open_webhook_secret};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::webhooks as sql;
use crate::store::webhooks::SECRET_BEFORE_S;
use crate::store::{
    Act, Conflict, DrawnWebhook, LastAttempt, NewWebhook, PING, Page, PageRequest, Receiver,
    StoreError, WEBHOOKS_MAX, WEBHOOKS_OF_DATASET_MAX, WebhookRow,
};

const TABLE: &str = "webhook";

/// What a webhook that is not there is to everybody.
fn none() -> StoreError {
    StoreError::not_found("webhook")
}

fn last_of(row: &Row) -> Result<Option<LastAttempt>, StoreError> {
    let Some(at) = row.time_or_null("last_at")? else {
        return Ok(None);
    };
    Ok(Some(LastAttempt {
        at,
        event: row.text("last_event")?,
        outcome: row.text("last_outcome")?,
        attempts: row.count32("last_attempts")?,
    }))
}

fn webhook_row(row: &Row) -> Result<WebhookRow, StoreError> {
    let events = serde_json::from_value(row.json("events")?);
    let datasets = row.json_or_null("datasets")?.map(serde_json::from_value);
    Ok(WebhookRow {
        id: WebhookId::from(row.uuid("id")?),
        url: row.text("url")?,
        events: events.map_err(|_| row.inconsistent("events"))?,
        datasets: datasets
            .transpose()
            .map_err(|_| row.inconsistent("datasets"))?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        switched_off_at: row.time_or_null("switched_off_at")?,
        last: last_of(row)?,
        waiting: row.count("waiting")?,
    })
}

async fn get(session: &mut Session, id: WebhookId) -> Result<WebhookRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    webhook_row(&row.ok_or_else(none)?)
}

/// What is done to a webhook, once for each dataset that it is tied to: who reads
/// the log of a dataset finds it there, and no other dataset beside it.
fn entries(action: &'static str, row: &WebhookRow, detail: &Value) -> Vec<Entry> {
    let entry = || Entry::webhook(action, row.id).telling(detail.clone());
    match &row.datasets {
        None => vec![entry()],
        Some(ids) => ids.iter().map(|id| entry().within(*id)).collect(),
    }
}

/// An error where as many webhooks are told of the same. Each dataset is counted
/// by itself: nobody takes the places of a dataset that they do not see.
async fn require_place(session: &mut Session, new: &NewWebhook) -> Result<(), StoreError> {
    let lock = session.dialect().webhook_create_lock;
    session.run(lock, Vec::new()).await?;
    let Some(datasets) = &new.datasets else {
        let row = session.row(TABLE, sql::COUNT_UNTIED, Vec::new()).await?;
        if row.ok_or_else(none)?.count("webhooks")? >= WEBHOOKS_MAX {
            return Err(Conflict::WebhooksFull.into());
        }
        return Ok(());
    };
    for id in datasets {
        let named = format!("%\"{id}\"%");
        let row = session.row(TABLE, sql::COUNT_TIED, cells![named]).await?;
        if row.ok_or_else(none)?.count("webhooks")? >= WEBHOOKS_OF_DATASET_MAX {
            return Err(Conflict::WebhooksOfDatasetFull.into());
        }
    }
    Ok(())
}

async fn create(session: &mut Session, new: NewWebhook) -> Result<Done<DrawnWebhook>, StoreError> {
    require_place(session, &new).await?;
    let now = session.now().await?;
    let secret = draw_webhook_secret()?;
    let kept = keep_webhook_secrets(session, new.id, (&secret, None))?;
    let events = json!(new.events);
    // Where data go, without the path: it may hold a token.
    let detail = json!({
        "events": events,
        "datasets": new.datasets.as_ref().map(Vec::len),
        "origin": new.origin,
    });
    let cells = cells![
        new.id.uuid(),
        new.url,
        &events,
        new.datasets.map(|ids| tie(&ids)),
        kept.secret,
        kept.master_key,
        new.created_by,
        now,
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    let row = get(session, new.id).await?;
    let entries = entries("create_webhook", &row, &detail);
    Ok(Done::many(DrawnWebhook { row, secret }, entries))
}

/// The row of a webhook and its secrets, held.
async fn hold(session: &mut Session, id: WebhookId) -> Result<Row, StoreError> {
    let lock = session.dialect().webhook_lock;
    let row = session.row(TABLE, lock, cells![id.uuid()]).await?;
    row.ok_or_else(none)
}

async fn rotate(session: &mut Session, id: WebhookId) -> Result<Done<DrawnWebhook>, StoreError> {
    let row = hold(session, id).await?;
    let now = session.now().await?;
    // There is a place for one: a third secret would end the first before its day is over.
    let signing = row.time_or_null("secret_before_until")?;
    if let Some(until) = signing.filter(|until| now < *until) {
        let left = (until - now).num_seconds() + 1;
        let after_s = left.unsigned_abs();
        return Err(Conflict::SecretBefore { until, after_s }.into());
    }
    let before = open_webhook_secret(session.master_keys(), (&row, "secret"))?;
    let secret = draw_webhook_secret()?;
    let kept = keep_webhook_secrets(session, id, (&secret, Some(&before)))?;
    let until = now + TimeDelta::seconds(SECRET_BEFORE_S);
    let cells = cells![id.uuid(), kept.secret, kept.before, until, kept.master_key];
    session.run(sql::SECRETS_SET, cells).await?;
    let row = get(session, id).await?;
    let detail = json!({"signs_too_until": until});
    let entries = entries("rotate_webhook", &row, &detail);
    Ok(Done::many(DrawnWebhook { row, secret }, entries))
}

/// Asks for a ping, unless one waits already.
async fn ping(session: &mut Session, id: WebhookId) -> Result<Done<WebhookRow>, StoreError> {
    hold(session, id).await?;
    let waiting = session.row(TABLE, sql::PINGS, cells![id.uuid()]).await?;
    if waiting.ok_or_else(none)?.count("messages")? > 0 {
        return Ok(Done::unchanged(get(session, id).await?));
    }
    let message = Message::new(PING, json!({"webhook": id}));
    put(session, id, &message).await?;
    let row = get(session, id).await?;
    let entries = entries("ping_webhook", &row, &json!({}));
    Ok(Done::many(row, entries))
}

async fn delete(session: &mut Session, id: WebhookId) -> Result<Done<WebhookRow>, StoreError> {
    let row = get(session, id).await?;
    if session.run(sql::DELETE, cells![id.uuid()]).await? == 0 {
        return Err(none());
    }
    session.run(sql::DELETE_MESSAGES, cells![id.uuid()]).await?;
    let entries = entries("delete_webhook", &row, &json!({}));
    Ok(Done::many(row, entries))
}

/// Switches a webhook off, and gives up what it was to be told; or on. The
/// answer is how many messages were given up.
async fn switch(
    session: &mut Session,
    id: WebhookId,
    to_on: bool,
) -> Result<Done<u64>, StoreError> {
    let now = session.now().await?;
    let (statement, cells, action) = if to_on {
        (sql::SWITCH_ON, cells![id.uuid()], "switch_webhook_on")
    } else {
        let cells = cells![id.uuid(), now];
        (sql::SWITCH_OFF, cells, "switch_webhook_off")
    };
    if session.run(statement, cells).await? == 0 {
        return Ok(Done::unchanged(0));
    }
    let given_up = if to_on {
        0
    } else {
        let cells = cells![id.uuid(), now];
        session.run(sql::GIVE_UP_ALL, cells).await?
    };
    let row = get(session, id).await?;
    Ok(Done::many(given_up, entries(action, &row, &json!({}))))
}

async fn receiver(session: &mut Session, id: WebhookId) -> Result<Receiver, StoreError> {
    let row = session.row(TABLE, sql::SECRETS, cells![id.uuid()]).await?;
    let row = row.ok_or_else(none)?;
    let now = session.now().await?;
    let keys = session.master_keys();
    let mut secrets = vec![open_webhook_secret(keys, (&row, "secret"))?];
    if row
        .time_or_null("secret_before_until")?
        .is_some_and(|until| now < until)
    {
        secrets.push(open_webhook_secret(keys, (&row, "secret_before"))?);
    }
    Ok(Receiver {
        url: row.text("url")?,
        secrets,
    })
}

impl Store {
    /// Keeps a new webhook and draws its secret. `Conflict::WebhooksFull` where
    /// [`WEBHOOKS_MAX`] are told of all datasets, `Conflict::WebhooksOfDatasetFull`
    /// where [`WEBHOOKS_OF_DATASET_MAX`] are tied to one of its own.
    pub async fn webhook_create(
        &self,
        act: Act<DrawnWebhook>,
        new: NewWebhook,
    ) -> Result<DrawnWebhook, StoreError> {
        self.write(act, |session| Box::pin(create(session, new)))
            .await
    }

    /// One webhook.
    pub async fn webhook_get(&self, id: WebhookId) -> Result<WebhookRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Webhooks, newest first; `within` restricts to those that are tied to some
    /// of these datasets and to no others.
    pub async fn webhook_list(
        &self,
        page: PageRequest,
        within: Option<Vec<DatasetId>>,
    ) -> Result<Page<WebhookRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let (cursor, limit) = page_bounds(page);
                let within = within.map(|ids| tie(&ids));
                let list = session.dialect().webhook_list;
                let cells = cells![cursor, within, limit];
                page_of(session.rows(TABLE, list, cells).await?, page, webhook_row)
            })
        })
        .await
    }

    /// Draws another secret; the one before signs too for a day.
    /// `Conflict::SecretBefore` while one before does so already.
    pub async fn webhook_rotate(
        &self,
        act: Act<DrawnWebhook>,
        id: WebhookId,
    ) -> Result<DrawnWebhook, StoreError> {
        self.write(act, move |session| Box::pin(rotate(session, id)))
            .await
    }

    /// Tells a webhook [`PING`], also one that is switched off; nothing more where a
    /// ping waits already.
    pub async fn webhook_ping(
        &self,
        act: Act<WebhookRow>,
        id: WebhookId,
    ) -> Result<WebhookRow, StoreError> {
        self.write(act, move |session| Box::pin(ping(session, id)))
            .await
    }

    /// Deletes a webhook, and what it was to be told.
    pub async fn webhook_delete(
        &self,
        act: Act<WebhookRow>,
        id: WebhookId,
    ) -> Result<WebhookRow, StoreError> {
        self.write(act, move |session| Box::pin(delete(session, id)))
            .await
    }

    /// Switches a webhook on or off, if it is not so already; answers how many
    /// messages were given up with that.
    pub async fn webhook_switch(
        &self,
        act: Act<u64>,
        id: WebhookId,
        to_on: bool,
    ) -> Result<u64, StoreError> {
        self.write(act, move |session| Box::pin(switch(session, id, to_on)))
            .await
    }

    /// Where a webhook's messages go, and what signs them now.
    pub async fn webhook_receiver(&self, id: WebhookId) -> Result<Receiver, StoreError> {
        self.read(move |session| Box::pin(receiver(session, id)))
            .await
    }
}
