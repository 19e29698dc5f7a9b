//! Explorations: begun, read, stopped, and what is kept of their releases.

use chrono::TimeDelta;
use serde_json::json;

use super::dataset_row::hold;
use super::entry::{Done, Entry};
use super::jobs::queue;
use super::releases::withdraw;
use super::{Store, allowed, page_bounds, page_of};
use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};
use crate::job::KeptExploration;
use crate::store::seal::{AssociatedData, DataKeyAccess, Purpose, of};
use crate::store::session::{Row, Session, Signal, cells};
use crate::store::statements::explorations as sql;
use crate::store::{
    Act, Conflict, ExplorationRow, JobState, NewExploration, Page, PageRequest, ReleaseState,
    SettingRow, StoreError,
};
use vizard_anonymizer::catalog::exploration::{Measures, best};

const TABLE: &str = "exploration";
/// Longest time that an exploration may be given.
const SECONDS_MAX: u64 = 366 * 24 * 3600;

fn exploration_row(row: &Row) -> Result<ExplorationRow, StoreError> {
    Ok(ExplorationRow {
        id: ExplorationId::from(row.uuid("id")?),
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        dataset_version: row.count("dataset_version")?,
        preference_version: row.count("preference_version")?,
        spec: row.json("spec")?,
        created_by: row.text("created_by")?,
        created_at: row.time("created_at")?,
        ends_at: row.time("ends_at")?,
        cancelled_at: row.time_or_null("cancelled_at")?,
        settings_total: row.count32("settings_total")?,
        settings_open: row.count32("settings_open")?,
        settings_cancelled: row.count32("settings_cancelled")?,
        ended_at: row.time_or_null("ended_at")?,
        settings: Vec::new(),
    })
}

