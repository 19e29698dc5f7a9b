//! From a row of a published table back to its person, by two stewards.
//!
//! One asks with a reason, another one confirms, and both are told the subject
//! for a week, each reading with a row in the audit log. No list and no other
//! steward's answer ever holds a subject.

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::is_reason;
use vizard_anonymizer::release::{BehindRow, subject_of_row};

use super::page::PageView;
use super::query::PageQuery;
use super::releases::visible_release;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, NoBody, UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{ReidentificationId, ReleaseId};
use crate::store::{
    NewReidentification, ReidentificationRow, ReidentificationState, ReidentificationTold,
    ReleaseRow, ReleaseState, ReleaseTableRow, StoreError,
};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_reidentification, list_reidentifications))
        .routes(routes!(get_reidentification, withdraw_reidentification))
        .routes(routes!(confirm_reidentification))
        .routes(routes!(refuse_reidentification))
}

/// Whom a steward asks for, and why.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct ReidentificationRequest {
    /// Name of a table of the release whose rows are of one person each.
    #[schema(examples("microdata"))]
    table: String,
    /// Number of the row in the table's canonical CSV, from 1; the header is not
    /// counted.
    #[schema(minimum = 1, examples(4711))]
    row: u64,
    /// Why, 1 to 500 characters; name nobody in it.
    #[schema(min_length = 1, max_length = 500, examples("an incidental finding"))]
    reason: String,
}

/// A question who stands behind a row.
#[derive(Serialize, ToSchema)]
#[schema(as = Reidentification)]
struct ReidentificationView {
    /// Its id.
    id: ReidentificationId,
    /// The release.
    release: ReleaseId,
    /// Name of the table.
    #[schema(examples("microdata"))]
    table: String,
    /// Number of the row, from 1.
    #[schema(examples(4711))]
    row: u64,
    /// Why.
    reason: String,
    /// Where it stands.
    state: ReidentificationState,
    /// Who asked.
    asked_by: String,
    /// When.
    asked_at: DateTime<Utc>,
    /// When it ends, or ended: `pending` 72 hours after it was asked for,
    /// `confirmed` 7 days after it was confirmed.
    ends_at: DateTime<Utc>,
    /// Who confirmed, refused or took it back; null: nobody.
    decided_by: Option<String>,
    /// When.
    decided_at: Option<DateTime<Utc>>,
    /// Key of the subject who stands behind the row. To the two stewards alone,
    /// while it is confirmed, and never in lists; absent as well where `gone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Whether nobody stands behind the row any more: the subject was erased, the
    /// release withdrawn, or its records purged. Absent where no subject would be
    /// told.
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<bool>,
}

impl From<ReidentificationRow> for ReidentificationView {
    fn from(row: ReidentificationRow) -> Self {
        Self {
            id: row.id,
            release: row.release,
            table: row.table,
            row: row.row,
            reason: row.reason,
            state: row.state,
            asked_by: row.asked_by,
            asked_at: row.asked_at,
            ends_at: row.ends_at,
            decided_by: row.decided_by,
            decided_at: row.decided_at,
            subject: None,
            gone: None,
        }
    }
}

impl From<ReidentificationTold> for ReidentificationView {
    fn from(told: ReidentificationTold) -> Self {
        Self {
            gone: Some(told.subject.is_none()),
            subject: told.subject,
            ..told.row.into()
        }
    }
}

/// One that the principal may see.
async fn visible(
    state: &AppState,
    principal: &Principal,
    id: ReidentificationId,
) -> Result<ReidentificationRow, Problem> {
    let row = state.store.reidentification_get(id).await?;
    principal.sees(row.dataset, "reidentification")?;
    Ok(row)
}

