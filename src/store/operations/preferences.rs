//! Preferences: a history that every change extends by one version.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use super::SqlStore;
use super::entry::{Done, Entry};
use super::terms::Terms;
use crate::failpoint;
use crate::ids::DatasetId;
use crate::microdata::to_hex;
use crate::store::session::{Session, cells};
use crate::store::statements::{datasets as dataset_sql, preferences as sql};
use crate::store::{Act, PreferenceChange, PreferenceRow, Preferences, StoreError, StoreFuture};

const TABLE: &str = "preference";

/// Documents that one statement of a bulk change takes: some megabytes. Few
/// statements, because PostgreSQL may read the whole history once in each.
const BULK_BATCH: usize = 32_768;

/// Takes the dataset's row, which orders all changes, and its next preference version.
async fn advance(session: &mut Session, dataset: DatasetId) -> Result<u64, StoreError> {
    let row = session
        .row(
            "dataset",
            dataset_sql::PREFERENCE_ADVANCE,
            cells![dataset.uuid()],
        )
        .await?;
    row.ok_or(StoreError::not_found("dataset"))?
        .count("preference_version")
}

/// A change of so many subjects' terms, who are not named.
pub(super) fn changed(
    action: &'static str,
    dataset: DatasetId,
    version: u64,
    subjects: usize,
) -> Done<u64> {
    let detail = json!({"preference_version": version, "subjects": subjects});
    Done::one(version, Entry::preferences(action, dataset).telling(detail))
}

/// Sets a subject's document; answers the new version, of which the caller
/// tells the log.
pub(super) async fn set(
    session: &mut Session,
    dataset: DatasetId,
    subject: String,
    document: Value,
) -> Result<u64, StoreError> {
    let version = advance(session, dataset).await?;
    let terms = Terms::of(session, dataset).await?;
    let (subject, document) = terms.kept(version, &subject, &document)?;
    let now = session.now().await?;
    session
        .run(sql::CLOSE, cells![dataset.uuid(), subject.clone(), version])
        .await?;
    let cells = cells![dataset.uuid(), subject, version, document, now];
    session.run(sql::INSERT, cells).await?;
    failpoint::reached("preference-before-commit");
    Ok(version)
}

async fn put(
    session: &mut Session,
    dataset: DatasetId,
    subject: String,
    document: Value,
) -> Result<Done<u64>, StoreError> {
    let version = set(session, dataset, subject, document).await?;
    Ok(changed("put_preference", dataset, version, 1))
}

async fn delete(
    session: &mut Session,
    dataset: DatasetId,
    subject: String,
) -> Result<Done<u64>, StoreError> {
    let version = advance(session, dataset).await?;
    let subject = Terms::of(session, dataset).await?.subject(&subject);
    let cells = cells![dataset.uuid(), subject, version];
    match session.run(sql::CLOSE, cells).await? {
        0 => Err(StoreError::not_found("preference")),
        _ => Ok(changed("delete_preference", dataset, version, 1)),
    }
}

fn json_text<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::driver("a list has no JSON text"))
}

async fn bulk(
    session: &mut Session,
    dataset: DatasetId,
    documents: Vec<(String, Value)>,
) -> Result<Done<u64>, StoreError> {
    // One document a subject, the last one.
    let documents: BTreeMap<String, Value> = documents.into_iter().collect();
    if documents.is_empty() {
        let row = session
            .row("dataset", dataset_sql::GET, cells![dataset.uuid()])
            .await?;
        let row = row.ok_or(StoreError::not_found("dataset"))?;
        return Ok(Done::unchanged(row.count("preference_version")?));
    }
    let version = advance(session, dataset).await?;
    let subjects = documents.len();
    let now = session.now().await?;
    let terms = Terms::of(session, dataset).await?;
    let mut rows = Vec::with_capacity(documents.len());
    for (subject, document) in documents {
        let (subject, document) = terms.kept(version, &subject, &document)?;
        rows.push((to_hex(&subject), document));
    }
    // In the order of the index, also where lookups stand for subjects.
    rows.sort_unstable();
    for batch in rows.chunks(BULK_BATCH) {
        bulk_batch(session, dataset, (version, now), batch).await?;
    }
    Ok(changed("import_preferences", dataset, version, subjects))
}

