//! Sessions of browsers: begun, found, ended, forgotten.

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::Store;
use super::entry::{Done, Entry};
use crate::store::session::{Session, cells};
use crate::store::statements::sessions as sql;
use crate::store::{Act, Conflict, SESSION_IDLE_MAX, SESSION_LIFETIME, SessionRow, StoreError};

const TABLE: &str = "web_session";

async fn begin(
    session: &mut Session,
    token_hash: [u8; 32],
    holder: Value,
) -> Result<Done<DateTime<Utc>>, StoreError> {
    let now = session.now().await?;
    let expires_at = now + SESSION_LIFETIME;
    let cells = cells![token_hash, &holder, now, expires_at];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    Ok(Done::one(expires_at, Entry::session("sign_in")))
}

async fn find(
    session: &mut Session,
    token_hash: [u8; 32],
) -> Result<Option<SessionRow>, StoreError> {
    let now = session.now().await?;
    let cells = cells![token_hash, now, now - SESSION_IDLE_MAX];
    let Some(row) = session.row(TABLE, sql::FIND, cells).await? else {
        return Ok(None);
    };
    Ok(Some(SessionRow {
        holder: row.json("holder")?,
        seen_at: row.time("seen_at")?,
        found_at: now,
        expires_at: row.time("expires_at")?,
    }))
}

async fn end(session: &mut Session, token_hash: [u8; 32]) -> Result<Done<bool>, StoreError> {
    Ok(match session.run(sql::END, cells![token_hash]).await? {
        0 => Done::unchanged(false),
        _ => Done::one(true, Entry::session("sign_out")),
    })
}

impl Store {
    /// Begins a session; answers when it ends whatever is done.
    /// `Conflict::Exists` if the hash is taken.
    pub async fn session_begin(
        &self,
        act: Act<DateTime<Utc>>,
        token_hash: [u8; 32],
        holder: Value,
    ) -> Result<DateTime<Utc>, StoreError> {
        self.write(act, move |session| {
            Box::pin(begin(session, token_hash, holder))
        })
        .await
    }

    /// The session with this hash, if it lives.
    pub async fn session_find(
        &self,
        token_hash: [u8; 32],
    ) -> Result<Option<SessionRow>, StoreError> {
        self.read(move |session| Box::pin(find(session, token_hash)))
            .await
    }

    /// Notes that something was asked for in a session now, if it lives.
    pub async fn session_touch(&self, token_hash: [u8; 32]) -> Result<(), StoreError> {
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let now = session.now().await?;
                let cells = cells![token_hash, now, now - SESSION_IDLE_MAX];
                session.run(sql::TOUCH, cells).await?;
                Ok(())
            })
        })
        .await
    }

    /// Ends a session; tells whether there was one.
    pub async fn session_end(
        &self,
        act: Act<bool>,
        token_hash: [u8; 32],
    ) -> Result<bool, StoreError> {
        self.write(act, move |session| Box::pin(end(session, token_hash)))
            .await
    }

    /// Forgets sessions whose time is over; answers their number.
    pub async fn sessions_sweep(&self) -> Result<u64, StoreError> {
        self.write_unaudited(|session| {
            Box::pin(async move {
                let now = session.now().await?;
                session
                    .run(sql::SWEEP, cells![now, now - SESSION_IDLE_MAX])
                    .await
            })
        })
        .await
    }
}
