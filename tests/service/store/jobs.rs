//! The queue: what is seen of a job from outside.

use std::time::{Duration, Instant};

use serde_json::json;
use vizard::ids::{DatasetId, JobId};
use vizard::store::{
    Act, Conflict, JobFilter, JobState, NewJob, PageRequest, ReleaseFilter, StoreError,
};

use super::stage::{LEASE, Stage, act, draft, on_both};

fn job(dataset: DatasetId, dataset_version: u64) -> NewJob {
    NewJob {
        id: JobId::generate(),
        dataset,
        dataset_version,
        preference_version: 0,
        engine: "lgb".to_owned(),
        spec: json!({"engine": "lgb", "parameters": {"k": 5}}),
        publish: "automatic".to_owned(),
        created_by: "a test".to_owned(),
        memory_bytes: 5 << 30,
        queued_jobs_max: u64::MAX,
        setting: None,
    }
}

async fn a_queued_job_is_read_back_as_it_was_asked_for(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let new = job(dataset, 1);
    let row = stage
        .store
        .job_create(act(), new.clone())
        .await
        .expect("it is queued");
    assert_eq!(row, stage.store.job_get(new.id).await.expect("it is there"));
    assert_eq!(
        (row.spec, row.publish, row.engine),
        (new.spec.clone(), new.publish.clone(), new.engine.clone())
    );
    assert_eq!(row.memory_bytes, Some(new.memory_bytes));
    assert_eq!(
        (row.state, row.revision, row.attempts),
        (JobState::Queued, 1, 0)
    );
    assert_eq!(
        (row.started_at, row.finished_at, row.release),
        (None, None, None)
    );
    let again = stage.store.job_create(act(), new).await;
    assert!(
        matches!(again, Err(StoreError::Conflict(Conflict::Exists))),
        "{again:?}"
    );
}

async fn a_job_needs_a_dataset_and_a_version_that_are_there(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    for (dataset, version) in [(DatasetId::generate(), 1), (dataset, 2), (dataset, 0)] {
        let answer = stage.store.job_create(act(), job(dataset, version)).await;
        assert!(
            matches!(answer, Err(StoreError::NotFound { .. })),
            "{answer:?}"
        );
    }
    stage
        .store
        .dataset_erase(act(), dataset)
        .await
        .expect("it is erased");
    let answer = stage.store.job_create(act(), job(dataset, 1)).await;
    assert!(
        matches!(answer, Err(StoreError::NotFound { .. })),
        "{answer:?}"
    );
}

async fn jobs_are_acquired_oldest_first(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let queued = [stage.job(dataset).await.id, stage.job(dataset).await.id];
    let first = stage.acquire().await.job;
    assert_eq!(
        (first.id, first.state, first.attempts),
        (queued[0], JobState::Running, 1)
    );
    assert_eq!(first.worker.as_deref(), Some("worker"));
    assert!(first.lease_expires_at.expect("a lease") > first.started_at.expect("a start"));
    assert_eq!(stage.acquire().await.job.id, queued[1]);
    let none = stage
        .store
        .job_acquire(Act::by("worker"), LEASE)
        .await
        .expect("an answer");
    assert_eq!(none, None);
}

async fn lists_hold_the_states_and_datasets_asked_for(stage: &Stage) {
    let datasets = [stage.filled_dataset().await, stage.filled_dataset().await];
    let finished = stage.draft_release(datasets[0]).await;
    let running = stage.job(datasets[1]).await.id;
    stage.acquire().await;
    let queued = stage.job(datasets[0]).await.id;
    let finished = stage
        .store
        .release_get(finished)
        .await
        .expect("it is there")
        .job;
    let listed = async |filter| {
        let page = stage
            .store
            .job_list(PageRequest::default(), filter)
            .await
            .expect("a page");
        page.items
            .into_iter()
            .map(|job| job.id)
            .collect::<Vec<JobId>>()
    };
    let every = JobFilter::default();
    assert_eq!(listed(every.clone()).await, [queued, running, finished]);
    let states = JobFilter {
        states: vec![JobState::Queued, JobState::Succeeded],
        ..every.clone()
    };
    assert_eq!(listed(states).await, [queued, finished]);
    let of_one = JobFilter {
        dataset: Some(datasets[1]),
        ..every.clone()
    };
    assert_eq!(listed(of_one).await, [running]);
    let allowed = JobFilter {
        only: Some(vec![datasets[0]]),
        ..every.clone()
    };
    assert_eq!(listed(allowed.clone()).await, [queued, finished]);
    let foreign = JobFilter {
        dataset: Some(datasets[1]),
        ..allowed
    };
    assert_eq!(listed(foreign).await, []);
    let releases = ReleaseFilter {
        dataset: Some(datasets[1]),
        ..ReleaseFilter::default()
    };
    let page = stage
        .store
        .release_list(PageRequest::default(), releases)
        .await
        .expect("a page");
    assert!(page.items.is_empty());
}

async fn a_queued_job_is_cancelled_at_once(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let id = stage.job(dataset).await.id;
    let row = stage
        .store
        .job_cancel_request(act(), id)
        .await
        .expect("an answer");
    assert_eq!((row.state, row.revision), (JobState::Cancelled, 2));
    assert!(row.finished_at.is_some());
    let none = stage
        .store
        .job_acquire(Act::by("worker"), LEASE)
        .await
        .expect("an answer");
    assert_eq!(none, None);
    let again = stage
        .store
        .job_cancel_request(act(), id)
        .await
        .expect("an answer");
    assert_eq!(again, row, "a finished job stays as it is");
}

