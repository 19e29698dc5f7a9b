//! Releases: reading them, and taking them back.

use super::entry::{Done, Entry};
use super::release_row::{TABLE, get, release_row, series};
use super::tombstones::bury;
use super::{Store, allowed, page_bounds, page_of};
use crate::ids::{DatasetId, ReleaseId};
use crate::store::seal::{AssociatedData, Purpose, of};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{ledger as ledger_sql, releases as sql};
use crate::store::{
    Act, Buried, Page, PageRequest, PublishOutcome, PublishRequest, ReleaseDocument, ReleaseFilter,
    ReleaseRow, ReleaseState, ReleaseTableRow, StoreError, Tombstone,
};

fn table_row(row: &Row) -> Result<ReleaseTableRow, StoreError> {
    Ok(ReleaseTableRow {
        release: ReleaseId::from(row.uuid("release_id")?),
        name: row.text("name")?,
        columns: row.json("columns")?,
        rows: row.count("rows")?,
        raw_bytes: row.count("raw_bytes")?,
        sha256: row.digest("sha256")?,
        pieces: row.count32("pieces")?,
    })
}

async fn list(
    session: &mut Session,
    page: PageRequest,
    filter: ReleaseFilter,
) -> Result<Page<ReleaseRow>, StoreError> {
    let states = match filter.states.as_slice() {
        [] => ReleaseState::ALL.as_slice(),
        states => states,
    };
    let states: serde_json::Value = states.iter().map(|state| state.as_str()).collect();
    let only = allowed(filter.dataset, filter.only);
    let (cursor, limit) = page_bounds(page);
    let statement = session.dialect().release_list;
    let rows = session
        .rows(TABLE, statement, cells![cursor, &states, only, limit])
        .await?;
    page_of(rows, page, release_row)
}

/// Withdraws a release; the tombstone is the caller's.
pub(super) async fn withdraw(
    session: &mut Session,
    id: ReleaseId,
    actor: String,
) -> Result<Done<ReleaseRow>, StoreError> {
    let now = session.now().await?;
    if session.run(sql::WITHDRAW, cells![id.uuid(), now]).await? == 0 {
        return Ok(Done::unchanged(get(session, id).await?));
    }
    session.run(sql::WITHDRAW_PIECES, cells![id.uuid()]).await?;
    let step = cells![id.uuid(), now, actor];
    session.run(ledger_sql::WITHDRAW, step).await?;
    let row = get(session, id).await?;
    let entry = Entry::release("withdraw_release", id, row.dataset);
    Ok(Done::one(row, entry))
}

/// Withdraws a release and leaves a tombstone.
pub(super) async fn withdraw_for_good(
    session: &mut Session,
    id: ReleaseId,
    actor: String,
) -> Result<Done<ReleaseRow>, StoreError> {
    let done = withdraw(session, id, actor).await?;
    if !done.entries.is_empty() {
        let (what, at) = (Buried::Release(id), session.now().await?);
        bury(session, Tombstone { what, at }).await?;
    }
    Ok(done)
}