/// Ask who stands behind a row
///
/// Of a published release, for a reason. Nobody is told anything before another
/// steward confirms it, within 72 hours. Of all releases of a dataset 20 may be
/// asked for in 24 hours. The row is that of the canonical CSV, as every format
/// has it; where several rows show the same, each has a person of its own.
#[utoipa::path(
    post, path = "/v1/releases/{id}/reidentifications", operation_id = "create_reidentification", tag = "reidentifications",
    params(("id" = ReleaseId, Path, description = "The release.")),
    request_body = ReidentificationRequest,
    responses((status = 201, description = "The question, for another steward to confirm.", body = ReidentificationView,
        headers(("location" = String, description = "Its path.")))),
)]
async fn create_reidentification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    JsonBody(request): JsonBody<ReidentificationRequest>,
) -> Result<Answer, Problem> {
    let release = visible_release(&state, &principal, id).await?;
    if !is_reason(&request.reason) {
        let detail = "a reason has 1 to 500 characters and no control character";
        return Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("reason"));
    }
    require_person(&state, &release, &request).await?;
    let created = |row: &ReidentificationRow| {
        let place = format!("/v1/reidentifications/{}", row.id);
        let view = ReidentificationView::from(row.clone());
        Answer::new(StatusCode::CREATED, &view).with(header::LOCATION, &place)
    };
    let act = principal.act_answering(move |row| Some(created(row)));
    let new = NewReidentification {
        id: ReidentificationId::generate(),
        release: id,
        table: request.table,
        row: request.row,
        reason: request.reason,
    };
    let act = act.telling_of(release.dataset);
    let row = state.store.reidentification_create(act, new).await?;
    Ok(created(&row))
}

/// A problem unless the row is there and a person stands behind it.
async fn require_person(
    state: &AppState,
    release: &ReleaseRow,
    asked: &ReidentificationRequest,
) -> Result<(), Problem> {
    if release.state == ReleaseState::Draft {
        let detail = "the release is a draft: rows of published releases are asked for";
        return Err(Problem::new(ProblemKind::ReleaseState, detail));
    }
    let tables = state.store.table_list(release.id).await?;
    let lineage = match state.store.release_lineage(release.id).await {
        Err(StoreError::NotFound { what: "lineage" }) => return Err(unknown_people()),
        lineage => lineage?,
    };
    let Some(table) = tables.iter().find(|table| table.name == asked.table) else {
        return Err(misfit("table", no_table(&tables)));
    };
    if !(1..=table.rows).contains(&asked.row) {
        let detail = format!("the rows of {} are 1 to {}", table.name, table.rows);
        return Err(misfit("row", detail));
    }
    let (name, row) = (table.name.clone(), asked.row);
    let found = tokio::task::spawn_blocking(move || subject_of_row(&lineage, &name, row));
    match found.await {
        Ok(Ok(BehindRow::Subject(_))) => Ok(()),
        Ok(Ok(BehindRow::Nobody)) => Err(Problem::new(
            ProblemKind::ReleaseState,
            "nobody stands behind the row any more: the person was erased",
        )),
        Ok(Ok(BehindRow::NoLineage)) => Err(misfit(
            "table",
            "no row of this table is of one person: nobody can be told from it".to_owned(),
        )),
        _ => {
            tracing::error!(release = %release.id, "a lineage cannot be read");
            Err(Problem::internal())
        }
    }
}

fn misfit(parameter: &str, detail: String) -> Problem {
    Problem::new(ProblemKind::InvalidBody, detail).with_parameter(parameter)
}

fn no_table(tables: &[ReleaseTableRow]) -> String {
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    format!("the tables of the release are {}", names.join(", "))
}

fn unknown_people() -> Problem {
    let detail = "who is in the release is not kept any more: it was withdrawn, its records were \
                  purged, or its dataset was erased";
    Problem::new(ProblemKind::ReleaseState, detail)
}

