//! The row of a release.

use super::approvals::approval_of;
use super::populations;
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::releases as sql;
use crate::store::{ReleaseRow, ReleaseState, StoreError};

pub(super) const TABLE: &str = "release";

pub(super) fn release_row(row: &Row) -> Result<ReleaseRow, StoreError> {
    Ok(ReleaseRow {
        id: ReleaseId::from(row.uuid("id")?),
        job: JobId::from(row.uuid("job_id")?),
        name: name_of(row)?,
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        dataset_version: row.count("dataset_version")?,
        preference_version: row.count("preference_version")?,
        engine: row.text("engine")?,
        state: row.word("state", ReleaseState::parse)?,
        manifest: row.json("manifest")?,
        composition: row.json_or_null("composition")?.unwrap_or_default(),
        grounds: match row.json_or_null("grounds")? {
            None => Vec::new(),
            Some(kept) => serde_json::from_value(kept).map_err(|_| row.inconsistent("grounds"))?,
        },
        approval: approval_of(row)?,
        created_at: row.time("created_at")?,
        published_at: row.time_or_null("published_at")?,
        withdrawn_at: row.time_or_null("withdrawn_at")?,
    })
}

/// What the job of a release is called. Of a job that is gone nobody knows.
fn name_of(row: &Row) -> Result<Option<String>, StoreError> {
    let spec = row.json_or_null("job_spec")?;
    let name = spec.as_ref().and_then(|spec| spec["name"].as_str());
    Ok(name.map(str::to_owned))
}

pub(super) async fn get(session: &mut Session, id: ReleaseId) -> Result<ReleaseRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    release_row(&row.ok_or(StoreError::not_found("release"))?)
}

/// All releases that ever were public and are about the people of a dataset.
pub(super) async fn series(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<Vec<ReleaseId>, StoreError> {
    let mut public = Vec::new();
    for dataset in populations::members(session, dataset).await? {
        let rows = session
            .rows(TABLE, sql::PUBLIC, cells![dataset.uuid()])
            .await?;
        for row in &rows {
            public.push(ReleaseId::from(row.uuid("id")?));
        }
    }
    public.sort_unstable();
    Ok(public)
}
