//! The audit log and the ledger, for auditors.
//!
//! An auditor whose key is tied to datasets sees the rows of those alone;
//! whether the chain holds is no secret of any dataset.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::page_request;
use super::query::{AuditQuery, AuditVerifyQuery};
use crate::http::auth::Principal;
use crate::http::extract::UrlQuery;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::DatasetId;
use crate::store::{AnchorFile, AuditAnchor, AuditFilter, AuditRow, AuditVerdict};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_audit))
        .routes(routes!(verify_audit))
}

/// One row of the audit log.
#[derive(Debug, Serialize, ToSchema)]
struct AuditRowView {
    /// 1, 2, … without a gap.
    position: u64,
    /// When it was done.
    occurred_at: DateTime<Utc>,
    /// By whom: a key's id, `operator`, a worker's name, `janitor`.
    #[schema(examples("key_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73"))]
    actor: String,
    /// Id of the request behind it; null: none stood behind it.
    request_id: Option<String>,
    /// What was done, in the words of this API where it is an operation of it.
    #[schema(examples("create_dataset"))]
    action: String,
    /// To what kind of thing.
    #[schema(examples("dataset"))]
    object_kind: String,
    /// To which; null where that would name a person.
    object_id: Option<String>,
    /// The dataset that it concerns, if one.
    dataset: Option<DatasetId>,
    /// Counts, versions and digests.
    #[schema(value_type = Object)]
    detail: Value,
    /// `hash` of the row before; zeros in the first.
    previous: String,
    /// SHA-256 of the row and of the row before it.
    hash: String,
}

/// One page of the audit log, newest first.
#[derive(Debug, Serialize, ToSchema)]
struct AuditPageView {
    /// The rows.
    items: Vec<AuditRowView>,
    /// What to give as `cursor` for the next page; null: this is the last.
    next_cursor: Option<String>,
}

/// What a walk along the chain found.
#[derive(Debug, Serialize, ToSchema)]
struct AuditVerdictView {
    /// Whether every row is there and as it was written.
    valid: bool,
    /// Rows that hold, from the first on.
    rows: u64,
    /// Hash of the last of them.
    head_hash: String,
    /// Both as a text to be kept elsewhere, and given as `anchor` later.
    #[schema(examples("41:a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7"))]
    anchor: String,
    /// The first place that does not hold; null: there is none.
    broken: Option<AuditBreakView>,
}

/// The first place of the chain that does not hold.
#[derive(Debug, Serialize, ToSchema)]
struct AuditBreakView {
    /// The position.
    position: u64,
    /// `content_changed`, `link_broken` (the row does not follow the one
    /// before), `gap` (rows are missing before it), `truncated` (rows are
    /// missing from here on), `rewritten` (not the row that was anchored).
    problem: &'static str,
}

/// Uploads were once logged with the digest of their content and the number of
/// records left out. Anyone who can guess a record can compute its digest.
fn visible(mut detail: Value) -> Value {
    if let Some(fields) = detail.as_object_mut() {
        fields.remove("sha256");
        fields.remove("dropped");
    }
    detail
}

impl From<AuditRow> for AuditRowView {
    fn from(row: AuditRow) -> Self {
        Self {
            position: row.position,
            occurred_at: row.occurred_at,
            actor: row.actor,
            request_id: row.request,
            action: row.action,
            object_kind: row.object_kind,
            object_id: row.object,
            dataset: row.dataset,
            // A row that somebody else wrote is still shown.
            detail: visible(serde_json::from_str(&row.detail).unwrap_or(Value::Null)),
            previous: vizard_anonymizer::microdata::to_hex(&row.previous),
            hash: vizard_anonymizer::microdata::to_hex(&row.hash),
        }
    }
}

impl From<AuditVerdict> for AuditVerdictView {
    fn from(verdict: AuditVerdict) -> Self {
        Self {
            valid: verdict.broken.is_none(),
            rows: verdict.rows,
            head_hash: vizard_anonymizer::microdata::to_hex(&verdict.head.hash),
            anchor: verdict.head.to_string(),
            broken: verdict.broken.map(|(position, broken)| AuditBreakView {
                position,
                problem: broken.as_str(),
            }),
        }
    }
}

/// Read the audit log
///
/// One row a change of state and a reading of a release.
#[utoipa::path(
    get, path = "/v1/audit", operation_id = "list_audit", tag = "audit",
    params(AuditQuery),
    responses((status = 200, description = "One page of rows, newest first.", body = AuditPageView)),
)]
async fn list_audit(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<AuditQuery>,
) -> Result<Json<AuditPageView>, Problem> {
    let limit = page_request(query.limit, None)?.limit;
    if query
        .cursor
        .is_some_and(|cursor| i64::try_from(cursor).is_err())
    {
        let detail = "cursor is the next_cursor of the page before";
        return Err(Problem::new(ProblemKind::InvalidQuery, detail));
    }
    let filter = AuditFilter {
        dataset: query.dataset,
        only: principal.datasets().map(<[_]>::to_vec),
        actor: query.actor,
        action: query.action,
    };
    let page = state.store.audit_list(limit, query.cursor, filter).await?;
    Ok(Json(AuditPageView {
        items: page.items.into_iter().map(AuditRowView::from).collect(),
        next_cursor: page.next.map(|position| position.to_string()),
    }))
}

/// Verify the audit log
///
/// Walks the whole chain up to the first place that does not hold. An anchor
/// that was kept elsewhere notices rows that were taken off the end and a
/// chain that was hashed anew; the anchor file of the server, where it has
/// one, is compared too.
#[utoipa::path(
    get, path = "/v1/audit/verify", operation_id = "verify_audit", tag = "audit",
    params(AuditVerifyQuery),
    responses((status = 200, description = "What the walk found.", body = AuditVerdictView)),
)]
async fn verify_audit(
    State(state): State<AppState>,
    UrlQuery(query): UrlQuery<AuditVerifyQuery>,
) -> Result<Json<AuditVerdictView>, Problem> {
    let mut anchors = Vec::new();
    if let Some(text) = query.anchor {
        let anchor: Result<AuditAnchor, _> = text.parse();
        anchors.push(
            anchor.map_err(|error| Problem::new(ProblemKind::InvalidQuery, error.to_string()))?,
        );
    }
    if let Some(path) = state.settings.audit_anchor.clone() {
        let kept = tokio::task::spawn_blocking(move || AnchorFile::new(path).read());
        let kept = kept.await.map_err(|_| Problem::internal())?;
        anchors.extend(kept.map_err(|error| {
            tracing::error!(%error, "the anchor of the audit log cannot be read");
            Problem::internal()
        })?);
    }
    Ok(Json(state.store.audit_verify(anchors).await?.into()))
}
