//! Explorations: many settings on one version, and which are worth having.
//!
//! What a job is refused for, a setting is refused for: it is told with the
//! reason and not run. An exploration of which no setting can be run is refused.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use chrono::{DateTime, Utc};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::exploration::{GridSettings, RefusedSetting, Setting, best, front};

use super::documents::{PAGE_HEADERS, named};
use super::jobs::{check, check_cost, check_floors, check_version, checked_name};
use super::page::{PageView, page_request};
use super::query::ExplorationQuery;
use crate::http::answer::Answer;
use crate::http::auth::{Principal, Role};
use crate::http::extract::{JsonBody, NoBody, UrlPath, UrlQuery};
use crate::http::negotiate::preferred;
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::{DatasetId, ExplorationId, JobId, ReleaseId};
use crate::job::{
    ExplorationSpec, KEEP_MAX, KeptExploration, SECONDS_MAX, SettingOutcome, figures, not_measured,
};
use crate::store::{
    Conflict, ExplorationRow, NewExploration, NewJob, Page, ReleaseRow, ReleaseState, SettingRow,
    StoreError,
};

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_exploration, list_explorations))
        .routes(routes!(get_exploration))
        .routes(routes!(cancel_exploration))
}

/// An exploration, but for its settings.
#[derive(Debug, Serialize, ToSchema)]
struct ExplorationHead {
    /// Its id.
    id: ExplorationId,
    /// `running`; `done`: every setting has ended; `cancelled`: somebody stopped it;
    /// `time_up`: its time was over before all settings were begun.
    #[schema(pattern = "^(running|done|cancelled|time_up)$")]
    state: &'static str,
    /// The dataset.
    dataset: DatasetId,
    /// The version of the records.
    version: u64,
    /// The version of the preferences.
    preference_version: u64,
    /// Its settings.
    settings_total: u32,
    /// Those that have ended.
    settings_ended: u32,
    /// Releases whose tables are kept.
    keep: u32,
    /// What settings are compared by as loss.
    loss: &'static str,
    /// What they are compared by as risk.
    risk: &'static str,
    /// When it was begun.
    created_at: DateTime<Utc>,
    /// When no setting is begun any more.
    ends_at: DateTime<Utc>,
    /// Id of the key that asked for it.
    created_by: String,
}

/// An exploration with its settings.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Exploration)]
struct ExplorationView {
    #[serde(flatten)]
    head: ExplorationHead,
    /// Its settings in order.
    settings: Vec<SettingView>,
    /// Combinations that are not run, with the reasons.
    #[schema(value_type = Vec<RefusedSettingDocument>)]
    refused: Vec<RefusedSetting>,
    /// Numbers of the settings that no other one beats in both loss and risk, by
    /// growing loss.
    front: Vec<u32>,
    /// Numbers of those whose tables are kept, the best first.
    best: Vec<u32>,
}

/// A setting, and what became of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ExplorationSetting)]
struct SettingView {
    #[serde(flatten)]
    outcome: SettingOutcome,
    /// The job that runs it.
    job: JobId,
    /// The release, where its tables are kept.
    release: Option<ReleaseId>,
}

/// A combination that is not run.
#[derive(ToSchema)]
#[schema(as = RefusedSetting)]
#[allow(
    dead_code,
    reason = "describes the anonymizer's type, which knows nothing of OpenAPI"
)]
struct RefusedSettingDocument {
    /// Name of the engine.
    engine: String,
    /// The parameters.
    #[schema(value_type = Object)]
    parameters: Value,
    /// The parameter at fault.
    parameter: String,
    /// What is wrong with it.
    reason: String,
}

