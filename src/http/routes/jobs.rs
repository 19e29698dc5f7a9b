//! Jobs: queued, looked at, stopped.
//!
//! A job is checked before it is queued: what can be known to be wrong
//! without reading a record is answered at once. It pins the latest versions
//! of records and preferences.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;
use vizard_anonymizer::catalog::{Engine, check_accepted, check_fit, is_reason};
use vizard_anonymizer::microdata::Schema;
use vizard_anonymizer::release::SeriesMode;

use super::job_view::JobView;
use super::page::{PageView, page_request};
use super::query::{JobQuery, JobWaitQuery};
use crate::config::SecondSteward;
use crate::failpoint;
use crate::http::answer::Answer;
use crate::http::auth::Principal;
use crate::http::extract::{JsonBody, NoBody, UrlPath, UrlQuery};
use crate::http::problem::{Problem, ProblemKind};
use crate::http::state::AppState;
use crate::ids::JobId;
use crate::job::floors::{InForce, Ordered, sentences};
use crate::job::{
    JobFailure, JobSpec, NAME_CHARACTERS_MAX, PublishMode, SeriesOptions, estimate_bytes, job_name,
};
use crate::store::{Conflict, DatasetRow, JobFilter, JobRow, NewJob, StoreError, VersionRow};
use crate::telemetry::link_job;

/// Seconds that an answer may wait for the end of a job.
const WAIT_SECONDS_MAX: u64 = 60;
/// How long the store is watched at a time.
const WATCH_TIMEOUT: Duration = Duration::from_secs(10);

pub(in crate::http) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(create_job, list_jobs))
        .routes(routes!(get_job))
        .routes(routes!(cancel_job))
}

/// Queue a job
///
/// One run of one engine on one version of a dataset, under the preferences
/// in force now.
#[utoipa::path(
    post, path = "/v1/jobs", operation_id = "create_job", tag = "jobs",
    request_body(content = JobSpec, example = json!({
        "dataset": "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70", "engine": "lgb",
        "parameters": {"k": 5, "l": 8, "generalization": "mdp"}, "publish": "manual"})),
    responses((status = 202, description = "The queued job.", body = JobView,
        headers(("location" = String, description = "Path of the job.")))),
)]
async fn create_job(
    State(state): State<AppState>,
    principal: Principal,
    JsonBody(mut spec): JsonBody<JobSpec>,
) -> Result<Answer, Problem> {
    refuse_seed(&spec)?;
    spec.name = checked_name(spec.name.take())?;
    principal.sees(spec.dataset, "dataset")?;
    let dataset = state.store.dataset_get(spec.dataset).await?;
    let version = version_of(&state, &spec, &dataset).await?;
    check(&spec, &dataset, &version)?;
    check_publishing(&state, &spec)?;
    check_floors(&state, &spec, (&dataset, &version))?;
    let memory_bytes = check_cost(&state, &spec, &dataset, &version)?;
    spec.version = Some(version.version);
    let job = NewJob {
        id: JobId::generate(),
        dataset: spec.dataset,
        dataset_version: version.version,
        preference_version: dataset.preference_version,
        engine: spec.engine.clone(),
        publish: spec.publish.as_str().into(),
        spec: serde_json::to_value(&spec).map_err(|_| Problem::internal())?,
        created_by: principal.name().to_owned(),
        memory_bytes,
        queued_jobs_max: state.settings.limits.queued_jobs_max,
        setting: None,
    };
    let act = principal.act_answering(|row| Some(queued(row)));
    let row = match state.store.job_create(act, job).await {
        Err(StoreError::Conflict(Conflict::QueueFull)) => return Err(queue_full(&state)),
        created => created?,
    };
    failpoint::reached("job-queued");
    link_job(&tracing::Span::current(), row.id.uuid());
    Ok(queued(&row))
}

fn queued(row: &JobRow) -> Answer {
    let location = format!("/v1/jobs/{}", row.id);
    let view = JobView::from(row.clone());
    Answer::new(StatusCode::ACCEPTED, &view).with(header::LOCATION, &location)
}

