//! Terms in force: who asks for what, at a version or now.

use serde_json::{Value, json};

use super::dataset_row;
use super::entry::{Done, Entry};
use super::terms::SealedTerms;
use crate::ids::DatasetId;
use crate::store::session::{Row, Session, cells};
use crate::store::statements::preferences as sql;
use crate::store::{PAGE_LIMIT_MAX, PreferenceChange, PreferencePage, PreferenceRow, StoreError};

const TABLE: &str = "preference";

/// All subjects and documents in force at `version`, in byte order of subjects.
pub(super) async fn at(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<Vec<(String, Value)>, StoreError> {
    let terms = SealedTerms::of(session, dataset).await?;
    let cells = cells![dataset.uuid(), version];
    let mut all = Vec::new();
    for row in session.rows(TABLE, sql::AT, cells).await? {
        all.extend(terms.read(&row, ("document", "version"))?);
    }
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    Ok(all)
}

/// A subject's document in force, and whose it is.
fn preference_row(terms: &SealedTerms, row: &Row) -> Result<(String, PreferenceRow), StoreError> {
    let (subject, document) = terms
        .read(row, ("document", "version"))?
        .ok_or(StoreError::not_found("preference"))?;
    let row = PreferenceRow {
        document,
        version: row.count("version")?,
        created_at: row.time("created_at")?,
    };
    Ok((subject, row))
}

/// One subject's document in force.
pub(super) async fn get(
    session: &mut Session,
    dataset: DatasetId,
    subject: &str,
) -> Result<Option<PreferenceRow>, StoreError> {
    let terms = SealedTerms::of(session, dataset).await?;
    let cells = cells![dataset.uuid(), terms.subject(subject)];
    let row = session.row(TABLE, sql::GET, cells).await?;
    let read = row.map(|row| preference_row(&terms, &row)).transpose()?;
    Ok(read.map(|(_, row)| row))
}

/// The same; the reading is an entry of the log.
pub(super) async fn read_one(
    session: &mut Session,
    (dataset, subject): (DatasetId, String),
    action: &'static str,
) -> Result<Done<Option<PreferenceRow>>, StoreError> {
    let keep = session.dialect().dataset_keep;
    dataset_row::hold(session, dataset, keep).await?;
    let row = get(session, dataset, &subject).await?;
    let detail = json!({"subjects": u8::from(row.is_some())});
    let entry = Entry::preferences(action, dataset).telling(detail);
    Ok(Done::one(row, entry))
}

/// One page of what is in force; the reading is an entry of the log.
pub(super) async fn list(
    session: &mut Session,
    dataset: DatasetId,
    (limit, cursor): (u32, Option<Vec<u8>>),
) -> Result<Done<PreferencePage>, StoreError> {
    let keep = session.dialect().dataset_keep;
    dataset_row::hold(session, dataset, keep).await?;
    let terms = SealedTerms::of(session, dataset).await?;
    let limit = limit.clamp(1, PAGE_LIMIT_MAX);
    let cells = cells![dataset.uuid(), cursor.unwrap_or_default(), limit + 1];
    let mut rows = session.rows(TABLE, sql::LIST, cells).await?;
    let next = rows.drain(rows.len().min(limit as usize)..).next();
    let next = next.map(|row| row.bytes("subject")).transpose()?;
    let items = rows.iter().map(|row| preference_row(&terms, row));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let detail = json!({"subjects": items.len()});
    let entry = Entry::preferences("list_preferences", dataset).telling(detail);
    Ok(Done::one(PreferencePage { items, next }, entry))
}

/// Whose document in force at `version` is not the one in force now.
pub(super) async fn changed_since(
    session: &mut Session,
    dataset: DatasetId,
    version: u64,
) -> Result<Vec<PreferenceChange>, StoreError> {
    let terms = SealedTerms::of(session, dataset).await?;
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