async fn bulk_batch(
    session: &mut Session,
    dataset: DatasetId,
    (version, now): (u64, DateTime<Utc>),
    batch: &[(String, String)],
) -> Result<(), StoreError> {
    let subjects: Vec<&str> = batch.iter().map(|(subject, _)| subject.as_str()).collect();
    let (subjects, pairs) = (json_text(&subjects)?, json_text(batch)?);
    let dialect = session.dialect();
    let close = cells![dataset.uuid(), version, subjects];
    session.run(dialect.preference_bulk_close, close).await?;
    failpoint::reached("preferences-half-written");
    let insert = cells![dataset.uuid(), version, pairs, now];
    session.run(dialect.preference_bulk_insert, insert).await?;
    Ok(())
}

/// Whose document in force at `version` is not the one in force now.
pub(super) async fn changed_since(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<Vec<PreferenceChange>, StoreError> {
    let terms = Terms::of(session, dataset).await?;
    let cells = cells![dataset.uuid(), version];
    let mut changes = Vec::new();
    for row in session.rows(TABLE, sql::CHANGED_SINCE, cells).await? {
        let past = terms.read(&row, ("past", "past_version"))?;
        let present = terms.read(&row, ("present", "present_version"))?;
        // The same terms sealed twice are two texts: only here can they be compared.
        if past != present
            && let Some((subject, _)) = present.as_ref().or(past.as_ref())
        {
            changes.push(PreferenceChange {
                subject: subject.clone(),
                old: past.map(|(_, document)| document),
                new: present.map(|(_, document)| document),
            });
        }
    }
    changes.sort_by(|one, other| one.subject.cmp(&other.subject));
    Ok(changes)
}

impl Preferences for SqlStore {
    fn preference_put(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        subject: String,
        document: Value,
    ) -> StoreFuture<'_, u64> {
        self.write(act, move |session| {
            Box::pin(put(session, dataset, subject, document))
        })
    }

    fn preference_get(
        &self,
        dataset: DatasetId,
        subject: String,
    ) -> StoreFuture<'_, PreferenceRow> {
        self.read(move |session| {
            Box::pin(async move {
                let terms = Terms::of(session, dataset).await?;
                let cells = cells![dataset.uuid(), terms.subject(&subject)];
                let row = session.row(TABLE, sql::GET, cells).await?;
                let row = row.ok_or(StoreError::not_found("preference"))?;
                let (_, document) = terms
                    .read(&row, ("document", "version"))?
                    .ok_or(StoreError::not_found("preference"))?;
                Ok(PreferenceRow {
                    document,
                    version: row.count("version")?,
                    created_at: row.time("created_at")?,
                })
            })
        })
    }

    fn preference_delete(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        subject: String,
    ) -> StoreFuture<'_, u64> {
        self.write(act, move |session| {
            Box::pin(delete(session, dataset, subject))
        })
    }

    fn preference_bulk(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        documents: Vec<(String, Value)>,
    ) -> StoreFuture<'_, u64> {
        self.write(act, move |session| {
            Box::pin(bulk(session, dataset, documents))
        })
    }

    fn preferences_at(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> StoreFuture<'_, Vec<(String, Value)>> {
        self.read(move |session| {
            Box::pin(async move {
                let terms = Terms::of(session, dataset).await?;
                let cells = cells![dataset.uuid(), version];
                let mut all = Vec::new();
                for row in session.rows(TABLE, sql::AT, cells).await? {
                    all.extend(terms.read(&row, ("document", "version"))?);
                }
                all.sort_by(|(one, _), (other, _)| one.cmp(other));
                Ok(all)
            })
        })
    }

    fn preferences_changed_since(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> StoreFuture<'_, Vec<PreferenceChange>> {
        self.read(move |session| Box::pin(changed_since(session, dataset, version)))
    }
}