/// List jobs
#[utoipa::path(
    get, path = "/v1/jobs", operation_id = "list_jobs", tag = "jobs",
    params(JobQuery),
    responses((status = 200, description = "One page of jobs, newest first.", body = PageView<JobView>)),
)]
async fn list_jobs(
    State(state): State<AppState>,
    principal: Principal,
    UrlQuery(query): UrlQuery<JobQuery>,
) -> Result<Json<PageView<JobView>>, Problem> {
    let filter = JobFilter {
        states: query.state.into_iter().collect(),
        dataset: query.dataset,
        only: principal.datasets().map(<[_]>::to_vec),
    };
    let request = page_request(query.limit, query.cursor)?;
    let page = state.store.job_list(request, filter).await?;
    Ok(Json(PageView::of(page, JobView::from)))
}

/// Look at a job
///
/// With `wait` the answer waits until the job has ended, up to so many seconds,
/// and shows the job as it is then. It counts as an event stream.
#[utoipa::path(
    get, path = "/v1/jobs/{id}", operation_id = "get_job", tag = "jobs",
    params(("id" = JobId, Path, description = "The job."), JobWaitQuery),
    responses((status = 200, description = "The job.", body = JobView)),
)]
async fn get_job(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<JobId>,
    UrlQuery(query): UrlQuery<JobWaitQuery>,
) -> Result<Json<JobView>, Problem> {
    if query.wait > WAIT_SECONDS_MAX {
        let detail = "wait lies between 0 and 60 seconds";
        return Err(Problem::new(ProblemKind::InvalidQuery, detail));
    }
    let job = visible_job(&state, &principal, id).await?;
    if query.wait == 0 || job.state.is_final() {
        return Ok(Json(job.into()));
    }
    let _share = state.event_streams.begin(principal.name(), 1)?;
    let ended = ended(&state, id, job.revision);
    let standing = principal.standing();
    let revoked = standing.ended(Arc::clone(&state.store), Arc::clone(&state.clock));
    tokio::select! {
        () = ended => {}
        () = tokio::time::sleep(Duration::from_secs(query.wait)) => {}
        () = state.shutdown.cancelled() => {}
        // What it may no longer see is not told.
        () = revoked => {
            let detail = "the token was revoked or expired meanwhile";
            return Err(Problem::new(ProblemKind::Unauthenticated, detail));
        }
    }
    Ok(Json(visible_job(&state, &principal, id).await?.into()))
}

/// Waits for the end of a job, or for a store that fails.
async fn ended(state: &AppState, id: JobId, mut revision: u64) {
    loop {
        match state.store.job_watch(id, revision, WATCH_TIMEOUT).await {
            Ok(job) if job.state.is_final() => return,
            Ok(job) => revision = job.revision,
            Err(_) => return,
        }
    }
}

/// Stop a job
///
/// A queued job is cancelled at once, a running one within a second of engine
/// time; one that has ended stays as it is.
#[utoipa::path(
    post, path = "/v1/jobs/{id}/cancel", operation_id = "cancel_job", tag = "jobs",
    params(("id" = JobId, Path, description = "The job.")),
    responses((status = 200, description = "The job, asked to stop.", body = JobView)),
)]
async fn cancel_job(
    State(state): State<AppState>,
    principal: Principal,
    UrlPath(id): UrlPath<JobId>,
    NoBody: NoBody,
) -> Result<Answer, Problem> {
    visible_job(&state, &principal, id).await?;
    let answer = |row: &JobRow| Answer::ok(&JobView::from(row.clone()));
    let act = principal.act_answering(move |row| Some(answer(row)));
    Ok(answer(&state.store.job_cancel_request(act, id).await?))
}

/// A job that the principal may see.
pub(super) async fn visible_job(
    state: &AppState,
    principal: &Principal,
    id: JobId,
) -> Result<JobRow, Problem> {
    let job = state.store.job_get(id).await?;
    principal.sees(job.dataset, "job")?;
    Ok(job)
}

/// The version to run on.
async fn version_of(
    state: &AppState,
    spec: &JobSpec,
    dataset: &DatasetRow,
) -> Result<VersionRow, Problem> {
    if dataset.records == 0 {
        check_parameters(spec, &super::stored_schema(dataset)?)?;
    }
    check_version(state, spec.version, dataset).await
}

