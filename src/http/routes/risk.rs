//! Risk: who stands out in a dataset, before any job.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::inspect::risk::{Population, Risk, RiskColumns, risk};
use vizard_anonymizer::microdata::Chunk;
use vizard_anonymizer::privacy::Transformation;

use super::records::upload_share;
use super::subject_search::look_into;
use crate::http::auth::Principal;
use crate::http::extract::UrlPath;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::job::population_table_bytes;
use crate::store::{DatasetRow, VersionRow};

/// Bytes of records as numbers and of the population table that are held for one
/// answer.
const BYTES_MAX: u64 = 1 << 30;
/// Threads that look at sets of attributes.
const THREADS: usize = 2;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_dataset_risk))
}

/// The risk of a dataset's records.
#[derive(ToSchema)]
#[schema(as = DatasetRisk)]
#[allow(dead_code, reason = "describes what `risk` says of records")]
struct RiskView {
    /// The version that was looked at.
    version: u64,
    /// Its records.
    records: u64,
    /// Their subjects.
    subjects: u64,
    /// The quasi-identifiers and semi-sensitive attributes, in schema order.
    attributes: Vec<AttributeExposureView>,
    /// Every set of up to three of them, the one that makes most unique first.
    sets: Vec<SetRiskView>,
    /// Whether sets are of the twelve attributes alone that tell most.
    is_narrowed: bool,
    /// Sets that grow by the attribute that makes most classes, until nobody is
    /// alike or there are 24.
    growing: Vec<SetRiskView>,
    /// How the values of sensitive attributes are spread.
    sensitive: Vec<SensitiveSpreadView>,
    /// Against the dataset's population table; null where it has none, one whose
    /// attributes the schema has lost or of which none is a quasi-identifier, or
    /// fewer than five subjects.
    population: Option<PopulationRiskView>,
}

/// What somebody finds who knows the population table. No figure is decided by
/// fewer than five subjects.
#[derive(ToSchema)]
#[schema(as = PopulationRisk)]
#[allow(dead_code, reason = "describes what `risk` says of records")]
struct PopulationRiskView {
    /// The quasi-identifiers that were compared.
    attributes: Vec<String>,
    /// People of the table.
    people: u64,
    /// Among how many people the five subjects could be who are easiest to find: so
    /// many at most.
    k_map: u64,
    /// Probability of finding a subject in the population: 1 / `k_map`.
    journalist: f64,
    /// Least and largest share of a class of the population that is in the dataset
    /// (δ-presence), of classes of five subjects or more; null where there are none.
    #[schema(min_items = 2, max_items = 2)]
    presence: Option<Vec<f64>>,
    /// Up to how many subjects, in tens, are of classes that have fewer people in
    /// the table than in the dataset: the table does not hold everybody. Fewer than
    /// five are told as 0, all but fewer than five as all.
    not_covered: u64,
}

/// What one attribute adds to the risk.
#[derive(ToSchema)]
#[schema(as = AttributeExposure)]
#[allow(dead_code, reason = "describes what `risk` says of records")]
struct AttributeExposureView {
    /// Its name.
    name: String,
    /// Distinct values.
    distinct: u64,
    /// Records without a value.
    missing: u64,
    /// Minimal unique sets of one, two and three attributes that it is in: sets
    /// that make a record unique while no part of them does, over all records.
    #[schema(min_items = 3, max_items = 3)]
    minimal_unique_sets: Vec<u64>,
}

/// What somebody finds who knows a set of attributes.
#[derive(ToSchema)]
#[schema(as = SetRisk)]
#[allow(dead_code, reason = "describes what `risk` says of records")]
struct SetRiskView {
    /// Their names, in schema order.
    attributes: Vec<String>,
    /// Share of subjects who are alone.
    unique: f64,
    /// Share of subjects in classes of fewer than 5, and of fewer than 12.
    #[schema(min_items = 2, max_items = 2)]
    below: Vec<f64>,
    /// Subjects of the smallest class.
    k_min: u64,
    /// Largest probability of finding a subject among those who are alike.
    prosecutor: f64,
    /// Share of subjects that somebody finds who guesses: the mean of 1 by the size
    /// of each subject's smallest class.
    marketer: f64,
}

