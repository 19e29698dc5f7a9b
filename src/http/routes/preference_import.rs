//! Many preferences at once, as CSV or NDJSON.

use std::collections::HashSet;

use axum::extract::{Request, State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::answer::Answer;
use super::super::auth::Principal;
use super::super::body::unpacked_body;
use super::super::convert::limited_problem;
use super::super::extract::UrlPath;
use super::super::problem::{Problem, ProblemKind};
use super::super::state::AppState;
use super::preferences::PopulationForms;
use super::records::record_format;
use crate::failpoint;
use crate::ids::DatasetId;
use crate::microdata::{ChunkColumn, Preference, RecordFormat, Schema, decode_chunk};
use crate::store::DatasetRow;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(import_preferences))
}

/// What an import did.
#[derive(Debug, Serialize, ToSchema)]
struct ImportView {
    /// Subjects whose terms are now as the body says.
    #[schema(examples(19000))]
    accepted: u64,
    /// Subjects among them that have no record in the latest version; their
    /// terms are kept, for preferences may come before the records.
    #[schema(examples(0))]
    unknown_subjects: u64,
    /// The preference version that holds them all.
    version: u64,
}

/// Set the terms of many subjects
///
/// All of them or none, in every dataset of the dataset's population. Of several lines for one subject the last one counts;
/// subjects that the body does not name keep their terms.
#[utoipa::path(
    post, path = "/v1/datasets/{id}/preferences", operation_id = "import_preferences", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "Preferences. Columns of CSV beside `subject` are optional; an empty cell says nothing.",
        content((String = "text/csv", example = "subject,sensitive,max_leakage,max_reidentification,exclude\n1002,age|sex,0.25,,false\n"),
                (String = "application/x-ndjson", example = "{\"subject\": \"1002\", \"sensitive\": [\"age\"]}\n"))),
    responses((status = 200, description = "What was accepted.", body = ImportView)),
)]
async fn import_preferences(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let format = record_format(request.headers())?;
    let dataset = state.store.dataset_get(id).await?;
    let limits = &state.settings.limits;
    let body = unpacked_body(request, limits.preference_bytes_max(), limits).await?;
    let schema = super::stored_schema(&dataset)?;
    let preferences = read(&state, &dataset, format, body).await?;
    let subjects = preferences.iter().map(|one| one.subject.clone()).collect();
    let documents: Result<Vec<_>, _> = preferences
        .into_iter()
        .map(|one| serde_json::to_value(one.terms).map(|terms| (one.subject, terms)))
        .collect();
    let documents = documents.map_err(|_| Problem::internal())?;
    // Counted first: what fails here has changed nothing yet.
    let unknown_subjects = unknown_subjects(&state, &dataset, schema, subjects).await?;
    let accepted = documents.len() as u64;
    let answer = move |&version: &u64| {
        Answer::ok(&ImportView {
            accepted,
            unknown_subjects,
            version,
        })
    };
    let act = principal.act_answering(move |version| Some(answer(version)));
    let version = state.store.preference_bulk(act, id, documents).await?;
    failpoint::reached("preferences-committed");
    Ok(answer(&version))
}

async fn read(
    state: &AppState,
    dataset: &DatasetRow,
    format: RecordFormat,
    body: Vec<u8>,
) -> Result<Vec<Preference>, Problem> {
    let forms = PopulationForms::of(state, dataset).await?;
    let limits = state.settings.limits;
    let reading = tokio::task::spawn_blocking(move || forms.read(&body, format, &limits));
    match reading.await {
        Ok(read) => {
            read.map_err(|error| limited_problem(&error, ProblemKind::InvalidPreference, &limits))
        }
        Err(_) => Err(Problem::internal()),
    }
}

/// How many of `subjects` have no record in the dataset's latest version.
///
/// Looks at one chunk at a time.
async fn unknown_subjects(
    state: &AppState,
    dataset: &DatasetRow,
    schema: Schema,
    mut subjects: HashSet<String>,
) -> Result<u64, Problem> {
    let (id, version) = (dataset.id, dataset.version);
    let chunks = match version {
        0 => Vec::new(),
        _ => state.store.version_chunk_list(id, version).await?,
    };
    let schema = std::sync::Arc::new(schema);
    for chunk in chunks {
        if subjects.is_empty() {
            break;
        }
        let bytes = state.store.chunk_get(id, version, chunk.position).await?;
        let schema = std::sync::Arc::clone(&schema);
        let looking = tokio::task::spawn_blocking(move || {
            let chunk = decode_chunk(bytes, &schema)?;
            if let Some(ChunkColumn::Text(keys)) = chunk.columns.get(schema.subject_key().at()) {
                for key in keys.iter() {
                    subjects.remove(key);
                }
            }
            Ok::<_, crate::microdata::TableError>(subjects)
        });
        subjects = match looking.await {
            Ok(Ok(left)) => left,
            _ => {
                tracing::error!(dataset = %id, "a stored chunk cannot be read");
                return Err(Problem::internal());
            }
        };
    }
    Ok(subjects.len() as u64)
}
