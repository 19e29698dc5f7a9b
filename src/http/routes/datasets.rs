//! Datasets: created from a schema, described without records, erased.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::DEFAULT_KEY_RULES;
use vizard_anonymizer::privacy::Floors;

use super::affected::{AffectedView, affected_releases};
use super::floors::FloorsView;
use super::page::PageView;
use super::query::{DatasetCreateQuery, PageQuery};
use super::records::NearDuplicatesView;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::described::SchemaDocument;
use crate::http::extract::{SchemaBody, UrlPath, UrlQuery};
use crate::http::precondition;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{DatasetRow, NewDataset, Precondition, Remains, SeriesMemory, VersionRow};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_dataset, list_datasets))
        .routes(routes!(get_dataset, erase_dataset))
        .routes(routes!(get_erasure))
}

/// A dataset, without its records.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct DatasetView {
    /// Its id.
    id: DatasetId,
    /// Its name, as in the schema.
    name: String,
    /// Latest version of the records; 0 before the first upload.
    version: u64,
    /// Records in the latest version.
    records: u64,
    /// Digest of each hierarchy that the latest version pins, by name.
    #[schema(value_type = std::collections::BTreeMap<String, String>)]
    hierarchies: Value,
    /// What is known of preferences.
    preferences: PreferenceCounts,
    /// Its schema.
    #[schema(value_type = SchemaDocument)]
    schema: Value,
    /// When it was created.
    created_at: DateTime<Utc>,
    /// Id of the key that created it.
    created_by: String,
    /// Days that its records stay after its last release or upload; `null`: as the service's settings say.
    raw_retention_days: Option<u32>,
    /// What becomes of what public releases show of each subject, once its records are purged.
    series_memory: SeriesMemory,
    /// When its records were last purged because their time was up.
    records_purged_at: Option<DateTime<Utc>>,
    /// The population that it belongs to: terms of its subjects hold in every dataset of it; `null`: it is one by itself.
    population: Option<String>,
    /// The operator's floors that hold for its jobs.
    floors: FloorsView,
}

/// What is known of a dataset's preferences; never whose or which.
#[derive(Debug, Serialize, ToSchema)]
struct PreferenceCounts {
    /// Grows with every change.
    version: u64,
    /// Subjects with a preference in force.
    subjects: u64,
}

/// A dataset with its versions.
#[derive(Debug, Serialize, ToSchema)]
struct DatasetDetailView {
    #[serde(flatten)]
    dataset: DatasetView,
    /// Its versions, newest first.
    versions: Vec<VersionView>,
    /// Published releases that hold subjects who have since asked for more than
    /// they give, or excluded themselves. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    affected_releases: Option<Vec<AffectedView>>,
}

/// One version of a dataset's records.
#[derive(Debug, Serialize, ToSchema)]
struct VersionView {
    /// 1, 2, …
    version: u64,
    /// `append`, `replace`, `upsert` or `schema`: a change of the schema alone.
    mode: &'static str,
    /// Records that the upload brought.
    records: u64,
    /// Records that the missing-value policy left out.
    dropped: u64,
    /// Records in the version.
    total_records: u64,
    /// Spellings of one value in the upload, by attribute.
    near_duplicates: Vec<NearDuplicatesView>,
    /// When it was uploaded.
    created_at: DateTime<Utc>,
    /// Id of the key that uploaded it.
    created_by: String,
    /// When its records were purged because their time was up.
    purged_at: Option<DateTime<Utc>>,
}

/// What an erasure removed.
#[derive(Debug, Serialize, ToSchema)]
struct ErasureView {
    /// The dataset that is no more.
    id: DatasetId,
    /// Chunks of records.
    chunks: u64,
    /// Preferences, their history included.
    preferences: u64,
    /// Revisions of hierarchies of its own.
    hierarchies: u64,
    /// Drafts, with their tables.
    drafts: u64,
    /// Jobs that were queued or running.
    jobs_cancelled: u64,
    /// Whether the bytes are gone from the store's files, but for sealed ones
    /// whose key was destroyed.
    complete: bool,
    /// What stays of them.
    remains: Remains,
}

