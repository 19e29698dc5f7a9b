//! Releases: manifests for analysts, and the step from draft to public.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::is_reason;

use super::affected::{AffectedView, affected_release};
use super::page::{PageView, page_request};
use super::query::ReleaseQuery;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::{Principal, Role};
use crate::http::described::ManifestDocument;
use crate::http::extract::{NoBody, OptionalBody, UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{DatasetId, JobId, ReleaseId};
use crate::job::JobSpec;
use crate::job::approval::{Ground, GroundKind};
use crate::job::composition::{Compared, compare, sentence};
use crate::job::consent::JobPromise;
use crate::job::floors::{Made, sentences};
use crate::store::{
    Approval, Composed, OperatorRules, PublishCheck, PublishDecision, PublishOutcome,
    PublishRequest, PublishRules, ReleaseDocument, ReleaseFilter, ReleaseRow, ReleaseState,
    publish_questions,
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
    /// What people call it: the name of its job; null where nobody named it.
    name: Option<String>,
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
    /// Whether a first steward approved the draft and another one is to publish
    /// it. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    awaiting_second_steward: Option<bool>,
    /// What the first of two stewards approved. Stewards only.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<ApprovalView>,
}

/// What the first of two stewards approved.
#[derive(Debug, Serialize, ToSchema)]
struct ApprovalView {
    /// Who.
    approved_by: String,
    /// When.
    approved_at: DateTime<Utc>,
    /// Why two are needed. Void where they, or the public releases of the same
    /// people, are others by now: then the next call approves anew.
    grounds: Vec<Ground>,
    /// The releases beside which it may go out (`with`), and why (`reason`).
    #[schema(value_type = Option<Object>)]
    acknowledged: Value,
}

impl From<Approval> for ApprovalView {
    fn from(approval: Approval) -> Self {
        Self {
            approved_by: approval.by,
            approved_at: approval.at,
            grounds: approval.grounds,
            acknowledged: approval.acknowledged,
        }
    }
}

/// A release with its manifest.
#[derive(Debug, Serialize, ToSchema)]
struct ReleaseDetailView {
    #[serde(flatten)]
    release: ReleaseView,
    /// What is in it, what it claims and against whom.
    #[schema(value_type = ManifestDocument)]
    manifest: Value,
    /// Terms that changed since it was published and ask for more than it gives.
    /// Stewards only; absent where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    affected: Option<AffectedView>,
}

impl ReleaseView {
    /// A release as the principal may see it.
    fn new(row: ReleaseRow, principal: &Principal) -> Self {
        let is_steward = principal.has(Role::Steward);
        let approval = row.approval.filter(|_| is_steward);
        let is_draft = row.state == ReleaseState::Draft;
        Self {
            awaiting_second_steward: (is_steward && is_draft).then_some(approval.is_some()),
            approval: approval.map(ApprovalView::from),
            id: row.id,
            name: row.name,
            state: row.state,
            dataset: row.dataset,
            version: row.dataset_version,
            engine: row.engine,
            job: is_steward.then_some(row.job),
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
    let manifest = visible_manifest(whole_manifest(&mut row), &principal);
    let affected = affected_release(&state, &principal, &row).await?;
    Ok(Json(ReleaseDetailView {
        release: ReleaseView::new(row, &principal),
        manifest,
        affected,
    }))
}

/// The manifest as it was verified, and beside it what is known since: the
/// operator's exception, and other public releases of the same people.
pub(super) fn whole_manifest(row: &mut ReleaseRow) -> Value {
    let mut manifest = row.manifest.take();
    let kept = row.composition.take();
    let with = kept.as_array().filter(|with| !with.is_empty());
    if let Some(said) = manifest["not_protected"].as_array_mut() {
        said.extend(
            row.grounds
                .iter()
                .filter_map(Ground::sentence)
                .map(Value::from),
        );
        let beside = with.into_iter().flatten();
        said.extend(beside.filter_map(sentence).map(Value::from));
    }
    let exception = |one: &&Ground| one.kind == GroundKind::FloorException;
    if let Some(ground) = row.grounds.iter().find(exception) {
        manifest["floor_exception"] = json!({"reason": ground.reason, "below": ground.below});
    }
    if with.is_some() {
        manifest["composition"] = kept;
    }
    manifest
}

/// The part of a manifest that the principal may see. How many records were
/// left out follows from nothing that is published: who knows all subjects but
/// one would learn from it what that one asked for.
pub(super) fn visible_manifest(mut manifest: Value, principal: &Principal) -> Value {
    if let (false, Some(fields)) = (principal.has(Role::Steward), manifest.as_object_mut()) {
        fields.remove("excluded");
        fields.remove("suppressed");
        if let Some(kept) = fields.get_mut("kept").and_then(Value::as_object_mut) {
            kept.remove("waiting");
            kept.remove("companions");
            let attributes = kept.get_mut("attributes").and_then(Value::as_array_mut);
            for attribute in attributes
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                attribute.remove("outdated");
            }
        }
    }
    manifest
}

/// Publish a draft
///
/// Refused if a subject of the draft has since excluded themself or asked for
/// more than the draft gives; the answer names nobody. Refused as well, with
/// `composition`, if other releases that ever were public share subjects with it,
/// unless all of them keep together what each claims: an adversary who holds
/// them may learn more than any one tells. Two stewards publish it all the same,
/// each by a call with `acknowledge_composition` and a reason; both manifests and
/// the ledger say so. A release that is published already stays so.
///
/// A draft below the operator's floors is not published; one whose job asked for
/// an exception takes two stewards as well. The first one's call answers 202: the
/// release is a draft still, and awaits a call by another one.
#[utoipa::path(
    post, path = "/v1/releases/{id}/publish", operation_id = "publish_release", tag = "releases",
    params(("id" = ReleaseId, Path, description = "The release.")),
    request_body(content = PublishBody, description = "May be left out."),
    responses(
        (status = 200, description = "The published release.", body = ReleaseView),
        (status = 202, description = "The draft, which another steward is to publish.", body = ReleaseView)),
)]
async fn publish_release(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    OptionalBody(body): OptionalBody<PublishBody>,
) -> Result<Answer, Problem> {
    let body = body.unwrap_or_default();
    body.check()?;
    let release = visible_release(&state, &principal, id).await?;
    match release.state {
        ReleaseState::Draft => {}
        ReleaseState::Published => return Ok(answer(&release, &principal)),
        ReleaseState::Withdrawn => return Err(crate::store::Conflict::ReleaseState.into()),
    }
    let (check, rules) = publish_checks(&state, &release).await?;
    let by = principal.clone();
    let published = move |outcome: &PublishOutcome| match outcome.decision {
        PublishDecision::Allow => Some(answer(&outcome.release, &by)),
        PublishDecision::Awaited => {
            let view = ReleaseView::new(outcome.release.clone(), &by);
            Some(Answer::new(StatusCode::ACCEPTED, &view))
        }
        PublishDecision::Refuse | PublishDecision::BelowFloor => None,
    };
    let act = principal.act_answering(published.clone());
    let (beside, composed) = composed(&state, &release, body).await?;
    let request = PublishRequest {
        check,
        beside: Some(beside),
        composed,
        rules: Some(rules),
    };
    let outcome = state.store.release_publish(act, id, request).await?;
    failpoint::reached("publish-committed");
    published(&outcome).ok_or_else(|| refused(&outcome))
}

