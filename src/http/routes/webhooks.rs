//! Webhooks: made, looked at, given another secret, asked for a ping, deleted.
//!
//! A secret is in the answer that drew it and nowhere else. Who is tied to
//! datasets makes and finds webhooks that are tied to some of them and to no
//! others. Where a webhook may be is the operator's to say.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::PageView;
use super::query::PageQuery;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, NoBody, UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{DatasetId, WebhookId};
use crate::store::{DrawnWebhook, LastAttempt, NewWebhook, WebhookEvent, WebhookRow};

/// Most datasets that a webhook is tied to.
const DATASETS_MAX: usize = 100;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_webhook, list_webhooks))
        .routes(routes!(get_webhook, delete_webhook))
        .routes(routes!(rotate_webhook))
        .routes(routes!(ping_webhook))
}

/// A webhook to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct WebhookRequest {
    /// Where it is told: under one of the origins that the operator allows.
    #[schema(examples("https://hooks.hospital.org/vizard"), max_length = 2000)]
    url: String,
    /// What it is told; at least one.
    #[schema(min_items = 1)]
    events: Vec<WebhookEvent>,
    /// Of these datasets alone; null or absent: of all.
    #[serde(default)]
    #[schema(min_items = 1, max_items = 100)]
    datasets: Option<Vec<DatasetId>>,
}

/// A webhook, without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Webhook)]
struct WebhookView {
    /// Its id.
    id: WebhookId,
    /// Where it is told.
    url: String,
    /// What it is told.
    events: Vec<WebhookEvent>,
    /// Of these datasets alone; null: of all.
    datasets: Option<Vec<DatasetId>>,
    /// Id of the key that asked for it.
    created_by: String,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// When it was switched off: its receiver answered 410. A ping that is taken
    /// switches it on again.
    switched_off_at: Option<DateTime<Utc>>,
    /// Messages that wait to be told.
    waiting: u64,
    /// The last attempt to tell it something; null: there was none.
    last_delivery: Option<LastDeliveryView>,
}

/// The last attempt to tell a webhook something.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LastDelivery)]
struct LastDeliveryView {
    /// When it ended.
    at: DateTime<Utc>,
    /// What was told.
    #[schema(examples("job.succeeded"))]
    event: String,
    /// The class of the answer's status (`2xx`, `3xx`, `4xx`, `5xx`, `410`), or why
    /// there was none: `timeout`, `no_connection`, `origin_refused`, `internal`.
    #[schema(examples("2xx"))]
    outcome: String,
    /// Attempts at this message so far.
    attempts: u32,
}

/// A webhook whose secret was just drawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NewWebhook)]
struct NewWebhookView {
    /// What signs its messages. It is shown only here.
    #[schema(examples("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))]
    secret: String,
    #[serde(flatten)]
    webhook: WebhookView,
}

impl From<LastAttempt> for LastDeliveryView {
    fn from(last: LastAttempt) -> Self {
        Self {
            at: last.at,
            event: last.event,
            outcome: last.outcome,
            attempts: last.attempts,
        }
    }
}

impl From<WebhookRow> for WebhookView {
    fn from(row: WebhookRow) -> Self {
        Self {
            id: row.id,
            url: row.url,
            events: row.events,
            datasets: row.datasets,
            created_by: row.created_by,
            created_at: row.created_at,
            switched_off_at: row.switched_off_at,
            waiting: row.waiting,
            last_delivery: row.last.map(LastDeliveryView::from),
        }
    }
}

fn drawn(status: StatusCode, drawn: &DrawnWebhook) -> Answer {
    let view = NewWebhookView {
        secret: drawn.secret.text(),
        webhook: drawn.row.clone().into(),
    };
    Answer::new(status, &view)
}

fn made(webhook: &DrawnWebhook) -> Answer {
    let location = format!("/v1/webhooks/{}", webhook.row.id);
    drawn(StatusCode::CREATED, webhook).with(header::LOCATION, &location)
}

fn view(row: &WebhookRow) -> Answer {
    Answer::ok(&WebhookView::from(row.clone()))
}

/// Make a webhook
///
/// It is told, by a signed POST, when one of the events happens. The secret is in
/// this answer and nowhere else. A key that is tied to datasets makes webhooks
/// that are tied to some of them.
#[utoipa::path(
    post, path = "/v1/webhooks", operation_id = "create_webhook", tag = "webhooks",
    request_body = WebhookRequest,
    responses((status = 201, description = "The webhook, with its secret.", body = NewWebhookView,
        headers(("location" = String, description = "Path of the webhook.")))),
)]
async fn create_webhook(
    State(state): State<AppState>,
    principal: Principal,
    JsonBody(request): JsonBody<WebhookRequest>,
) -> Result<Answer, Problem> {
    principal.may_tie(request.datasets.as_deref())?;
    let url = state.settings.webhook_origins.allow(&request.url);
    let url = url.map_err(|error| {
        let detail = format!("url: {error}");
        Problem::new(ProblemKind::InvalidBody, detail).with_parameter("url")
    })?;
    let new = NewWebhook {
        id: WebhookId::generate(),
        origin: url.origin().ascii_serialization(),
        url: url.into(),
        events: events(request.events)?,
        datasets: datasets(&state, request.datasets).await?,
        created_by: principal.name().to_owned(),
    };
    let act = principal.act_answering(|webhook| Some(made(webhook)));
    Ok(made(&state.store.webhook_create(act, new).await?))
}

