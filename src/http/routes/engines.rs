//! The engines, described for programs and people.

use axum::Json;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog;

use crate::http::state::AppState;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(list_engines))
}

/// All engines.
#[derive(Debug, Serialize, ToSchema)]
struct EngineList {
    /// Each with name, parameters as JSON Schema, guarantees, tables and papers.
    #[schema(value_type = Vec<EngineDocument>)]
    items: Value,
    /// Always null: all engines are on one page.
    next_cursor: Option<String>,
}

/// One engine.
#[derive(ToSchema)]
#[schema(as = Engine)]
#[allow(dead_code, reason = "describes what `catalog` says of an engine")]
struct EngineDocument {
    /// What a job calls it.
    name: String,
    /// What people call it.
    title: String,
    /// The question that it answers: what is published of people, and for whom
    /// that is right.
    question: String,
    /// What readers lose by it.
    costs: String,
    /// What the data must have.
    needs: String,
    /// How many records a subject has in the datasets that it publishes.
    multiplicity: String,
    /// JSON Schema of its parameters.
    #[schema(value_type = Object)]
    parameters: Value,
    /// Kinds of guarantees that it can give.
    guarantees: Vec<String>,
    /// Names of the tables that it publishes.
    tables: Vec<String>,
    /// Where it comes from.
    papers: Vec<String>,
    /// Against whom its guarantees hold.
    adversary: String,
    /// What its releases do not protect; a manifest says which of it concerns
    /// its own.
    not_protected: Vec<String>,
}

/// List engines
#[utoipa::path(
    get, path = "/v1/engines", operation_id = "list_engines", tag = "jobs",
    responses((status = 200, description = "All engines.", body = EngineList)),
)]
async fn list_engines() -> Json<EngineList> {
    Json(EngineList {
        items: catalog::descriptions(),
        next_cursor: None,
    })
}
