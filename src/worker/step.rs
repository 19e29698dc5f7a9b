//! One job, from lease to commit: load, run, verify, measure, commit.
//!
//! The run ends in one of four ways. A release or a lasting failure is
//! written under the lease's token, in one transaction; a cancelled or drained
//! job is given back; a failing store or a lost lease writes nothing, and the
//! job is acquired again when the lease has run out.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio_util::sync::CancellationToken;
use vizard_anonymizer::catalog::exploration::Measures;
use vizard_anonymizer::catalog::{Assignment, Engine, TextRoom, produce};
use vizard_anonymizer::engine::{EngineError, RunContext};
use vizard_anonymizer::microdata::{Schema, Table};
use vizard_anonymizer::privacy::History;
use vizard_anonymizer::release::{
    InputDescription, SeriesMode, check_transforms, history, kept_groups,
};
use vizard_anonymizer::verify::{AtOnce, reruns};

use super::Shared;
use super::commit::commit;
use super::lease::{Lease, StopReason, Watch};
use super::load::{self, LoadError, Loaded};
use super::packed_room::PackedRoom;
use super::steps::Steps;
use crate::failpoint;
use crate::ids::ExplorationId;
use crate::job::composition::compare;
use crate::job::{JobFailure, JobSpec, estimate_bytes};
use crate::spill_file::UnnamedFiles;
use crate::store::{
    AcquiredJob, Composed, JobProblem, JobRow, JobSecrets, OperatorRules, ReleaseCommit, StoreError,
};

/// How a run ended.
enum Ended {
    /// There is a verified release.
    Done(Box<ReleaseCommit>),
    /// It will never be otherwise.
    Failed(JobFailure),
    /// The store failed; another attempt may do better.
    Retry,
}

/// Runs one acquired job to its end. `drain` tells it to give the job back.
pub async fn run_job(shared: &Arc<Shared>, acquired: AcquiredJob, drain: &CancellationToken) {
    failpoint::reached("job-acquired");
    let (job, token) = (&acquired.job, acquired.lease_token);
    let watch = Watch::default();
    let steps = Steps::of(job);
    let lease = Lease {
        job: job.id,
        token,
        duration: shared.settings.lease_duration,
        interval: shared.settings.heartbeat_interval,
    };
    let done = CancellationToken::new();
    // Held until the release is written: until then it is in memory.
    let mut admitted = None;
    let ended = {
        let work = async {
            let ended = tokio::select! {
                ended = produce_release(shared, &acquired, &watch, &steps, &mut admitted) => ended,
                () = drain.cancelled() => {
                    // Not waited for: what still computes ends with the process.
                    watch.stop(StopReason::Drained);
                    Ended::Retry
                }
            };
            done.cancel();
            ended
        };
        let (ended, ()) = tokio::join!(work, lease.keep(shared.store.as_ref(), &watch, &done),);
        ended
    };
    failpoint::reached("job-before-commit");
    let written = match (watch.stopped(), ended) {
        (Some(StopReason::LeaseLost), _) | (None, Ended::Retry) => Ok("retry"),
        (Some(StopReason::Drained), _) => shared
            .store
            .job_yield(shared.act(), job.id, token)
            .await
            .map(|()| "yielded"),
        (Some(StopReason::Cancelled), _) => shared
            .store
            .job_cancelled(shared.act(), job.id, token)
            .await
            .map(|()| "cancelled"),
        (None, Ended::Done(commit)) => shared
            .store
            .job_complete(shared.act(), job.id, token, *commit)
            .await
            .map(|_| "succeeded"),
        (None, Ended::Failed(failure)) => shared
            .store
            .job_fail(shared.act(), job.id, token, told(job, &failure))
            .await
            .map(|has_figures| count_infeasible(&failure, has_figures)),
    };
    failpoint::reached("job-committed");
    drop(admitted);
    tell_end(job, &steps, written);
}

/// A failure as the store keeps it, with or without its figures. An exploration
/// tells none: its many answers would walk along the frequencies of the values.
fn told(job: &JobRow, failure: &JobFailure) -> JobProblem {
    let figures = || failure.problem_with_figures();
    JobProblem {
        plain: failure.problem(),
        with_figures: job.exploration.map_or_else(figures, |_| None),
    }
}

/// The figures by which an exploration compares what its job made.
fn explored(job: &JobRow, commit: &ReleaseCommit) -> Option<(ExplorationId, Measures)> {
    let exploration = job.exploration?;
    let excluded = commit.claims["excluded"].as_u64().unwrap_or(0);
    let measures = Measures::of(&commit.report, &commit.verification, excluded);
    Some((exploration, measures))
}

/// Counts the answers that say something of the records; answers the outcome.
fn count_infeasible(failure: &JobFailure, has_figures: bool) -> &'static str {
    if let JobFailure::Engine(EngineError::Infeasible(_)) = failure {
        let figures = if has_figures { "told" } else { "withheld" };
        metrics::counter!("vizard_infeasible_answers_total", "figures" => figures).increment(1);
    }
    "failed"
}