async fn create(
    session: &mut Session,
    new: NewExploration,
) -> Result<Done<ExplorationRow>, StoreError> {
    // Held against others that are being queued: their jobs are counted.
    let lock = session.dialect().dataset_lock;
    hold(session, new.dataset, lock).await?;
    let dataset = new.dataset.uuid();
    let queued = session.row("job", sql::QUEUED, cells![dataset]).await?;
    let queued = queued.ok_or(StoreError::not_found("job"))?.count("jobs")?;
    if queued + new.jobs.len() as u64 > new.queued_jobs_max {
        return Err(Conflict::QueueFull.into());
    }
    let now = session.now().await?;
    let seconds = new.seconds_max.min(SECONDS_MAX) as i64;
    let cells = cells![
        new.id.uuid(),
        dataset,
        new.dataset_version,
        new.preference_version,
        &new.spec,
        new.created_by,
        now,
        now + TimeDelta::seconds(seconds),
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    let settings = new.jobs.len();
    for job in new.jobs {
        queue(session, job).await?;
    }
    let row = get(session, new.id).await?;
    let entry = Entry::exploration("create_exploration", row.id, row.dataset);
    let entry = entry.telling(json!({
        "settings": settings,
        "version": row.dataset_version,
        "preference_version": row.preference_version,
    }));
    Ok(Done::one(row, entry))
}

async fn cancel(
    session: &mut Session,
    id: ExplorationId,
) -> Result<Done<ExplorationRow>, StoreError> {
    let now = session.now().await?;
    let stopped = session
        .run(sql::CANCEL_JOBS, cells![id.uuid(), now])
        .await?;
    if stopped == 0 {
        return Ok(Done::unchanged(get(session, id).await?));
    }
    session.run(sql::CANCEL, cells![id.uuid(), now]).await?;
    session.signal(Signal::JobChanged);
    let row = get(session, id).await?;
    let entry = Entry::exploration("cancel_exploration", id, row.dataset);
    Ok(Done::one(row, entry.telling(json!({"settings": stopped}))))
}

async fn get(session: &mut Session, id: ExplorationId) -> Result<ExplorationRow, StoreError> {
    let row = session.row(TABLE, sql::GET, cells![id.uuid()]).await?;
    let mut found = exploration_row(&row.ok_or(StoreError::not_found("exploration"))?)?;
    let rows = session
        .rows("job", sql::SETTINGS, cells![id.uuid()])
        .await?;
    for row in rows {
        found.settings.push(setting(session, &row).await?);
    }
    Ok(found)
}

async fn setting(session: &mut Session, row: &Row) -> Result<SettingRow, StoreError> {
    let release = match row.uuid_or_null("release_id")? {
        None => None,
        Some(id) => Some((
            ReleaseId::from(id),
            row.word("release_state", ReleaseState::parse)?,
        )),
    };
    let measures = match release {
        Some((release, _)) if row.text_or_null("measures")?.is_some() => {
            let access = of(session, release.uuid(), Purpose::Release).await?;
            opened(&access, (release, row))?
        }
        _ => None,
    };
    Ok(SettingRow {
        number: row.count32("setting")?,
        job: JobId::from(row.uuid("id")?),
        engine: row.text("engine")?,
        spec: row.json("spec")?,
        state: row.word("state", JobState::parse)?,
        problem: row.json_or_null("problem")?,
        release,
        is_approved: row.uuid_or_null("approval")?.is_some(),
        measures,
        started_at: row.time_or_null("started_at")?,
        finished_at: row.time_or_null("finished_at")?,
    })
}

/// The figures of a release; nothing where its key was destroyed.
fn opened(
    access: &DataKeyAccess,
    (release, row): (ReleaseId, &Row),
) -> Result<Option<Measures>, StoreError> {
    if matches!(access, DataKeyAccess::Destroyed) {
        return Ok(None);
    }
    let associated = AssociatedData::Measures(release);
    let document = access.document(&associated, (row, "measures"))?;
    let measures = serde_json::from_value(document);
    Ok(Some(measures.map_err(|_| row.inconsistent("measures"))?))
}

/// Keeps the figures of a release that was just written, and withdraws the drafts
/// of its exploration that are not among the best any more.
pub(super) async fn keep_best(
    session: &mut Session,
    exploration: ExplorationId,
    (release, access): (ReleaseId, &DataKeyAccess),
    (measures, actor): (Measures, &str),
) -> Result<Vec<Entry>, StoreError> {
    let lock = session.dialect().exploration_lock;
    let row = session.row(TABLE, lock, cells![exploration.uuid()]).await?;
    let row = row.ok_or(StoreError::not_found("exploration"))?;
    let kept = serde_json::from_value::<KeptExploration>(row.json("spec")?);
    let asked = kept.map_err(|_| row.inconsistent("spec"))?.asked;
    let text = json!(measures).to_string();
    let kept = access.kept_text(&AssociatedData::Measures(release), text)?;
    session
        .run(sql::MEASURED, cells![release.uuid(), kept])
        .await?;
    let settings = get(session, exploration).await?.settings;
    let measured: Vec<(u32, Measures)> = settings
        .iter()
        .filter_map(|one| Some((one.number, one.measures?)))
        .collect();
    let best = best(&measured, asked.axes(), asked.keep as usize);
    let mut entries = Vec::new();
    for setting in settings {
        match setting.release {
            Some((id, ReleaseState::Draft))
                if !best.contains(&setting.number) && !setting.is_approved =>
            {
                // A steward may have published it a moment ago: its row is held first.
                let lock = session.dialect().release_lock;
                let row = session.row("release", lock, cells![id.uuid()]).await?;
                let state = row.map(|row| row.word("state", ReleaseState::parse));
                if state.transpose()? == Some(ReleaseState::Draft) {
                    entries.extend(withdraw(session, id, actor.to_owned()).await?.entries);
                }
            }
            _ => {}
        }
    }
    Ok(entries)
}

async fn list(
    session: &mut Session,
    page: PageRequest,
    (dataset, only): (Option<DatasetId>, Option<Vec<DatasetId>>),
) -> Result<Page<ExplorationRow>, StoreError> {
    let only = allowed(dataset, only);
    let (cursor, limit) = page_bounds(page);
    let statement = session.dialect().exploration_list;
    let rows = session
        .rows(TABLE, statement, cells![cursor, only, limit])
        .await?;
    page_of(rows, page, exploration_row)
}

async fn sweep(session: &mut Session) -> Result<Done<u64>, StoreError> {
    let now = session.now().await?;
    let statement = session.dialect().exploration_sweep;
    let rows = session.rows("job", statement, cells![now]).await?;
    let entries: Vec<Entry> = rows
        .iter()
        .map(|row| {
            let job = JobId::from(row.uuid("id")?);
            let dataset = DatasetId::from(row.uuid("dataset_id")?);
            Ok(Entry::job("stop_job", job, dataset).telling(json!({"time_is_up": true})))
        })
        .collect::<Result<_, StoreError>>()?;
    if !entries.is_empty() {
        session.signal(Signal::JobChanged);
    }
    Ok(Done::many(entries.len() as u64, entries))
}

impl Store {
    /// Queues the jobs of an exploration, all of them or none. Not found: the
    /// dataset or its version.
    pub async fn exploration_create(
        &self,
        act: Act<ExplorationRow>,
        new: NewExploration,
    ) -> Result<ExplorationRow, StoreError> {
        self.write(act, |session| Box::pin(create(session, new)))
            .await
    }

    /// One exploration with its settings.
    pub async fn exploration_get(&self, id: ExplorationId) -> Result<ExplorationRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// Explorations without their settings, newest first: of one dataset, or of those
    /// that are allowed.
    pub async fn exploration_list(
        &self,
        page: PageRequest,
        which: (Option<DatasetId>, Option<Vec<DatasetId>>),
    ) -> Result<Page<ExplorationRow>, StoreError> {
        self.read(move |session| Box::pin(list(session, page, which)))
            .await
    }

    /// Asks to stop an exploration: what is queued is cancelled at once, what runs is
    /// flagged, what has ended stays.
    pub async fn exploration_cancel(
        &self,
        act: Act<ExplorationRow>,
        id: ExplorationId,
    ) -> Result<ExplorationRow, StoreError> {
        self.write(act, move |session| Box::pin(cancel(session, id)))
            .await
    }

    /// Cancels queued jobs of explorations whose time is up; answers how many.
    pub async fn exploration_sweep(&self, act: Act<u64>) -> Result<u64, StoreError> {
        self.write(act, |session| Box::pin(sweep(session))).await
    }
}