impl ExplorationHead {
    fn of(row: &ExplorationRow, asked: &ExplorationSpec) -> Self {
        let open = row.settings_open;
        // A setting may be stopped by its job alone.
        let time_was_up = row.settings_cancelled > 0 && row.ended_at >= Some(row.ends_at);
        Self {
            id: row.id,
            state: match (open, row.cancelled_at) {
                (1.., _) => "running",
                (0, Some(_)) => "cancelled",
                (0, None) if time_was_up => "time_up",
                (0, None) => "done",
            },
            dataset: row.dataset,
            version: row.dataset_version,
            preference_version: row.preference_version,
            settings_total: row.settings_total,
            settings_ended: row.settings_total.saturating_sub(open),
            keep: asked.keep,
            loss: asked.loss.as_str(),
            risk: asked.risk.as_str(),
            created_at: row.created_at,
            ends_at: row.ends_at,
            created_by: row.created_by.clone(),
        }
    }
}

impl ExplorationView {
    fn of(row: &ExplorationRow) -> Result<Self, Problem> {
        let KeptExploration { asked, refused } = kept(row)?;
        let axes = asked.axes();
        let settings: Vec<SettingView> = row
            .settings
            .iter()
            .map(|setting| SettingView::of(setting, &asked))
            .collect();
        let outcomes: Vec<SettingOutcome> =
            settings.iter().map(|one| one.outcome.clone()).collect();
        let figures = figures(&outcomes);
        Ok(Self {
            head: ExplorationHead::of(row, &asked),
            settings,
            refused,
            front: front(&figures, axes),
            best: best(&figures, axes, asked.keep as usize),
        })
    }
}

impl SettingView {
    fn of(row: &SettingRow, asked: &ExplorationSpec) -> Self {
        let setting = Setting {
            number: row.number,
            engine: row.engine.clone(),
            parameters: row.spec["parameters"].clone(),
        };
        let mut outcome =
            SettingOutcome::of(setting, row.state.as_str(), row.measures, asked.axes());
        let told = row.problem.as_ref().map(|problem| &problem["detail"]);
        outcome.problem = told.and_then(Value::as_str).map(str::to_owned);
        Self {
            outcome,
            job: row.job,
            release: row
                .release
                .filter(|(_, state)| *state != ReleaseState::Withdrawn)
                .map(|(id, _)| id),
        }
    }
}

fn kept(row: &ExplorationRow) -> Result<KeptExploration, Problem> {
    serde_json::from_value(row.spec.clone()).map_err(|_| {
        tracing::error!(exploration = %row.id, "a stored exploration cannot be read");
        Problem::internal()
    })
}

/// Explore settings
///
/// Each engine with each combination of values on one version of a dataset, as jobs
/// that wait for all others. Every release is verified and measured; tables are kept
/// of the best alone, as drafts.
#[utoipa::path(
    post, path = "/v1/explorations", operation_id = "create_exploration", tag = "jobs",
    request_body(content = ExplorationSpec, example = json!({
        "dataset": "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70",
        "engines": [{"engine": "lgb", "parameters": {"generalization": "ncp"}}, {"engine": "mondrian"}],
        "k": [5, 12], "l": [2, 5], "keep": 3})),
    responses((status = 202, description = "The exploration, queued.", body = ExplorationView,
        headers(("location" = String, description = "Path of the exploration.")))),
)]
async fn create_exploration(
    State(state): State<AppState>,
    principal: Principal,
    JsonBody(mut asked): JsonBody<ExplorationSpec>,
) -> Result<Answer, Problem> {
    asked.name = checked_name(asked.name.take())?;
    principal.sees(asked.dataset, "dataset")?;
    check_bounds(&asked)?;
    let id = ExplorationId::generate();
    let new = begun(&state, &principal, asked, id).await?;
    let act = principal.act_answering(|row: &ExplorationRow| queued(row).ok());
    let created = state.store.exploration_create(act, new).await;
    let row = match created {
        Err(StoreError::Conflict(Conflict::QueueFull)) => return Err(queue_full(&state)),
        created => created?,
    };
    queued(&row)
}

fn queued(row: &ExplorationRow) -> Result<Answer, Problem> {
    let location = format!("/v1/explorations/{}", row.id);
    let view = ExplorationView::of(row)?;
    Ok(Answer::new(StatusCode::ACCEPTED, &view).with(header::LOCATION, &location))
}

