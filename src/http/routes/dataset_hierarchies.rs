//! Hierarchies of one dataset.
//!
//! A dataset's own hierarchy stands before the library's of the same name,
//! and nobody who does not see the dataset sees it. Of the library a dataset
//! shows what its schema names.

use axum::Json;
use axum::extract::{Request, State};
use axum::response::Response;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::hierarchies::{
    HierarchyAnswer, HierarchyPageView, HierarchyView, check_name, put, received, shown,
};
use super::query::{HierarchyGetQuery, HierarchyListQuery, HierarchyPutQuery};
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{UrlPath, UrlQuery};
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{HierarchyScope, NewHierarchy};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(put_dataset_hierarchy, get_dataset_hierarchy))
        .routes(routes!(list_dataset_hierarchies))
}

/// Put a hierarchy of a dataset's own
///
/// The dataset uses it in place of the library's of that name, from the next
/// upload on that pins none or says `hierarchies=latest`. The same content
/// again changes nothing. Other content under a name that the dataset has
/// needs `new_version=true`.
#[utoipa::path(
    put, path = "/v1/datasets/{id}/hierarchies/{name}", operation_id = "put_dataset_hierarchy", tag = "hierarchies",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("name" = String, Path, description = "Its name, 1 to 64 characters.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), HierarchyPutQuery,
        ("content-encoding" = Option<String>, Header, description = "`gzip` or `zstd`, where the body is packed.")),
    request_body(description = "CSV with one line a leaf, from leaf to root; or JSON: a tree, a rule (kept as the CSV that it makes), or intervals.",
        content((String = "text/csv", example = "primary;school;*\nsecondary;school;*\nuniversity;*\n"),
                (Object = "application/json", example = json!({"intervals": {"origin": 0, "width": 5, "fanouts": [2, 5]}})))),
    responses(
        (status = 200, description = "It is there already.", body = HierarchyView),
        (status = 201, description = "It was put.", body = HierarchyView)),
)]
async fn put_dataset_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, name)): UrlPath<(DatasetId, String)>,
    UrlQuery(query): UrlQuery<HierarchyPutQuery>,
    request: Request,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let new = NewHierarchy {
        dataset: Some(id),
        ..received(&state, name, &query, request).await?
    };
    put(&state, &principal, new).await
}

/// Describe a hierarchy that a dataset uses
///
/// Its own, else the library's if its schema names it. With `content=true`:
/// its content as it was put.
#[utoipa::path(
    get, path = "/v1/datasets/{id}/hierarchies/{name}", operation_id = "get_dataset_hierarchy", tag = "hierarchies",
    params(("id" = DatasetId, Path, description = "The dataset."),
        ("name" = String, Path, description = "Its name.",
            min_length = 1, max_length = 64, pattern = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"), HierarchyGetQuery),
    responses((status = 200, description = "The hierarchy, or its content.",
        content((HierarchyAnswer = "application/json"), (String = "text/csv")))),
)]
async fn get_dataset_hierarchy(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath((id, name)): UrlPath<(DatasetId, String)>,
    UrlQuery(query): UrlQuery<HierarchyGetQuery>,
) -> Result<Response, Problem> {
    principal.sees(id, "dataset")?;
    check_name(&name)?;
    let store = &state.store;
    store.dataset_get(id).await?;
    let named = store.hierarchy_names(vec![id]).await?.contains(&name);
    let row = store.hierarchy_get(Some(id), name, query.digest).await?;
    if row.head.dataset.is_none() && !named {
        return Err(Problem::not_found("hierarchy"));
    }
    Ok(shown(row, query.content))
}

/// List the hierarchies that a dataset uses
///
/// The latest revision of each, by name: its own, and those of the library
/// that its schema names and that it has none of (`library`).
#[utoipa::path(
    get, path = "/v1/datasets/{id}/hierarchies", operation_id = "list_dataset_hierarchies", tag = "hierarchies",
    params(("id" = DatasetId, Path, description = "The dataset."), HierarchyListQuery),
    responses((status = 200, description = "One page of hierarchies, by name.", body = HierarchyPageView)),
)]
async fn list_dataset_hierarchies(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    UrlQuery(query): UrlQuery<HierarchyListQuery>,
) -> Result<Json<HierarchyPageView>, Problem> {
    principal.sees(id, "dataset")?;
    let (limit, after) = query.request()?;
    state.store.dataset_get(id).await?;
    let scope = HierarchyScope::Dataset(id);
    let page = state.store.hierarchy_list(scope, limit, after).await?;
    Ok(Json(page.into()))
}
