//! Releases: manifests for analysts, and the step from draft to public.

use axum::Json;
use axum::extract::State;
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::super::answer::Answer;
use super::super::auth::{Principal, Role};
use super::super::described::ManifestDocument;
use super::super::extract::{NoBody, UrlPath, UrlQuery};
use super::super::problem::{Problem, ProblemKind};
use super::super::state::AppState;
use super::page::{PageView, page_request};
use super::query::ReleaseQuery;
use crate::catalog::Engine;
use crate::failpoint;
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::job::consent::{self, TermsChange};
use crate::job::{JobFailure, JobSpec};
use crate::store::{
    PublishCheck, PublishDecision, PublishOutcome, ReleaseFilter, ReleaseRow, ReleaseState,
};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(list_releases))
        .routes(routes!(get_release))
        .routes(routes!(publish_release))
        .routes(routes!(withdraw_release))
}

/// A release, without its manifest.
#[derive(Debug, Serialize, ToSchema)]
struct ReleaseView {
    /// Its id.
    id: ReleaseId,
    /// Where it stands.
    state: ReleaseState,
    /// The dataset it was made from.
    dataset: DatasetId,
    /// The version of the records.
    version: u64,
    /// The engine's name.
    engine: String,
    /// The job that made it. Stewards only: its id tells when it was posted, and
    /// with that how long it ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<JobId>,
    /// When it was made.
    created_at: DateTime<Utc>,
    /// When it was published, if it was.
    published_at: Option<DateTime<Utc>>,
    /// When it was withdrawn, if it was.
    withdrawn_at: Option<DateTime<Utc>>,
}

/// A release with its manifest.
#[derive(Debug, Serialize, ToSchema)]
struct ReleaseDetailView {
    #[serde(flatten)]
    release: ReleaseView,
    /// What is in it, what it claims and against whom.
    #[schema(value_type = ManifestDocument)]
    manifest: Value,
}

impl ReleaseView {
    /// A release as the principal may see it.
    fn new(row: ReleaseRow, principal: &Principal) -> Self {
        Self {
            id: row.id,
            state: row.state,
            dataset: row.dataset,
            version: row.dataset_version,
            engine: row.engine,
            job: principal.has(Role::Steward).then_some(row.job),
            created_at: row.created_at,
            published_at: row.published_at,
            withdrawn_at: row.withdrawn_at,
        }
    }
}

/// A release that the principal may see.
pub(super) async fn visible_release(
    state: &AppState,
    principal: &Principal,
    id: ReleaseId,
) -> Result<ReleaseRow, Problem> {
    let release = state.store.release_get(id).await?;
    principal.sees_release(&release)?;
    Ok(release)
}

/// List releases
///
/// Stewards see drafts and withdrawn releases too.
#[utoipa::path(
    get, path = "/v1/releases", operation_id = "list_releases", tag = "releases",
    params(ReleaseQuery),
    responses((status = 200, description = "One page of releases, newest first.", body = PageView<ReleaseView>)),
)]
async fn list_releases(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<ReleaseQuery>,
) -> Result<Json<PageView<ReleaseView>>, Problem> {
    let request = page_request(query.limit, query.cursor)?;
    let states = match (principal.has(Role::Steward), query.state) {
        (true, wanted) => wanted.into_iter().collect(),
        (false, None | Some(ReleaseState::Published)) => vec![ReleaseState::Published],
        // To others these do not exist.
        (false, Some(_)) => {
            let nothing = PageView {
                items: Vec::new(),
                next_cursor: None,
            };
            return Ok(Json(nothing));
        }
    };
    let filter = ReleaseFilter {
        states,
        dataset: query.dataset,
        only: principal.datasets().map(<[_]>::to_vec),
    };
    let page = state.store.release_list(request, filter).await?;
    let view = |row| ReleaseView::new(row, &principal);
    Ok(Json(PageView::of(page, view)))
}

