//! Consent forms on other hosts: which of them a browser may let call.
//!
//! A form of a hospital's own portal asks from another origin, so the browser
//! asks first (CORS preflight). Only what a subject's token or a receipt's code
//! opens answers, only to the origins that the operator named, and never with
//! cookies. Without an origin named there is nothing here, and `OPTIONS` is 405.

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use std::time::Duration;
use tower::{Layer, ServiceExt};
use tower_http::cors::{AllowOrigin, CorsLayer};

use crate::config::WebOrigin;

/// Where subjects' own operations are.
const PLACE: &str = "/v1/my-preferences";
/// How long a browser remembers an answer to a preflight.
const REMEMBERED: Duration = Duration::from_secs(600);

/// Lets browsers call subjects' own operations from these origins.
pub(super) fn let_call<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    origins: &[WebOrigin],
) -> Router<S> {
    if origins.is_empty() {
        return router;
    }
    let values = origins.iter();
    let values = values.filter_map(|origin| HeaderValue::from_str(origin.as_str()).ok());
    let cors = CorsLayer::new()
        .allow_origin(AllowOrigin::list(values))
        .allow_methods([Method::GET, Method::PUT, Method::POST])
        .allow_headers([header::AUTHORIZATION, header::CONTENT_TYPE])
        .max_age(REMEMBERED);
    router.layer(middleware::from_fn_with_state(cors, answer))
}

async fn answer(State(cors): State<CorsLayer>, request: Request, next: Next) -> Response {
    let rest = request.uri().path().strip_prefix(PLACE);
    if rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/')) {
        return next.run(request).await;
    }
    match cors.layer(next).oneshot(request).await {
        Ok(response) => response.into_response(),
        Err(never) => match never {},
    }
}