fn check_bounds(asked: &ExplorationSpec) -> Result<(), Problem> {
    let (parameter, detail) = if let Some(detail) = not_measured(asked.loss, &asked.report) {
        ("loss", detail.to_owned())
    } else if asked.keep > KEEP_MAX {
        ("keep", format!("keep lies between 0 and {KEEP_MAX}"))
    } else if !(1..=SECONDS_MAX).contains(&asked.seconds_max) {
        let detail = format!("seconds_max lies between 1 and {SECONDS_MAX}");
        ("seconds_max", detail)
    } else {
        return Ok(());
    };
    Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter(parameter))
}

/// The exploration with a job for each setting that can be run.
async fn begun(
    state: &AppState,
    principal: &Principal,
    asked: ExplorationSpec,
    id: ExplorationId,
) -> Result<NewExploration, Problem> {
    let dataset = state.store.dataset_get(asked.dataset).await?;
    let version = check_version(state, asked.version, &dataset).await?;
    let schema = super::version_schema(&version)?;
    let grid = asked.grid().settings(&schema);
    let GridSettings {
        settings,
        mut refused,
    } = grid.map_err(|error| Problem::new(ProblemKind::InvalidBody, error.to_string()))?;
    let mut jobs = Vec::new();
    let mut first = None;
    for setting in settings {
        let spec = asked.job(&setting, version.version);
        let checked = check(&spec, &dataset, &version)
            .and_then(|()| check_floors(state, &spec, (&dataset, &version)))
            .and_then(|()| check_cost(state, &spec, &dataset, &version));
        match checked {
            Ok(memory_bytes) => jobs.push(NewJob {
                id: JobId::generate(),
                dataset: asked.dataset,
                dataset_version: version.version,
                preference_version: dataset.preference_version,
                engine: setting.engine,
                publish: spec.publish.as_str().into(),
                spec: serde_json::to_value(&spec).map_err(|_| Problem::internal())?,
                created_by: principal.name().to_owned(),
                memory_bytes,
                queued_jobs_max: u64::MAX,
                setting: Some((id, jobs.len() as u32 + 1)),
            }),
            Err(problem) => {
                refused.push(RefusedSetting {
                    engine: setting.engine,
                    parameters: setting.parameters,
                    parameter: problem.parameter().unwrap_or("engine").to_owned(),
                    reason: problem.detail().to_owned(),
                });
                first.get_or_insert(problem);
            }
        }
    }
    if jobs.is_empty() {
        return Err(first.unwrap_or_else(|| nothing_to_run(&refused)));
    }
    let seconds_max = asked.seconds_max;
    let kept = KeptExploration { asked, refused };
    Ok(NewExploration {
        id,
        dataset: kept.asked.dataset,
        dataset_version: version.version,
        preference_version: dataset.preference_version,
        spec: serde_json::to_value(&kept).map_err(|_| Problem::internal())?,
        created_by: principal.name().to_owned(),
        seconds_max,
        jobs,
        queued_jobs_max: state.settings.limits.exploration_jobs_max,
    })
}

/// No engine takes any combination: the reason of the first is told.
fn nothing_to_run(refused: &[RefusedSetting]) -> Problem {
    let Some(first) = refused.first() else {
        return Problem::new(ProblemKind::InvalidBody, "no setting is asked for");
    };
    let detail = format!("no setting can be run; the first: {}", first.reason);
    Problem::new(ProblemKind::InvalidParameter, detail).with_parameter(first.parameter.as_str())
}

fn queue_full(state: &AppState) -> Problem {
    let limit = state.settings.limits.exploration_jobs_max();
    let detail = format!("the explorations of the dataset would pass {limit} in its queue");
    Problem::new(ProblemKind::QueueFull, detail)
}