/// Tells how an attempt ended: in its trace, the metrics and the log.
fn tell_end(job: &JobRow, steps: &Steps, written: Result<&'static str, StoreError>) {
    match written {
        Ok(outcome) => {
            steps.finish(outcome);
            metrics::counter!("vizard_jobs_total", "engine" => job.engine.clone(), "outcome" => outcome).increment(1);
            tracing::info!(job = %job.id, engine = job.engine, attempt = job.attempts, outcome, "job ended");
        }
        Err(StoreError::LeaseLost) => {
            steps.finish("lease_lost");
            metrics::counter!("vizard_lease_losses_total").increment(1);
            tracing::warn!(job = %job.id, "lease lost: the work is thrown away");
        }
        Err(error) => {
            steps.finish("store_failed");
            tracing::warn!(job = %job.id, %error, "the end of the job could not be written")
        }
    }
}

async fn produce_release(
    shared: &Arc<Shared>,
    acquired: &AcquiredJob,
    watch: &Watch,
    steps: &Steps,
    admitted: &mut Option<OwnedSemaphorePermit>,
) -> Ended {
    steps.begin("admit");
    let job = &acquired.job;
    let spec: JobSpec = match serde_json::from_value(job.spec.clone()) {
        Ok(spec) => spec,
        Err(error) => {
            tracing::error!(job = %job.id, line = error.line(), "stored specification cannot be read");
            return Ended::Failed(JobFailure::Internal);
        }
    };
    let memory_bytes_max = shared.memory.bytes_max();
    let needed = match needed_bytes(shared, job).await {
        Ok(needed) => needed,
        Err(error) => return not_loaded(job, error.into()),
    };
    // Stopping ends the wait as well: the heartbeat goes on meanwhile.
    *admitted = tokio::select! {
        admitted = shared.memory.admit(needed) => admitted,
        () = stopped(watch) => return Ended::Retry,
    };
    if admitted.is_none() {
        return Ended::Failed(JobFailure::TooLarge {
            needed_bytes: needed,
            memory_bytes_max,
        });
    }
    steps.begin("load");
    let loaded = match load::load(shared.store.as_ref(), job, spec.series).await {
        Ok(loaded) => loaded,
        Err(error) => return not_loaded(job, error),
    };
    let token = acquired.lease_token;
    let secrets = match shared.store.job_secrets(shared.act(), job.id, token).await {
        Ok(secrets) => secrets,
        Err(error) => return not_loaded(job, error.into()),
    };
    let (engine, watch, mut steps) = (job.engine.clone(), watch.clone(), steps.clone());
    let operator = OperatorRules {
        floors: shared.settings.floors.clone(),
        second_steward: shared.settings.second_steward,
    };
    let given = (loaded, secrets, operator);
    let work = move || run_loaded(given, &engine, spec, &watch, &mut steps);
    match shared.pool.run(work).await {
        Ok(Ended::Done(mut commit)) => {
            commit.explored = explored(job, &commit);
            beside_others(shared, job, commit).await
        }
        Ok(ended) => ended,
        Err(panicked) => {
            tracing::error!(job = %job.id, error = %panicked, "engine failed");
            Ended::Failed(JobFailure::Internal)
        }
    }
}

/// The bytes of memory that a job is estimated to need: as it was when it was
/// queued, or as its dataset is now, whichever is more. Its population table may
/// have been put since.
async fn needed_bytes(shared: &Shared, job: &JobRow) -> Result<u64, StoreError> {
    // Without an estimate a job runs alone.
    let Some(queued) = job.memory_bytes else {
        return Ok(shared.memory.bytes_max());
    };
    let dataset = shared.store.dataset_get(job.dataset).await?;
    let version = shared.store.version_get(job.dataset, job.dataset_version);
    let version = version.await?;
    let schema: Schema = serde_json::from_value(version.schema.clone())
        .map_err(|_| load::inconsistent("dataset_versions", "schema", job.dataset))?;
    let attributes = schema.transformed().attributes().len() as u64;
    let now = estimate_bytes(&dataset.job_size(&version, attributes));
    Ok(queued.max(now))
}

/// A release that would publish itself stays a draft where others about the
/// same people are public, unless all of them keep together what each claims:
/// stewards have to say that they may be read together.
async fn beside_others(
    shared: &Arc<Shared>,
    job: &JobRow,
    mut commit: Box<ReleaseCommit>,
) -> Ended {
    let Some(mut request) = commit.publish.take() else {
        return Ended::Done(commit);
    };
    let series = shared.store.public_series(job.dataset).await;
    let Ok(public) = series else {
        return Ended::Retry;
    };
    let ids = public.iter().map(|(id, _)| *id).collect();
    let draft = std::mem::take(&mut commit.candidates);
    let compared = shared.pool.run(move || {
        let found = compare(&draft, &public);
        (draft, found.documents(), found.is_safe())
    });
    let Ok((draft, with, is_safe)) = compared.await else {
        return Ended::Failed(JobFailure::Internal);
    };
    commit.candidates = draft;
    if !with.is_empty() && !is_safe {
        tracing::info!(job = %job.id, "public releases are about the same people: left as a draft");
    } else {
        request.beside = Some(ids);
        request.composed = (!with.is_empty()).then_some(Composed { reason: None, with });
        commit.publish = Some(request);
    }
    Ended::Done(commit)
}

