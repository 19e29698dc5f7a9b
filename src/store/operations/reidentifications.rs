//! Re-identifications: asked for, decided by another steward, and told.
//!
//! Whoever changes one holds the dataset's row: of two decisions one comes
//! first, the day's number is counted by one at a time, and an erasure of the
//! subject comes before or after, never in between.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;
use vizard_anonymizer::release::{BehindRow, subject_of_row};

use super::dataset_row::hold;
use super::entry::{Done, Entry};
use super::releases::lineage;
use super::{Store, page_bounds, page_of, release_row};
use crate::ids::{DatasetId, ReidentificationId, ReleaseId};
use crate::store::reidentifications::{PENDING, TOLD};
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::reidentifications as sql;
use crate::store::{
    Act, Conflict, NewReidentification, Page, PageRequest, REIDENTIFICATIONS_A_DAY_MAX,
    ReidentificationRow, ReidentificationState, ReidentificationTold, ReleaseState, StoreError,
};

const TABLE: &str = "reidentification";

/// What one that never was, or went with its dataset, is to everybody.
const NONE: StoreError = StoreError::NotFound { what: TABLE };

fn opened(
    row: &Row,
    access: &DataKeyAccess,
    now: DateTime<Utc>,
) -> Result<ReidentificationRow, StoreError> {
    let id = ReidentificationId::from(row.uuid("id")?);
    let ends_at = row.time("ends_at")?;
    let state = row.word("state", ReidentificationState::parse)?;
    Ok(ReidentificationRow {
        id,
        release: ReleaseId::from(row.uuid("release_id")?),
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        table: row.text("table_name")?,
        row: row.count("table_row")?,
        reason: access.text(&AssociatedData::Reidentification(id), (row, "reason"))?,
        state: state.at(now, ends_at),
        asked_by: row.text("asked_by")?,
        asked_at: row.time("asked_at")?,
        ends_at,
        decided_by: row.text_or_null("decided_by")?,
        decided_at: row.time_or_null("decided_at")?,
    })
}

async fn get(
    session: &mut Session,
    id: ReidentificationId,
) -> Result<ReidentificationRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    let row = row.ok_or(NONE)?;
    let access = of(session, row.uuid("dataset_id")?, Purpose::Preferences).await?;
    if let DataKeyAccess::Destroyed = access {
        // Erased since the row was read.
        return Err(NONE);
    }
    let now = session.now().await?;
    opened(&row, &access, now)
}

/// The same once its dataset's row is held by `lock`.
async fn held(
    session: &mut Session,
    id: ReidentificationId,
    lock: &'static str,
) -> Result<ReidentificationRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    let dataset = DatasetId::from(row.ok_or(NONE)?.uuid("dataset_id")?);
    match hold(session, dataset, lock).await {
        Err(StoreError::NotFound { .. }) => return Err(NONE),
        held => held?,
    }
    get(session, id).await
}

