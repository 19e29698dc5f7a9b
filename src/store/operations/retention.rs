//! Retention: when the time of records is up, and the purge.
//!
//! Which datasets are due is decided twice: once to find them, once more in
//! the transaction that purges one, after it holds the dataset's row. An
//! upload or a release in between gives the records their days again.

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::Store;
use super::dataset_row::{get, hold, retention_of};
use super::entry::{Done, Entry};
use super::idempotency::forget_answers;
use super::tombstones::bury;
use super::versions::{Extent, Written};
use crate::ids::DatasetId;
use crate::store::seal::renew_records_key;
use crate::store::session::{Row, Session, Signal, cells};
use crate::store::statements::{datasets as dataset_sql, retention as sql};
use crate::store::{
    Act, Buried, DatasetRow, Purge, RAW_RETENTION_DAYS_MAX, Retention, SeriesMemory, StoreError,
    Tombstone, VersionMode,
};

const TABLE: &str = "dataset";

/// Who is said to have made the empty version that a purge leaves behind.
const PURGED_BY: &str = "retention";

/// When a row's records are to go; `None`: never.
fn due_at(row: &Row, default_days: Option<u32>) -> Result<Option<DateTime<Utc>>, StoreError> {
    let Some(days) = retention_of(row)?.raw_days.or(default_days) else {
        return Ok(None);
    };
    let mut last = row.time("uploaded_at")?;
    for column in ["released_at", "published_at"] {
        last = last.max(row.time_or_null(column)?.unwrap_or(last));
    }
    Ok(last.checked_add_signed(TimeDelta::days(days.into())))
}

