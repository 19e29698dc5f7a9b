//! The hierarchies of a release: what its generalized categories stand for.
//!
//! They are those that its version of the dataset pins, read from the store each
//! time; nodes are the public domain and tell of no record. A job may withhold
//! them. A dataset's own go with the dataset.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::{AttributeType, Schema};
use vizard_anonymizer::release::{
    HierarchyDescription, HierarchyList, HierarchyUse, ReleaseHierarchy,
};

use super::releases::visible_release;
use super::version_schema;
use crate::http::auth::Principal;
use crate::http::extract::UrlPath;
use crate::http::precondition;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::http::upload::load_hierarchies;
use crate::ids::ReleaseId;
use crate::store::{Conflict, ReleaseRow, ReleaseState, StoreError};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get_release_hierarchies))
        .routes(routes!(get_release_hierarchy))
}

/// Which hierarchies are published with a release.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ReleaseHierarchies)]
pub(super) struct ListView {
    /// Those that are, in order of the schema's attributes.
    #[schema(value_type = Vec<ReleaseHierarchyView>)]
    published: Vec<HierarchyDescription>,
    /// Attributes whose hierarchy is not: the job withheld it, or it went with
    /// its dataset.
    withheld: Vec<String>,
}

/// A hierarchy that is published with a release.
#[derive(ToSchema)]
#[schema(as = ReleaseHierarchy)]
#[allow(dead_code, reason = "describes `release::HierarchyDescription`")]
struct ReleaseHierarchyView {
    /// The attribute that it is over.
    attribute: String,
    /// Its name.
    name: String,
    /// Number of leaves.
    leaves: u64,
    /// Number of levels, leaves and root included.
    levels: u32,
    /// SHA-256 of its CSV form; hex.
    sha256: String,
}

/// What of the hierarchies of a release may be read.
#[derive(Default)]
pub(super) struct Shown {
    /// Those that are published.
    pub hierarchies: Vec<ReleaseHierarchy>,
    /// Attributes whose hierarchy is not.
    pub withheld: Vec<String>,
}

/// List a release's hierarchies
///
/// Those of its published categories, as CSV described. Offline the same
/// document is `hierarchies.json`.
#[utoipa::path(
    get, path = "/v1/releases/{id}/hierarchies", operation_id = "get_release_hierarchies", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "Its hierarchies.", body = ListView)),
)]
async fn get_release_hierarchies(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
) -> Result<Json<ListView>, Problem> {
    let release = readable_release(&state, &principal, id).await?;
    let Shown {
        hierarchies,
        withheld,
    } = shown(&state, &release).await?;
    let listing = move || HierarchyList::of(&hierarchies, HierarchyUse::Publish);
    let list = tokio::task::spawn_blocking(listing).await;
    let list = list.map_err(|_| Problem::internal())?;
    Ok(Json(ListView {
        published: list.published,
        withheld,
    }))
}

/// Download a hierarchy of a release
///
/// As CSV, a line a leaf, from leaf to root.
#[utoipa::path(
    get, path = "/v1/releases/{id}/hierarchies/{attribute}", operation_id = "get_release_hierarchy", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release."),
        ("attribute" = String, Path, description = "The attribute that it is over."),
        ("if-none-match" = Option<String>, Header, description = "Tags of what the client has already.")),
    responses(
        (status = 200, description = "The hierarchy.", content((String = "text/csv")),
            headers(("etag" = String, description = "Its digest."))),
        (status = 304, description = "The client has it already.")),
)]
async fn get_release_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, attribute)): UrlPath<(ReleaseId, String)>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let release = readable_release(&state, &principal, id).await?;
    let shown = shown(&state, &release).await?;
    let mut found = shown.hierarchies.into_iter();
    let found = found.find(|one| one.attribute == attribute);
    let found = found.ok_or_else(|| Problem::not_found("hierarchy of the release"))?;
    let written = move || (found.description().sha256, found.tree.to_csv());
    let (digest, csv) =
        (tokio::task::spawn_blocking(written).await).map_err(|_| Problem::internal())?;
    let tag = HeaderValue::from_str(&format!("\"{digest}\""));
    let tag = [(header::ETAG, tag.map_err(|_| Problem::internal())?)];
    if precondition::has_already(&headers, &digest)? {
        return Ok((StatusCode::NOT_MODIFIED, tag).into_response());
    }
    let media_type = HeaderValue::from_static("text/csv; charset=utf-8; header=absent");
    Ok((tag, [(header::CONTENT_TYPE, media_type)], csv).into_response())
}

