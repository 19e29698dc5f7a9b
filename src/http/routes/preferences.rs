//! Preferences of single subjects, guarded by entity tags.
//!
//! The tag of a document is the preference version that brought it. A subject
//! stands in the path and in no log: logs know the matched path alone.

use std::io::Read;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{
    HierarchySet, Preference, RecordFormat, Schema, TableError, Target, each_preference, to_hex,
};

use super::query::PreferenceQuery;
use super::subject_of;
use crate::config::Limits;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::convert::limited_problem;
use crate::http::described::TermsDocument;
use crate::http::extract::{JsonBody, UrlPath, UrlQuery};
use crate::http::precondition;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::http::upload::load_hierarchies;
use crate::ids::DatasetId;
use crate::store::{DatasetRow, StoreError};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(put_preference, get_preference, delete_preference))
        .routes(routes!(list_preferences))
}

/// A preference version, as an entity tag.
type Tag = [(HeaderName, HeaderValue); 1];

/// One subject's terms in force.
#[derive(Debug, Serialize, ToSchema)]
struct PreferenceView {
    /// The subject.
    #[schema(examples("1002"))]
    subject: String,
    /// The preference version that brought the terms.
    version: u64,
    /// What the subject asks for.
    #[schema(value_type = TermsDocument)]
    terms: Value,
}

/// One page of terms in force.
#[derive(Debug, Serialize, ToSchema)]
struct PreferenceListView {
    /// Subjects and their terms, in no telling order.
    items: Vec<PreferenceView>,
    /// What to give as `cursor` for the next page; null: this is the last.
    next_cursor: Option<String>,
}

/// What taking terms out of force made.
#[derive(Debug, Serialize, ToSchema)]
struct PreferenceGoneView {
    /// The subject.
    subject: String,
    /// The new preference version.
    version: u64,
}

/// Set one subject's terms
///
/// They replace the subject's earlier terms and hold for every job that starts
/// from now on, in every dataset of the dataset's population. They may name
/// attributes of any of them. `If-Match` guards against overwriting what was not seen.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/preferences/{subject}", operation_id = "put_preference", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject."),
        ("if-match" = Option<String>, Header, description = "Tags, one of which the terms in force must have; `*`: any."),
        ("if-none-match" = Option<String>, Header, description = "`*`: there must be no terms in force.")),
    request_body = TermsDocument,
    responses((status = 200, description = "The terms in force.", body = PreferenceView,
        headers(("etag" = String, description = "Tag of the terms.")))),
)]
async fn put_preference(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
    headers: HeaderMap,
    JsonBody(document): JsonBody<Value>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let dataset = state.store.dataset_get(id).await?;
    let preference = read(&state, &dataset, subject, document).await?;
    let terms = serde_json::to_value(&preference.terms).map_err(|_| Problem::internal())?;
    let (subject, kept) = (preference.subject.clone(), terms.clone());
    let answer = move |&version: &u64| {
        let view = PreferenceView {
            subject: preference.subject,
            version,
            terms,
        };
        Some(Answer::ok(&view).with(header::ETAG, &format!("\"{version}\"")))
    };
    let act = principal.act_answering(answer.clone());
    let act = act.only_if(precondition::read(&headers)?);
    let version = state.store.preference_put(act, id, subject, kept).await?;
    failpoint::reached("preference-committed");
    answer(&version).ok_or_else(Problem::internal)
}

/// Read one subject's terms
///
/// A reading that the audit log tells of, without the subject.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/preferences/{subject}", operation_id = "get_preference", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject.")),
    responses((status = 200, description = "The terms in force.", body = PreferenceView,
        headers(("etag" = String, description = "Tag of the terms.")))),
)]
async fn get_preference(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
) -> Result<(Tag, Json<PreferenceView>), Problem> {
    principal.sees(id, "dataset")?;
    let schema = super::stored_schema(&state.store.dataset_get(id).await?)?;
    let subject = subject_of(&schema, &subject);
    let act = principal.act();
    let row = state.store.preference_get(act, id, subject.clone()).await?;
    let row = row.ok_or_else(|| Problem::not_found("preference"))?;
    let view = PreferenceView {
        subject,
        version: row.version,
        terms: row.document,
    };
    Ok((tag(row.version), Json(view)))
}

/// List the terms in force
///
/// They hold in every dataset of the dataset's population. Each page is a
/// reading that the audit log tells of.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/preferences", operation_id = "list_preferences", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset."), PreferenceQuery),
    responses((status = 200, description = "One page of terms.", body = PreferenceListView)),
)]
async fn list_preferences(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    UrlQuery(query): UrlQuery<PreferenceQuery>,
) -> Result<Json<PreferenceListView>, Problem> {
    principal.sees(id, "dataset")?;
    let (limit, cursor) = query.request()?;
    let page = state
        .store
        .preference_list(principal.act(), id, limit, cursor);
    let page = page.await?;
    let items = page.items.into_iter().map(|(subject, row)| PreferenceView {
        subject,
        version: row.version,
        terms: row.document,
    });
    Ok(Json(PreferenceListView {
        items: items.collect(),
        next_cursor: page.next.map(|subject| to_hex(&subject)),
    }))
}

