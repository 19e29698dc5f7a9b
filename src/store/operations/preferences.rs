//! Preferences: a history that every change extends by one version.
//!
//! Terms belong to a population: a change is written to each of its datasets,
//! in one transaction. So a job pins, publishing checks and sealing keeps what
//! belongs to one dataset alone, and erasing it leaves the terms of the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Value, json};
use vizard_anonymizer::microdata::to_hex;

use super::entry::{Done, Entry};
use super::in_force::{at, changed_since, get, list, read_one};
use super::terms::SealedTerms;
use super::{Store, dataset_row, populations};
use crate::failpoint;
use crate::ids::DatasetId;
use crate::store::session::{Session, cells};
use crate::store::statements::{datasets as dataset_sql, preferences as sql};
use crate::store::{
    Act, PreferenceChange, PreferencePage, PreferenceRow, PreferenceSource, StoreError,
    SubjectErasure,
};

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

/// New preference versions, one in each dataset of a population.
pub(super) struct Versions {
    /// That of the dataset which the change was addressed to.
    own: u64,
    all: Vec<(DatasetId, u64)>,
}

impl Versions {
    /// Each dataset with its version.
    pub(super) fn all(&self) -> &[(DatasetId, u64)] {
        &self.all
    }

    /// A change of so many subjects' terms, who are not named.
    pub(super) fn changed(&self, action: &'static str, subjects: usize) -> Done<u64> {
        let entries = self.all.iter().map(|&(dataset, version)| {
            let detail = json!({"preference_version": version, "subjects": subjects});
            Entry::preferences(action, dataset).telling(detail)
        });
        Done::many(self.own, entries.collect())
    }
}

/// Takes the rows of all datasets of a dataset's population, in order of their
/// ids, and the next preference version of each.
async fn advance_all(session: &mut Session, dataset: DatasetId) -> Result<Versions, StoreError> {
    let mut all = Vec::new();
    for member in populations::held_members(session, dataset).await? {
        match advance(session, member).await {
            // Erased since the population was read.
            Err(StoreError::NotFound { .. }) if member != dataset => {}
            version => all.push((member, version?)),
        }
    }
    let own = all.iter().find(|(member, _)| *member == dataset);
    let own = own.ok_or(StoreError::not_found("dataset"))?.1;
    Ok(Versions { own, all })
}

/// Sets a subject's document in every dataset of the population; answers the
/// new versions, of which the caller tells the log.
pub(super) async fn set(
    session: &mut Session,
    dataset: DatasetId,
    subject: &str,
    document: &Value,
) -> Result<Versions, StoreError> {
    let versions = advance_all(session, dataset).await?;
    let now = session.now().await?;
    for &(member, version) in &versions.all {
        let terms = SealedTerms::of(session, member).await?;
        let (subject, document) = terms.kept(version, subject, document)?;
        let close = cells![member.uuid(), subject.clone(), version];
        session.run(sql::CLOSE, close).await?;
        let cells = cells![member.uuid(), subject, version, document, now];
        session.run(sql::INSERT, cells).await?;
        failpoint::reached("preference-of-a-dataset-written");
    }
    failpoint::reached("preference-before-commit");
    Ok(versions)
}

/// Decides what is demanded of a subject's terms in force. Takes the rows of
/// the population's datasets first: then nobody else can change the terms.
async fn decide(
    session: &mut Session,
    dataset: DatasetId,
    subject: &str,
) -> Result<(), StoreError> {
    if !session.demands() {
        return Ok(());
    }
    let lock = session.dialect().dataset_lock;
    for member in populations::held_members(session, dataset).await? {
        match dataset_row::hold(session, member, lock).await {
            // Erased since the population was read.
            Err(StoreError::NotFound { .. }) if member != dataset => {}
            held => held?,
        }
    }
    let row = get(session, dataset, subject).await?;
    session.decide(row.map(|row| row.tag()).as_deref())
}

async fn put(
    session: &mut Session,
    dataset: DatasetId,
    subject: String,
    document: Value,
) -> Result<Done<u64>, StoreError> {
    decide(session, dataset, &subject).await?;
    let versions = set(session, dataset, &subject, &document).await?;
    Ok(versions.changed("put_preference", 1))
}

