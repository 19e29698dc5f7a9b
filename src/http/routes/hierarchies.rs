//! Hierarchies of the library, which all datasets share.
//!
//! A hierarchy is put under a name, immutable, and addressed by name or
//! digest. A steward whose key is tied to no datasets writes the library, and
//! anyone who is tied reads what their datasets' schemas name. What a dataset has
//! of its own is in `dataset_hierarchies`, which shares views and reading.

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, Ref};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::attribute::NAME_CHARACTERS_MAX;
use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchyLimits, HierarchySource, TableError, csv_of_rule, to_hex,
};

use super::query::{HierarchyGetQuery, HierarchyListQuery, HierarchyPutQuery};
use crate::http::access::LIBRARY_ONLY;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::body::unpacked_body;
use crate::http::convert::table_problem;
use crate::http::extract::{UrlPath, UrlQuery, require_media_type};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::store::{
    HierarchyHead, HierarchyPage, HierarchyPut, HierarchyRow, HierarchyScope, NewHierarchy,
};

/// Media types of hierarchies.
const MEDIA_TYPES: [&str; 2] = ["text/csv", "application/json"];

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(put_hierarchy, get_hierarchy))
        .routes(routes!(list_hierarchies))
}

/// A hierarchy that was put.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(super) struct HierarchyView {
    /// Its name.
    #[schema(examples("education"))]
    name: String,
    /// SHA-256 of what it says, whatever form it came in.
    digest: String,
    /// Number of leaves; 0 for intervals, whose leaves are a dataset's values.
    #[schema(examples(16))]
    leaves: u64,
    /// Steps from the root to the deepest leaf.
    #[schema(examples(3))]
    height: u32,
}

/// A hierarchy as it is kept, without its content.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HierarchyDetailView {
    #[serde(flatten)]
    hierarchy: HierarchyView,
    /// 1, 2, … of its owner under that name.
    revision: u64,
    /// Whether it is the library's; else it is the dataset's own.
    library: bool,
    /// Media type that it came in.
    media_type: String,
    /// When it was put.
    created_at: DateTime<Utc>,
}

/// One page of hierarchies, by name.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct HierarchyPageView {
    /// The latest revision of each name.
    items: Vec<HierarchyDetailView>,
    /// What to give as `cursor` for the next page; null: this is the last.
    next_cursor: Option<String>,
}

impl From<HierarchyPage> for HierarchyPageView {
    fn from(page: HierarchyPage) -> Self {
        Self {
            items: page.items.into_iter().map(Into::into).collect(),
            next_cursor: page.next.map(|name| to_hex(name.as_bytes())),
        }
    }
}

/// A hierarchy described, or the JSON that it was put as.
pub(super) struct HierarchyAnswer;

impl utoipa::PartialSchema for HierarchyAnswer {
    fn schema() -> RefOr<utoipa::openapi::Schema> {
        AnyOfBuilder::new()
            .item(Ref::from_schema_name(HierarchyDetailView::name()))
            .item(ObjectBuilder::new().description(Some("With `content=true`.")))
            .into()
    }
}

impl ToSchema for HierarchyAnswer {
    fn schemas(schemas: &mut Vec<(String, RefOr<utoipa::openapi::Schema>)>) {
        schemas.push((
            HierarchyDetailView::name().into(),
            <HierarchyDetailView as utoipa::PartialSchema>::schema(),
        ));
        HierarchyDetailView::schemas(schemas);
    }
}