/// Take one subject's terms out of force
///
/// The dataset's default speaks for the subject from now on, in every dataset
/// of its population.
#[utoipa::path(
    delete, path = "/v1/datasets/{id}/preferences/{subject}", operation_id = "delete_preference", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("subject" = String, Path, description = "Key of the subject."),
        ("if-match" = Option<String>, Header, description = "Tags, one of which the terms in force must have; `*`: any.")),
    responses((status = 200, description = "They are out of force.", body = PreferenceGoneView)),
)]
async fn delete_preference(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, subject)): UrlPath<(DatasetId, String)>,
    headers: HeaderMap,
) -> Result<(StatusCode, Json<PreferenceGoneView>), Problem> {
    principal.sees(id, "dataset")?;
    let act = principal.act().only_if(precondition::read(&headers)?);
    let store = &state.store;
    let schema = super::stored_schema(&store.dataset_get(id).await?)?;
    let subject = subject_of(&schema, &subject);
    let version = store.preference_delete(act, id, subject.clone()).await?;
    Ok((
        StatusCode::OK,
        Json(PreferenceGoneView { subject, version }),
    ))
}

fn tag(version: u64) -> Tag {
    // Digits between quotes are always a header's value.
    let value = HeaderValue::from_str(&format!("\"{version}\""));
    [(
        header::ETAG,
        value.unwrap_or(HeaderValue::from_static("\"0\"")),
    )]
}

/// Reads one document as strictly as a line of many.
pub(super) async fn read(
    state: &AppState,
    dataset: &DatasetRow,
    subject: String,
    mut document: Value,
) -> Result<Preference, Problem> {
    let misfit = |detail: &str| Problem::new(ProblemKind::InvalidBody, detail);
    let fields = document
        .as_object_mut()
        .ok_or_else(|| misfit("a preference is a JSON object"))?;
    let forms = PopulationForms::of(state, dataset).await?;
    let named = fields.insert("subject".into(), subject.clone().into());
    let same = |named: &Value| {
        let named = named.as_str().map(|named| subject_of(&forms.own.0, named));
        named == Some(subject_of(&forms.own.0, &subject))
    };
    if named.is_some_and(|named| !same(&named)) {
        return Err(misfit("the body names another subject than the path"));
    }
    let limits = &state.settings.limits;
    let line = document.to_string();
    let mut read = None;
    let mut keep = |preference| {
        read = Some(preference);
        Ok(())
    };
    forms
        .each(line.as_bytes(), RecordFormat::Ndjson, limits, &mut keep)
        .map_err(|error| limited_problem(&error, ProblemKind::InvalidPreference, limits))?;
    read.ok_or_else(Problem::internal)
}

/// What terms may name: attributes and nodes of any dataset of a population,
/// for they hold in each of them.
pub(in crate::http) struct PopulationForms {
    /// Schema and hierarchies of the dataset that is spoken to.
    own: (Schema, HierarchySet),
    /// Those of the others.
    others: Vec<(Schema, HierarchySet)>,
}

impl PopulationForms {
    /// Of a dataset.
    pub(super) async fn of(state: &AppState, dataset: &DatasetRow) -> Result<Self, Problem> {
        let own = form(state, dataset).await?;
        let mut others = Vec::new();
        if dataset.population.is_some() {
            for id in state.store.dataset_population(dataset.id).await? {
                if id == dataset.id {
                    continue;
                }
                match state.store.dataset_get(id).await {
                    // Erased in the meantime.
                    Err(StoreError::NotFound { .. }) => {}
                    row => others.push(form(state, &row?).await?),
                }
            }
        }
        Ok(Self { own, others })
    }

    /// Reads preferences to their end; `keep` gets each of them.
    pub(in crate::http) fn each(
        &self,
        body: impl Read,
        format: RecordFormat,
        limits: &Limits,
        keep: &mut dyn FnMut(Preference) -> Result<(), TableError>,
    ) -> Result<(), TableError> {
        let target = Target {
            schema: &self.own.0,
            hierarchies: &self.own.1,
            limits: limits.of_records(),
        };
        each_preference(body, format, (&target, &self.others), keep)
    }
}

/// Schema and hierarchies of one dataset.
async fn form(state: &AppState, dataset: &DatasetRow) -> Result<(Schema, HierarchySet), Problem> {
    let schema = super::stored_schema(dataset)?;
    let (store, pinned) = (state.store.as_ref(), &dataset.hierarchies);
    let found = load_hierarchies(store, dataset.id, &schema, pinned, true).await?;
    Ok((schema, found.set))
}