async fn create(
    session: &mut Session,
    new: NewReidentification,
    actor: String,
) -> Result<Done<ReidentificationRow>, StoreError> {
    let dataset = release_row::get(session, new.release).await?.dataset;
    let lock = session.dialect().dataset_lock;
    match hold(session, dataset, lock).await {
        Err(StoreError::NotFound { .. }) => return Err(Conflict::ReleaseState.into()),
        held => held?,
    }
    if release_row::get(session, new.release).await?.state != ReleaseState::Published {
        return Err(Conflict::ReleaseState.into());
    }
    let now = session.now().await?;
    let since = cells![dataset.uuid(), now - TimeDelta::days(1)];
    let asked = session.row(TABLE, sql::ASKED_SINCE, since).await?;
    if asked.ok_or(NONE)?.count("count")? >= REIDENTIFICATIONS_A_DAY_MAX {
        return Err(Conflict::TooManyReidentifications.into());
    }
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let reason = access.kept_text(&AssociatedData::Reidentification(new.id), new.reason)?;
    let cells = cells![
        new.id.uuid(),
        new.release.uuid(),
        dataset.uuid(),
        new.table,
        new.row,
        reason,
        actor,
        now,
        now + PENDING,
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    let row = get(session, new.id).await?;
    let entry = entry("create_reidentification", &row);
    Ok(Done::one(row, entry))
}

/// What the log is told: which release, never which row of it, for the log
/// outlives the person.
fn entry(action: &'static str, row: &ReidentificationRow) -> Entry {
    let entry = Entry::reidentification(action, row.id, row.dataset);
    entry.telling(json!({"release": row.release}))
}

/// Decides on one that is pending, whose dataset's row is held.
async fn decide(
    session: &mut Session,
    id: ReidentificationId,
    (state, actor): (ReidentificationState, &str),
) -> Result<ReidentificationRow, StoreError> {
    let now = session.now().await?;
    let ends_at = match state {
        ReidentificationState::Confirmed => now + TOLD,
        _ => now,
    };
    let cells = cells![id.uuid(), state.as_str(), actor, now, ends_at];
    match session.run(sql::DECIDE, cells).await? {
        0 => Err(Conflict::Decided.into()),
        _ => get(session, id).await,
    }
}

/// Confirms; who confirmed it already is told again.
async fn confirm(
    session: &mut Session,
    id: ReidentificationId,
    actor: String,
) -> Result<Done<ReidentificationTold>, StoreError> {
    let lock = session.dialect().dataset_lock;
    let row = held(session, id, lock).await?;
    if row.asked_by == actor {
        return Err(Conflict::OwnQuestion.into());
    }
    if row.is_told_to(&actor) {
        return tell(session, row).await;
    }
    if row.state != ReidentificationState::Pending {
        return Err(Conflict::Decided.into());
    }
    let confirmed = (ReidentificationState::Confirmed, actor.as_str());
    let row = decide(session, id, confirmed).await?;
    let subject = subject(session, &row).await?;
    let entry = entry("confirm_reidentification", &row).telling(json!({
        "release": row.release,
        "asked_by": row.asked_by,
        "gone": subject.is_none(),
    }));
    Ok(Done::one(ReidentificationTold { row, subject }, entry))
}

/// Refuses, or takes back; a second time changes nothing.
async fn close(
    session: &mut Session,
    id: ReidentificationId,
    (state, actor): (ReidentificationState, String),
) -> Result<Done<ReidentificationRow>, StoreError> {
    let lock = session.dialect().dataset_lock;
    let row = held(session, id, lock).await?;
    let (action, is_own) = match state {
        ReidentificationState::Withdrawn => ("withdraw_reidentification", true),
        _ => ("refuse_reidentification", false),
    };
    match (row.asked_by == actor, is_own) {
        (true, false) => return Err(Conflict::OwnQuestion.into()),
        (false, true) => return Err(Conflict::ForeignQuestion.into()),
        _ => {}
    }
    if row.state == state && row.decided_by.as_deref() == Some(actor.as_str()) {
        return Ok(Done::unchanged(row));
    }
    if row.state != ReidentificationState::Pending {
        return Err(Conflict::Decided.into());
    }
    let row = decide(session, id, (state, actor.as_str())).await?;
    let entry = entry(action, &row);
    Ok(Done::one(row, entry))
}

/// Tells the subject of one that is confirmed, and the log of it.
async fn tell(
    session: &mut Session,
    row: ReidentificationRow,
) -> Result<Done<ReidentificationTold>, StoreError> {
    let subject = subject(session, &row).await?;
    let entry = entry("read_reidentified_subject", &row).telling(json!({
        "release": row.release,
        "gone": subject.is_none(),
    }));
    Ok(Done::one(ReidentificationTold { row, subject }, entry))
}

/// The subject behind the row, if the lineage still has them.
async fn subject(
    session: &mut Session,
    row: &ReidentificationRow,
) -> Result<Option<String>, StoreError> {
    let lineage = match lineage(session, row.release).await {
        // Withdrawn, or purged.
        Err(StoreError::NotFound { .. }) => return Ok(None),
        lineage => lineage?,
    };
    let (table, number) = (row.table.clone(), row.row);
    // It is as long as the table: not on this thread.
    let found = tokio::task::spawn_blocking(move || subject_of_row(&lineage, &table, number));
    let found = found
        .await
        .map_err(|_| StoreError::driver("reading a lineage panicked"))?;
    match found {
        Ok(BehindRow::Subject(subject)) => Ok(Some(subject)),
        Ok(BehindRow::Nobody | BehindRow::NoLineage) => Ok(None),
        Err(_) => Err(StoreError::Inconsistent {
            table: "release",
            column: "lineage",
            row: row.release.to_string(),
        }),
    }
}

async fn list(
    session: &mut Session,
    page: PageRequest,
    release: ReleaseId,
) -> Result<Page<ReidentificationRow>, StoreError> {
    let dataset = release_row::get(session, release).await?.dataset;
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let (cursor, limit) = page_bounds(page);
    let cells = cells![release.uuid(), cursor, limit];
    let rows = session.rows(TABLE, sql::LIST, cells).await?;
    let now = session.now().await?;
    page_of(rows, page, |row| opened(row, &access, now))
}

impl Store {
    /// Asks who stands behind a row, for another steward to confirm. Whether the
    /// release has such a row is the caller's to know. Not found: the release;
    /// `Conflict::ReleaseState` where it is not published,
    /// `Conflict::TooManyReidentifications` where the day's number is reached.
    pub async fn reidentification_create(
        &self,
        act: Act<ReidentificationRow>,
        new: NewReidentification,
    ) -> Result<ReidentificationRow, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act, move |session| Box::pin(create(session, new, actor)))
            .await
    }

    /// One of them, without its subject.
    pub async fn reidentification_get(
        &self,
        id: ReidentificationId,
    ) -> Result<ReidentificationRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Those of a release, newest first, without their subjects.
    pub async fn reidentification_list(
        &self,
        page: PageRequest,
        release: ReleaseId,
    ) -> Result<Page<ReidentificationRow>, StoreError> {
        self.read(move |session| Box::pin(list(session, page, release)))
            .await
    }

    /// Confirms one of another steward and tells the subject.
    /// `Conflict::OwnQuestion` to who asked; `Conflict::Decided` where it is not
    /// pending any more, but to who confirmed it, who is told again.
    pub async fn reidentification_confirm(
        &self,
        act: Act<ReidentificationTold>,
        id: ReidentificationId,
    ) -> Result<ReidentificationTold, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act, move |session| Box::pin(confirm(session, id, actor)))
            .await
    }

    /// Refuses one of another steward. A second time changes nothing.
    pub async fn reidentification_refuse(
        &self,
        act: Act<ReidentificationRow>,
        id: ReidentificationId,
    ) -> Result<ReidentificationRow, StoreError> {
        let by = (ReidentificationState::Refused, act.actor().to_owned());
        self.write(act, move |session| Box::pin(close(session, id, by)))
            .await
    }

    /// Takes back what the same steward asked for, while it is pending. A second
    /// time changes nothing.
    pub async fn reidentification_withdraw(
        &self,
        act: Act<ReidentificationRow>,
        id: ReidentificationId,
    ) -> Result<ReidentificationRow, StoreError> {
        let by = (ReidentificationState::Withdrawn, act.actor().to_owned());
        self.write(act, move |session| Box::pin(close(session, id, by)))
            .await
    }

    /// Tells the subject to one of the two stewards; a reading that the audit
    /// log tells of, without the subject. `Conflict::Decided` where it is not
    /// told to this one now.
    pub async fn reidentification_read(
        &self,
        act: Act<ReidentificationTold>,
        id: ReidentificationId,
    ) -> Result<ReidentificationTold, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act, move |session| {
            Box::pin(async move {
                let keep = session.dialect().dataset_keep;
                let row = held(session, id, keep).await?;
                if row.is_told_to(&actor) {
                    tell(session, row).await
                } else {
                    Err(Conflict::Decided.into())
                }
            })
        })
        .await
    }
}
