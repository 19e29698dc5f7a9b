//! The row of a job.

use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::jobs as sql;
use crate::store::{JobRow, JobState, StoreError};

pub(super) const TABLE: &str = "job";

pub(super) fn job_row(row: &Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        id: JobId::from(row.uuid("id")?),
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        dataset_version: row.count("dataset_version")?,
        preference_version: row.count("preference_version")?,
        engine: row.text("engine")?,
        spec: row.json("spec")?,
        publish: row.text("publish")?,
        created_by: row.text("created_by")?,
        memory_bytes: row.count_or_null("memory_bytes")?,
        exploration: row.uuid_or_null("exploration_id")?.map(ExplorationId::from),
        state: row.word("state", JobState::parse)?,
        revision: row.count("revision")?,
        progress: row.json_or_null("progress")?,
        problem: row.json_or_null("problem")?,
        release: row.uuid_or_null("release_id")?.map(ReleaseId::from),
        attempts: row.count32("attempts")?,
        cancel_requested: row.truth("cancel_requested")?,
        worker: row.text_or_null("worker")?,
        lease_expires_at: row.time_or_null("lease_expires_at")?,
        created_at: row.time("created_at")?,
        started_at: row.time_or_null("started_at")?,
        finished_at: row.time_or_null("finished_at")?,
    })
}

pub(super) async fn get(session: &mut Session, id: JobId) -> Result<JobRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    job_row(&row.ok_or(StoreError::not_found("job"))?)
}