/// List who was asked for in a release
///
/// With reasons, stewards and states; never a subject.
#[utoipa::path(
    get, path = "/v1/releases/{id}/reidentifications", operation_id = "list_reidentifications", tag = "reidentifications",
    params(("id" = ReleaseId, Path, description = "The release."), PageQuery),
    responses((status = 200, description = "One page of questions, newest first.", body = PageView<ReidentificationView>)),
)]
async fn list_reidentifications(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReleaseId>,
    UrlQuery(query): UrlQuery<PageQuery>,
) -> Result<Json<PageView<ReidentificationView>>, Problem> {
    let request = query.request()?;
    visible_release(&state, &principal, id).await?;
    let page = state.store.reidentification_list(request, id).await?;
    Ok(Json(PageView::of(page, ReidentificationView::from)))
}

/// Read who stands behind a row
///
/// The subject is told to the two stewards alone, while it is confirmed; the
/// audit log tells of each such reading, without the subject. Other stewards
/// read the same without it.
#[utoipa::path(
    get, path = "/v1/reidentifications/{id}", operation_id = "get_reidentification", tag = "reidentifications",
    params(("id" = ReidentificationId, Path, description = "The re-identification.")),
    responses((status = 200, description = "The question, and for the two stewards its answer.", body = ReidentificationView)),
)]
async fn get_reidentification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReidentificationId>,
) -> Result<Json<ReidentificationView>, Problem> {
    let row = visible(&state, &principal, id).await?;
    if !row.is_told_to(principal.name()) {
        return Ok(Json(row.into()));
    }
    let told = state.store.reidentification_read(principal.act(), id).await;
    Ok(Json(match told {
        // Its week was over in between.
        Err(StoreError::Conflict(_)) => visible(&state, &principal, id).await?.into(),
        told => told?.into(),
    }))
}

/// Confirm what another steward asked
///
/// Both are told the subject, for 7 days. Who asked is refused with
/// `second-steward`.
#[utoipa::path(
    post, path = "/v1/reidentifications/{id}/confirm", operation_id = "confirm_reidentification", tag = "reidentifications",
    params(("id" = ReidentificationId, Path, description = "The re-identification.")),
    responses((status = 200, description = "The question with its answer.", body = ReidentificationView)),
)]
async fn confirm_reidentification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReidentificationId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    let dataset = visible(&state, &principal, id).await?.dataset;
    let told = |told: &ReidentificationTold| Answer::ok(&ReidentificationView::from(told.clone()));
    let act = principal.act_answering(move |of| Some(told(of)));
    let act = act.telling_of(dataset);
    let confirmed = state.store.reidentification_confirm(act, id).await?;
    Ok(told(&confirmed))
}

/// Refuse what another steward asked
///
/// It ends; nobody is told anything. A second time changes nothing.
#[utoipa::path(
    post, path = "/v1/reidentifications/{id}/refuse", operation_id = "refuse_reidentification", tag = "reidentifications",
    params(("id" = ReidentificationId, Path, description = "The re-identification.")),
    responses((status = 200, description = "The refused question.", body = ReidentificationView)),
)]
async fn refuse_reidentification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReidentificationId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    let dataset = visible(&state, &principal, id).await?.dataset;
    let act = principal.act_answering(|row| Some(answer(row)));
    let act = act.telling_of(dataset);
    let row = state.store.reidentification_refuse(act, id).await?;
    Ok(answer(&row))
}

/// Take a question back
///
/// By the steward who asked, while it is pending. A second time changes nothing.
#[utoipa::path(
    delete, path = "/v1/reidentifications/{id}", operation_id = "withdraw_reidentification", tag = "reidentifications",
    params(("id" = ReidentificationId, Path, description = "The re-identification.")),
    responses((status = 200, description = "What was taken back.", body = ReidentificationView)),
)]
async fn withdraw_reidentification(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ReidentificationId>,
) -> Result<Answer, Problem> {
    visible(&state, &principal, id).await?;
    let act = principal.act();
    let row = state.store.reidentification_withdraw(act, id).await?;
    Ok(answer(&row))
}

fn answer(row: &ReidentificationRow) -> Answer {
    Answer::ok(&ReidentificationView::from(row.clone()))
}
