//! A subject's own terms, set with a one-time token.
//!
//! The caller knows the token and nothing else; so the answer says nothing of
//! the dataset or the subject. Terms that do not fit leave the token as it is:
//! only terms that were kept use it up, in the same transaction.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::preferences::read;
use crate::http::auth::SubjectBearer;
use crate::http::described::TermsDocument;
use crate::http::extract::JsonBody;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(put_my_preferences))
}

/// The terms that are now in force.
#[derive(Serialize, ToSchema)]
struct MyPreferencesView {
    /// What the holder of the token asks for.
    #[schema(value_type = TermsDocument)]
    terms: Value,
}

/// Set one's own terms
///
/// They replace the subject's earlier terms, and the token is used up. A token
/// that never was, was used or is over is answered the same: 401.
#[utoipa::path(
    put, path = "/v1/my-preferences", operation_id = "put_my_preferences", tag = "preferences",
    request_body = TermsDocument,
    responses((status = 200, description = "The terms in force.", body = MyPreferencesView)),
)]
async fn put_my_preferences(
    State(state): State<AppState>,
    bearer: SubjectBearer,
    JsonBody(document): JsonBody<Value>,
) -> Result<Json<MyPreferencesView>, Problem> {
    if document.get("subject").is_some() {
        let detail = "the token says whose terms these are";
        return Err(Problem::new(ProblemKind::InvalidBody, detail));
    }
    let (id, subject) = (bearer.row.dataset, bearer.row.subject.clone());
    let dataset = state.store.dataset_get(id).await;
    let dataset = dataset.map_err(SubjectBearer::problem)?;
    let preference = read(&state, &dataset, subject, document).await?;
    let terms = serde_json::to_value(&preference.terms).map_err(|_| Problem::internal())?;
    let (act, token) = (bearer.act(), bearer.token_hash);
    let used = state.store.subject_token_use(act, token, terms.clone());
    used.await.map_err(SubjectBearer::problem)?;
    Ok(Json(MyPreferencesView { terms }))
}