/// How the values of a sensitive attribute are spread.
#[derive(ToSchema)]
#[schema(as = SensitiveSpread)]
#[allow(dead_code, reason = "describes what `risk` says of records")]
struct SensitiveSpreadView {
    /// Its name.
    name: String,
    /// Distinct values.
    distinct: u64,
    /// Share of records with the most frequent value.
    most_frequent: f64,
    /// Entropy of the known values, in bits.
    entropy_bits: f64,
    /// Records without a value.
    missing: u64,
}

/// The risk of a version's records.
#[derive(Serialize)]
struct Measured {
    version: u64,
    #[serde(flatten)]
    risk: Risk,
}

/// The current version of a dataset, if it has records that are held.
pub(super) async fn current_records(
    state: &AppState,
    dataset: &DatasetRow,
) -> Result<Option<VersionRow>, Problem> {
    let versions = state.store.version_list(dataset.id).await?;
    let is_current = |version: &VersionRow| {
        version.version == dataset.version
            && version.purged_at.is_none()
            && version.total_records > 0
    };
    Ok(versions.into_iter().find(is_current))
}

/// Refuses a dataset that would take too much memory.
fn check_bytes(bytes: u64) -> Result<(), Problem> {
    if bytes <= BYTES_MAX {
        return Ok(());
    }
    let detail = "the dataset, with its population table, is too large to be looked at as a whole \
                  here: measure it with `vizard risk` on a machine of your own, or upload a sample \
                  to a dataset of its own";
    Err(Problem::new(ProblemKind::LimitExceeded, detail))
}

/// Say who stands out in a dataset
///
/// For every set of up to three quasi-identifiers, and for sets that grow: how many subjects are alone, how small classes are, and the
/// prosecutor's and marketer's risk; by attribute the minimal unique sets; how
/// sensitive values are spread; and where the dataset has a population table, the
/// journalist's risk against it, which the audit log tells of. Of the records as
/// they are, before any job.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/risk", operation_id = "get_dataset_risk", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    responses((status = 200, description = "The risk of its current version.", body = RiskView)),
)]
async fn get_dataset_risk(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
) -> Result<Json<Measured>, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let schema = Arc::new(super::stored_schema(&dataset)?);
    let transformation = Arc::new(Transformation::unmoved(&schema));
    let Some(current) = current_records(&state, &dataset).await? else {
        let detail = "the dataset has no records: upload some";
        return Err(Problem::new(ProblemKind::NoRecords, detail));
    };
    let share = upload_share(&state, &principal)?;
    let mut columns = RiskColumns::new(Arc::clone(transformation.schema()));
    let bytes = current
        .total_records
        .saturating_mul(columns.record_bytes() as u64);
    check_bytes(bytes)?;
    let kept = state.store.population_table_compare(principal.act(), id);
    let kept = kept.await?;
    let combinations = kept.as_ref().map_or(0, |(row, _)| row.combinations);
    check_bytes(bytes.saturating_add(population_table_bytes(combinations)))?;
    for position in 0..current.chunks {
        let place = (id, current.version, position);
        let transformation = Arc::clone(&transformation);
        let add = move |chunk: &Chunk| {
            columns.add(&transformation.of(chunk));
            columns
        };
        columns = look_into(&state, place, &schema, add).await?;
    }
    let looking = tokio::task::spawn_blocking(move || {
        // A client that hangs up does not make room for another.
        let _share = share;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(THREADS)
            .build()
            .ok()?;
        let table = kept.map(|(row, content)| row.unpack(&content));
        // It was whole when it was put: this is damage.
        let table = match table.transpose() {
            Ok(table) => table.map(|table| table.transformed(transformation.schema())),
            Err(error) => return Some(Err(error)),
        };
        let population = table.and_then(|table| Population::of(&table, &columns));
        let population = population.map(Population::coarse);
        Some(Ok(pool.install(|| risk(&columns, population.as_ref()))))
    });
    match looking.await {
        Ok(Some(risk)) => Ok(Json(Measured {
            version: current.version,
            risk: risk?,
        })),
        _ => {
            tracing::error!(dataset = %id, "the risk of a dataset could not be measured");
            Err(Problem::internal())
        }
    }
}