/// Why a draft was not published.
fn refused(outcome: &PublishOutcome) -> Problem {
    if outcome.decision == PublishDecision::BelowFloor {
        let detail = format!(
            "{}. Run another job that asks for more; or post this one again with the reason of an \
             exception as floor_exception",
            sentences(&outcome.below)
        );
        return Problem::new(ProblemKind::DraftBelowFloor, detail);
    }
    let detail = "a subject of the draft asks for more than the draft gives, or the schema now \
                  protects an attribute that the draft does not; run the job again";
    Problem::new(ProblemKind::PreferencesMoved, detail)
}

/// What a steward says of releases of the same people.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct PublishBody {
    /// Whether it may be published although public releases share subjects with
    /// it.
    #[serde(default)]
    acknowledge_composition: bool,
    /// Why, 1 to 500 characters; published with the release.
    #[serde(default)]
    reason: Option<String>,
}

impl PublishBody {
    fn check(&self) -> Result<(), Problem> {
        let is_said = self.reason.as_deref().is_some_and(is_reason);
        match self.acknowledge_composition {
            true if !is_said => {
                let detail = "acknowledge_composition needs a reason of 1 to 500 characters";
                Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("reason"))
            }
            false if self.reason.is_some() => {
                let detail = "a reason belongs to acknowledge_composition";
                Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("reason"))
            }
            _ => Ok(()),
        }
    }
}

