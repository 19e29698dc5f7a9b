//! Two releases of one version, side by side.
//!
//! Reports and verifications are read whole: the operation is the steward's, and
//! each release counts as read.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::releases::visible_release;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, UrlPath};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{DatasetId, ReleaseId};
use crate::job::{ComparedFigure, compared};
use crate::store::{ReleaseDocument, ReleaseRead, ReleaseRow, ReleaseState};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(compare_releases))
}

/// With what a release is compared.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct CompareRequest {
    /// Another release of the same version of the dataset.
    with: ReleaseId,
}

/// Two releases side by side.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Comparison)]
struct ComparisonView {
    /// The dataset.
    dataset: DatasetId,
    /// The version of its records.
    version: u64,
    /// The release of the path.
    first: ComparedReleaseView,
    /// The other one.
    second: ComparedReleaseView,
    /// Every figure that one of both has, with the difference.
    figures: Vec<ComparedFigure>,
}

/// A release that is compared.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ComparedRelease)]
struct ComparedReleaseView {
    /// Its id.
    release: ReleaseId,
    /// Where it stands; figures of a withdrawn release are kept.
    state: ReleaseState,
    /// The engine's name.
    engine: String,
    /// The engine's parameters, with defaults.
    #[schema(value_type = Object)]
    parameters: Value,
}

impl ComparedReleaseView {
    fn of(row: &ReleaseRow) -> Self {
        Self {
            release: row.id,
            state: row.state,
            engine: row.engine.clone(),
            parameters: row.manifest["parameters"].clone(),
        }
    }
}

/// Compare two releases
///
/// Every figure of both reports and verifications side by side. Both are of one
/// version of a dataset.
#[utoipa::path(
    post, path = "/v1/releases/{id}/compare", operation_id = "compare_releases", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    request_body(content = CompareRequest),
    responses((status = 200, description = "Both, side by side.", body = ComparisonView)),
)]
async fn compare_releases(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    JsonBody(CompareRequest { with }): JsonBody<CompareRequest>,
) -> Result<Json<ComparisonView>, Problem> {
    let first = visible_release(&state, &principal, id).await?;
    let second = visible_release(&state, &principal, with).await?;
    let of = |row: &ReleaseRow| (row.dataset, row.dataset_version);
    if of(&first) != of(&second) {
        let detail = "releases are compared that were made from one version of one dataset";
        return Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("with"));
    }
    let one = documents(&state, id).await?;
    let other = documents(&state, with).await?;
    let mut read = vec![id, with];
    read.dedup();
    for id in read {
        let read = state
            .store
            .release_read(principal.act(), id, ReleaseRead::Report);
        read.await?;
    }
    Ok(Json(ComparisonView {
        dataset: first.dataset,
        version: first.dataset_version,
        first: ComparedReleaseView::of(&first),
        second: ComparedReleaseView::of(&second),
        figures: compared((&one.0, &one.1), (&other.0, &other.1)),
    }))
}

/// Report and verification.
async fn documents(state: &AppState, id: ReleaseId) -> Result<(Value, Value), Problem> {
    let report = state.store.release_document(id, ReleaseDocument::Report);
    let verification = state
        .store
        .release_document(id, ReleaseDocument::Verification);
    Ok((report.await?, verification.await?))
}