/// Put a hierarchy into the library
///
/// By a steward whose key is tied to no datasets: all datasets share the
/// library. The same content again changes nothing. Other content under a name
/// that is taken needs `new_version=true`; datasets keep what they pinned.
/// Every dataset whose schema names it, and that has none of its own, is told
/// in the audit log.
#[utoipa::path(
    put, path = "/v1/hierarchies/{name}", operation_id = "put_hierarchy", tag = "hierarchies",
    params(("name" = String, Path, description = "Its name, 1 to 64 characters.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), HierarchyPutQuery,
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "CSV with one line a leaf, from leaf to root; or JSON: a tree, a rule (kept as the CSV that it makes), or intervals.",
        content((String = "text/csv", example = "primary;school;*\nsecondary;school;*\nuniversity;*\n"),
                (Object = "application/json", example = json!({"rule": "intervals", "from": 0, "to": 119, "widths": [5, 10, 20]})))),
    responses(
        (status = 200, description = "It is there already.", body = HierarchyView),
        (status = 201, description = "It was put.", body = HierarchyView)),
)]
async fn put_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(name): UrlPath<String>,
    UrlQuery(query): UrlQuery<HierarchyPutQuery>,
    request: Request,
) -> Result<Answer, Problem> {
    if principal.datasets().is_some() {
        return Err(Problem::new(ProblemKind::Forbidden, LIBRARY_ONLY));
    }
    let new = received(&state, name, &query, request).await?;
    put(&state, &principal, new).await
}

/// Describe a hierarchy of the library
///
/// With `content=true`: its content as it was put. A key that is tied to
/// datasets finds those that their schemas name.
#[utoipa::path(
    get, path = "/v1/hierarchies/{name}", operation_id = "get_hierarchy", tag = "hierarchies",
    params(("name" = String, Path, description = "Its name.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), HierarchyGetQuery),
    responses((status = 200, description = "The hierarchy, or its content.",
        content((HierarchyAnswer = "application/json"), (String = "text/csv")))),
)]
async fn get_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(name): UrlPath<String>,
    UrlQuery(query): UrlQuery<HierarchyGetQuery>,
) -> Result<Response, Problem> {
    let row = library_hierarchy(&state, &principal, (name, query.digest)).await?;
    Ok(shown(row, query.content))
}

/// A hierarchy of the library. A key that is tied to datasets finds those that
/// their schemas name.
pub(super) async fn library_hierarchy(
    state: &AppState,
    principal: &Principal,
    (name, digest): (String, Option<String>),
) -> Result<HierarchyRow, Problem> {
    check_name(&name)?;
    if let Some(datasets) = principal.datasets() {
        let names = state.store.hierarchy_names(datasets.to_vec()).await?;
        if !names.contains(&name) {
            return Err(Problem::not_found("hierarchy"));
        }
    }
    Ok(state.store.hierarchy_get(None, name, digest).await?)
}

/// List the library's hierarchies
///
/// The latest revision of each, by name. A key that is tied to datasets finds
/// those that their schemas name.
#[utoipa::path(
    get, path = "/v1/hierarchies", operation_id = "list_hierarchies", tag = "hierarchies",
    params(HierarchyListQuery),
    responses((status = 200, description = "One page of hierarchies, by name.", body = HierarchyPageView)),
)]
async fn list_hierarchies(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<HierarchyListQuery>,
) -> Result<Json<HierarchyPageView>, Problem> {
    let scope = match principal.datasets() {
        None => HierarchyScope::Library,
        Some(datasets) => HierarchyScope::LibraryOf(datasets.to_vec()),
    };
    let (limit, after) = query.request()?;
    let page = state.store.hierarchy_list(scope, limit, after).await?;
    Ok(Json(page.into()))
}

/// Reads the hierarchy that a request brings; it is the library's.
pub(super) async fn received(
    state: &AppState,
    name: String,
    query: &HierarchyPutQuery,
    request: Request,
) -> Result<NewHierarchy, Problem> {
    check_name(&name)?;
    let limits = &state.settings.limits;
    let media_type = require_media_type(request.headers(), &MEDIA_TYPES)?;
    let content = unpacked_body(request, limits.hierarchy_bytes_max(), limits).await?;
    let bytes_max = limits.hierarchy_bytes_max().value;
    let own = (limits.of_hierarchies(), bytes_max);
    let mut new = read(name, media_type, content, own).await?;
    new.allow_new_version = query.new_version;
    Ok(new)
}

