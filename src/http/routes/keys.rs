//! API keys: made, listed and revoked by admins.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::PageView;
use super::query::PageQuery;
use crate::config::Secret;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::{KeyError, KeyWish, Principal, Role, create_key as make_key};
use crate::http::extract::{JsonBody, UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{DatasetId, KeyId};
use crate::store::KeyRow;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_key, list_keys))
        .routes(routes!(revoke_key))
}

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct KeyRequest {
    /// What people call it; 1 to 200 characters, none of them a control character.
    #[schema(examples("etl"))]
    name: String,
    /// What it may do; at least one.
    #[schema(min_items = 1)]
    roles: Vec<Role>,
    /// The datasets that it is tied to; null or absent: all.
    #[serde(default)]
    datasets: Option<Vec<DatasetId>>,
    /// How long it lives, in seconds by the store's clock, at most ten years;
    /// null or absent: until it is revoked.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 315_360_000, examples(7_776_000))]
    expires_in_s: Option<u64>,
}

/// A key, without its secret.
#[derive(Debug, Serialize, ToSchema)]
struct KeyView {
    /// Its id.
    id: KeyId,
    /// What people call it.
    name: String,
    /// What it may do.
    roles: Vec<String>,
    /// The datasets that it is tied to; null: all.
    datasets: Option<Vec<DatasetId>>,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// When it was revoked, if it was.
    revoked_at: Option<DateTime<Utc>>,
    /// When it ends by itself; null: never.
    expires_at: Option<DateTime<Utc>>,
    /// When it was last used, to the minute.
    last_used_at: Option<DateTime<Utc>>,
}

/// A key that was just made.
#[derive(Debug, Serialize, ToSchema)]
struct NewKeyView {
    /// The bearer token. It is shown only here.
    #[schema(examples("vz_0199d1f25a3e7c419d0b2f6a8c1e4b73_3f…"))]
    token: String,
    #[serde(flatten)]
    key: KeyView,
}

impl From<KeyRow> for KeyView {
    fn from(row: KeyRow) -> Self {
        Self {
            id: row.id,
            name: row.name,
            roles: row.roles,
            datasets: row.datasets,
            created_at: row.created_at,
            revoked_at: row.revoked_at,
            expires_at: row.expires_at,
            last_used_at: row.last_used_at,
        }
    }
}

/// Make a key
///
/// The token is in this answer and nowhere else. A key with an end is refused
/// from then on, as one that was revoked. A key that is tied to datasets
/// makes keys that are tied to some of them.
#[utoipa::path(
    post, path = "/v1/keys", operation_id = "create_key", tag = "keys",
    request_body = KeyRequest,
    responses((status = 201, description = "The key, with its token.", body = NewKeyView)),
)]
async fn create_key(
    State(state): State<AppState>,
    principal: Principal,
    JsonBody(request): JsonBody<KeyRequest>,
) -> Result<Answer, Problem> {
    principal.may_tie(request.datasets.as_deref())?;
    let wish = KeyWish {
        name: request.name,
        roles: request.roles,
        datasets: request.datasets,
        lifetime_s: request.expires_in_s,
    };
    let act = |token: &Secret| {
        let token = token.clone();
        principal.act_answering(move |row| Some(made_key(row, &token)))
    };
    let store = state.store.as_ref();
    let made = make_key(store, act, wish).await;
    let (row, token) = made.map_err(|error| match error {
        KeyError::Store(error) => Problem::from(error),
        KeyError::Name | KeyError::NoRole | KeyError::Lifetime => {
            Problem::new(ProblemKind::InvalidBody, error.to_string())
        }
        _ => Problem::internal(),
    })?;
    failpoint::reached("key-committed");
    Ok(made_key(&row, &token))
}

fn made_key(row: &KeyRow, token: &Secret) -> Answer {
    let view = NewKeyView {
        token: token.expose().to_owned(),
        key: row.clone().into(),
    };
    Answer::new(StatusCode::CREATED, &view)
}

/// List keys
///
/// Newest first, revoked ones among them. A key that is tied to
/// datasets finds keys that are tied to some of them and to no others.
#[utoipa::path(
    get, path = "/v1/keys", operation_id = "list_keys", tag = "keys",
    params(PageQuery),
    responses((status = 200, description = "One page of keys.", body = PageView<KeyView>)),
)]
async fn list_keys(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<PageQuery>,
) -> Result<Json<PageView<KeyView>>, Problem> {
    let within = principal.datasets().map(<[_]>::to_vec);
    let page = state.store.key_list(query.request()?, within).await?;
    Ok(Json(PageView::of(page, KeyView::from)))
}

/// Revoke a key
///
/// For good and at once; a second time changes nothing. A key that is tied to
/// datasets revokes keys that are tied to some of them and to no others.
#[utoipa::path(
    delete, path = "/v1/keys/{id}", operation_id = "revoke_key", tag = "keys",
    params(("id" = KeyId, Path, description = "The key.")),
    responses((status = 200, description = "The revoked key.", body = KeyView)),
)]
async fn revoke_key(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<KeyId>,
) -> Result<Json<KeyView>, Problem> {
    // What a key is tied to never changes.
    principal.sees_key(&state.store.key_get(id).await?)?;
    let revoked = state.store.key_revoke(principal.act(), id).await?;
    Ok(Json(revoked.into()))
}
