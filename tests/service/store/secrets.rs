//! Secrets of runs: the same for every attempt, sealed, gone when they are
//! needed no more; and the figures that problems may tell.

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{
    AcquiredJob, AuditFilter, FIGURES_TOLD_MAX, JobProblem, JobSecrets, StoreError, VersionMode,
};
use vizard_anonymizer::privacy::Seed;

use super::sealing::on_both_sealed;
use super::stage::{of_days, version};
use super::{Stage, act, draft, on_both_and_sealed};

on_both_and_sealed!(
    every_attempt_has_the_jobs_own_seed_and_the_datasets_secret,
    datasets_of_a_population_have_one_secret_also_when_the_first_is_gone,
    rows_of_before_get_secrets_when_a_worker_asks,
    a_worker_without_a_lease_learns_no_secret,
    no_seed_outlives_its_job,
    a_purge_leaves_the_secret_and_an_erasure_takes_it,
    a_version_tells_so_many_figures_and_no_more,
);

mod open {
    super::on_both_sealed!(secrets_are_nowhere_in_the_open);
    use super::secrets_are_nowhere_in_the_open;
}

async fn secrets(stage: &Stage, held: &AcquiredJob) -> JobSecrets {
    let asked = stage
        .store
        .job_secrets(act(), held.job.id, held.lease_token);
    asked.await.expect("the lease is held")
}

const SEEDS: &str = "SELECT seed FROM job WHERE seed IS NOT NULL";
const SECRETS: &str = "SELECT secret FROM dataset WHERE secret IS NOT NULL";

/// How many rows keep a secret.
async fn kept(stage: &Stage, all: &'static str) -> usize {
    stage.byte_column(all).await.len()
}

async fn every_attempt_has_the_jobs_own_seed_and_the_datasets_secret(stage: &Stage) {
    let (dataset, other) = (stage.filled_dataset().await, stage.filled_dataset().await);
    stage.job(dataset).await;
    let first = stage.acquire().await;
    let told = secrets(stage, &first).await;
    assert_eq!(secrets(stage, &first).await, told);
    stage.let_leases_run_out().await;
    let second = stage.acquire().await;
    assert_eq!((second.job.id, second.job.attempts), (first.job.id, 2));
    assert_eq!(secrets(stage, &second).await, told);
    let given_back = stage
        .store
        .job_yield(act(), second.job.id, second.lease_token);
    given_back.await.expect("held");
    let third = stage.acquire().await;
    assert_eq!(secrets(stage, &third).await, told);
    stage.job(dataset).await;
    let sibling = secrets(stage, &stage.acquire().await).await;
    assert_ne!(sibling.seed, told.seed);
    assert_eq!(sibling.dataset_secret, told.dataset_secret);
    stage.job(other).await;
    let stranger = secrets(stage, &stage.acquire().await).await;
    assert_ne!(stranger.dataset_secret, told.dataset_secret);
}

async fn datasets_of_a_population_have_one_secret_also_when_the_first_is_gone(stage: &Stage) {
    let told = async |dataset: DatasetId| {
        stage.job(dataset).await;
        let held = stage.acquire().await;
        assert_eq!(held.job.dataset, dataset);
        secrets(stage, &held).await.dataset_secret
    };
    let first = stage.filled_dataset_of(Some("clinic")).await;
    let second = stage.filled_dataset_of(Some("clinic")).await;
    let other = stage.filled_dataset_of(Some("surgery")).await;
    let secret = told(first).await;
    assert_eq!(told(second).await, secret);
    assert_ne!(told(other).await, secret);
    let erased = stage.store.dataset_erase(act(), first).await;
    erased.expect("erased");
    let third = stage.filled_dataset_of(Some("clinic")).await;
    assert_eq!(told(third).await, secret);
}