/// A release whose bytes the principal may read.
pub(super) async fn readable_release(
    state: &AppState,
    principal: &Principal,
    id: ReleaseId,
) -> Result<ReleaseRow, Problem> {
    let release = visible_release(state, principal, id).await?;
    if release.state == ReleaseState::Withdrawn {
        state.queries.indexes.forget(id);
        return Err(Conflict::ReleaseState.into());
    }
    Ok(release)
}

/// What of the hierarchies of a release may be read.
pub(super) async fn shown(state: &AppState, release: &ReleaseRow) -> Result<Shown, Problem> {
    let store = &state.store;
    // Also of a version whose records were purged.
    let versions = store.version_list(release.dataset).await?;
    let version = versions.iter();
    let mut version = version.filter(|row| row.version == release.dataset_version);
    let version = version
        .next()
        .ok_or_else(|| Problem::not_found("version"))?;
    let schema = version_schema(version)?;
    let pinned = &version.hierarchies;
    let found = load_hierarchies(store, release.dataset, &schema, pinned, true).await?;
    let hierarchies = if withheld_by_job(state, release).await? {
        Vec::new()
    } else {
        ReleaseHierarchy::of(&schema, &found.set)
    };
    let is_there = |name: &str| hierarchies.iter().any(|one| one.attribute == name);
    let withheld = over_hierarchies(&schema).filter(|name| !is_there(name));
    Ok(Shown {
        withheld: withheld.map(str::to_owned).collect(),
        hierarchies,
    })
}

/// Published categories that have a hierarchy.
fn over_hierarchies(schema: &Schema) -> impl Iterator<Item = &str> {
    let attributes = schema.publishable().into_iter();
    attributes.filter_map(|index| {
        let attribute = schema.attribute(index);
        let is_category = attribute.kind == Some(AttributeType::Categorical);
        (is_category && attribute.hierarchy.is_some()).then_some(&*attribute.name)
    })
}

async fn withheld_by_job(state: &AppState, release: &ReleaseRow) -> Result<bool, Problem> {
    match state.store.job_get(release.job).await {
        Ok(job) => Ok(!publishes_hierarchies(&job.spec)),
        // Nobody can say any more what was meant.
        Err(StoreError::NotFound { .. }) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Whether a job's specification says that they are published. One from before
/// there was the word does not: its stewards did not know of it.
fn publishes_hierarchies(spec: &Value) -> bool {
    spec["hierarchies"] == "publish"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::JobSpec;
    use serde_json::json;

    #[test]
    fn a_release_from_before_the_word_publishes_no_hierarchy() {
        let asked =
            json!({"dataset": "dataset_01a21feb-7fb7-77cb-9753-5dcadd6447a7", "engine": "lgb"});
        assert!(!publishes_hierarchies(&asked), "as older jobs are kept");
        let kept = |asked: &Value| {
            let spec: JobSpec = serde_json::from_value(asked.clone()).unwrap();
            serde_json::to_value(spec).unwrap()
        };
        assert!(publishes_hierarchies(&kept(&asked)));
        let mut withheld = asked;
        withheld["hierarchies"] = json!("withhold");
        assert!(!publishes_hierarchies(&kept(&withheld)));
    }
}