async fn a_running_job_hears_that_it_shall_stop(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let token = stage.acquire().await.lease_token;
    let beat = store
        .job_heartbeat(id, token, LEASE, None)
        .await
        .expect("the lease is held");
    assert!(!beat.cancel_requested);
    let row = store
        .job_cancel_request(act(), id)
        .await
        .expect("an answer");
    assert_eq!((row.state, row.cancel_requested), (JobState::Running, true));
    let beat = store
        .job_heartbeat(id, token, LEASE, None)
        .await
        .expect("the lease is held");
    assert!(beat.cancel_requested);
    store
        .job_cancelled(act(), id, token)
        .await
        .expect("the lease is held");
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!(
        (row.state, row.lease_expires_at),
        (JobState::Cancelled, None)
    );
}

async fn the_revision_grows_with_each_visible_change_and_only_then(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let token = stage.acquire().await.lease_token;
    let revision = async || store.job_get(id).await.expect("it is there").revision;
    assert_eq!(revision().await, 2);
    store
        .job_heartbeat(id, token, LEASE, None)
        .await
        .expect("held");
    assert_eq!(revision().await, 2, "a bare heartbeat is not visible");
    let progress = json!({"step": 1, "steps": 4, "fraction": 0.5});
    for expected in [3, 3] {
        store
            .job_heartbeat(id, token, LEASE, Some(progress.clone()))
            .await
            .expect("held");
        assert_eq!(revision().await, expected, "the same progress is seen once");
    }
    store
        .job_heartbeat(id, token, LEASE, Some(json!({"step": 2})))
        .await
        .expect("held");
    store
        .job_heartbeat(id, token, LEASE, None)
        .await
        .expect("held");
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!((row.revision, row.progress), (4, Some(json!({"step": 2}))));
    store
        .job_fail(
            act(),
            id,
            token,
            json!({"type": "urn:vizard:problem:infeasible"}).into(),
        )
        .await
        .expect("held");
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!((row.revision, row.state), (5, JobState::Failed));
    assert_eq!(
        row.problem.expect("a problem")["type"],
        "urn:vizard:problem:infeasible"
    );
}

async fn the_depth_names_every_state(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.draft_release(dataset).await;
    stage.job(dataset).await;
    stage.acquire().await;
    stage.job(dataset).await;
    stage.job(dataset).await;
    let depth = stage.store.queue_depth().await.expect("an answer");
    let expected = [
        (JobState::Queued, 2),
        (JobState::Running, 1),
        (JobState::Succeeded, 1),
        (JobState::Failed, 0),
        (JobState::Cancelled, 0),
    ];
    assert_eq!(depth, expected);
}

async fn waiting_ends_when_a_job_is_queued_and_not_before(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let store = &stage.store;
    let start = Instant::now();
    assert!(
        !store
            .job_wait(Duration::from_millis(200))
            .await
            .expect("an answer")
    );
    assert!(start.elapsed() >= Duration::from_millis(200));
    // Signals must carry it: many rounds, each shorter than the look interval.
    let start = Instant::now();
    for _ in 0..20 {
        let waiting = {
            let store = store.clone();
            tokio::spawn(async move { store.job_wait(Duration::from_secs(60)).await })
        };
        tokio::time::sleep(Duration::from_millis(5)).await;
        stage.job(dataset).await;
        assert!(waiting.await.expect("no panic").expect("an answer"));
        stage.acquire().await;
    }
    assert!(
        start.elapsed() < Duration::from_secs(15),
        "{:?}: by looking alone",
        start.elapsed()
    );
}

async fn waiting_sees_a_lease_that_ran_out(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    stage.acquire().await;
    assert!(
        !stage
            .store
            .job_wait(Duration::ZERO)
            .await
            .expect("an answer")
    );
    stage.let_leases_run_out().await;
    assert!(
        stage
            .store
            .job_wait(Duration::ZERO)
            .await
            .expect("an answer")
    );
}

async fn watching_ends_with_the_next_revision(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let token = stage.acquire().await.lease_token;
    let same = store
        .job_watch(id, 2, Duration::from_millis(50))
        .await
        .expect("an answer");
    assert_eq!(same.revision, 2);
    let past = store
        .job_watch(id, 1, Duration::from_secs(60))
        .await
        .expect("an answer");
    assert_eq!(past.revision, 2, "what happened already is told at once");
    let watching = {
        let store = store.clone();
        tokio::spawn(async move { store.job_watch(id, 2, Duration::from_secs(60)).await })
    };
    store
        .job_complete(act(), id, token, draft())
        .await
        .expect("it completes");
    let seen = watching.await.expect("no panic").expect("an answer");
    assert_eq!((seen.state, seen.revision), (JobState::Succeeded, 3));
    assert!(seen.release.is_some());
}

on_both!(
    a_queued_job_is_read_back_as_it_was_asked_for,
    a_job_needs_a_dataset_and_a_version_that_are_there,
    jobs_are_acquired_oldest_first,
    lists_hold_the_states_and_datasets_asked_for,
    a_queued_job_is_cancelled_at_once,
    a_running_job_hears_that_it_shall_stop,
    the_revision_grows_with_each_visible_change_and_only_then,
    the_depth_names_every_state,
    waiting_ends_when_a_job_is_queued_and_not_before,
    waiting_sees_a_lease_that_ran_out,
    watching_ends_with_the_next_revision,
);
