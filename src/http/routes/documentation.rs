//! openapi.yaml, and the page to browse it, from files compiled into the binary.

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use crate::http::openapi::document_yaml;
use crate::http::state::AppState;

/// What the pages under `/docs` may load: files and answers of this service,
/// and the pictures that the viewer's style holds.
const OF_DOCS: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
     object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_openapi))
}

/// The page at `/docs`; its only source is `/openapi.yaml`.
pub(in crate::http) fn pages() -> Router<AppState> {
    let config = Config::from("/openapi.yaml").validator_url("none");
    let docs: Router<AppState> = SwaggerUi::new("/docs").config(config).into();
    docs.layer(middleware::from_fn(async |request: Request, next: Next| {
        guarded(next.run(request).await, OF_DOCS)
    }))
}

/// A page with what a browser is told of it.
fn guarded(mut page: Response, policy: &'static str) -> Response {
    let told = [
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
    ];
    for (name, value) in told {
        page.headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    page
}

/// This document
#[utoipa::path(
    get, path = "/openapi.yaml", operation_id = "get_openapi", tag = "service",
    responses((status = 200, description = "OpenAPI 3.1.", body = Object, content_type = "application/yaml")),
)]
async fn get_openapi() -> impl IntoResponse {
    (
        [(header::CONTENT_TYPE, "application/yaml")],
        document_yaml(),
    )
}