/// List explorations
#[utoipa::path(
    get, path = "/v1/explorations", operation_id = "list_explorations", tag = "jobs",
    params(ExplorationQuery),
    responses((status = 200, description = "One page of explorations, newest first.",
        body = PageView<ExplorationHead>)),
)]
async fn list_explorations(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<ExplorationQuery>,
) -> Result<Json<PageView<ExplorationHead>>, Problem> {
    let only = principal.datasets().map(<[_]>::to_vec);
    let request = page_request(query.limit, query.cursor)?;
    let page = state.store.exploration_list(request, (query.dataset, only));
    let page = page.await?;
    let heads = page.items.iter();
    let heads = heads.map(|row| Ok(ExplorationHead::of(row, &kept(row)?.asked)));
    let page = Page {
        items: heads.collect::<Result<Vec<_>, Problem>>()?,
        next_cursor: page.next_cursor,
    };
    Ok(Json(PageView::of(page, |head| head)))
}

/// Look at an exploration
///
/// The settings with their figures, and the front of loss against risk; as a page
/// with a picture for `Accept: text/html`.
#[utoipa::path(
    get, path = "/v1/explorations/{id}", operation_id = "get_exploration", tag = "jobs",
    params(("id" = ExplorationId, Path, description = "The exploration.")),
    responses((status = 200, description = "The exploration as it is now.",
        content((ExplorationView = "application/json"), (String = "text/html")))),
)]
async fn get_exploration(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ExplorationId>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let offered = match state.exploration_page {
        Some(_) => &["application/json", "text/html"][..],
        None => &["application/json"],
    };
    let media_type = preferred(&headers, offered)?;
    let row = visible(&state, &principal, id).await?;
    let view = ExplorationView::of(&row)?;
    let vary = [(header::VARY, "accept")];
    match state.exploration_page {
        Some(draw) if media_type == "text/html" => {
            let document = serde_json::to_value(&view).map_err(|_| Problem::internal())?;
            let dataset = state.store.dataset_get(row.dataset).await;
            let dataset = dataset.map_or(Value::Null, |row| named(&row.schema));
            let page = draw(&document, &dataset);
            Ok((vary, PAGE_HEADERS, Html(page)).into_response())
        }
        _ => Ok((vary, Json(view)).into_response()),
    }
}

/// Stop an exploration
///
/// Settings that wait are cancelled at once, one that runs within a second of engine
/// time; what has ended stays.
#[utoipa::path(
    post, path = "/v1/explorations/{id}/cancel", operation_id = "cancel_exploration", tag = "jobs",
    params(("id" = ExplorationId, Path, description = "The exploration.")),
    responses((status = 200, description = "The exploration, asked to stop.", body = ExplorationView)),
)]
async fn cancel_exploration(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<ExplorationId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    visible(&state, &principal, id).await?;
    let answer = |row: &ExplorationRow| ExplorationView::of(row).map(|view| Answer::ok(&view));
    let act = principal.act_answering(move |row| answer(row).ok());
    answer(&state.store.exploration_cancel(act, id).await?)
}

/// The exploration that made a release and the number of the setting, as a
/// document; null for who may see no explorations, and for a release that none made.
pub(super) async fn explored(
    state: &AppState,
    principal: &Principal,
    release: &ReleaseRow,
) -> Result<Value, Problem> {
    if !principal.has(Role::Steward) {
        return Ok(Value::Null);
    }
    let id = match state.store.job_get(release.job).await {
        Ok(job) => job.exploration,
        // Jobs of an erased dataset are gone.
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let Some(id) = id else {
        return Ok(Value::Null);
    };
    let row = match state.store.exploration_get(id).await {
        Ok(row) if principal.sees(row.dataset, "exploration").is_ok() => row,
        Ok(_) | Err(StoreError::NotFound { .. }) => return Ok(Value::Null),
        Err(error) => return Err(error.into()),
    };
    let view = ExplorationView::of(&row)?;
    let setting = view.settings.iter().find(|one| one.job == release.job);
    let setting = setting.map(|one| one.outcome.setting);
    Ok(json!({"exploration": view, "setting": setting}))
}

/// An exploration that the principal may see.
async fn visible(
    state: &AppState,
    principal: &Principal,
    id: ExplorationId,
) -> Result<ExplorationRow, Problem> {
    let row = state.store.exploration_get(id).await?;
    principal.sees(row.dataset, "exploration")?;
    Ok(row)
}