/// The events in their order, each once.
fn events(mut events: Vec<WebhookEvent>) -> Result<Vec<WebhookEvent>, Problem> {
    events.sort_unstable();
    events.dedup();
    if events.is_empty() {
        let detail = "events: a webhook is told one event at least";
        return Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("events"));
    }
    Ok(events)
}

/// The datasets in their order, each once; all of them are there.
async fn datasets(
    state: &AppState,
    datasets: Option<Vec<DatasetId>>,
) -> Result<Option<Vec<DatasetId>>, Problem> {
    let Some(mut ids) = datasets else {
        return Ok(None);
    };
    ids.sort_unstable();
    ids.dedup();
    if ids.is_empty() || ids.len() > DATASETS_MAX {
        let detail = format!("datasets: 1 to {DATASETS_MAX} of them; null for all");
        return Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("datasets"));
    }
    for id in &ids {
        state.store.dataset_get(*id).await?;
    }
    Ok(Some(ids))
}

/// List webhooks
///
/// Newest first. A key that is tied to datasets finds webhooks that are tied to
/// some of them and to no others.
#[utoipa::path(
    get, path = "/v1/webhooks", operation_id = "list_webhooks", tag = "webhooks",
    params(PageQuery),
    responses((status = 200, description = "One page of webhooks.", body = PageView<WebhookView>)),
)]
async fn list_webhooks(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<PageQuery>,
) -> Result<Json<PageView<WebhookView>>, Problem> {
    let within = principal.datasets().map(<[_]>::to_vec);
    let page = state.store.webhook_list(query.request()?, within).await?;
    Ok(Json(PageView::of(page, WebhookView::from)))
}

/// Look at a webhook
///
/// With the last attempt to tell it something; never its secret.
#[utoipa::path(
    get, path = "/v1/webhooks/{id}", operation_id = "get_webhook", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 200, description = "The webhook.", body = WebhookView)),
)]
async fn get_webhook(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<WebhookId>,
) -> Result<Json<WebhookView>, Problem> {
    Ok(Json(visible(&state, &principal, id).await?.into()))
}

/// Give a webhook another secret
///
/// The secret is in this answer and nowhere else. The one before signs too for
/// 24 hours: messages have two signatures meanwhile, and there is no third secret
/// before that time is over.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/rotate", operation_id = "rotate_webhook", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 200, description = "The webhook, with its new secret.", body = NewWebhookView)),
)]
async fn rotate_webhook(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<WebhookId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    visible(&state, &principal, id).await?;
    let act = principal.act_answering(|webhook| Some(drawn(StatusCode::OK, webhook)));
    let webhook = state.store.webhook_rotate(act, id).await?;
    Ok(drawn(StatusCode::OK, &webhook))
}

/// Ping a webhook
///
/// It is told the event `ping`, also where it is switched off: if that is taken,
/// it is on again. Where a ping waits already nothing is added.
#[utoipa::path(
    post, path = "/v1/webhooks/{id}/ping", operation_id = "ping_webhook", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 200, description = "The webhook, with the message that waits.", body = WebhookView)),
)]
async fn ping_webhook(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<WebhookId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    visible(&state, &principal, id).await?;
    let act = principal.act_answering(|row| Some(view(row)));
    Ok(view(&state.store.webhook_ping(act, id).await?))
}

/// Delete a webhook
///
/// What it was to be told goes too.
#[utoipa::path(
    delete, path = "/v1/webhooks/{id}", operation_id = "delete_webhook", tag = "webhooks",
    params(("id" = WebhookId, Path, description = "The webhook.")),
    responses((status = 200, description = "The webhook as it was.", body = WebhookView)),
)]
async fn delete_webhook(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<WebhookId>,
) -> Result<Json<WebhookView>, Problem> {
    visible(&state, &principal, id).await?;
    let deleted = state.store.webhook_delete(principal.act(), id).await?;
    Ok(Json(deleted.into()))
}

/// A webhook that the principal may see.
async fn visible(
    state: &AppState,
    principal: &Principal,
    id: WebhookId,
) -> Result<WebhookRow, Problem> {
    let row = state.store.webhook_get(id).await?;
    // What a webhook is tied to never changes.
    principal.sees_tied(row.datasets.as_deref(), "webhook")?;
    Ok(row)
}
