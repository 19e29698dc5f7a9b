//! The ledger: read here; written by what it tells of, in `results`,
//! `releases` and `datasets`.

use serde_json::json;

use super::entry::{Done, Entry};
use super::{Store, page_bounds, page_of};
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::store::session::{Row, Session, cells, id_list};
use crate::store::statements::ledger as sql;
use crate::store::{
    Act, LedgerReads, LedgerRow, LedgerStep, Page, PageRequest, ReleaseRead, StoreError,
};

const TABLE: &str = "ledger";

fn step(row: &Row, at: &'static str, by: &'static str) -> Result<Option<LedgerStep>, StoreError> {
    let by = row.text_or_null(by)?;
    Ok(row.time_or_null(at)?.map(|at| LedgerStep { at, by }))
}

fn ledger_row(row: &Row) -> Result<LedgerRow, StoreError> {
    Ok(LedgerRow {
        release: ReleaseId::from(row.uuid("id")?),
        job: JobId::from(row.uuid("job_id")?),
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        dataset_version: row.count("dataset_version")?,
        preference_version: row.count("preference_version")?,
        engine: row.text("engine")?,
        claims: row.json("claims")?,
        requested_by: row.text("requested_by")?,
        created_at: row.time("created_at")?,
        published: step(row, "published_at", "published_by")?,
        withdrawn: step(row, "withdrawn_at", "withdrawn_by")?,
        erased: step(row, "erased_at", "erased_by")?,
        affected_at: row.time_or_null("affected_at")?,
        affected_subjects: row.count_or_null("affected_subjects")?,
        reads: LedgerReads {
            tables: row.count("table_reads")?,
            reports: row.count("report_reads")?,
            verifications: row.count("verification_reads")?,
            queries: row.count("queries")?,
        },
    })
}

async fn read(
    session: &mut Session,
    release: ReleaseId,
    read: ReleaseRead,
) -> Result<Done<()>, StoreError> {
    let (count, action, detail) = match read {
        ReleaseRead::Table { name, format } => {
            let detail = json!({"table": name, "format": format});
            (sql::COUNT_TABLE, "get_release_table", detail)
        }
        ReleaseRead::Bundle => (sql::COUNT_TABLE, "get_release_bundle", json!({})),
        ReleaseRead::Report => (sql::COUNT_REPORT, "get_release_report", json!({})),
        ReleaseRead::Verification => {
            let action = "get_release_verification";
            (sql::COUNT_VERIFICATION, action, json!({}))
        }
        ReleaseRead::Query => (sql::COUNT_QUERY, "query_release", json!({})),
    };
    let row = session.row(TABLE, count, cells![release.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("release"))?;
    let dataset = DatasetId::from(row.uuid("dataset_id")?);
    let entry = Entry::release(action, release, dataset).telling(detail);
    Ok(Done::one((), entry))
}

impl Store {
    /// Releases, newest first; `only` restricts to some datasets.
    pub async fn ledger_list(
        &self,
        page: PageRequest,
        only: Option<Vec<DatasetId>>,
    ) -> Result<Page<LedgerRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let (cursor, limit) = page_bounds(page);
                let only = only.map(|ids| id_list(ids.into_iter().map(DatasetId::uuid)));
                let list = session.dialect().ledger_list;
                let rows = session
                    .rows(TABLE, list, cells![cursor, only, limit])
                    .await?;
                page_of(rows, page, ledger_row)
            })
        })
        .await
    }

    /// Notes that somebody reads a release: a row in the audit log and one
    /// more in the ledger. To be called before the first byte is sent.
    pub async fn release_read(
        &self,
        act: Act<()>,
        release: ReleaseId,
        what: ReleaseRead,
    ) -> Result<(), StoreError> {
        self.write(act, move |session| Box::pin(read(session, release, what)))
            .await
    }
}
