//! API keys.

use chrono::TimeDelta;
use serde_json::{Value, json};
use uuid::Uuid;

use super::entry::{Done, Entry};
use super::{Store, page_bounds, page_of, tie};
use crate::failpoint;
use crate::ids::{DatasetId, KeyId};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::keys as sql;
use crate::store::{Act, Conflict, KeyRow, NewKey, Page, PageRequest, StoreError};

const TABLE: &str = "api_key";

fn key_row(row: &Row) -> Result<KeyRow, StoreError> {
    let texts = |column, list: Value| {
        serde_json::from_value::<Vec<String>>(list).map_err(|_| row.inconsistent(column))
    };
    let datasets = row
        .json_or_null("datasets")?
        .map(|list| {
            serde_json::from_value::<Vec<DatasetId>>(list).map_err(|_| row.inconsistent("datasets"))
        })
        .transpose()?;
    Ok(KeyRow {
        id: KeyId::from(row.uuid("id")?),
        name: row.text("name")?,
        roles: texts("roles", row.json("roles")?)?,
        datasets,
        secret_hash: row.digest("secret_hash")?,
        created_at: row.time("created_at")?,
        revoked_at: row.time_or_null("revoked_at")?,
        expires_at: row.time_or_null("expires_at")?,
        is_expired: false,
        last_used_at: row.time_or_null("last_used_at")?,
    })
}

async fn get(session: &mut Session, id: KeyId) -> Result<KeyRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    let mut key = key_row(&row.ok_or(StoreError::not_found("key"))?)?;
    tell_expired(session, std::slice::from_mut(&mut key)).await?;
    Ok(key)
}

/// Says of each key whether its time is over. The clock is asked only where a
/// key has an end: most have none, and every request reads its key.
async fn tell_expired(session: &mut Session, keys: &mut [KeyRow]) -> Result<(), StoreError> {
    if keys.iter().any(|key| key.expires_at.is_some()) {
        let now = session.now().await?;
        for key in keys {
            key.is_expired = key.expires_at.is_some_and(|end| end <= now);
        }
    }
    Ok(())
}

async fn create(session: &mut Session, key: NewKey) -> Result<Done<KeyRow>, StoreError> {
    let tied = key.datasets.as_ref().map(Vec::len);
    let now = session.now().await?;
    let lifetime = key.lifetime_s.map(|seconds| {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        TimeDelta::try_seconds(seconds).unwrap_or(TimeDelta::MAX)
    });
    // Past the end of the calendar is never.
    let expires_at = lifetime.and_then(|lifetime| now.checked_add_signed(lifetime));
    let mut detail = json!({"roles": key.roles, "datasets": tied});
    if let Some(expires_at) = expires_at {
        detail["expires_at"] = json!(expires_at);
    }
    let entry = Entry::key("create_key", key.id).telling(detail);
    let cells = cells![
        key.id.uuid(),
        key.name,
        &Value::from(key.roles),
        key.datasets.map(|ids| tie(&ids)),
        key.secret_hash,
        now,
        expires_at,
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    failpoint::reached("key-before-commit");
    Ok(Done::one(get(session, key.id).await?, entry))
}

async fn create_first_admin(session: &mut Session, key: NewKey) -> Result<Done<bool>, StoreError> {
    let lock = session.dialect().first_admin_lock;
    session.run(lock, Vec::new()).await?;
    if admin_exists(session).await? {
        return Ok(Done::unchanged(false));
    }
    let made = create(session, key).await?;
    Ok(Done::many(true, made.entries))
}

async fn revoke(session: &mut Session, id: KeyId) -> Result<Done<KeyRow>, StoreError> {
    let now = session.now().await?;
    let revoked = session.run(sql::REVOKE, cells![id.uuid(), now]).await?;
    let row = get(session, id).await?;
    Ok(match revoked {
        0 => Done::unchanged(row),
        _ => Done::one(row, Entry::key("revoke_key", id)),
    })
}

async fn admin_exists(session: &mut Session) -> Result<bool, StoreError> {
    let now = session.now().await?;
    let row = session.row(TABLE, sql::ADMIN_COUNT, cells![now]).await?;
    Ok(row.ok_or(StoreError::not_found("key"))?.count("keys")? > 0)
}

impl Store {
    /// Keeps a new key. `Conflict::Exists` if the id is taken.
    pub async fn key_create(&self, act: Act<KeyRow>, key: NewKey) -> Result<KeyRow, StoreError> {
        self.write(act, |session| Box::pin(create(session, key)))
            .await
    }

    /// Keeps a new key only if no live key has the role `admin`; tells whether it did.
    ///
    /// Several processes that start on one empty store make one key.
    pub async fn key_create_first_admin(
        &self,
        act: Act<bool>,
        key: NewKey,
    ) -> Result<bool, StoreError> {
        self.write(act, |session| Box::pin(create_first_admin(session, key)))
            .await
    }

    /// One key, revoked or not.
    pub async fn key_get(&self, id: KeyId) -> Result<KeyRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Keys, newest first, revoked ones among them; `within` restricts to those
    /// that are tied to some of these datasets and to no others.
    pub async fn key_list(
        &self,
        page: PageRequest,
        within: Option<Vec<DatasetId>>,
    ) -> Result<Page<KeyRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let (cursor, limit): (Uuid, u32) = page_bounds(page);
                let within = within.map(|ids| tie(&ids));
                let list = session.dialect().key_list;
                let cells = cells![cursor, within, limit];
                let rows = session.rows(TABLE, list, cells).await?;
                let mut page = page_of(rows, page, key_row)?;
                tell_expired(session, &mut page.items).await?;
                Ok(page)
            })
        })
        .await
    }

    /// Revokes a key for good; a second time changes nothing.
    pub async fn key_revoke(&self, act: Act<KeyRow>, id: KeyId) -> Result<KeyRow, StoreError> {
        self.write(act, move |session| Box::pin(revoke(session, id)))
            .await
    }

    /// Notes that a key was used now. Unknown keys are ignored.
    pub async fn key_touch(&self, id: KeyId) -> Result<(), StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let now = session.now().await?;
                session.run(sql::TOUCH, cells![id.uuid(), now]).await?;
                Ok(())
            })
        })
        .await
    }

    /// Whether a live key has the role `admin`.
    pub async fn admin_key_exists(&self) -> Result<bool, StoreError> {
        self.read(|session| Box::pin(admin_exists(session))).await
    }
}
