//! Datasets: creating, reading, erasing.

use super::dataset_row::{dataset_row, decide, get, hold};
use super::entry::{Done, Entry};
use super::idempotency::forget_answers;
use super::secrets::share_in_population;
use super::tombstones::bury;
use super::{Store, page_bounds, page_of, populations, preferences};
use serde_json::json;
use vizard_anonymizer::privacy::Floors;

use crate::ids::DatasetId;
use crate::store::seal::{create_dataset_keys, destroy_keys_of_dataset};
use crate::store::session::{Session, Signal, cells, id_list};
use crate::store::statements::{
    datasets as sql, hierarchies as hierarchy_sql, ledger as ledger_sql,
    population_tables as population_table_sql, reidentifications as reidentification_sql,
    subject_tokens as subject_token_sql,
};
use crate::store::{
    Act, Buried, Conflict, DatasetRow, Erasure, NewDataset, Page, PageRequest, Remains, StoreError,
    Tombstone,
};

const TABLE: &str = "dataset";

async fn set_floors(
    session: &mut Session,
    id: DatasetId,
    floors: Floors,
) -> Result<Done<DatasetRow>, StoreError> {
    let document = json!(floors);
    let kept = (floors != Floors::default()).then(|| document.to_string());
    if session
        .run(sql::FLOORS_SET, cells![id.uuid(), kept])
        .await?
        == 0
    {
        return Err(StoreError::not_found("dataset"));
    }
    let entry = Entry::dataset("set_floors", id).telling(document);
    Ok(Done::one(get(session, id).await?, entry))
}

async fn create(
    session: &mut Session,
    dataset: NewDataset,
) -> Result<Done<DatasetRow>, StoreError> {
    if let Some(name) = &dataset.population {
        populations::lock(session, name).await?;
        populations::require_key_rules(session, (name, &dataset.schema)).await?;
    }
    let now = session.now().await?;
    let cells = cells![
        dataset.id.uuid(),
        dataset.name,
        &dataset.schema,
        dataset.created_by,
        now,
        dataset.population.clone(),
    ];
    if session.run(sql::CREATE, cells).await? == 0 {
        return Err(Conflict::Exists.into());
    }
    create_dataset_keys(session, dataset.id).await?;
    share_in_population(session, dataset.id).await?;
    let mut entry = Entry::dataset("create_dataset", dataset.id);
    if let Some(name) = dataset.population {
        let subjects = preferences::take_over(session, dataset.id).await?;
        entry = entry.telling(json!({"population": name, "subjects": subjects}));
    }
    Ok(Done::one(get(session, dataset.id).await?, entry))
}

async fn erase_for_good(
    session: &mut Session,
    id: DatasetId,
    actor: String,
) -> Result<Done<Erasure>, StoreError> {
    let done = erase(session, id, actor).await?;
    let (what, at) = (Buried::Dataset(id), session.now().await?);
    bury(session, Tombstone { what, at }).await?;
    Ok(done)
}