async fn delete(
    session: &mut Session,
    dataset: DatasetId,
    subject: String,
) -> Result<Done<u64>, StoreError> {
    decide(session, dataset, &subject).await?;
    let versions = advance_all(session, dataset).await?;
    let mut closed = 0;
    for &(member, version) in &versions.all {
        let subject = SealedTerms::of(session, member).await?.subject(&subject);
        let cells = cells![member.uuid(), subject, version];
        closed += session.run(sql::CLOSE, cells).await?;
        failpoint::reached("preference-of-a-dataset-removed");
    }
    match closed {
        0 => Err(StoreError::not_found("preference")),
        _ => Ok(versions.changed("delete_preference", 1)),
    }
}

/// The terms of somebody who wants to be in no release.
pub(super) fn exclusion() -> Value {
    json!({"exclude": true})
}

/// Forgets a subject's terms with their history, in every dataset of the
/// population, for terms are the population's; where an exclusion is to stay,
/// it is what is left. Takes the rows of all of them, that of the erasure's own
/// dataset against everything. Answers how many documents went.
pub(super) async fn forget(
    session: &mut Session,
    erasure: &SubjectErasure,
) -> Result<(u64, Vec<Entry>), StoreError> {
    let (dataset, subject) = (erasure.dataset, erasure.subject.as_str());
    let dialect = session.dialect();
    let mut forgotten = 0;
    for member in populations::held_members(session, dataset).await? {
        let lock = if member == dataset {
            dialect.dataset_lock_erase
        } else {
            dialect.dataset_lock
        };
        match dataset_row::hold(session, member, lock).await {
            // Erased since the population was read.
            Err(StoreError::NotFound { .. }) if member != dataset => continue,
            held => held?,
        }
        let terms = SealedTerms::of(session, member).await?;
        let of_subject = || cells![member.uuid(), terms.subject(subject)];
        let held = session.rows(TABLE, sql::HISTORY, of_subject()).await?;
        let is_left = erasure.keep_exclusion && held.len() == 1;
        if is_left
            && held[0].count_or_null("until_version")?.is_none()
            && terms.read(&held[0], ("document", "version"))?
                == Some((subject.to_owned(), exclusion()))
        {
            continue;
        }
        forgotten += session.run(sql::FORGET, of_subject()).await?;
    }
    let is_known = erasure.is_in_records || !erasure.drafts.is_empty();
    let is_known = is_known || !erasure.lineages.is_empty() || !erasure.candidates.is_empty();
    let versions = match (erasure.keep_exclusion, forgotten) {
        (true, 0) if !is_known => return Ok((0, Vec::new())),
        (true, 0) if get(session, dataset, subject).await?.is_some() => return Ok((0, Vec::new())),
        (true, _) => {
            let versions = set(session, dataset, subject, &exclusion()).await?;
            versions.changed("put_preference", 1)
        }
        (false, 0) => return Ok((0, Vec::new())),
        (false, _) => advance_all(session, dataset)
            .await?
            .changed("delete_preference", 1),
    };
    Ok((forgotten, versions.entries))
}

fn json_text<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|_| StoreError::driver("a list has no JSON text"))
}

async fn bulk(
    session: &mut Session,
    dataset: DatasetId,
    documents: Arc<dyn PreferenceSource>,
) -> Result<Done<u64>, StoreError> {
    let subjects = documents.subjects();
    if subjects == 0 {
        let row = session
            .row("dataset", dataset_sql::GET, cells![dataset.uuid()])
            .await?;
        let row = row.ok_or(StoreError::not_found("dataset"))?;
        return Ok(Done::unchanged(row.count("preference_version")?));
    }
    let versions = advance_all(session, dataset).await?;
    let now = session.now().await?;
    for &(member, version) in &versions.all {
        let mut index = 0;
        while let Some(batch) = batch_of(&documents, index).await? {
            write_all(session, member, (version, now), batch).await?;
            index += 1;
        }
        failpoint::reached("preferences-of-a-dataset-written");
    }
    Ok(versions.changed("import_preferences", subjects))
}

/// Draws a batch on a thread that may block: it comes from a file.
async fn batch_of(
    source: &Arc<dyn PreferenceSource>,
    index: usize,
) -> Result<Option<Vec<(String, Value)>>, StoreError> {
    let source = Arc::clone(source);
    let drawn = tokio::task::spawn_blocking(move || source.batch(index));
    let drawn = drawn.await;
    let drawn = drawn.map_err(|_| StoreError::driver("a source of preferences panicked"))?;
    drawn.map_err(|error| StoreError::driver(format!("reading preferences: {}", error.kind())))
}

