//! Many preferences at once, as CSV or NDJSON.

use std::sync::Arc;

use axum::extract::{Request, State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::answer::Answer;
use super::super::auth::Principal;
use super::super::coding::ContentCoding;
use super::super::extract::UrlPath;
use super::super::problem::Problem;
use super::super::state::AppState;
use super::super::upload::{KeptPreferences, receive_preferences};
use super::preferences::PopulationForms;
use super::records::{record_format, upload_share};
use crate::failpoint;
use crate::ids::DatasetId;
use crate::microdata::{ChunkColumn, Schema, decode_chunk};
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
/// All of them or none, in every dataset of the dataset's population. Of several
/// lines for one subject the last one counts;
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
    let coding = ContentCoding::of_body(request.headers())?;
    let share = Arc::new(upload_share(&state, &principal)?);
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let forms = PopulationForms::of(&state, &dataset).await?;
    let (body, form) = (request.into_body(), (format, coding));
    let kept = receive_preferences(&state, body, form, forms, Arc::clone(&share)).await?;
    let kept = Arc::new(kept);
    // Counted first: what fails here has changed nothing yet.
    let unknown_subjects = unknown_subjects(&state, &dataset, schema, &kept).await?;
    let accepted = kept.fingerprints().len() as u64;
    let answer = move |&version: &u64| {
        Answer::ok(&ImportView {
            accepted,
            unknown_subjects,
            version,
        })
    };
    let act = principal.act_answering(move |version| Some(answer(version)));
    let version = state.store.preference_bulk(act, id, kept).await?;
    failpoint::reached("preferences-committed");
    Ok(answer(&version))
}

/// How many of the subjects have no record in the dataset's latest version.
///
/// Looks at one chunk at a time.
async fn unknown_subjects(
    state: &AppState,
    dataset: &DatasetRow,
    schema: Schema,
    kept: &Arc<KeptPreferences>,
) -> Result<u64, Problem> {
    let (id, version) = (dataset.id, dataset.version);
    let chunks = match version {
        0 => Vec::new(),
        _ => state.store.version_chunk_list(id, version).await?,
    };
    let schema = Arc::new(schema);
    let mut seen = vec![false; kept.fingerprints().len()];
    for chunk in chunks {
        let bytes = state.store.chunk_get(id, version, chunk.position).await?;
        let (schema, kept) = (Arc::clone(&schema), Arc::clone(kept));
        let looking = tokio::task::spawn_blocking(move || {
            let chunk = decode_chunk(bytes, &schema)?;
            if let Some(ChunkColumn::Text(keys)) = chunk.columns.get(schema.subject_key().at()) {
                let places = keys.iter().filter_map(|key| kept.fingerprints().place(key));
                places.for_each(|place| seen[place] = true);
            }
            Ok::<_, crate::microdata::TableError>(seen)
        });
        seen = match looking.await {
            Ok(Ok(seen)) => seen,
            _ => {
                tracing::error!(dataset = %id, "a stored chunk cannot be read");
                return Err(Problem::internal());
            }
        };
    }
    Ok(seen.iter().filter(|is_seen| !**is_seen).count() as u64)
}
