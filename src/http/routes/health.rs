//! Health, readiness and metrics, for the machines that watch the service.

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::telemetry::observe_process;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(get_health))
        .routes(routes!(get_readiness))
}

/// Metrics: apart, because they are not for everybody who may ask for health.
pub(in crate::http) fn metrics_router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_metrics))
}

/// That the process lives.
#[derive(Debug, Serialize, ToSchema)]
struct HealthView {
    /// Always `alive`.
    status: &'static str,
    /// Version of Vizard.
    version: &'static str,
}

/// That the process can do its work.
#[derive(Debug, Serialize, ToSchema)]
struct ReadinessView {
    /// Always `ready`.
    status: &'static str,
    /// Number of the database's latest migration.
    schema_version: u64,
}

/// Is the process alive?
#[utoipa::path(
    get, path = "/healthz", operation_id = "get_health", tag = "service",
    responses((status = 200, description = "It is.", body = HealthView)),
)]
async fn get_health() -> Json<HealthView> {
    Json(HealthView {
        status: "alive",
        version: env!("CARGO_PKG_VERSION"),
    })
}

/// Can the service do its work?
///
/// No, while the store does not answer or the process is stopping.
#[utoipa::path(
    get, path = "/readyz", operation_id = "get_readiness", tag = "service",
    responses((status = 200, description = "It can.", body = ReadinessView)),
)]
async fn get_readiness(State(state): State<AppState>) -> Result<Json<ReadinessView>, Problem> {
    if state.shutdown.is_cancelled() {
        let detail = "the service is stopping";
        return Err(Problem::new(ProblemKind::Unavailable, detail));
    }
    state.store.ping().await?;
    Ok(Json(ReadinessView {
        status: "ready",
        schema_version: state.store.schema_version().await?,
    }))
}

/// Metrics
///
/// In Prometheus' text form. No label holds personal data. On an address that
/// other machines reach they are shown only where the operator said so.
#[utoipa::path(
    get, path = "/metrics", operation_id = "get_metrics", tag = "service",
    responses((status = 200, description = "The metrics.", body = String, content_type = "text/plain")),
)]
async fn get_metrics(State(state): State<AppState>) -> impl IntoResponse {
    let pool = state.store.pool_figures();
    for (kind, connections) in [("open", pool.open), ("idle", pool.idle), ("max", pool.max)] {
        metrics::gauge!("vizard_store_connections", "kind" => kind).set(f64::from(connections));
    }
    metrics::gauge!("vizard_uploads").set(state.uploads.all() as f64);
    observe_process();
    // A store that does not answer shows in the readiness; other metrics stay readable.
    if let Ok(depth) = state.store.queue_depth().await {
        for (job_state, jobs) in depth {
            metrics::gauge!("vizard_jobs", "state" => job_state.as_str()).set(jobs as f64);
        }
    }
    if let Ok(incomplete) = state.store.erasures_incomplete().await {
        metrics::gauge!("vizard_erasures_incomplete").set(incomplete as f64);
    }
    if let Ok(affected) = state.store.releases_affected_count().await {
        metrics::gauge!("vizard_releases_affected").set(affected as f64);
    }
    let media_type = "text/plain; version=0.0.4; charset=utf-8";
    ([(header::CONTENT_TYPE, media_type)], state.metrics.render())
}