/// Sets documents in one dataset, whose row is held. What an earlier batch of
/// the same version set for the same subjects is replaced.
async fn write_all(
    session: &mut Session,
    dataset: DatasetId,
    (version, now): (u64, DateTime<Utc>),
    documents: Vec<(String, Value)>,
) -> Result<(), StoreError> {
    // One document a subject, the last one.
    let documents: BTreeMap<String, Value> = documents.into_iter().collect();
    let terms = SealedTerms::of(session, dataset).await?;
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
    Ok(())
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

/// Gives a new dataset the terms that are in force in its population, whose
/// lock is held; answers for how many subjects.
pub(super) async fn take_over(
    session: &mut Session,
    dataset: DatasetId,
) -> Result<usize, StoreError> {
    let keep = session.dialect().dataset_keep;
    for sibling in populations::members(session, dataset).await? {
        if sibling == dataset {
            continue;
        }
        // All datasets of a population have the same terms: one that stays will do.
        match dataset_row::hold(session, sibling, keep).await {
            Err(StoreError::NotFound { .. }) => continue,
            held => held?,
        }
        let row = dataset_row::get(session, sibling).await?;
        let documents = at(session, sibling, row.preference_version).await?;
        let subjects = documents.len();
        if subjects > 0 {
            let version = advance(session, dataset).await?;
            let now = session.now().await?;
            write_all(session, dataset, (version, now), documents).await?;
        }
        failpoint::reached("preferences-taken-over");
        return Ok(subjects);
    }
    Ok(0)
}

impl Store {
    /// Sets one subject's document.
    pub async fn preference_put(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        subject: String,
        document: Value,
    ) -> Result<u64, StoreError> {
        self.write(act, move |session| {
            Box::pin(put(session, dataset, subject, document))
        })
        .await
    }

    /// One subject's document in force; `None`: none is. A reading that the
    /// audit log tells of, whatever it finds.
    pub async fn preference_get(
        &self,
        act: Act<Option<PreferenceRow>>,
        dataset: DatasetId,
        subject: String,
    ) -> Result<Option<PreferenceRow>, StoreError> {
        self.write(act, move |session| {
            Box::pin(read_one(session, (dataset, subject), "get_preference"))
        })
        .await
    }

    /// Subjects and their documents in force, at most `limit` from `cursor` on.
    /// A reading that the audit log tells of.
    pub async fn preference_list(
        &self,
        act: Act<PreferencePage>,
        dataset: DatasetId,
        limit: u32,
        cursor: Option<Vec<u8>>,
    ) -> Result<PreferencePage, StoreError> {
        self.write(act, move |session| {
            Box::pin(list(session, dataset, (limit, cursor)))
        })
        .await
    }

    /// Takes one subject's document out of force; not found if none is.
    pub async fn preference_delete(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        subject: String,
    ) -> Result<u64, StoreError> {
        self.write(act, move |session| {
            Box::pin(delete(session, dataset, subject))
        })
        .await
    }

    /// Sets many documents in one transaction and one version.
    ///
    /// The last of several documents for one subject counts. An empty list
    /// makes no version.
    pub async fn preference_bulk(
        &self,
        act: Act<u64>,
        dataset: DatasetId,
        documents: Arc<dyn PreferenceSource>,
    ) -> Result<u64, StoreError> {
        self.write(act, move |session| {
            Box::pin(bulk(session, dataset, documents))
        })
        .await
    }

    /// All subjects and documents in force at a version, in byte order of subjects.
    pub async fn preferences_at(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> Result<Vec<(String, Value)>, StoreError> {
        self.read(move |session| Box::pin(at(session, dataset, version)))
            .await
    }

    /// Subjects whose document changed after a version, with the old and the new one.
    ///
    /// A subject whose document went and came back the same is not among them.
    pub async fn preferences_changed_since(
        &self,
        dataset: DatasetId,
        version: u64,
    ) -> Result<Vec<PreferenceChange>, StoreError> {
        self.read(move |session| Box::pin(changed_since(session, dataset, version)))
            .await
    }
}