/// A version of this number, or the latest, that a job may run on.
pub(super) async fn check_version(
    state: &AppState,
    version: Option<u64>,
    dataset: &DatasetRow,
) -> Result<VersionRow, Problem> {
    match version.unwrap_or(dataset.version) {
        version if version == dataset.version && dataset.records == 0 => {
            let detail = "upload records first";
            Err(Problem::new(ProblemKind::NoRecords, detail))
        }
        version if (1..=dataset.version).contains(&version) => {
            let found = state.store.version_get(dataset.id, version).await?;
            if version != dataset.version {
                let latest = state.store.version_get(dataset.id, dataset.version).await?;
                check_epoch(&found, &latest)?;
            }
            Ok(found)
        }
        _ => Err(StoreError::NotFound { what: "version" }.into()),
    }
}

/// Refuses a version whose records were replaced since: it has subjects who left
/// and values that were corrected.
fn check_epoch(version: &VersionRow, latest: &VersionRow) -> Result<(), Problem> {
    if version.epoch == latest.epoch {
        return Ok(());
    }
    let detail = format!(
        "the records of version {} were replaced since: subjects may have left, and values may have \
         been corrected. Run the job on the latest version, which is {}",
        version.version, latest.version
    );
    Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("version"))
}

/// Checks what can be checked without a record.
pub(super) fn check(
    spec: &JobSpec,
    dataset: &DatasetRow,
    version: &VersionRow,
) -> Result<(), Problem> {
    let schema = super::version_schema(version)?;
    check_parameters(spec, &schema)?;
    if spec.series.is_some() && version.version != dataset.version {
        let detail = format!(
            "a series goes on with the latest version, which is {}: an older one may have \
             subjects who left",
            dataset.version
        );
        return Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("version"));
    }
    let now = super::stored_schema(dataset)?;
    let beyond = now.protects_beyond(&schema);
    let what = match (beyond.is_empty(), now.asks_beyond(&schema)) {
        (true, false) => return Ok(()),
        (true, true) => "default_preference".to_owned(),
        (false, _) => format!("protection of `{}`", beyond.join("`, `")),
    };
    let detail = format!(
        "version {} is older than the {what}, which the dataset's schema has now: subjects' terms \
         would not bind there. Run the job on the latest version",
        version.version,
    );
    Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("version"))
}

fn check_parameters(spec: &JobSpec, schema: &Schema) -> Result<(), Problem> {
    let schema = &schema.transformed();
    let engine = Engine::parse(&spec.engine, &spec.parameters, schema);
    let engine = engine.map_err(JobFailure::from)?.with_parts(spec.parts);
    let mut keeps_history = false;
    if let Some(series) = spec.series {
        check_series(series, &engine, schema)?;
        keeps_history = series.mode != SeriesMode::Increments;
    }
    engine
        .check_parts(schema, keeps_history)
        .map_err(JobFailure::from)?;
    check_accepted(schema, &spec.accept_exact).map_err(JobFailure::from)?;
    check_fit(schema, spec.report.fit.as_ref()).map_err(JobFailure::from)?;
    Ok(())
}

/// Checks that the engine goes on a series in this mode.
fn check_series(series: SeriesOptions, engine: &Engine, schema: &Schema) -> Result<(), Problem> {
    match series.mode {
        SeriesMode::Increments => {}
        SeriesMode::Nested => engine
            .check_keeps_groups(schema, series.join_groups)
            .map_err(JobFailure::from)?,
        SeriesMode::Invariant => {
            engine.keeps_sets_of(schema).map_err(JobFailure::from)?;
        }
    }
    let (parameter, detail) = match series.mode {
        SeriesMode::Increments | SeriesMode::Nested if series.max_counterfeits.is_some() => (
            "max_counterfeits",
            "counterfeits are of the mode invariant alone",
        ),
        SeriesMode::Increments | SeriesMode::Nested if series.changes.is_some() => {
            ("changes", "sets of values are of the mode invariant alone")
        }
        SeriesMode::Increments | SeriesMode::Invariant if series.max_companions.is_some() => {
            ("max_companions", "companions are of the mode nested alone")
        }
        SeriesMode::Increments | SeriesMode::Invariant if series.join_groups => {
            ("join_groups", "groups are joined in the mode nested alone")
        }
        _ => return Ok(()),
    };
    let problem = Problem::new(ProblemKind::InvalidParameter, detail);
    Err(problem.with_parameter(format!("series.{parameter}")))
}

