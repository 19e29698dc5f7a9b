//! Many preferences at once, as CSV or NDJSON.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use axum::extract::{Request, State};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{Chunk, ChunkColumn, Schema, near_key};

use super::preferences::PopulationForms;
use super::records::{record_format, upload_share};
use super::subject_search::look_into;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::{Principal, Role};
use crate::http::coding;
use crate::http::extract::UrlPath;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::http::upload::{KeptPreferences, receive_preferences};
use crate::ids::DatasetId;
use crate::store::{DatasetRow, PreferenceSource as _};

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
    /// terms are kept, for preferences may come before the records. Stewards
    /// only: an import of one subject would tell who is in the data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples(0))]
    unknown_subjects: Option<u64>,
    /// How many of these have a record under another spelling: the keys are the
    /// same without case, white space, hyphens and leading zeros. Their terms
    /// bind to nobody until they are mended. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples(0))]
    near_misses: Option<u64>,
    /// The preference version that holds them all.
    version: u64,
}

/// Set the terms of many subjects
///
/// All of them or none, in every dataset of the dataset's population. Of several
/// lines for one subject the last one counts;
/// subjects that the body does not name keep their terms. A steward
/// is told how many subjects have no record, and how many of those are spelt
/// nearly as one that has.
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
    let coding = coding::of_body(request.headers())?;
    let share = Arc::new(upload_share(&state, &principal)?);
    let dataset = state.store.dataset_get(id).await?;
    let schema = super::stored_schema(&dataset)?;
    let forms = PopulationForms::of(&state, &dataset).await?;
    let (body, form) = (request.into_body(), (format, coding));
    let kept = receive_preferences(&state, body, form, forms, Arc::clone(&share)).await?;
    let kept = Arc::new(kept);
    // Counted first: what fails here has changed nothing yet. For nobody else
    // are records looked at, so that the time that it takes tells nothing either.
    let strangers = if principal.has(Role::Steward) {
        Some(Strangers::of(&state, &dataset, schema, &kept).await?)
    } else {
        None
    };
    let accepted = kept.subjects().len() as u64;
    let answer = move |&version: &u64| {
        Answer::ok(&ImportView {
            accepted,
            unknown_subjects: strangers.map(|strangers| strangers.unknown),
            near_misses: strangers.map(|strangers| strangers.near),
            version,
        })
    };
    let act = principal.act_answering(move |version| Some(answer(version)));
    let version = state.store.preference_bulk(act, id, kept).await?;
    failpoint::reached("preferences-committed");
    Ok(answer(&version))
}

/// Subjects of an import that have no record in the dataset's latest version.
#[derive(Clone, Copy, Default)]
struct Strangers {
    /// How many there are.
    unknown: u64,
    /// How many of them have a key near to one that has a record.
    near: u64,
}

impl Strangers {
    async fn of(
        state: &AppState,
        dataset: &DatasetRow,
        schema: Schema,
        kept: &Arc<KeptPreferences>,
    ) -> Result<Self, Problem> {
        let records = Records {
            state,
            dataset,
            schema: Arc::new(schema),
        };
        let seen = vec![false; kept.subjects().len()];
        let named = Arc::clone(kept);
        let look = move |seen: &mut Vec<bool>, key: &str| {
            if let Some(place) = named.subjects().place(key) {
                seen[place] = true;
            }
        };
        let seen = records.each_key(seen, look).await?;
        let unknown = seen.iter().filter(|is_seen| !**is_seen).count() as u64;
        if unknown == 0 || dataset.version == 0 {
            return Ok(Self { unknown, near: 0 });
        }
        let named = Arc::clone(kept);
        let folded = tokio::task::spawn_blocking(move || near_keys(&named, seen));
        let folded = folded.await.ok().and_then(Result::ok);
        let folded = folded.ok_or_else(Problem::internal)?;
        let named = Arc::clone(kept);
        let look = move |(folded, near): &mut (HashMap<u64, u64>, u64), key: &str| {
            let key = named.subjects().number(&near_key(key));
            *near += folded.remove(&key).unwrap_or(0);
        };
        let (_, near) = records.each_key((folded, 0), look).await?;
        Ok(Self { unknown, near })
    }
}

/// The keys of those who were not seen, folded, each as a number, with how many
/// have it. They are read again: to keep them all beside the first looking would
/// take memory with every import.
fn near_keys(kept: &KeptPreferences, mut seen: Vec<bool>) -> io::Result<HashMap<u64, u64>> {
    let (named, mut folded) = (kept.subjects(), HashMap::new());
    let mut index = 0;
    while let Some(batch) = kept.batch(index)? {
        for (subject, _) in batch {
            let place = named.place(&subject);
            // Of several lines of a subject one counts.
            if place.is_some_and(|place| !std::mem::replace(&mut seen[place], true)) {
                *folded.entry(named.number(&near_key(&subject))).or_insert(0) += 1;
            }
        }
        index += 1;
    }
    Ok(folded)
}

/// The records of a dataset's latest version.
struct Records<'a> {
    state: &'a AppState,
    dataset: &'a DatasetRow,
    schema: Arc<Schema>,
}

impl Records<'_> {
    /// Shows each record's subject key to `look`, which notes what it sees in
    /// `noted`. Holds one chunk at a time.
    async fn each_key<T: Send + 'static>(
        &self,
        mut noted: T,
        look: impl Fn(&mut T, &str) + Send + Sync + 'static,
    ) -> Result<T, Problem> {
        let (id, version) = (self.dataset.id, self.dataset.version);
        let store = &self.state.store;
        let chunks = match version {
            0 => Vec::new(),
            _ => store.version_chunk_list(id, version).await?,
        };
        let look = Arc::new(look);
        for chunk in chunks {
            let (key_at, look) = (self.schema.subject_key().at(), Arc::clone(&look));
            let look = move |chunk: &Chunk| {
                if let Some(ChunkColumn::Text(keys)) = chunk.columns.get(key_at) {
                    keys.iter().for_each(|key| look(&mut noted, key));
                }
                noted
            };
            let place = (id, version, chunk.position);
            noted = look_into(self.state, place, &self.schema, look).await?;
        }
        Ok(noted)
    }
}
