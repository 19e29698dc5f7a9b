//! The router: every route under its layers.
//!
//! Outermost first: observe (request id, span, metrics, problems), panics,
//! authorize, then the handler. Layers that read bodies or time do not stand
//! here: handlers read their own body under their own limits, and event
//! streams and downloads have neither timeout nor compression.

use axum::Router;
use axum::middleware;
use tower_http::catch_panic::CatchPanicLayer;
use utoipa_axum::router::OpenApiRouter;

use super::auth::authorize;
use super::observe::{answer_panic, observe};
use super::problem::{Problem, ProblemKind};
use super::routes;
use super::state::AppState;

/// All described operations, without state and layers.
pub(super) fn operations() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .merge(routes::keys::router())
        .merge(routes::datasets::router())
        .merge(routes::records::router())
        .merge(routes::hierarchies::router())
        .merge(routes::preferences::router())
        .merge(routes::preference_import::router())
        .merge(routes::subject_tokens::router())
        .merge(routes::my_preferences::router())
        .merge(routes::engines::router())
        .merge(routes::jobs::router())
        .merge(routes::job_events::router())
        .merge(routes::releases::router())
        .merge(routes::tables::router())
        .merge(routes::documents::router())
        .merge(routes::health::router())
        .merge(routes::documentation::router())
}

/// The whole service.
pub fn router(state: AppState) -> Router {
    let (operations, _) = operations().split_for_parts();
    operations
        .route_layer(middleware::from_fn_with_state(state.clone(), authorize))
        .merge(routes::documentation::page())
        .fallback(async || Problem::not_found("path"))
        .method_not_allowed_fallback(async || {
            Problem::new(
                ProblemKind::MethodNotAllowed,
                "the header Allow names the methods of this path",
            )
        })
        .layer(CatchPanicLayer::custom(answer_panic))
        .layer(middleware::from_fn(observe))
        .with_state(state)
}