async fn due(
    session: &mut Session,
    default_days: Option<u32>,
) -> Result<Vec<DatasetId>, StoreError> {
    let now = session.now().await?;
    let days = default_days.map(u64::from);
    let mut rows = session.rows(TABLE, sql::LIMITED, cells![days]).await?;
    rows.extend(session.rows(TABLE, sql::REPLACED, cells![days]).await?);
    let mut ids = Vec::new();
    for row in rows {
        if due_at(&row, default_days)?.is_some_and(|due| due <= now) {
            ids.push(DatasetId::from(row.uuid("id")?));
        }
    }
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// The row of a dataset that holds records, after its lock; `None`: it holds none.
async fn held(session: &mut Session, id: DatasetId) -> Result<Option<Row>, StoreError> {
    let lock = session.dialect().dataset_lock_erase;
    hold(session, id, lock).await?;
    session.row(TABLE, sql::HELD, cells![id.uuid()]).await
}

/// Purges a dataset if its time is up.
async fn purge_due(
    session: &mut Session,
    id: DatasetId,
    default_days: Option<u32>,
    actor: String,
) -> Result<Done<Option<Purge>>, StoreError> {
    let row = match held(session, id).await {
        // Erased in the meantime.
        Err(StoreError::NotFound { .. }) => return Ok(Done::unchanged(None)),
        row => row?,
    };
    let now = session.now().await?;
    let Some(row) = row else {
        return Ok(Done::unchanged(None));
    };
    if due_at(&row, default_days)?.is_none_or(|due| now < due) {
        return purge_replaced(session, id, (default_days, now), actor).await;
    }
    let done = purge(session, (id, &row), actor).await?;
    let what = Buried::Records(id);
    bury(session, Tombstone { what, at: now }).await?;
    Ok(done)
}

/// Purges records that an upload replaced, once their time is up: their days
/// begin with that upload. No tombstone is left, since a restored backup that
/// brings them back is purged by the same rule.
async fn purge_replaced(
    session: &mut Session,
    id: DatasetId,
    (default_days, now): (Option<u32>, DateTime<Utc>),
    actor: String,
) -> Result<Done<Option<Purge>>, StoreError> {
    let dataset = id.uuid();
    let rows = session
        .rows(TABLE, sql::REPLACED_OF, cells![dataset])
        .await?;
    let mut purge = Purge {
        dataset: id,
        chunks: 0,
        lineages: 0,
        drafts: 0,
        jobs_cancelled: 0,
        memories: 0,
    };
    let mut epochs = 0_u64;
    for row in rows {
        if due_at(&row, default_days)?.is_none_or(|due| now < due) {
            continue;
        }
        epochs += 1;
        let epoch = row.count("epoch")?;
        let of_epoch = || cells![dataset, epoch];
        let of_epoch_now = || cells![dataset, epoch, now];
        session.run(sql::PURGE_EPOCH_PIECES, of_epoch()).await?;
        let ledger = cells![dataset, epoch, now, actor.as_str()];
        session.run(sql::PURGE_EPOCH_LEDGER, ledger).await?;
        purge.lineages += session.run(sql::PURGE_EPOCH_LINEAGE, of_epoch()).await?;
        purge.drafts += session.run(sql::PURGE_EPOCH_DRAFTS, of_epoch_now()).await?;
        if retention_of(&row)?.series_memory == SeriesMemory::Drop {
            let memories = sql::PURGE_EPOCH_CANDIDATES;
            purge.memories += session.run(memories, of_epoch()).await?;
        }
        purge.chunks += session.run(sql::PURGE_EPOCH_CHUNKS, of_epoch()).await?;
        let versions = sql::PURGE_EPOCH_VERSIONS;
        session.run(versions, of_epoch_now()).await?;
    }
    if epochs == 0 {
        return Ok(Done::unchanged(None));
    }
    let entry = Entry::dataset("purge_replaced", id).telling(json!({
        "epochs": epochs,
        "chunks": purge.chunks,
        "lineages": purge.lineages,
        "drafts": purge.drafts,
        "memories": purge.memories,
    }));
    Ok(Done::one(Some(purge), entry))
}

/// Purges a dataset whose records were purged at `at`, according to a
/// tombstone, if it holds records of that time again.
pub(super) async fn purge_as_of(
    session: &mut Session,
    id: DatasetId,
    (at, actor): (DateTime<Utc>, String),
) -> Result<Vec<Entry>, StoreError> {
    match held(session, id).await? {
        Some(row) if row.time("first_uploaded_at")? <= at => {
            let done = purge(session, (id, &row), actor).await?;
            Ok(done.entries)
        }
        _ => Ok(Vec::new()),
    }
}

async fn purge(
    session: &mut Session,
    (id, row): (DatasetId, &Row),
    actor: String,
) -> Result<Done<Option<Purge>>, StoreError> {
    let now = session.now().await?;
    let dataset = id.uuid();
    let this_now = || cells![dataset, now];
    let jobs_cancelled = session.run(dataset_sql::ERASE_JOBS, this_now()).await?;
    let pieces = dataset_sql::ERASE_DRAFT_PIECES;
    session.run(pieces, cells![dataset]).await?;
    let lineage = dataset_sql::ERASE_LINEAGE;
    let lineages = session.run(lineage, cells![dataset]).await?;
    let drafts = session.run(sql::WITHDRAW_DRAFTS, this_now()).await?;
    let ledger = cells![dataset, now, actor];
    session.run(sql::LEDGER_WITHDRAW_DRAFTS, ledger).await?;
    let memories = match retention_of(row)?.series_memory {
        SeriesMemory::Keep => 0,
        SeriesMemory::Drop => {
            let candidates = dataset_sql::ERASE_CANDIDATES;
            session.run(candidates, cells![dataset]).await?
        }
    };
    let chunks = dataset_sql::ERASE_CHUNKS;
    let chunks = session.run(chunks, cells![dataset]).await?;
    session.run(sql::PURGE_VERSIONS, this_now()).await?;
    forget_answers(session, id).await?;
    renew_records_key(session, id).await?;
    empty_version(session, id, row.count("version")? + 1).await?;
    session.run(sql::PURGED, this_now()).await?;
    session.signal(Signal::JobChanged);
    let entry = Entry::dataset("purge_records", id).telling(json!({
        "chunks": chunks,
        "lineages": lineages,
        "drafts": drafts,
        "jobs_cancelled": jobs_cancelled,
        "memories": memories,
    }));
    let purge = Purge {
        dataset: id,
        chunks,
        lineages,
        drafts,
        jobs_cancelled,
        memories,
    };
    Ok(Done::one(Some(purge), entry))
}

/// Makes a version without records, which begins an epoch.
async fn empty_version(
    session: &mut Session,
    id: DatasetId,
    version: u64,
) -> Result<(), StoreError> {
    session
        .run(dataset_sql::VERSION_ADVANCE, cells![id.uuid(), version - 1])
        .await?;
    let (hierarchies, nothing) = (json!({}), Extent::beginning(version));
    let written = Written {
        mode: VersionMode::Replace,
        ..Written::sharing((id, version), nothing, &hierarchies, PURGED_BY)
    };
    written.create(session).await?;
    Ok(())
}

async fn set(
    session: &mut Session,
    id: DatasetId,
    retention: Retention,
) -> Result<Done<DatasetRow>, StoreError> {
    let days = retention.raw_days;
    let days = days.map(|days| u64::from(days.clamp(1, RAW_RETENTION_DAYS_MAX)));
    let memory = retention.series_memory.as_str();
    if session
        .run(sql::SET, cells![id.uuid(), days, memory])
        .await?
        == 0
    {
        return Err(StoreError::not_found("dataset"));
    }
    let detail = json!({"raw_retention_days": days, "series_memory": memory});
    let entry = Entry::dataset("set_retention", id).telling(detail);
    Ok(Done::one(get(session, id).await?, entry))
}

impl Store {
    /// Says how long the records of a dataset stay.
    pub async fn retention_set(
        &self,
        act: Act<DatasetRow>,
        dataset: DatasetId,
        retention: Retention,
    ) -> Result<DatasetRow, StoreError> {
        self.write(act, move |session| {
            Box::pin(set(session, dataset, retention))
        })
        .await
    }

    /// The datasets whose time is up by the store's clock. `default_days` counts
    /// for those that say nothing; `None`: they keep their records.
    pub async fn retention_due(
        &self,
        default_days: Option<u32>,
    ) -> Result<Vec<DatasetId>, StoreError> {
        self.read(move |session| Box::pin(due(session, default_days)))
            .await
    }

    /// Purges a dataset, if its time is still up; `None`: it is not. Leaves a
    /// tombstone.
    pub async fn retention_purge(
        &self,
        act: Act<Option<Purge>>,
        dataset: DatasetId,
        default_days: Option<u32>,
    ) -> Result<Option<Purge>, StoreError> {
        let actor = act.actor().to_owned();
        self.write(act.erasing(), move |session| {
            Box::pin(purge_due(session, dataset, default_days, actor))
        })
        .await
    }
}