/// How far an erasure is.
#[derive(Debug, Serialize, ToSchema)]
struct ErasureStateView {
    /// The dataset.
    id: DatasetId,
    /// When it was erased: nobody finds it since; `null`: it was not erased.
    erased_at: Option<DateTime<Utc>>,
    /// When its bytes were gone from the store's files, but for sealed ones whose
    /// key was destroyed; `null`: some may be there.
    completed_at: Option<DateTime<Utc>>,
    /// What stays of them; only while it is `wiping` the service goes on. `null`:
    /// it was not erased.
    remains: Option<Remains>,
}

impl DatasetView {
    /// A dataset under the floors of the service.
    fn new(row: DatasetRow, service: &Floors) -> Self {
        Self {
            id: row.id,
            name: row.name,
            version: row.version,
            records: row.records,
            hierarchies: row.hierarchies,
            preferences: PreferenceCounts {
                version: row.preference_version,
                subjects: row.subjects_with_preference,
            },
            schema: row.schema,
            created_at: row.created_at,
            created_by: row.created_by,
            raw_retention_days: row.retention.raw_days,
            series_memory: row.retention.series_memory,
            records_purged_at: row.records_purged_at,
            population: row.population,
            floors: FloorsView::in_force(service, &row.floors),
        }
    }
}

impl From<VersionRow> for VersionView {
    fn from(row: VersionRow) -> Self {
        Self {
            version: row.version,
            mode: row.mode.as_str(),
            records: row.records,
            dropped: row.dropped,
            total_records: row.total_records,
            near_duplicates: NearDuplicatesView::of(&row.near_duplicates),
            created_at: row.created_at,
            created_by: row.created_by,
            purged_at: row.purged_at,
        }
    }
}

/// Create a dataset
///
/// The body is its schema. Hierarchies that it names may be put later, before
/// the first upload. A key that is tied to datasets cannot create one, nor
/// join a population by it: who creates sees every dataset. One that joins a
/// population takes over the terms in force there, and must normalize subject
/// keys as its datasets do.
#[utoipa::path(
    post, path = "/v1/datasets", operation_id = "create_dataset", tag = "datasets",
    params(DatasetCreateQuery),
    request_body = SchemaDocument,
    responses((status = 201, description = "The dataset, without records.", body = DatasetView,
        headers(("location" = String, description = "Path of the dataset.")))),
)]
async fn create_dataset(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<DatasetCreateQuery>,
    body: SchemaBody,
) -> Result<Answer, Problem> {
    if principal.datasets().is_some() {
        let detail = "the key is tied to datasets and could not see a new one";
        return Err(Problem::new(ProblemKind::Forbidden, detail));
    }
    let SchemaBody { schema, document } = body.or_key_rules(&DEFAULT_KEY_RULES);
    let dataset = NewDataset {
        id: DatasetId::generate(),
        name: schema.name().to_owned(),
        schema: document,
        created_by: principal.name().to_owned(),
        population: query.population()?,
    };
    let service = state.settings.floors.clone();
    let act = principal.act_answering(move |row| Some(created(row, &service)));
    let made = state.store.dataset_create(act, dataset).await?;
    Ok(created(&made, &state.settings.floors))
}

fn created(row: &DatasetRow, service: &Floors) -> Answer {
    let location = format!("/v1/datasets/{}", row.id);
    let view = DatasetView::new(row.clone(), service);
    Answer::new(StatusCode::CREATED, &view).with(header::LOCATION, &location)
}

/// List datasets
#[utoipa::path(
    get, path = "/v1/datasets", operation_id = "list_datasets", tag = "datasets",
    params(PageQuery),
    responses((status = 200, description = "One page of datasets, newest first.", body = PageView<DatasetView>)),
)]
async fn list_datasets(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<PageQuery>,
) -> Result<Json<PageView<DatasetView>>, Problem> {
    let only = principal.datasets().map(<[_]>::to_vec);
    let page = state.store.dataset_list(query.request()?, only).await?;
    let view = |row| DatasetView::new(row, &state.settings.floors);
    Ok(Json(PageView::of(page, view)))
}