/// Read a release's manifest
#[utoipa::path(
    get, path = "/v1/releases/{id}", operation_id = "get_release", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "The release and its manifest.", body = ReleaseDetailView)),
)]
async fn get_release(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
) -> Result<Json<ReleaseDetailView>, Problem> {
    let mut row = visible_release(&state, &principal, id).await?;
    let manifest = visible_manifest(row.manifest.take(), &principal);
    Ok(Json(ReleaseDetailView {
        release: ReleaseView::new(row, &principal),
        manifest,
    }))
}

/// The part of a manifest that the principal may see. How many records were
/// left out follows from nothing that is published: who knows all subjects but
/// one would learn from it what that one asked for.
pub(super) fn visible_manifest(mut manifest: Value, principal: &Principal) -> Value {
    if let (false, Some(fields)) = (principal.has(Role::Steward), manifest.as_object_mut()) {
        fields.remove("excluded");
        fields.remove("suppressed");
    }
    manifest
}

/// Publish a draft
///
/// Refused if a subject of the draft has since excluded themself or asked for
/// more than the draft gives; the answer names nobody. A release that is
/// published already stays so.
#[utoipa::path(
    post, path = "/v1/releases/{id}/publish", operation_id = "publish_release", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "The published release.", body = ReleaseView)),
)]
async fn publish_release(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    let release = visible_release(&state, &principal, id).await?;
    match release.state {
        ReleaseState::Draft => {}
        ReleaseState::Published => return Ok(answer(&release, &principal)),
        ReleaseState::Withdrawn => return Err(crate::store::Conflict::ReleaseState.into()),
    }
    let check = publish_check(&state, &release).await?;
    let by = principal.clone();
    let published = move |outcome: &PublishOutcome| {
        let allowed = outcome.decision == PublishDecision::Allow;
        allowed.then(|| answer(&outcome.release, &by))
    };
    let act = principal.act_answering(published.clone());
    let outcome = state.store.release_publish(act, id, check).await?;
    failpoint::reached("publish-committed");
    published(&outcome).ok_or_else(|| {
        let detail = "a subject of the draft asks for more than the draft gives; run the job again";
        Problem::new(ProblemKind::PreferencesMoved, detail)
    })
}

fn answer(release: &ReleaseRow, principal: &Principal) -> Answer {
    Answer::ok(&ReleaseView::new(release.clone(), principal))
}

/// Withdraw a release
///
/// Its bytes and its lineage go, its manifest stays. A second time changes
/// nothing.
#[utoipa::path(
    post, path = "/v1/releases/{id}/withdraw", operation_id = "withdraw_release", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    responses((status = 200, description = "The withdrawn release.", body = ReleaseView)),
)]
async fn withdraw_release(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    visible_release(&state, &principal, id).await?;
    let by = principal.clone();
    let act = principal.act_answering(move |row| Some(answer(row, &by)));
    let row = state.store.release_withdraw(act, id).await?;
    Ok(answer(&row, &principal))
}

/// The question that publishing asks: do the terms in force now ask for more
/// than the job promised?
async fn publish_check(state: &AppState, release: &ReleaseRow) -> Result<PublishCheck, Problem> {
    let dataset = state.store.dataset_get(release.dataset).await?;
    let schema = super::stored_schema(&dataset)?;
    let job = state.store.job_get(release.job).await?;
    let spec: JobSpec = serde_json::from_value(job.spec).map_err(|_| Problem::internal())?;
    let policy = Engine::parse(&spec.engine, &spec.parameters, &schema)
        .and_then(|engine| engine.policy(&schema))
        .map_err(JobFailure::from)?;
    Ok(Box::new(move |changes, lineage| {
        let changes = changes.iter().map(|change| TermsChange {
            subject: &change.subject,
            old: change.old.as_ref(),
            new: change.new.as_ref(),
        });
        match consent::allows(&schema, &policy, changes, lineage) {
            true => PublishDecision::Allow,
            false => PublishDecision::Refuse,
        }
    }))
}