/// A document of a release, opened if it is sealed.
async fn document(
    session: &mut Session,
    id: ReleaseId,
    document: ReleaseDocument,
) -> Result<serde_json::Value, StoreError> {
    let (statement, associated) = match document {
        ReleaseDocument::Manifest => (sql::MANIFEST, None),
        ReleaseDocument::Report => (sql::REPORT, Some(AssociatedData::Report(id))),
        ReleaseDocument::Verification => {
            (sql::VERIFICATION, Some(AssociatedData::Verification(id)))
        }
    };
    let access = of(session, id.uuid(), Purpose::Release).await?;
    let row = session.row(TABLE, statement, cells![id.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    match associated {
        Some(associated) => access.document(&associated, (&row, "document")),
        None => row.json("document"),
    }
}

/// A release's lineage, opened if it is sealed; not found where it is gone.
pub(super) async fn lineage(session: &mut Session, id: ReleaseId) -> Result<Vec<u8>, StoreError> {
    let dataset = get(session, id).await?.dataset;
    let access = of(session, dataset.uuid(), Purpose::Records).await?;
    let row = session.row(TABLE, sql::LINEAGE, cells![id.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    let kept = row
        .bytes_or_null("lineage")?
        .ok_or(StoreError::not_found("lineage"))?;
    access.bytes(&AssociatedData::Lineage(id), kept, (&row, "lineage"))
}

async fn candidates(session: &mut Session, id: ReleaseId) -> Result<Option<Vec<u8>>, StoreError> {
    let dataset = get(session, id).await?.dataset;
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let row = session
        .row(TABLE, sql::CANDIDATES, cells![id.uuid()])
        .await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    let kept = row.bytes_or_null("candidates")?;
    let opened =
        kept.map(|kept| access.bytes(&AssociatedData::Candidates(id), kept, (&row, "candidates")));
    opened.transpose()
}

async fn piece(
    session: &mut Session,
    release: ReleaseId,
    name: String,
    position: u32,
) -> Result<Vec<u8>, StoreError> {
    let access = of(session, release.uuid(), Purpose::Release).await?;
    let row = of_table(session, sql::PIECE_GET, release, (name, Some(position))).await?;
    let kept = row.checked_bytes("bytes", "sha256")?;
    let associated = AssociatedData::Piece {
        release,
        table: row.count32("table_position")?,
        position,
    };
    access.bytes(&associated, kept, (&row, "bytes"))
}

/// Answers the one row that a statement about a named table finds.
async fn of_table(
    session: &mut Session,
    statement: &'static str,
    release: ReleaseId,
    (name, position): (String, Option<u32>),
) -> Result<Row, StoreError> {
    let missing = StoreError::not_found("table");
    // PostgreSQL's text has no NUL, so no table's name has one.
    if name.contains('\0') {
        return Err(missing);
    }
    let mut cells = cells![release.uuid(), name];
    cells.extend(position.map(Into::into));
    session
        .row("release_table", statement, cells)
        .await?
        .ok_or(missing)
}

impl Store {
    /// One release in any state.
    pub async fn release_get(&self, id: ReleaseId) -> Result<ReleaseRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Releases, newest first.
    pub async fn release_list(
        &self,
        page: PageRequest,
        filter: ReleaseFilter,
    ) -> Result<Page<ReleaseRow>, StoreError> {
        self.read(move |session| Box::pin(list(session, page, filter)))
            .await
    }

    /// One of a release's documents.
    pub async fn release_document(
        &self,
        id: ReleaseId,
        document: ReleaseDocument,
    ) -> Result<serde_json::Value, StoreError> {
        self.read(move |session| Box::pin(self::document(session, id, document)))
            .await
    }

    /// A release's lineage; not found after erasure or withdrawal.
    pub async fn release_lineage(&self, id: ReleaseId) -> Result<Vec<u8>, StoreError> {
        self.read(move |session| Box::pin(lineage(session, id)))
            .await
    }

    /// All releases that ever were public and are about the people of a
    /// dataset, in order of their ids; withdrawn ones among them.
    pub async fn release_series(&self, dataset: DatasetId) -> Result<Vec<ReleaseId>, StoreError> {
        self.read(move |session| Box::pin(series(session, dataset)))
            .await
    }

    /// What a release shows of each subject; `None` where that is not kept any
    /// more, or never was.
    pub async fn release_candidates(&self, id: ReleaseId) -> Result<Option<Vec<u8>>, StoreError> {
        self.read(move |session| Box::pin(candidates(session, id)))
            .await
    }

    /// All of [`Store::release_series`], with what each shows of each subject
    /// where that is kept.
    pub async fn public_series(
        &self,
        dataset: DatasetId,
    ) -> Result<Vec<(ReleaseId, Option<Vec<u8>>)>, StoreError> {
        let mut public = Vec::new();
        for id in self.release_series(dataset).await? {
            public.push((id, self.release_candidates(id).await?));
        }
        Ok(public)
    }

    /// A release's tables in order.
    pub async fn table_list(&self, release: ReleaseId) -> Result<Vec<ReleaseTableRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let cells = cells![release.uuid()];
                let rows = session
                    .rows("release_table", sql::TABLE_LIST, cells)
                    .await?;
                rows.iter().map(table_row).collect()
            })
        })
        .await
    }

    /// One table of a release.
    pub async fn table_get(
        &self,
        release: ReleaseId,
        name: String,
    ) -> Result<ReleaseTableRow, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                table_row(&of_table(session, sql::TABLE_GET, release, (name, None)).await?)
            })
        })
        .await
    }

    /// One piece's compressed bytes, from position 0; `Inconsistent` if they
    /// do not match their SHA-256, not found after a withdrawal.
    pub async fn table_piece(
        &self,
        release: ReleaseId,
        name: String,
        position: u32,
    ) -> Result<Vec<u8>, StoreError> {
        self.read(move |session| Box::pin(piece(session, release, name, position)))
            .await
    }

    /// Publishes a draft if the request's check allows it; answers what the check said, and
    /// the release.
    ///
    /// The operator's rules are looked at as well: a draft below the floors
    /// stays one, and so does one that needs a second steward. The first
    /// call writes an approval, and the same actor's second one is
    /// `Conflict::SecondSteward`.
    ///
    /// A published release stays published without asking the check;
    /// a withdrawn one is `Conflict::ReleaseState`. A draft whose dataset was
    /// erased is gone.
    pub async fn release_publish(
        &self,
        act: Act<PublishOutcome>,
        id: ReleaseId,
        request: PublishRequest,
    ) -> Result<PublishOutcome, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act, move |session| {
            Box::pin(super::results::publish(session, id, request, actor))
        })
        .await
    }

    /// Takes a draft or published release back: pieces and lineage go, row and
    /// documents stay. A second time changes nothing.
    pub async fn release_withdraw(
        &self,
        act: Act<ReleaseRow>,
        id: ReleaseId,
    ) -> Result<ReleaseRow, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act, move |session| {
            Box::pin(withdraw_for_good(session, id, actor))
        })
        .await
    }
}