/// Describe a dataset
///
/// Schema, versions and counts; never records.
#[utoipa::path(
    get, path = "/v1/datasets/{id}", operation_id = "get_dataset", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    responses((status = 200, description = "The dataset and its versions.", body = DatasetDetailView,
        headers(("etag" = String, description = "Tag of the dataset: another one with every change.")))),
)]
async fn get_dataset(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let row = state.store.dataset_get(id).await?;
    let versions = state.store.version_list(id).await?;
    let tag = format!("\"{}\"", row.tag());
    let view = DatasetDetailView {
        dataset: DatasetView::new(row, &state.settings.floors),
        versions: versions.into_iter().map(VersionView::from).collect(),
        affected_releases: affected_releases(&state, &principal, id).await?,
    };
    Ok(Answer::ok(&view).with(header::ETAG, &tag))
}

/// A dataset with its entity tag.
pub(super) fn described(row: &DatasetRow, service: &Floors) -> Answer {
    let tag = format!("\"{}\"", row.tag());
    Answer::ok(&DatasetView::new(row.clone(), service)).with(header::ETAG, &tag)
}

/// What the headers demand of a dataset. Looked at now, so that nothing is
/// read for one who is too late already; the change itself decides.
pub(super) fn demanded(
    headers: &HeaderMap,
    row: &DatasetRow,
) -> Result<Option<Precondition>, Problem> {
    let demanded = precondition::read(headers)?;
    if let Some(precondition) = &demanded {
        precondition.require(Some(&row.tag()))?;
    }
    Ok(demanded)
}

/// Erase a dataset
///
/// Its records, lineage, preferences, drafts and own hierarchies, at once and
/// for good, and the answers kept under idempotency keys that may tell of them. Published
/// releases stay. 202: nobody finds the dataset any more, and its bytes are
/// still in the store's files, because somebody reads there; they are wiped as
/// soon as that is over, and the path in `location` says when it was. 200: the
/// service does no more, and `remains` says what stays: on PostgreSQL bytes of a
/// dataset that was not sealed, until it writes over them.
#[utoipa::path(
    delete, path = "/v1/datasets/{id}", operation_id = "erase_dataset", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("if-match" = Option<String>, Header, description = "Tags, one of which the dataset must have; `*`: any.")),
    responses(
        (status = 200, description = "What was removed.", body = ErasureView),
        (status = 202, description = "What was removed; its bytes are being wiped.", body = ErasureView,
            headers(("location" = String, description = "Path that tells when they are gone.")))),
)]
async fn erase_dataset(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    headers: HeaderMap,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let act = principal.act().only_if(precondition::read(&headers)?);
    let erased = state.store.dataset_erase(act, id).await?;
    let view = ErasureView {
        id,
        chunks: erased.chunks,
        preferences: erased.preferences,
        hierarchies: erased.hierarchies,
        drafts: erased.drafts,
        jobs_cancelled: erased.jobs_cancelled,
        complete: erased.remains.is_complete(),
        remains: erased.remains,
    };
    if erased.remains != Remains::Wiping {
        return Ok(Answer::ok(&view));
    }
    let location = format!("/v1/datasets/{id}/erasure");
    Ok(Answer::new(StatusCode::ACCEPTED, &view).with(header::LOCATION, &location))
}

/// Tell how far an erasure is
///
/// Also of a dataset that nobody finds any more.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/erasure", operation_id = "get_erasure", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    responses((status = 200, description = "When it was erased, and when its bytes were gone.", body = ErasureStateView)),
)]
async fn get_erasure(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
) -> Result<Json<ErasureStateView>, Problem> {
    principal.sees(id, "dataset")?;
    let erasure = state.store.erasure_get(id).await?;
    Ok(Json(ErasureStateView {
        id,
        erased_at: erasure.erased_at,
        completed_at: erasure.completed_at,
        remains: erasure.remains,
    }))
}
