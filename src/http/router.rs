//! The router: every route under its layers.
//!
//! Outermost first: what may keep the answer, observe (request id, span,
//! metrics, problems), size and doubled fields of the header, panics, authorize
//! (with the rates), idempotency key, names in the query, then the handler. Layers that read bodies or time do not stand
//! here: handlers read their own body under their own limits, and event
//! streams and downloads have neither timeout nor compression.

use axum::Router;
use axum::http::{HeaderValue, header};
use axum::middleware;
use tower::util::option_layer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use utoipa_axum::router::OpenApiRouter;

use super::auth::authorize;
use super::cache_control::keep_nothing;
use super::consent_origins;
use super::header::refuse_header;
use super::idempotency::admit;
use super::observe::{answer_panic, observe};
use super::problem::{Problem, ProblemKind};
use super::query_names::{QueryNames, refuse_unknown};
use super::routes;
use super::state::AppState;

/// How long a browser that saw TLS here asks for nothing else.
const ONE_YEAR: &str = "max-age=31536000";

/// All described operations, without state and layers.
pub(super) fn operations() -> OpenApiRouter<AppState> {
    api().merge(watched())
}

/// What machines watch the service by.
fn watched() -> OpenApiRouter<AppState> {
    routes::health::router().merge(routes::health::metrics_router())
}

/// All but what machines watch the service by.
fn api() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(routes::keys::router())
        .merge(routes::webhooks::router())
        .merge(routes::datasets::router())
        .merge(routes::floors::router())
        .merge(routes::retention::router())
        .merge(routes::schema::router())
        .merge(routes::inspections::router())
        .merge(routes::records::router())
        .merge(routes::risk::router())
        .merge(routes::population_table::router())
        .merge(routes::hierarchies::router())
        .merge(routes::dataset_hierarchies::router())
        .merge(routes::hierarchy_review::router())
        .merge(routes::preferences::router())
        .merge(routes::preference_import::router())
        .merge(routes::subject_tokens::router())
        .merge(routes::subjects::router())
        .merge(routes::my_preferences::router())
        .merge(routes::engines::router())
        .merge(routes::jobs::router())
        .merge(routes::job_events::router())
        .merge(routes::explorations::router())
        .merge(routes::releases::router())
        .merge(routes::reidentifications::router())
        .merge(routes::comparison::router())
        .merge(routes::release_hierarchies::router())
        .merge(routes::release_query::router())
        .merge(routes::tables::router())
        .merge(routes::bundle::router())
        .merge(routes::documents::router())
        .merge(routes::audit::router())
        .merge(routes::ledger::router())
        .merge(routes::documentation::router())
}

/// The whole service; health and metrics only where no other address has them,
/// and metrics only where nobody else reaches the address, or may.
pub fn router(state: AppState) -> Router {
    let settings = &state.settings;
    let operations = match settings.metrics_listen {
        Some(_) => api(),
        None if settings.metrics_public || settings.listen.ip().is_loopback() => operations(),
        None => api().merge(routes::health::router()),
    };
    let mut pages = routes::documentation::pages();
    if let Some(people) = state.pages {
        pages = pages.merge(people(&state));
    }
    let origins = state.settings.access.consent_origins.clone();
    consent_origins::let_call(layered(operations, Some(pages), state), &origins)
}

/// The API alone, for pages that ask it inside the process.
pub fn inner_router(state: AppState) -> Router {
    layered(api(), None, state)
}

/// Health, readiness and metrics alone.
pub fn observation_router(state: AppState) -> Router {
    layered(watched(), None, state)
}

fn layered(
    operations: OpenApiRouter<AppState>,
    page: Option<Router<AppState>>,
    state: AppState,
) -> Router {
    let (operations, described) = operations.split_for_parts();
    let names = QueryNames::of(described);
    operations
        .route_layer(middleware::from_fn_with_state(names, refuse_unknown))
        .route_layer(middleware::from_fn_with_state(state.clone(), admit))
        .route_layer(middleware::from_fn_with_state(state.clone(), authorize))
        .merge(page.unwrap_or_default())
        .fallback(async || Problem::not_found("path"))
        .method_not_allowed_fallback(async || {
            Problem::new(
                ProblemKind::MethodNotAllowed,
                "the header Allow names the methods of this path",
            )
        })
        .layer(CatchPanicLayer::custom(answer_panic))
        .layer(middleware::from_fn_with_state(state.clone(), refuse_header))
        .layer(middleware::from_fn(observe))
        .layer(middleware::from_fn(keep_nothing))
        .layer(SetResponseHeaderLayer::overriding(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        ))
        .layer(option_layer(state.tls.is_some().then(|| {
            SetResponseHeaderLayer::overriding(
                header::STRICT_TRANSPORT_SECURITY,
                HeaderValue::from_static(ONE_YEAR),
            )
        })))
        .with_state(state)
}
