//! Tokens for subjects, made by a consent system.
//!
//! Nobody looks whether a subject has a record: the same answer, made by the
//! same statements, for those who have and those who have not. Otherwise who
//! may ask for tokens could find out who is in a dataset.

use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::microdata::ReadLimits;

use crate::config::SubjectTokenLimits;
use crate::http::answer::Answer;
use crate::http::auth::{Principal, SubjectText};
use crate::http::extract::{JsonBody, UrlPath};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::NewSubjectTokens;

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(create_subject_tokens))
}

/// For whom tokens are wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct SubjectTokenRequest {
    /// The subjects; each gets a token of their own, one named twice gets two.
    #[schema(min_items = 1, examples("1002"))]
    subjects: Vec<String>,
    /// How long the tokens live, in seconds; absent or null: 14 days, unless the service is set otherwise.
    #[serde(default)]
    #[schema(minimum = 1, examples(1_209_600))]
    expires_in_s: Option<u64>,
}

/// A token, for one subject.
#[derive(Clone, Serialize, ToSchema)]
struct SubjectTokenView {
    /// The subject.
    #[schema(examples("1002"))]
    subject: String,
    /// The token. It is shown only here.
    #[schema(examples("vs_7d0c1f25a3e7c419d0b2f6a8c1e4b73a"))]
    token: String,
}

/// Tokens that were just made.
#[derive(Serialize, ToSchema)]
struct SubjectTokensView {
    /// Until when they can be used.
    expires_at: DateTime<Utc>,
    /// One for each subject, in the order of the request.
    items: Vec<SubjectTokenView>,
}

/// Make tokens for subjects
///
/// Each lets its holder read and set their own terms, by `/v1/my-preferences` or
/// on the page `/consent#<token>`, until its time is over.
/// Subjects need not occur in the records, and the answer never tells whether
/// they do. The tokens are in this answer and nowhere else.
#[utoipa::path(
    post, path = "/v1/datasets/{id}/subject-tokens", operation_id = "create_subject_tokens", tag = "preferences",
    params(("id" = DatasetId, Path, description = "The dataset.")),
    request_body = SubjectTokenRequest,
    responses((status = 201, description = "The tokens.", body = SubjectTokensView)),
)]
async fn create_subject_tokens(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<DatasetId>,
    JsonBody(request): JsonBody<SubjectTokenRequest>,
) -> Result<Answer, Problem> {
    principal.sees(id, "dataset")?;
    let lifetime_s = checked(&request, &state.settings.access.subject_tokens)?;
    let schema = super::stored_schema(&state.store.dataset_get(id).await?)?;
    let (mut tokens, mut items) = (Vec::new(), Vec::new());
    for subject in request.subjects {
        let token = SubjectText::Token
            .generate()
            .map_err(|_| Problem::internal())?;
        let key = super::subject_of(&schema, &subject);
        if key.is_empty() {
            let detail = "nothing is left of a subject by subject_key_normalization";
            return Err(Problem::new(ProblemKind::InvalidBody, detail));
        }
        tokens.push((token.hash, key));
        items.push(SubjectTokenView {
            subject,
            token: token.text.expose().to_owned(),
        });
    }
    let new = NewSubjectTokens {
        dataset: id,
        tokens,
        lifetime_s,
        created_by: principal.name().to_owned(),
    };
    let answer = move |&expires_at: &DateTime<Utc>| {
        let view = SubjectTokensView { expires_at, items };
        Some(Answer::new(StatusCode::CREATED, &view))
    };
    let act = principal.act_answering(answer.clone());
    let expires_at = state.store.subject_tokens_create(act, new).await?;
    answer(&expires_at).ok_or_else(Problem::internal)
}

/// How long the wanted tokens are to live, if the request is within its limits.
fn checked(request: &SubjectTokenRequest, limits: &SubjectTokenLimits) -> Result<u64, Problem> {
    let misfit = |detail: String| Err(Problem::new(ProblemKind::InvalidBody, detail));
    let subjects = &request.subjects;
    if subjects.is_empty() || subjects.len() > limits.subjects_max {
        return misfit(format!(
            "tokens are made for 1 to {} subjects at once",
            limits.subjects_max
        ));
    }
    let bytes_max = ReadLimits::default().cell_bytes_max;
    let is_subject = |text: &String| (1..=bytes_max).contains(&text.len());
    if !subjects.iter().all(is_subject) {
        return misfit(format!("a subject has 1 to {bytes_max} bytes"));
    }
    match request.expires_in_s.unwrap_or(limits.lifetime_s) {
        lifetime_s if (1..=limits.lifetime_s_max).contains(&lifetime_s) => Ok(lifetime_s),
        _ => misfit(format!(
            "a token lives for 1 to {} seconds",
            limits.lifetime_s_max
        )),
    }
}
