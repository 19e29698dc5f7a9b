//! The audit log: appending to it, reading it, walking along it.
//!
//! The head's row is locked by the first statement of `append`, and `append`
//! is the last thing that a transaction does before it commits. Every other
//! row is locked before the head's, so nobody who holds the head waits for
//! anything, and rows get their positions in the order of the commits.

use serde_json::json;

use super::Store;
use super::allowed;
use super::entry::Entry;
use crate::failpoint;
use crate::ids::DatasetId;
use crate::store::chain::{Walk, digest};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::audit as sql;
use crate::store::{
    AuditAnchor, AuditFilter, AuditPage, AuditRow, AuditVerdict, PAGE_LIMIT_MAX, Refused,
    StoreError,
};

const TABLE: &str = "audit";

/// Rows that a walk holds at a time.
const WALK_BATCH: u32 = 1_000;

fn audit_row(row: &Row) -> Result<AuditRow, StoreError> {
    Ok(AuditRow {
        position: row.count("position")?,
        occurred_at: row.time("occurred_at")?,
        actor: row.text("actor")?,
        request: row.text_or_null("request_id")?,
        action: row.text("action")?,
        object_kind: row.text("object_kind")?,
        object: row.text_or_null("object_id")?,
        dataset: row.uuid_or_null("dataset_id")?.map(DatasetId::from),
        detail: row.text("detail")?,
        previous: row.digest("previous")?,
        hash: row.digest("hash")?,
    })
}

fn anchor_row(row: Option<Row>) -> Result<AuditAnchor, StoreError> {
    let row = row.ok_or(StoreError::Inconsistent {
        table: "audit_head",
        column: "single",
        row: String::new(),
    })?;
    Ok(AuditAnchor {
        position: row.count("position")?,
        hash: row.digest("hash")?,
    })
}

/// Appends what a transaction did: the last thing before it commits.
pub(super) async fn append(
    session: &mut Session,
    (actor, request): (&str, Option<&str>),
    entries: Vec<Entry>,
) -> Result<(), StoreError> {
    if entries.is_empty() {
        return Ok(());
    }
    let lock = session.dialect().audit_lock;
    let mut head = anchor_row(session.row("audit_head", lock, Vec::new()).await?)?;
    let occurred_at = session.now().await?;
    for entry in entries {
        let mut row = AuditRow {
            position: head.position + 1,
            // As it is kept: the hash must not know more than the column.
            occurred_at: chrono::SubsecRound::trunc_subsecs(occurred_at, 6),
            actor: actor.to_owned(),
            request: request.map(str::to_owned),
            action: entry.action.to_owned(),
            object_kind: entry.object_kind.to_owned(),
            object: entry.object,
            dataset: entry.dataset,
            detail: entry.detail.to_string(),
            previous: head.hash,
            hash: [0; 32],
        };
        row.hash = digest(&row);
        head = AuditAnchor {
            position: row.position,
            hash: row.hash,
        };
        let cells = cells![
            row.position,
            row.occurred_at,
            row.actor,
            row.request,
            row.action,
            row.object_kind,
            row.object,
            row.dataset.map(DatasetId::uuid),
            row.detail,
            row.previous,
            row.hash,
        ];
        session.run(sql::APPEND, cells).await?;
    }
    failpoint::reached("audit-appended");
    Ok(())
}

async fn list(
    session: &mut Session,
    limit: u32,
    before: Option<u64>,
    filter: AuditFilter,
) -> Result<AuditPage, StoreError> {
    let limit = limit.clamp(1, PAGE_LIMIT_MAX);
    let only = allowed(filter.dataset, filter.only);
    // PostgreSQL's text has no NUL, so no row has one.
    let has_nul = |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains('\0'));
    if has_nul(&filter.actor) || has_nul(&filter.action) {
        let items = Vec::new();
        return Ok(AuditPage { items, next: None });
    }
    let cells = cells![
        before.unwrap_or(u64::MAX),
        only,
        filter.actor,
        filter.action,
        limit + 1
    ];
    let statement = session.dialect().audit_list;
    let mut rows = session.rows(TABLE, statement, cells).await?;
    let more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let items: Vec<AuditRow> = rows.iter().map(audit_row).collect::<Result<_, _>>()?;
    let next = items.last().filter(|_| more).map(|row| row.position);
    Ok(AuditPage { items, next })
}

async fn head(session: &mut Session) -> Result<AuditAnchor, StoreError> {
    anchor_row(session.row("audit_head", sql::HEAD, Vec::new()).await?)
}

/// The end of the chain as it stands: the last row that is there, and then the
/// head as it is noted. In this order, so that a row that is written in between
/// is known to the head.
async fn end(session: &mut Session) -> Result<(u64, AuditAnchor), StoreError> {
    let last = session.rows(TABLE, sql::LAST, Vec::new()).await?;
    let last = last.first().map(audit_row).transpose()?;
    Ok((last.map_or(0, |row| row.position), head(session).await?))
}

/// The rows behind a position.
async fn batch(session: &mut Session, after: u64) -> Result<Vec<AuditRow>, StoreError> {
    let rows = session
        .rows(TABLE, sql::AFTER, cells![after, WALK_BATCH])
        .await?;
    rows.iter().map(audit_row).collect()
}

fn entry_of(refused: &Refused) -> Entry {
    Entry::refused(refused.operation).telling(json!({
        "status": refused.status,
        "requests": refused.requests,
    }))
}

impl Store {
    /// At most `limit` rows below the position `before`, newest first.
    pub async fn audit_list(
        &self,
        limit: u32,
        before: Option<u64>,
        filter: AuditFilter,
    ) -> Result<AuditPage, StoreError> {
        self.read(move |session| Box::pin(list(session, limit, before, filter)))
            .await
    }

    /// Notes requests that were refused, a row each.
    pub async fn audit_refused(&self, mut refused: Vec<Refused>) -> Result<(), StoreError> {
        refused.sort_by(|one, other| {
            let key = |refused: &Refused| (refused.operation, refused.status);
            (&one.actor, key(one)).cmp(&(&other.actor, key(other)))
        });
        self.write_unaudited(move |session| {
            Box::pin(async move {
                for of_actor in refused.chunk_by(|one, other| one.actor == other.actor) {
                    let entries = of_actor.iter().map(entry_of).collect();
                    append(session, (&of_actor[0].actor, None), entries).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// The head of the chain as the store has it noted, without a walk.
    pub async fn audit_head(&self) -> Result<AuditAnchor, StoreError> {
        self.read(|session| Box::pin(head(session))).await
    }

    /// Walks the whole chain, some rows in memory at a time, up to the first
    /// break; it must also go through the places of all anchors.
    pub async fn audit_verify(
        &self,
        anchors: Vec<AuditAnchor>,
    ) -> Result<AuditVerdict, StoreError> {
        // The end is fixed first: a log that grows while it is walked
        // would never be walked to its end.
        let (last, noted) = self.read(|session| Box::pin(end(session))).await?;
        let mut walk = Walk::new(anchors);
        let broken = loop {
            let after = walk.head.position;
            let mut rows = self
                .read(move |session| Box::pin(batch(session, after)))
                .await?;
            rows.retain(|row| row.position <= last.max(noted.position));
            if rows.is_empty() {
                break walk.end(noted);
            }
            let wrong = rows
                .iter()
                .find_map(|row| walk.step(row).err().map(|broken| (row.position, broken)));
            if wrong.is_some() {
                break wrong;
            }
        };
        Ok(AuditVerdict {
            rows: walk.head.position,
            head: walk.head,
            broken,
        })
    }
}
