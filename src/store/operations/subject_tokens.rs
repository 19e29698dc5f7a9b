//! Tokens of subjects: given out, used, forgotten.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::{Value, json};

use super::entry::{Done, Entry};
use super::in_force::read_one;
use super::receipts::{self, or_none};
use super::{Store, dataset_row};
use crate::ids::DatasetId;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Session, cells};
use crate::store::statements::subject_tokens as sql;
use crate::store::{Act, Conflict, NewSubjectTokens, PreferenceRow, StoreError, SubjectTokenRow};

const TABLE: &str = "subject_token";

/// What a token that never was or is over is to everybody.
const NONE: StoreError = StoreError::NotFound {
    what: "subject token",
};

/// Where a token's subject is sealed.
fn associated(dataset: DatasetId, token_hash: &[u8; 32]) -> AssociatedData<'_> {
    AssociatedData::SubjectToken {
        dataset,
        token_hash,
    }
}

async fn create(
    session: &mut Session,
    new: NewSubjectTokens,
) -> Result<Done<DateTime<Utc>>, StoreError> {
    let keep = session.dialect().dataset_keep;
    dataset_row::hold(session, new.dataset, keep).await?;
    let now = session.now().await?;
    let lifetime = i64::try_from(new.lifetime_s)
        .ok()
        .and_then(TimeDelta::try_seconds);
    let expires_at = lifetime.and_then(|lifetime| now.checked_add_signed(lifetime));
    let expires_at = expires_at.ok_or_else(|| StoreError::driver("a time that never comes"))?;
    let detail = json!({"tokens": new.tokens.len(), "expires_at": expires_at});
    let entry = Entry::preferences("create_subject_tokens", new.dataset).telling(detail);
    let access = of(session, new.dataset.uuid(), Purpose::Preferences).await?;
    for (token_hash, subject) in new.tokens {
        let associated = associated(new.dataset, &token_hash);
        let cells = cells![
            token_hash,
            new.dataset.uuid(),
            access.kept(&associated, subject.into_bytes())?,
            new.created_by.as_str(),
            now,
            expires_at,
        ];
        if session.run(sql::CREATE, cells).await? == 0 {
            return Err(Conflict::Exists.into());
        }
    }
    Ok(Done::one(expires_at, entry))
}

async fn find(session: &mut Session, token_hash: [u8; 32]) -> Result<SubjectTokenRow, StoreError> {
    let now = session.now().await?;
    let row = session
        .row(TABLE, sql::FIND, cells![token_hash, now])
        .await?;
    let row = row.ok_or(NONE)?;
    let dataset = DatasetId::from(row.uuid("dataset_id")?);
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    if let DataKeyAccess::Destroyed = access {
        // Erased since the row was read.
        return Err(NONE);
    }
    let kept = row.bytes("subject")?;
    let subject = access.bytes(&associated(dataset, &token_hash), kept, (&row, "subject"))?;
    let subject = String::from_utf8(subject);
    Ok(SubjectTokenRow {
        dataset,
        subject: subject.map_err(|_| row.inconsistent("subject"))?,
        expires_at: row.time("expires_at")?,
    })
}

async fn use_once_more(
    session: &mut Session,
    token_hash: [u8; 32],
    (document, receipt): (Value, [u8; 32]),
) -> Result<Done<DateTime<Utc>>, StoreError> {
    let SubjectTokenRow {
        dataset, subject, ..
    } = find(session, token_hash).await?;
    // The dataset's row is locked here.
    let terms = (&document, receipt);
    let set = receipts::set(session, (dataset, &subject), terms, "put_my_preferences").await;
    let done = set.map_err(|error| or_none(error, NONE))?;
    // Over or erased between the two: the terms that were just set are taken back.
    find(session, token_hash).await?;
    Ok(done)
}

impl Store {
    /// Keeps tokens; answers until when they live. Not found if there is no
    /// such dataset. `Conflict::Exists` if a hash is taken: then none is kept.
    pub async fn subject_tokens_create(
        &self,
        act: Act<DateTime<Utc>>,
        tokens: NewSubjectTokens,
    ) -> Result<DateTime<Utc>, StoreError> {
        self.write(act, move |session| Box::pin(create(session, tokens)))
            .await
    }

    /// Whose terms the token with this hash may set now. Not found, by the same
    /// statements, if it never was, or its time is over.
    pub async fn subject_token_find(
        &self,
        token_hash: [u8; 32],
    ) -> Result<SubjectTokenRow, StoreError> {
        self.read(move |session| Box::pin(find(session, token_hash)))
            .await
    }

    /// Sets the document of a token's subject and keeps a receipt of it, both or
    /// neither; answers when. Not found as above. The token stays good until its
    /// time is over: taking consent back is as easy as giving it.
    pub async fn subject_token_use(
        &self,
        act: Act<DateTime<Utc>>,
        token_hash: [u8; 32],
        document: Value,
        receipt: [u8; 32],
    ) -> Result<DateTime<Utc>, StoreError> {
        self.write(act, move |session| {
            Box::pin(use_once_more(session, token_hash, (document, receipt)))
        })
        .await
    }

    /// A token's subject's document in force; `None`: none is. A reading that the
    /// audit log tells of.
    pub async fn subject_token_terms(
        &self,
        act: Act<Option<PreferenceRow>>,
        token_hash: [u8; 32],
    ) -> Result<Option<PreferenceRow>, StoreError> {
        self.write(act, move |session| {
            Box::pin(async move {
                let row = find(session, token_hash).await?;
                let subject = (row.dataset, row.subject);
                let read = read_one(session, subject, "get_my_preferences").await;
                read.map_err(|error| or_none(error, NONE))
            })
        })
        .await
    }

    /// Forgets tokens whose time is over; answers their number. It takes many
    /// in one go, and leaves the rest to the next.
    pub async fn subject_tokens_sweep(&self) -> Result<u64, StoreError> {
        self.write_unaudited(|session| {
            Box::pin(async move {
                let now = session.now().await?;
                let sweep = session.dialect().subject_tokens_sweep;
                session.run(sweep, cells![now]).await
            })
        })
        .await
    }
}
