//! The row of a dataset: read, held against others, and compared with what is
//! demanded of it.

use vizard_anonymizer::privacy::Floors;

use crate::ids::DatasetId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::datasets as sql;
use crate::store::{DatasetRow, Retention, SeriesMemory, StoreError};

const TABLE: &str = "dataset";

pub(super) fn dataset_row(row: &Row) -> Result<DatasetRow, StoreError> {
    Ok(DatasetRow {
        id: DatasetId::from(row.uuid("id")?),
        name: row.text("name")?,
        schema: row.json("schema")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        version: row.count("version")?,
        records: row.count("records")?,
        hierarchies: row.json("hierarchies")?,
        preference_version: row.count("preference_version")?,
        subjects_with_preference: row.count("subjects_with_preference")?,
        retention: retention_of(row)?,
        records_purged_at: row.time_or_null("records_purged_at")?,
        population: row.text_or_null("population")?,
        floors: floors_of(row)?,
        population_combinations: row.count("population_combinations")?,
    })
}

pub(super) fn retention_of(row: &Row) -> Result<Retention, StoreError> {
    let memory = SeriesMemory::parse(&row.text("series_memory")?);
    Ok(Retention {
        raw_days: row.count32_or_null("raw_retention_days")?,
        series_memory: memory.ok_or_else(|| row.inconsistent("series_memory"))?,
    })
}

fn floors_of(row: &Row) -> Result<Floors, StoreError> {
    let kept = row.json_or_null("floors")?;
    kept.map_or_else(
        || Ok(Floors::default()),
        |kept| serde_json::from_value(kept).map_err(|_| row.inconsistent("floors")),
    )
}

/// A dataset's own floors, erased or not.
pub(super) async fn floors(session: &mut Session, id: DatasetId) -> Result<Floors, StoreError> {
    let row = session.row(TABLE, sql::FLOORS, cells![id.uuid()]).await?;
    floors_of(&row.ok_or(StoreError::not_found("dataset"))?)
}

pub(super) async fn get(session: &mut Session, id: DatasetId) -> Result<DatasetRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    dataset_row(&row.ok_or(StoreError::not_found("dataset"))?)
}

/// Reads a dataset's id by one of the locking statements; not found if it is erased.
pub(super) async fn hold(
    session: &mut Session,
    id: DatasetId,
    lock: &'static str,
) -> Result<(), StoreError> {
    let row = session.row(TABLE, lock, cells![id.uuid()]).await?;
    row.map(|_| ()).ok_or(StoreError::not_found("dataset"))
}

/// Decides what is demanded of a dataset whose row is held.
pub(super) async fn decide(session: &mut Session, id: DatasetId) -> Result<(), StoreError> {
    if session.demands() {
        let tag = get(session, id).await?.tag();
        session.decide(Some(&tag))?;
    }
    Ok(())
}