async fn stopped(watch: &Watch) {
    while watch.stopped().is_none() {
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

fn not_loaded(job: &JobRow, error: LoadError) -> Ended {
    tracing::warn!(job = %job.id, %error, "input could not be read");
    match error {
        LoadError::Table(error) => Ended::Failed(JobFailure::Input(error)),
        LoadError::SeriesUnknown => Ended::Failed(JobFailure::SeriesUnknown),
        LoadError::Store(StoreError::Driver(_) | StoreError::LeaseLost) => Ended::Retry,
        // The dataset was erased meanwhile, or damaged: trying again is no help.
        LoadError::Store(_) => Ended::Failed(JobFailure::Internal),
    }
}

/// What public releases show of the subjects, where the job keeps it.
fn history_of(
    loaded: &Loaded,
    spec: &JobSpec,
    (engine, table): (&Engine, &Table),
) -> Result<Option<Arc<History>>, JobFailure> {
    let Some(series) = spec.series else {
        return Ok(None);
    };
    let kept = match series.mode {
        SeriesMode::Increments => return Ok(None),
        SeriesMode::Invariant => {
            let published = engine.keeps_sets_of(&loaded.schema)?;
            let changes = series.changes.unwrap_or_default();
            let keeping = (published, changes);
            history(table, keeping, &loaded.shown, series.counterfeits())
        }
        SeriesMode::Nested => {
            engine.check_keeps_groups(&loaded.schema, series.join_groups)?;
            let how = (series.companions(), series.join_groups);
            kept_groups(table, &loaded.shown, how)
        }
    };
    kept.map(Some).map_err(JobFailure::SeriesUnsafe)
}

/// The pure part, on the CPU pool.
fn run_loaded(
    (mut loaded, secrets, operator): (Loaded, JobSecrets, OperatorRules),
    engine: &str,
    spec: JobSpec,
    watch: &Watch,
    steps: &mut Steps,
) -> Ended {
    failpoint::reached("job-loaded");
    let run = || -> Result<Ended, JobFailure> {
        let preferences = loaded.preferences().map_err(|_| JobFailure::Internal)?;
        let engine =
            Engine::parse(engine, &spec.parameters, &loaded.schema)?.with_parts(spec.parts);
        if let Some(SeriesMode::Invariant | SeriesMode::Nested) = loaded.series {
            let checked = check_transforms(&loaded.schema, &loaded.shown);
            checked.map_err(JobFailure::SeriesUnsafe)?;
        }
        let table = loaded.table(&secrets.dataset_secret)?;
        if !loaded.public.is_empty() && table.records() == 0 {
            return Err(JobFailure::NothingNew);
        }
        let population_table = loaded.population_table();
        let population_table = population_table.map_err(|_| JobFailure::Internal)?;
        let history = history_of(&loaded, &spec, (&engine, &table))?;
        let assignment = Assignment {
            table: &table,
            preferences: &preferences,
            engine: &engine,
            input: InputDescription {
                dataset: spec.dataset.to_string(),
                version: loaded.version.version,
                series: spec.series.map(|series| series.mode),
            },
            history,
            public: &loaded.shown,
            suppressed: loaded.version.dropped,
            reproducible_seed: false,
            accept_exact: &spec.accept_exact,
            queries: spec.report.queries,
            fit: spec.report.fit.as_ref(),
            population_table: population_table.as_ref(),
            reruns: reruns(table.subjects()),
            keeps_shown: true,
            rows_at_once: AtOnce::ROWS,
            verify: true,
            report: true,
        };
        // Kept with the job: a second attempt gives the same bytes.
        let scratch = UnnamedFiles::default();
        let context = RunContext {
            seed: secrets.seed,
            dataset_secret: secrets.dataset_secret,
            progress: watch,
            cancel: watch.flag(),
            part: None,
            scratch: &scratch,
        };
        let mut rooms =
            |_: &str| -> std::io::Result<TextRoom> { Ok(Box::new(PackedRoom::default())) };
        let produced = produce(&assignment, &context, &mut rooms, steps)?;
        if let Some(verdict) = produced.verdict.as_ref().filter(|verdict| !verdict.holds()) {
            metrics::counter!("vizard_verification_failures_total", "engine" => engine.name())
                .increment(1);
            return Err(JobFailure::VerificationFailed {
                checks: verdict.failed_kinds(),
            });
        }
        steps.begin("commit");
        let commit = commit(&table, &spec, produced, operator)?;
        failpoint::reached("job-run");
        Ok(Ended::Done(Box::new(commit)))
    };
    run().unwrap_or_else(|failure| match failure {
        // The stop reason decides what is written.
        JobFailure::Engine(EngineError::Cancelled) => Ended::Retry,
        // Whoever counts and publishes parts elsewhere may be there next time.
        JobFailure::Engine(EngineError::Elsewhere(_)) => Ended::Retry,
        failure => Ended::Failed(failure),
    })
}
