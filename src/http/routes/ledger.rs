//! The ledger: every release of every dataset, for auditors.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::page::PageView;
use super::query::PageQuery;
use crate::http::auth::Principal;
use crate::http::extract::UrlQuery;
use crate::http::problem::Problem;
use crate::http::state::AppState;
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::job::coarse;
use crate::store::{LedgerReads, LedgerRow, LedgerStep};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default().routes(routes!(list_ledger))
}

/// One release in the ledger.
#[derive(Debug, Serialize, ToSchema)]
struct LedgerEntryView {
    /// The release.
    release: ReleaseId,
    /// Where it stands: `draft`, `published`, `withdrawn`, or `erased` (a
    /// draft that went with its dataset).
    state: &'static str,
    /// The dataset it was made from, which may be erased.
    dataset: DatasetId,
    /// The version of the records.
    version: u64,
    /// The version of the preferences.
    preference_version: u64,
    /// The engine's name.
    engine: String,
    /// The job that made it.
    job: JobId,
    /// What it claims, as in its manifest.
    #[schema(value_type = Vec<Object>)]
    guarantees: Value,
    /// Records published.
    #[schema(value_type = u64)]
    records: Value,
    /// Records left out at their subject's wish or because their terms cannot be
    /// met, rounded down to 1, 2 or 5 of a power of ten.
    #[schema(value_type = u64)]
    excluded: Value,
    /// Records left out for another reason, rounded down likewise.
    #[schema(value_type = u64)]
    suppressed: Value,
    /// Attributes published although they may identify people, with reasons.
    #[schema(value_type = Vec<Object>)]
    accept_exact: Value,
    /// Public releases of the same people beside which it was published, with
    /// the reason given and what both tell together; null where there is none.
    #[schema(value_type = Option<Vec<Object>>)]
    composition: Value,
    /// Why it took more than one steward: `kind`, `reason` and what is below the
    /// operator's floors; empty where it took one.
    #[schema(value_type = Vec<Object>)]
    grounds: Value,
    /// What the first of two stewards approved: `by`, `at`, and the releases beside
    /// which it may go out (`acknowledged`); null where there was one.
    #[schema(value_type = Option<Object>)]
    approval: Value,
    /// Who asked for it.
    requested_by: String,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// Its publishing.
    published: Option<LedgerStepView>,
    /// Its withdrawal.
    withdrawn: Option<LedgerStepView>,
    /// Its end as a draft.
    erased: Option<LedgerStepView>,
    /// When subjects in it first asked for more than it gives, or for exclusion,
    /// after it was published.
    affected_at: Option<DateTime<Utc>>,
    /// How many they were, up to tens, as was last known; null beside a time:
    /// nobody can know, for the lineage is gone.
    affected_subjects: Option<u64>,
    /// How often it was read.
    reads: LedgerReadsView,
}

/// When something was done to a release, and by whom.
#[derive(Debug, Serialize, ToSchema)]
struct LedgerStepView {
    /// When.
    at: DateTime<Utc>,
    /// By whom; null: before there was a ledger.
    by: Option<String>,
}

/// How often a release was read.
#[derive(Debug, Serialize, ToSchema)]
struct LedgerReadsView {
    /// Downloads of tables; each part of one counts.
    tables: u64,
    /// Readings of the report.
    reports: u64,
    /// Readings of the verification.
    verifications: u64,
    /// Queries that were answered.
    queries: u64,
}

impl From<LedgerStep> for LedgerStepView {
    fn from(step: LedgerStep) -> Self {
        Self {
            at: step.at,
            by: step.by,
        }
    }
}

impl From<LedgerReads> for LedgerReadsView {
    fn from(reads: LedgerReads) -> Self {
        Self {
            tables: reads.tables,
            reports: reads.reports,
            verifications: reads.verifications,
            queries: reads.queries,
        }
    }
}

/// A list; an empty one for rows of before it was kept.
fn listed(claim: Value) -> Value {
    match claim {
        Value::Array(_) => claim,
        _ => Value::Array(Vec::new()),
    }
}

/// A count of records that nobody published; what is no count stays.
fn rounded(count: Value) -> Value {
    count
        .as_u64()
        .map_or(count, |count| coarse::count(count).into())
}

impl From<LedgerRow> for LedgerEntryView {
    fn from(mut row: LedgerRow) -> Self {
        let state = match (&row.erased, &row.withdrawn, &row.published) {
            (Some(_), _, _) => "erased",
            (_, Some(_), _) => "withdrawn",
            (_, _, Some(_)) => "published",
            _ => "draft",
        };
        let mut claim = |name: &str| row.claims[name].take();
        Self {
            guarantees: claim("guarantees"),
            accept_exact: listed(claim("accept_exact")),
            composition: claim("composition"),
            grounds: listed(claim("grounds")),
            approval: claim("approval"),
            records: claim("records"),
            excluded: rounded(claim("excluded")),
            suppressed: rounded(claim("suppressed")),
            release: row.release,
            state,
            dataset: row.dataset,
            version: row.dataset_version,
            preference_version: row.preference_version,
            engine: row.engine,
            job: row.job,
            requested_by: row.requested_by,
            created_at: row.created_at,
            published: row.published.map(LedgerStepView::from),
            withdrawn: row.withdrawn.map(LedgerStepView::from),
            erased: row.erased.map(LedgerStepView::from),
            affected_at: row.affected_at,
            affected_subjects: row.affected_subjects,
            reads: row.reads.into(),
        }
    }
}

/// Read the ledger
///
/// Every release that ever was, also withdrawn ones and those of erased
/// datasets.
#[utoipa::path(
    get, path = "/v1/ledger", operation_id = "list_ledger", tag = "audit",
    params(PageQuery),
    responses((status = 200, description = "One page of releases, newest first.", body = PageView<LedgerEntryView>)),
)]
async fn list_ledger(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<PageQuery>,
) -> Result<Json<PageView<LedgerEntryView>>, Problem> {
    let only = principal.datasets().map(<[_]>::to_vec);
    let page = state.store.ledger_list(query.request()?, only).await?;
    Ok(Json(PageView::of(page, LedgerEntryView::from)))
}
