//! openapi.yaml, and the page to browse it, from files compiled into the binary.

use axum::Router;
use axum::http::header;
use axum::response::IntoResponse;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use utoipa_swagger_ui::{Config, SwaggerUi};

use super::super::openapi::document_yaml;
use super::super::state::AppState;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(get_openapi))
}

/// The page at `/docs`; its only source is `/openapi.yaml`.
pub(in crate::http) fn page() -> Router<AppState> {
    let config = Config::from("/openapi.yaml").validator_url("none");
    SwaggerUi::new("/docs").config(config).into()
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