/// Refuses a release that would publish itself and takes two stewards.
fn check_publishing(state: &AppState, spec: &JobSpec) -> Result<(), Problem> {
    let exception = spec.floor_exception.as_deref();
    if exception.is_some_and(|reason| !is_reason(reason)) {
        let detail = "floor_exception is a reason of 1 to 500 characters";
        let problem = Problem::new(ProblemKind::InvalidBody, detail);
        return Err(problem.with_parameter("floor_exception"));
    }
    let detail = match (exception, state.settings.second_steward) {
        _ if spec.publish == PublishMode::Manual => return Ok(()),
        (Some(_), _) => "an exception from the floors is published by stewards, not by itself",
        (None, SecondSteward::Always) => {
            "every release of this service is published by two stewards"
        }
        (None, _) => return Ok(()),
    };
    Err(Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("publish"))
}

/// Refuses a job below the operator's floors that asks for no exception.
pub(super) fn check_floors(
    state: &AppState,
    spec: &JobSpec,
    (dataset, version): (&DatasetRow, &VersionRow),
) -> Result<(), Problem> {
    if spec.floor_exception.is_some() {
        return Ok(());
    }
    let schema = super::version_schema(version)?;
    let engine = Engine::parse(&spec.engine, &spec.parameters, &schema);
    let policy = engine.and_then(|engine| engine.policy(&schema));
    let ordered = Ordered {
        engine: &spec.engine,
        schema: &schema,
        policy: &policy.map_err(JobFailure::from)?,
        made: None,
    };
    let below = InForce::of(&state.settings.floors, &dataset.floors).below(&ordered);
    let Some(first) = below.first() else {
        return Ok(());
    };
    let detail = format!(
        "{}. Ask for more; or give the reason of an exception as floor_exception, for two stewards \
         to publish",
        sentences(&below)
    );
    let problem = Problem::new(ProblemKind::BelowFloor, detail);
    Err(problem.with_parameter(first.parameter.as_str()))
}

/// Refuses a job that no worker would run, by what is known of it now; the bytes
/// of memory that it is estimated to need.
pub(super) fn check_cost(
    state: &AppState,
    spec: &JobSpec,
    dataset: &DatasetRow,
    version: &VersionRow,
) -> Result<u64, Problem> {
    let limits = &state.settings.limits;
    if u64::from(spec.report.queries) > limits.report_queries_max {
        let problem = Problem::past(limits.report_queries_max());
        return Err(problem.with_parameter("report.queries"));
    }
    let attributes = super::version_schema(version)?.attributes().len() as u64;
    let needed_bytes = estimate_bytes(&dataset.job_size(version, attributes));
    let memory_bytes_max = state.settings.memory_bytes_max;
    if needed_bytes > memory_bytes_max {
        let failure = JobFailure::TooLarge {
            needed_bytes,
            memory_bytes_max,
        };
        return Err(failure.into());
    }
    Ok(needed_bytes)
}

fn queue_full(state: &AppState) -> Problem {
    let limit = state.settings.limits.queued_jobs_max();
    let detail = format!("the dataset is at {limit} in its queue");
    Problem::new(ProblemKind::QueueFull, detail)
}

/// A name without spaces at its ends.
pub(super) fn checked_name(name: Option<String>) -> Result<Option<String>, Problem> {
    let Some(text) = name else {
        return Ok(None);
    };
    job_name(&text).map(Some).ok_or_else(|| {
        let detail = format!(
            "a name has 1 to {NAME_CHARACTERS_MAX} characters, and none that controls or turns text"
        );
        Problem::new(ProblemKind::InvalidParameter, detail).with_parameter("name")
    })
}

/// A seed that somebody knows lets them place every row of the release.
fn refuse_seed(spec: &JobSpec) -> Result<(), Problem> {
    if !spec.seed_given {
        return Ok(());
    }
    let detail = "the service draws the seed of each job and tells nobody; \
        the offline command `vizard anonymize` takes `--seed`";
    Err(Problem::new(ProblemKind::InvalidBody, detail).with_parameter("seed"))
}
