//! Published releases that later terms affect: what is to be looked at, and
//! what was found.

use serde_json::json;

use super::Store;
use super::entry::{Done, Entry};
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::store::session::{Row, Session, cells};
use crate::store::statements::{ledger as ledger_sql, releases as sql};
use crate::store::{Act, Affected, AffectedRelease, StoreError, Unlooked};

const TABLE: &str = "release";

fn unlooked(row: &Row) -> Result<Unlooked, StoreError> {
    Ok(Unlooked {
        release: ReleaseId::from(row.uuid("id")?),
        job: JobId::from(row.uuid("job_id")?),
        dataset: DatasetId::from(row.uuid("dataset_id")?),
        dataset_version: row.count("dataset_version")?,
        preference_version: row.count("preference_version")?,
        latest_preferences: row.count("latest_preferences")?,
    })
}

fn affected_release(row: &Row) -> Result<AffectedRelease, StoreError> {
    Ok(AffectedRelease {
        release: ReleaseId::from(row.uuid("id")?),
        subjects: row.count_or_null("affected_subjects")?,
        since: row.time("affected_at")?,
    })
}

/// What is known of a release.
async fn known(session: &mut Session, release: ReleaseId) -> Result<Affected, StoreError> {
    let row = session
        .row(TABLE, sql::AFFECTED_GET, cells![release.uuid()])
        .await?;
    let row = row.map(|row| affected_release(&row)).transpose()?;
    Ok(match row.map(|row| row.subjects) {
        None => Affected::No,
        Some(Some(subjects)) => Affected::Subjects(subjects),
        Some(None) => Affected::Unknown,
    })
}

/// Notes what is another finding than before.
async fn note(
    session: &mut Session,
    looked: Unlooked,
    found: Affected,
) -> Result<Done<()>, StoreError> {
    let id = looked.release.uuid();
    let now = session.now().await?;
    let (at, subjects) = match found {
        Affected::No => (None, None),
        Affected::Subjects(subjects) => (Some(now), Some(subjects)),
        Affected::Unknown => (Some(now), None),
    };
    // It is affected since it first was, however the number moves.
    let before = session.row(TABLE, sql::AFFECTED_GET, cells![id]).await?;
    let before = before.map(|row| row.time("affected_at")).transpose()?;
    let at = at.map(|at| before.unwrap_or(at));
    let cells = cells![id, looked.latest_preferences, at, subjects];
    if session.run(sql::AFFECT, cells).await? == 0 {
        return Ok(Done::unchanged(()));
    }
    if at.is_some() {
        session
            .run(ledger_sql::AFFECT, cells![id, at, subjects])
            .await?;
    }
    let told = match found {
        Affected::No => json!(0),
        Affected::Subjects(subjects) => json!(subjects),
        Affected::Unknown => json!("unknown"),
    };
    let detail = json!({"subjects": told, "preference_version": looked.latest_preferences});
    let entry = Entry::release("release_affected", looked.release, looked.dataset);
    Ok(Done::one((), entry.telling(detail)))
}

impl Store {
    /// Published releases with terms that changed since they were looked at.
    pub async fn releases_unlooked(&self) -> Result<Vec<Unlooked>, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                let rows = session.rows(TABLE, sql::UNLOOKED, Vec::new()).await?;
                rows.iter().map(unlooked).collect()
            })
        })
        .await
    }

    /// Notes what was found of a release by its terms up to `latest_preferences`.
    /// An entry of the log where that is new; nothing where somebody has looked
    /// further, or the release is published no more.
    pub async fn release_looked_at(
        &self,
        act: Act<()>,
        looked: Unlooked,
        found: Affected,
    ) -> Result<(), StoreError> {
        let before = self.read(move |session| Box::pin(known(session, looked.release)));
        if before.await? != found {
            let noted = self.write(act, move |session| Box::pin(note(session, looked, found)));
            return noted.await;
        }
        self.write_unaudited(move |session| {
            Box::pin(async move {
                let cells = cells![looked.release.uuid(), looked.latest_preferences];
                session.run(sql::LOOKED, cells).await?;
                Ok(())
            })
        })
        .await
    }

    /// The affected releases of a dataset, in order of ids.
    pub async fn releases_affected(
        &self,
        dataset: DatasetId,
    ) -> Result<Vec<AffectedRelease>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let cells = cells![dataset.uuid()];
                let rows = session.rows(TABLE, sql::AFFECTED, cells).await?;
                rows.iter().map(affected_release).collect()
            })
        })
        .await
    }

    /// How many published releases are affected.
    pub async fn releases_affected_count(&self) -> Result<u64, StoreError> {
        self.read(|session| {
            Box::pin(async move {
                let row = session.row(TABLE, sql::AFFECTED_COUNT, Vec::new()).await?;
                row.map_or(Ok(0), |row| row.count("count"))
            })
        })
        .await
    }
}
