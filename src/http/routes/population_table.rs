//! The population table of a dataset: among whom its people could be. Stewards
//! put it and see what it is; nobody gets its rows back.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::Schema;
use vizard_anonymizer::microdata::population_table::unfit;

use super::records::upload_share;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::coding;
use crate::http::extract::{UrlPath, require_media_type};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::http::upload::receive_population_table;
use crate::ids::DatasetId;
use crate::store::{NewPopulationTable, PopulationTableRow};

/// What a table that is not there is called.
const NAME: &str = "population table";

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(
        put_population_table,
        get_population_table,
        delete_population_table
    ))
}

/// What is known of a population table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PopulationTable)]
struct PopulationTableView {
    /// The dataset.
    dataset: DatasetId,
    /// Its attributes, in the order of its canonical text.
    attributes: Vec<PopulationAttributeView>,
    /// All people in it.
    people: u64,
    /// Distinct combinations of values that somebody has.
    combinations: u64,
    /// SHA-256 of its canonical text: the same for the same people, however the
    /// file was written.
    sha256: String,
    /// Attributes that the schema does not have any more as quasi-identifiers or
    /// semi-sensitive attributes of this type. While there are any, the table is
    /// kept and nothing is compared with it.
    unfit: Vec<String>,
    /// Who put it.
    created_by: String,
    /// When it was put.
    created_at: DateTime<Utc>,
}

/// An attribute of a population table.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PopulationAttribute)]
struct PopulationAttributeView {
    /// Its name in the schema.
    #[schema(examples("age"))]
    name: String,
    /// What its values are: `integer`, `decimal`, `date` or `categorical`.
    #[schema(value_type = String)]
    r#type: vizard_anonymizer::microdata::AttributeType,
}

impl PopulationTableView {
    fn of(row: PopulationTableRow, schema: &Schema) -> Result<Self, Problem> {
        let attributes = row.attributes()?;
        Ok(Self {
            dataset: row.dataset,
            unfit: unfit(&attributes, schema),
            attributes: attributes
                .into_iter()
                .map(|one| PopulationAttributeView {
                    name: one.name,
                    r#type: one.kind,
                })
                .collect(),
            people: row.people,
            combinations: row.combinations,
            sha256: row.sha256,
            created_by: row.created_by,
            created_at: row.created_at,
        })
    }
}

/// Put the population table of a dataset
///
/// Those among whom its people could be, as CSV in the dialect of the schema: some
/// of the quasi-identifiers and semi-sensitive attributes by name, and `count` where a line stands for
/// several people, who are one at least; other columns are read past. The whole body is judged before
/// anything is kept. It takes the place of the one before; the same people again
/// change nothing. `GET /v1/datasets/{id}/risk` and the reports of later jobs then
/// tell the journalist's risk; the first reads past semi-sensitive attributes. Its
/// rows are never given back.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/population-table", operation_id = "put_population_table", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "A CSV file with a header.",
        content((String = "text/csv", example = "age,education,count\n34,secondary,2210\n35,secondary,2304\n"))),
    responses((status = 200, description = "What is kept now.", body = PopulationTableView)),
)]
async fn put_population_table(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let (parts, body) = request.into_parts();
    require_media_type(&parts.headers, &["text/csv"])?;
    let coding = coding::of_body(&parts.headers)?;
    let share = Arc::new(upload_share(&state, &principal)?);
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let form = (schema.clone(), coding);
    let (table, content) = receive_population_table(&state, body, form, share).await?;
    let new = NewPopulationTable {
        dataset: id,
        attributes: serde_json::json!(table.attributes()),
        people: table.people(),
        combinations: table.counts().len() as u64,
        sha256: table.sha256().to_owned(),
        content,
        created_by: principal.name().to_owned(),
    };
    let schema = Arc::new(schema);
    let own = Arc::clone(&schema);
    let act = principal.act_answering(move |row: &PopulationTableRow| {
        let view = PopulationTableView::of(row.clone(), &own);
        view.ok().map(|view| Answer::ok(&view))
    });
    let row = state.store.population_table_put(act, new).await?;
    Ok(Answer::ok(&PopulationTableView::of(row, &schema)?))
}

/// Describe the population table of a dataset
///
/// What it is and whether it still fits the schema; never its rows.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/population-table", operation_id = "get_population_table", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    responses((status = 200, description = "What is kept.", body = PopulationTableView)),
)]
async fn get_population_table(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
) -> Result<Json<PopulationTableView>, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let row = state.store.population_table_get(id).await?;
    let row = row.ok_or_else(|| Problem::not_found(NAME))?;
    PopulationTableView::of(row, &schema).map(Json)
}

/// Take the population table of a dataset away
///
/// Reports that were made with it stay as they are.
#[utoipa::path(
    delete, path = "/v1/datasets/{id}/population-table", operation_id = "delete_population_table", tag = "datasets",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    responses((status = 200, description = "What was kept.", body = PopulationTableView)),
)]
async fn delete_population_table(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
) -> Result<Json<PopulationTableView>, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let act = principal.act();
    let row = state.store.population_table_delete(act, id).await?;
    PopulationTableView::of(row, &schema).map(Json)
}