/// Keeps a hierarchy, and answers what it is.
pub(super) async fn put(
    state: &AppState,
    principal: &Principal,
    new: NewHierarchy,
) -> Result<Answer, Problem> {
    let view = HierarchyView {
        name: new.name.clone(),
        digest: new.digest.clone(),
        leaves: new.leaves,
        height: new.height,
    };
    let name = view.name.clone();
    let answer = move |put: &HierarchyPut| match put {
        HierarchyPut::Created => Some(Answer::new(StatusCode::CREATED, &view)),
        HierarchyPut::Unchanged => Some(Answer::ok(&view)),
        HierarchyPut::Conflict => None,
    };
    let act = principal.act_answering(answer.clone());
    let put = state.store.hierarchy_put(act, new).await?;
    answer(&put).ok_or_else(|| {
        let detail = "hierarchies are immutable; new_version=true makes a new revision";
        Problem::new(ProblemKind::HierarchyExists, detail).with_hierarchy(name)
    })
}

/// A hierarchy described, or its content as it was put.
pub(super) fn shown(row: HierarchyRow, with_content: bool) -> Response {
    if !with_content {
        return Json(HierarchyDetailView::from(row.head)).into_response();
    }
    let media_type = match row.head.media_type.as_str() {
        "text/csv" => HeaderValue::from_static("text/csv"),
        _ => HeaderValue::from_static("application/json"),
    };
    ([(header::CONTENT_TYPE, media_type)], row.content).into_response()
}

impl From<HierarchyHead> for HierarchyDetailView {
    fn from(row: HierarchyHead) -> Self {
        Self {
            hierarchy: HierarchyView {
                name: row.name,
                digest: row.digest,
                leaves: row.leaves,
                height: row.height,
            },
            revision: row.revision,
            library: row.dataset.is_none(),
            media_type: row.media_type,
            created_at: row.created_at,
        }
    }
}

/// A problem unless a text of the path can be the name of a hierarchy.
pub(super) fn check_name(name: &str) -> Result<(), Problem> {
    let characters = name.chars().count();
    if (1..=NAME_CHARACTERS_MAX).contains(&characters) && !name.chars().any(char::is_control) {
        return Ok(());
    }
    let detail = "a name has 1 to 64 characters and no control character";
    Err(Problem::new(ProblemKind::InvalidId, detail))
}

/// Reads the content where a large tree keeps nobody waiting.
async fn read(
    name: String,
    media_type: &str,
    content: Vec<u8>,
    (limits, bytes_max): (HierarchyLimits, u64),
) -> Result<NewHierarchy, Problem> {
    let media_type = media_type.to_owned();
    let reading = tokio::task::spawn_blocking(move || {
        let format = match media_type.as_str() {
            "text/csv" => HierarchyFormat::Csv,
            _ => HierarchyFormat::Json,
        };
        let by_rule = match format {
            HierarchyFormat::Json => csv_of_rule(&content, &limits)?,
            HierarchyFormat::Csv => None,
        };
        // What a rule makes is kept, not the rule: it stays what it is when
        // rules change.
        let (content, media_type, format) = match by_rule {
            Some(csv) if csv.len() as u64 > bytes_max => {
                return Err(TableError::PastLimit {
                    name: "hierarchy_bytes_max",
                    value: bytes_max,
                    unit: "bytes",
                });
            }
            Some(csv) => (csv.into_bytes(), "text/csv".into(), HierarchyFormat::Csv),
            None => (content, media_type, format),
        };
        let hierarchy = HierarchySource::read_within(&content, format, &limits)?;
        Ok(NewHierarchy {
            dataset: None,
            name,
            digest: hierarchy.digest(),
            leaves: hierarchy.leaf_count() as u64,
            height: hierarchy.height(),
            media_type,
            content,
            allow_new_version: false,
        })
    });
    match reading.await {
        Ok(read) => read.map_err(|error| table_problem(&error, ProblemKind::InvalidHierarchy)),
        Err(_) => Err(Problem::internal()),
    }
}