/// Compares the draft with the public releases of the same people: which they
/// are, and what is to be kept of those that share subjects with it.
async fn composed(
    state: &AppState,
    release: &ReleaseRow,
    body: PublishBody,
) -> Result<(Vec<ReleaseId>, Option<Composed>), Problem> {
    let public = state.store.public_series(release.dataset).await?;
    let ids = public.iter().map(|(id, _)| *id).collect();
    if public.is_empty() {
        return Ok((ids, None));
    }
    // A draft of before candidates were kept is compared with nothing.
    let draft = state.store.release_candidates(release.id).await?;
    let draft = draft.unwrap_or_default();
    let compared = tokio::task::spawn_blocking(move || compare(&draft, &public));
    let found = compared.await.map_err(|_| Problem::internal())?;
    let with = found.documents();
    match (
        with.is_empty(),
        found.is_safe(),
        body.acknowledge_composition,
    ) {
        (true, ..) => Ok((ids, None)),
        (_, true, _) => Ok((ids, Some(Composed { reason: None, with }))),
        (.., true) => {
            let reason = Some(body.reason.unwrap_or_default());
            Ok((ids, Some(Composed { reason, with })))
        }
        _ => Err(Problem::new(
            ProblemKind::Composition,
            refusal(&found, &with),
        )),
    }
}

/// Why a draft is refused beside these releases.
fn refusal(found: &Compared, with: &[(ReleaseId, Value)]) -> String {
    let said = with.iter().filter_map(|(id, document)| {
        let mut kept = document.clone();
        kept["release"] = json!(id);
        sentence(&kept)
    });
    let said: Vec<String> = said.collect();
    format!(
        "{}. {}. To publish it all the same, two stewards send acknowledge_composition and a \
         reason, which both releases and the ledger will name",
        said.join(". "),
        found.objection()
    )
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
    state.queries.indexes.forget(id);
    Ok(answer(&row, &principal))
}

/// The questions that publishing asks: do the terms in force now ask for more
/// than the job promised, and what does the operator ask?
async fn publish_checks(
    state: &AppState,
    release: &ReleaseRow,
) -> Result<(PublishCheck, PublishRules), Problem> {
    // Also of a version whose records were purged.
    let versions = state.store.version_list(release.dataset).await?;
    let version = (versions.iter()).find(|row| row.version == release.dataset_version);
    let version = version.ok_or_else(|| Problem::not_found("version"))?;
    let schema = super::version_schema(version)?;
    let job = state.store.job_get(release.job).await?;
    let spec: JobSpec = serde_json::from_value(job.spec).map_err(|_| Problem::internal())?;
    let question = JobPromise::of(&spec, schema)?;
    let document = async |of| state.store.release_document(release.id, of).await;
    let report = document(ReleaseDocument::Report).await?;
    let made = Made::of(&report, &document(ReleaseDocument::Verification).await?);
    let operator = OperatorRules {
        floors: state.settings.floors.clone(),
        second_steward: state.settings.second_steward,
    };
    Ok(publish_questions(question, &spec, made, operator))
}
