//! One subject: told of, and forgotten.

use chrono::{DateTime, Utc};
use serde_json::json;

use super::Store;
use super::dataset_row::{get, hold};
use super::entry::{Done, Entry};
use super::idempotency::forget_answers;
use super::releases::withdraw_for_good;
use super::terms::SealedTerms;
use super::tombstones::bury;
use super::{preferences, versions};
use crate::ids::{DatasetId, ReleaseId};
use crate::store::seal::{AssociatedData, Purpose, of};
use crate::store::session::{Session, Signal, cells};
use crate::store::statements::{
    datasets as dataset_sql, preferences as preference_sql, releases as release_sql,
    retention as retention_sql, subject_tokens as token_sql, tombstones as tombstone_sql,
    versions as version_sql,
};
use crate::store::{
    Act, Buried, Conflict, HeldTerms, HeldToken, Remains, Rewritten, StoreError, SubjectErased,
    SubjectErasure, SubjectHeld, Tombstone,
};

async fn terms(
    session: &mut Session,
    dataset: DatasetId,
    subject: &str,
) -> Result<Vec<HeldTerms>, StoreError> {
    let terms = SealedTerms::of(session, dataset).await?;
    let cells = cells![dataset.uuid(), terms.subject(subject)];
    let mut held = Vec::new();
    for row in session
        .rows("preference", preference_sql::HISTORY, cells)
        .await?
    {
        if let Some((_, document)) = terms.read(&row, ("document", "version"))? {
            held.push(HeldTerms {
                document,
                version: row.count("version")?,
                until_version: row.count_or_null("until_version")?,
                created_at: row.time("created_at")?,
            });
        }
    }
    Ok(held)
}

/// Tokens of a subject that can be used, with their hashes. Whose a token is
/// can be read of each alone, where the dataset is sealed.
async fn tokens(
    session: &mut Session,
    dataset: DatasetId,
    subject: &str,
) -> Result<Vec<([u8; 32], HeldToken)>, StoreError> {
    let now = session.now().await?;
    let access = of(session, dataset.uuid(), Purpose::Preferences).await?;
    let cells = cells![dataset.uuid(), now];
    let mut held = Vec::new();
    for row in session
        .rows("subject_token", token_sql::OF_DATASET, cells)
        .await?
    {
        let token_hash = row.digest("token_hash")?;
        let associated = AssociatedData::SubjectToken {
            dataset,
            token_hash: &token_hash,
        };
        let own = access.bytes(&associated, row.bytes("subject")?, (&row, "subject"))?;
        if own == subject.as_bytes() {
            let token = HeldToken {
                created_at: row.time("created_at")?,
                expires_at: row.time("expires_at")?,
            };
            held.push((token_hash, token));
        }
    }
    Ok(held)
}

async fn export(
    session: &mut Session,
    dataset: DatasetId,
    (subject, records): (String, u64),
) -> Result<Done<SubjectHeld>, StoreError> {
    let keep = session.dialect().dataset_keep;
    hold(session, dataset, keep).await?;
    let tokens = tokens(session, dataset, &subject).await?;
    let held = SubjectHeld {
        terms: terms(session, dataset, &subject).await?,
        tokens: tokens.into_iter().map(|(_, token)| token).collect(),
    };
    let entry = Entry::dataset("export_subject", dataset).telling(json!({
        "records": records,
        "terms": held.terms.len(),
        "tokens": held.tokens.len(),
    }));
    Ok(Done::one(held, entry))
}

/// Refuses where there are other versions or releases than the caller saw.
async fn require_seen(session: &mut Session, erasure: &SubjectErasure) -> Result<(), StoreError> {
    let dataset = erasure.dataset;
    if get(session, dataset).await?.version != erasure.base_version {
        return Err(Conflict::VersionMoved.into());
    }
    let cells = cells![dataset.uuid()];
    for row in session
        .rows("release", release_sql::OF_DATASET, cells)
        .await?
    {
        if !erasure.releases.contains(&ReleaseId::from(row.uuid("id")?)) {
            return Err(Conflict::VersionMoved.into());
        }
    }
    Ok(())
}

/// Puts the version without the subject behind the latest one, and takes away
/// all epochs before it.
async fn forget_records(
    session: &mut Session,
    erasure: &SubjectErasure,
    (rewritten, now): (Option<Rewritten>, DateTime<Utc>),
) -> Result<SubjectErased, StoreError> {
    let mut erased = SubjectErased {
        version: erasure.base_version,
        ..SubjectErased::default()
    };
    if !erasure.is_in_records {
        return Ok(erased);
    }
    let dataset = erasure.dataset.uuid();
    // Every job has the subject in its records.
    let jobs = session
        .run(dataset_sql::ERASE_JOBS, cells![dataset, now])
        .await?;
    erased.jobs_cancelled = jobs;
    session.signal(Signal::JobChanged);
    if let Some(rewritten) = rewritten {
        erased.version = versions::rewrite(session, erasure, rewritten).await?;
    }
    let before = cells![dataset, erased.version];
    let rows = session
        .rows("dataset_version", version_sql::EPOCHS_BEFORE, before)
        .await?;
    for row in rows {
        let epoch = row.count("epoch")?;
        let chunks = retention_sql::PURGE_EPOCH_CHUNKS;
        erased.chunks += session.run(chunks, cells![dataset, epoch]).await?;
        let purged = retention_sql::PURGE_EPOCH_VERSIONS;
        session.run(purged, cells![dataset, epoch, now]).await?;
    }
    Ok(erased)
}