async fn rows_of_before_get_secrets_when_a_worker_asks(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    stage.sabotage("UPDATE job SET seed = NULL").await;
    stage.sabotage("UPDATE dataset SET secret = NULL").await;
    let held = stage.acquire().await;
    let drawn = secrets(stage, &held).await;
    assert_eq!(secrets(stage, &held).await, drawn);
    stage.let_leases_run_out().await;
    assert_eq!(secrets(stage, &stage.acquire().await).await, drawn);
    let filter = AuditFilter {
        action: Some("draw_secrets".to_owned()),
        ..AuditFilter::default()
    };
    let page = stage.store.audit_list(10, None, filter).await;
    let rows = page.expect("a page").items;
    let details: Vec<&str> = rows.iter().map(|row| row.detail.as_str()).collect();
    assert_eq!(details, [r#"{"drawn":["dataset_secret","seed"]}"#]);
}

async fn a_worker_without_a_lease_learns_no_secret(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    let stale = stage.acquire().await;
    stage.let_leases_run_out().await;
    let lost = |answer| assert!(matches!(answer, Err(StoreError::LeaseLost)), "{answer:?}");
    let ask = |held: &AcquiredJob| {
        stage
            .store
            .job_secrets(act(), held.job.id, held.lease_token)
    };
    lost(ask(&stale).await);
    let fresh = stage.acquire().await;
    lost(ask(&stale).await);
    assert!(ask(&fresh).await.is_ok());
    let erased = stage.store.dataset_erase(act(), dataset);
    erased.await.expect("erased");
    lost(ask(&fresh).await);
}

async fn no_seed_outlives_its_job(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    let next = async || {
        stage.job(dataset).await;
        assert_eq!(kept(stage, SEEDS).await, 1);
        stage.acquire().await
    };
    let held = next().await;
    let done = store.job_complete(act(), held.job.id, held.lease_token, draft());
    done.await.expect("it completes");
    let held = next().await;
    let problem = JobProblem::from(json!({"type": "x"}));
    let failed = store.job_fail(act(), held.job.id, held.lease_token, problem);
    assert!(!failed.await.expect("it fails"));
    let held = next().await;
    let stopped = store.job_cancelled(act(), held.job.id, held.lease_token);
    stopped.await.expect("it stops");
    let held = next().await;
    store
        .job_cancel_request(act(), held.job.id)
        .await
        .expect("asked");
    let yielded = store.job_yield(act(), held.job.id, held.lease_token);
    yielded.await.expect("it stops");
    let held = next().await;
    store
        .job_cancel_request(act(), held.job.id)
        .await
        .expect("asked");
    stage.let_leases_run_out().await;
    let swept = store.job_sweep(act(), json!({})).await.expect("swept");
    assert_eq!(swept.cancelled, 1);
    let queued = stage.job(dataset).await;
    store
        .job_cancel_request(act(), queued.id)
        .await
        .expect("asked");
    assert_eq!(kept(stage, SEEDS).await, 0);
}

async fn a_purge_leaves_the_secret_and_an_erasure_takes_it(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    stage.job(dataset).await;
    let before = secrets(stage, &stage.acquire().await).await;
    stage.job(dataset).await;
    store
        .retention_set(act(), dataset, of_days(Some(1)))
        .await
        .expect("set");
    stage.let_days_pass(1).await;
    let purged = store.retention_purge(act(), dataset, None).await;
    assert_eq!(purged.expect("purged").expect("due").jobs_cancelled, 2);
    assert_eq!(kept(stage, SEEDS).await, 0);
    let again = version(dataset, 2, VersionMode::Append, &[b"records"]);
    store.version_commit(act(), again).await.expect("a version");
    let job = job_on(stage, dataset, 3).await;
    let after = secrets(stage, &job).await;
    assert_eq!(after.dataset_secret, before.dataset_secret);
    store.dataset_erase(act(), dataset).await.expect("erased");
    assert_eq!(kept(stage, SEEDS).await, 0);
    assert_eq!(kept(stage, SECRETS).await, 0);
}

/// A job on a version of the dataset, in hand.
async fn job_on(stage: &Stage, dataset: DatasetId, version: u64) -> AcquiredJob {
    let mut job = stage.new_job(dataset).await;
    job.dataset_version = version;
    stage.store.job_create(act(), job).await.expect("a job");
    stage.acquire().await
}

async fn a_version_tells_so_many_figures_and_no_more(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    let fail = async |version: u64| {
        let held = job_on(stage, dataset, version).await;
        let problem = JobProblem {
            plain: json!({"type": "infeasible"}),
            with_figures: Some(json!({"type": "infeasible", "strongest_value": 5})),
        };
        let id = held.job.id;
        let failed = store.job_fail(act(), id, held.lease_token, problem);
        let told = failed.await.expect("it fails");
        let kept: Option<Value> = store.job_get(id).await.expect("a job").problem;
        assert_eq!(kept.expect("one")["strongest_value"].is_number(), told);
        told
    };
    for _ in 0..FIGURES_TOLD_MAX {
        assert!(fail(1).await);
    }
    assert!(!fail(1).await);
    let more = version(dataset, 1, VersionMode::Append, &[b"more"]);
    store.version_commit(act(), more).await.expect("a version");
    assert!(!fail(1).await);
    assert!(fail(2).await, "another version has figures of its own");
}

/// Whether the bits of both secrets are in the database.
async fn is_open(stage: &Stage) -> [bool; 2] {
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    let JobSecrets {
        seed,
        dataset_secret,
    } = secrets(stage, &stage.acquire().await).await;
    let hidden = async |secret: Seed| stage.in_the_open(&[secret.as_bytes()]).await.is_empty();
    [!hidden(seed).await, !hidden(dataset_secret).await]
}

async fn secrets_are_nowhere_in_the_open(stage: Stage) {
    assert_eq!(is_open(&stage).await, [false, false]);
    // The same without a master key: the search finds what there is.
    let plain = if stage.is_postgres() {
        Stage::postgres().await.expect("it was there")
    } else {
        Stage::sqlite().await
    };
    assert_eq!(is_open(&plain).await, [true, true]);
}