/// Erases a dataset; the tombstone is the caller's.
pub(super) async fn erase(
    session: &mut Session,
    id: DatasetId,
    actor: String,
) -> Result<Done<Erasure>, StoreError> {
    let lock = session.dialect().dataset_lock_erase;
    hold(session, id, lock).await?;
    decide(session, id).await?;
    let now = session.now().await?;
    let dataset = id.uuid();
    session.run(sql::ERASE, cells![dataset, now]).await?;
    let jobs_cancelled = session.run(sql::ERASE_JOBS, cells![dataset, now]).await?;
    session
        .run(sql::ERASE_DRAFT_PIECES, cells![dataset])
        .await?;
    session
        .run(sql::ERASE_DRAFT_TABLES, cells![dataset])
        .await?;
    let drafts = session.run(sql::ERASE_DRAFTS, cells![dataset]).await?;
    session
        .run(ledger_sql::ERASE, cells![dataset, now, actor])
        .await?;
    session.run(sql::ERASE_LINEAGE, cells![dataset]).await?;
    session.run(sql::ERASE_CANDIDATES, cells![dataset]).await?;
    let preferences = session.run(sql::ERASE_PREFERENCES, cells![dataset]).await?;
    session
        .run(subject_token_sql::ERASE, cells![dataset])
        .await?;
    session
        .run(reidentification_sql::ERASE, cells![dataset])
        .await?;
    let chunks = session.run(sql::ERASE_CHUNKS, cells![dataset]).await?;
    let hierarchies = session.run(hierarchy_sql::ERASE, cells![dataset]).await?;
    let population_tables = population_table_sql::ERASE;
    let population_tables = session.run(population_tables, cells![dataset]).await?;
    forget_answers(session, id).await?;
    destroy_keys_of_dataset(session, id).await?;
    session.signal(Signal::JobChanged);
    let entry = Entry::dataset("erase_dataset", id).telling(json!({
        "chunks": chunks,
        "preferences": preferences,
        "hierarchies": hierarchies,
        "population_tables": population_tables,
        "drafts": drafts,
        "jobs_cancelled": jobs_cancelled,
    }));
    let erasure = Erasure {
        chunks,
        preferences,
        hierarchies,
        drafts,
        jobs_cancelled,
        remains: Remains::Wiping,
    };
    Ok(Done::one(erasure, entry))
}

impl Store {
    /// Creates a dataset without records. `Conflict::Exists` if the id is taken.
    /// One that joins a population takes over the terms in force there.
    pub async fn dataset_create(
        &self,
        act: Act<DatasetRow>,
        dataset: NewDataset,
    ) -> Result<DatasetRow, StoreError> {
        self.write(act, |session| Box::pin(create(session, dataset)))
            .await
    }

    /// One dataset; an erased one is not found.
    pub async fn dataset_get(&self, id: DatasetId) -> Result<DatasetRow, StoreError> {
        self.read(move |session| Box::pin(get(session, id))).await
    }

    /// The datasets of a dataset's population, itself too, in order of ids;
    /// erased ones left out.
    pub async fn dataset_population(&self, id: DatasetId) -> Result<Vec<DatasetId>, StoreError> {
        self.read(move |session| Box::pin(populations::members(session, id)))
            .await
    }

    /// Datasets, newest first, erased ones left out; `only` restricts to some.
    pub async fn dataset_list(
        &self,
        page: PageRequest,
        only: Option<Vec<DatasetId>>,
    ) -> Result<Page<DatasetRow>, StoreError> {
        self.read(move |session| {
            Box::pin(async move {
                let (cursor, limit) = page_bounds(page);
                let only = only.map(|ids| id_list(ids.into_iter().map(DatasetId::uuid)));
                let list = session.dialect().dataset_list;
                let rows = session
                    .rows(TABLE, list, cells![cursor, only, limit])
                    .await?;
                page_of(rows, page, dataset_row)
            })
        })
        .await
    }

    /// Gives a dataset floors of its own. Whatever publishes meanwhile comes
    /// before, or compares its draft with these.
    pub async fn dataset_set_floors(
        &self,
        act: Act<DatasetRow>,
        id: DatasetId,
        floors: Floors,
    ) -> Result<DatasetRow, StoreError> {
        self.write(act, move |session| {
            Box::pin(set_floors(session, id, floors))
        })
        .await
    }

    /// Erases records, lineage, preferences, drafts, the population table and the
    /// dataset's own hierarchies in one transaction.
    ///
    /// Published and withdrawn releases stay (without lineage), the rows of
    /// versions and jobs stay, and the dataset's row stays as a tombstone.
    /// Jobs under way are cancelled, so that none can bring a draft back, and
    /// the keys of all that goes are destroyed. Leaves a tombstone.
    pub async fn dataset_erase(
        &self,
        act: Act<Erasure>,
        id: DatasetId,
    ) -> Result<Erasure, StoreError> {
        let actor = act.actor().to_owned();
        let erased = self.write(act.erasing(), move |session| {
            Box::pin(erase_for_good(session, id, actor))
        });
        let erased = erased.await?;
        let state = self.erasure_get(id).await?;
        let remains = state.remains.unwrap_or_default();
        Ok(Erasure { remains, ..erased })
    }
}