/// Takes the subject out of what is kept beside releases; drafts that hold them
/// are withdrawn.
async fn forget_in_releases(
    session: &mut Session,
    erasure: &mut SubjectErasure,
    entries: &mut Vec<Entry>,
) -> Result<(), StoreError> {
    let dataset = erasure.dataset;
    let records = of(session, dataset.uuid(), Purpose::Records).await?;
    let preferences = of(session, dataset.uuid(), Purpose::Preferences).await?;
    for (id, lineage) in std::mem::take(&mut erasure.lineages) {
        let kept = records.kept(&AssociatedData::Lineage(id), lineage)?;
        let cells = cells![id.uuid(), kept];
        session.run(release_sql::LINEAGE_SET, cells).await?;
    }
    for (id, candidates) in std::mem::take(&mut erasure.candidates) {
        let kept = preferences.kept(&AssociatedData::Candidates(id), candidates)?;
        let cells = cells![id.uuid(), kept];
        session.run(release_sql::CANDIDATES_SET, cells).await?;
    }
    for id in std::mem::take(&mut erasure.drafts) {
        let withdrawn = withdraw_for_good(session, id, erasure.created_by.clone()).await?;
        entries.extend(withdrawn.entries);
    }
    Ok(())
}

async fn forget(
    session: &mut Session,
    mut erasure: SubjectErasure,
    rewritten: Option<Rewritten>,
) -> Result<Done<SubjectErased>, StoreError> {
    let dataset = erasure.dataset;
    let mut entries = Vec::new();
    // Takes the rows of all datasets of the population, this one's the strongest way.
    let (forgotten, changed) = preferences::forget(session, &erasure).await?;
    entries.extend(changed);
    require_seen(session, &erasure).await?;
    let now = session.now().await?;
    let drafts = erasure.drafts.len() as u64;
    let in_releases = erasure.lineages.len() + erasure.candidates.len();
    forget_in_releases(session, &mut erasure, &mut entries).await?;
    let mut erased = forget_records(session, &erasure, (rewritten, now)).await?;
    erased.drafts = drafts;
    erased.terms = forgotten;
    for (token_hash, _) in tokens(session, dataset, &erasure.subject).await? {
        erased.tokens += session.run(token_sql::FORGET, cells![token_hash]).await?;
    }
    if !erasure.is_in_records && in_releases == 0 && erased.terms + erased.tokens == 0 {
        return Ok(Done::many(erased, entries));
    }
    forget_answers(session, dataset).await?;
    if erasure.is_in_records {
        // Of a backup of before nobody can tell the subject's records any more.
        let what = Buried::Records(dataset);
        bury(session, Tombstone { what, at: now }).await?;
    }
    let entry = Entry::dataset("erase_subject", dataset).telling(json!({
        "version": erased.version,
        "chunks": erased.chunks,
        "jobs_cancelled": erased.jobs_cancelled,
        "drafts": erased.drafts,
        "terms": erased.terms,
        "tokens": erased.tokens,
        "keep_exclusion": erasure.keep_exclusion,
    }));
    entries.push(entry);
    Ok(Done::many(erased, entries))
}

impl Store {
    /// What is known of a subject; a reading that the audit log tells of with
    /// the number of `records` that the caller found, without the subject.
    pub async fn subject_export(
        &self,
        act: Act<SubjectHeld>,
        dataset: DatasetId,
        subject: String,
        records: u64,
    ) -> Result<SubjectHeld, StoreError> {
        self.write(act, move |session| {
            Box::pin(export(session, dataset, (subject, records)))
        })
        .await
    }

    /// Forgets a subject; `rewritten` is the latest version without them, if it
    /// holds them.
    ///
    /// `Conflict::VersionMoved` if versions or releases are not those that the
    /// caller saw. Where records go, a tombstone for the dataset's records is
    /// left: a restored backup of before loses all of them, for it holds the
    /// subject.
    pub async fn subject_erase(
        &self,
        act: Act<SubjectErased>,
        erasure: SubjectErasure,
        rewritten: Option<Rewritten>,
    ) -> Result<SubjectErased, StoreError> {
        let dataset = erasure.dataset;
        let erased = self.write(act.erasing(), move |session| {
            Box::pin(forget(session, erasure, rewritten))
        });
        let erased = erased.await?;
        let open = self.read(move |session| {
            Box::pin(async move {
                let cells = cells![dataset.uuid()];
                let row = session
                    .row("tombstone", tombstone_sql::UNWIPED_OF, cells)
                    .await?;
                row.map_or(Ok(0), |row| row.count("count"))
            })
        });
        let remains = match open.await? {
            // The dataset's keys stay, for the others.
            0 => Remains::after_wiping(self.backend.overwrites(), false),
            _ => Remains::Wiping,
        };
        Ok(SubjectErased { remains, ..erased })
    }
}
