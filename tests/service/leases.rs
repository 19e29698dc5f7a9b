//! Leases: one worker at a time, one release a job, whatever goes wrong.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::json;
use vizard::store::{ATTEMPTS_MAX, Act, JobState, PageRequest, ReleaseFilter, StoreError, Swept};

use crate::store::{Stage, act, draft, on_both};

const LEASE: Duration = Duration::from_secs(600);

fn lost<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(matches!(answer, Err(StoreError::LeaseLost)), "{answer:?}");
}

async fn releases(stage: &Stage) -> usize {
    let all = stage
        .store
        .release_list(PageRequest::default(), ReleaseFilter::default())
        .await;
    all.expect("a page").items.len()
}

async fn expired_lease_cannot_complete_the_job(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let token = stage.acquire().await.lease_token;
    stage.let_leases_run_out().await;
    lost(store.job_complete(act(), id, token, draft()).await);
    lost(store.job_heartbeat(id, token, LEASE, None).await);
    lost(store.job_fail(act(), id, token, json!({}).into()).await);
    lost(store.job_cancelled(act(), id, token).await);
    lost(store.job_yield(act(), id, token).await);
    assert_eq!(releases(stage).await, 0);
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!((row.state, row.attempts), (JobState::Running, 1));
}

async fn a_stale_worker_changes_nothing_after_another_took_the_job(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let stale = stage.acquire().await.lease_token;
    stage.let_leases_run_out().await;
    let fresh = stage.acquire().await;
    assert_eq!((fresh.job.id, fresh.job.attempts), (id, 2));
    let told = fresh.job.progress.expect("who watches is told");
    assert_eq!(told["label"], "worker lost, taking over");
    let before = store.job_get(id).await.expect("it is there");
    lost(store.job_complete(act(), id, stale, draft()).await);
    lost(
        store
            .job_heartbeat(id, stale, LEASE, Some(json!({"step": 9})))
            .await,
    );
    lost(store.job_fail(act(), id, stale, json!({}).into()).await);
    lost(store.job_cancelled(act(), id, stale).await);
    lost(store.job_yield(act(), id, stale).await);
    assert_eq!(store.job_get(id).await.expect("it is there"), before);
    store
        .job_complete(act(), id, fresh.lease_token, draft())
        .await
        .expect("the holder completes");
    lost(store.job_complete(act(), id, stale, draft()).await);
    assert_eq!(releases(stage).await, 1);
}

async fn a_heartbeat_keeps_the_lease(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let id = stage.job(dataset).await.id;
    let acquired = stage.acquire().await;
    let longer = 3 * LEASE;
    let beat = stage
        .store
        .job_heartbeat(id, acquired.lease_token, longer, None)
        .await;
    let beat = beat.expect("the lease is held");
    assert!(beat.lease_expires_at > acquired.job.lease_expires_at.expect("a lease"));
    let row = stage.store.job_get(id).await.expect("it is there");
    assert_eq!(row.lease_expires_at, Some(beat.lease_expires_at));
    let none = stage
        .store
        .job_acquire(Act::by("other"), LEASE)
        .await
        .expect("an answer");
    assert_eq!(none, None);
}

async fn a_job_that_kills_its_workers_fails_after_its_attempts(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let problem = json!({"type": "urn:vizard:problem:attempts-exhausted"});
    for attempt in 1..=ATTEMPTS_MAX {
        assert_eq!(
            store
                .job_sweep(act(), problem.clone())
                .await
                .expect("an answer"),
            Swept::default()
        );
        assert_eq!(stage.acquire().await.job.attempts, attempt);
        stage.let_leases_run_out().await;
    }
    let none = store
        .job_acquire(Act::by("worker"), LEASE)
        .await
        .expect("an answer");
    assert_eq!(none, None, "no attempt is left");
    let swept = store
        .job_sweep(act(), problem.clone())
        .await
        .expect("an answer");
    assert_eq!(
        swept,
        Swept {
            failed: 1,
            cancelled: 0
        }
    );
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!(
        (row.state, row.problem),
        (JobState::Failed, Some(problem.clone()))
    );
    assert!(row.finished_at.is_some());
    assert_eq!(
        store.job_sweep(act(), problem).await.expect("an answer"),
        Swept::default()
    );
}

async fn a_job_that_shall_stop_is_not_taken_up_again(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    stage.acquire().await;
    store
        .job_cancel_request(act(), id)
        .await
        .expect("an answer");
    stage.let_leases_run_out().await;
    let none = store
        .job_acquire(Act::by("worker"), LEASE)
        .await
        .expect("an answer");
    assert_eq!(none, None);
    let swept = store.job_sweep(act(), json!({})).await.expect("an answer");
    assert_eq!(
        swept,
        Swept {
            failed: 0,
            cancelled: 1
        }
    );
    assert_eq!(
        store.job_get(id).await.expect("there").state,
        JobState::Cancelled
    );
}

async fn a_sweep_leaves_held_leases_alone(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let id = stage.job(dataset).await.id;
    for _ in 0..ATTEMPTS_MAX - 1 {
        stage.acquire().await;
        stage.let_leases_run_out().await;
    }
    let token = stage.acquire().await.lease_token;
    assert_eq!(
        stage
            .store
            .job_sweep(act(), json!({}))
            .await
            .expect("an answer"),
        Swept::default()
    );
    stage
        .store
        .job_complete(act(), id, token, draft())
        .await
        .expect("the last attempt may succeed");
}

async fn a_drained_worker_gives_the_job_back_unharmed(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let first = stage.acquire().await;
    store
        .job_yield(act(), id, first.lease_token)
        .await
        .expect("the lease is held");
    let row = store.job_get(id).await.expect("it is there");
    assert_eq!(
        (row.state, row.attempts, row.progress),
        (JobState::Queued, 0, None)
    );
    lost(
        store
            .job_complete(act(), id, first.lease_token, draft())
            .await,
    );
    let second = stage.acquire().await;
    assert_eq!((second.job.id, second.job.attempts), (id, 1));
    assert_eq!(second.job.started_at, first.job.started_at);
    store
        .job_cancel_request(act(), id)
        .await
        .expect("an answer");
    store
        .job_yield(act(), id, second.lease_token)
        .await
        .expect("the lease is held");
    assert_eq!(
        store.job_get(id).await.expect("there").state,
        JobState::Cancelled
    );
}

async fn eight_workers_acquire_fifty_jobs_each_once(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let mut queued = BTreeSet::new();
    for _ in 0..50 {
        queued.insert(stage.job(dataset).await.id);
    }
    let workers: Vec<_> = (0..8)
        .map(|number| {
            let store = stage.store.clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                // One that finds nothing may have met locked rows only: ask again.
                let mut empty = 0;
                while empty < 3 {
                    match store
                        .job_acquire(Act::by(format!("worker {number}")), LEASE)
                        .await
                    {
                        Ok(Some(acquired)) => taken.push(acquired.job.id),
                        Ok(None) => empty += 1,
                        Err(error) => panic!("{error}"),
                    }
                }
                taken
            })
        })
        .collect();
    let mut taken = Vec::new();
    for worker in workers {
        taken.extend(worker.await.expect("no panic"));
    }
    assert_eq!(taken.len(), 50, "none twice");
    assert_eq!(
        taken.into_iter().collect::<BTreeSet<_>>(),
        queued,
        "none forgotten"
    );
    for job in queued {
        assert_eq!(stage.store.job_get(job).await.expect("there").attempts, 1);
    }
}

async fn two_commits_of_one_job_make_one_release(stage: &Stage) {
    for _ in 0..10 {
        let before = releases(stage).await;
        let dataset = stage.filled_dataset().await;
        let id = stage.job(dataset).await.id;
        let token = stage.acquire().await.lease_token;
        let commits: Vec<_> = (0..4)
            .map(|_| {
                let store = stage.store.clone();
                tokio::spawn(async move { store.job_complete(act(), id, token, draft()).await })
            })
            .collect();
        let mut completed = 0;
        for commit in commits {
            match commit.await.expect("no panic") {
                Ok(_) => completed += 1,
                Err(StoreError::LeaseLost) => {}
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(completed, 1);
        assert_eq!(releases(stage).await, before + 1);
    }
}

async fn a_commit_that_fails_half_way_leaves_the_job_running(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.job(dataset).await.id);
    let token = stage.acquire().await.lease_token;
    let mut broken = draft();
    // Two tables of one name: the last insert but one violates a constraint.
    broken.tables[1].name = broken.tables[0].name.clone();
    let answer = store.job_complete(act(), id, token, broken).await;
    assert!(matches!(answer, Err(StoreError::Driver(_))), "{answer:?}");
    assert_eq!(releases(stage).await, 0);
    assert_eq!(
        store.job_get(id).await.expect("there").state,
        JobState::Running
    );
    store
        .job_complete(act(), id, token, draft())
        .await
        .expect("the lease is still held");
}

on_both!(
    expired_lease_cannot_complete_the_job,
    a_stale_worker_changes_nothing_after_another_took_the_job,
    a_heartbeat_keeps_the_lease,
    a_job_that_kills_its_workers_fails_after_its_attempts,
    a_job_that_shall_stop_is_not_taken_up_again,
    a_sweep_leaves_held_leases_alone,
    a_drained_worker_gives_the_job_back_unharmed,
    eight_workers_acquire_fifty_jobs_each_once,
    two_commits_of_one_job_make_one_release,
    a_commit_that_fails_half_way_leaves_the_job_running,
);

/// The database's own clock, not ours: a short lease that really runs out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_lease_runs_out_by_the_clock_of_postgresql() {
    let Some(stage) = Stage::postgres().await else {
        return;
    };
    let dataset = stage.filled_dataset().await;
    let id = stage.job(dataset).await.id;
    let lease = Duration::from_millis(300);
    let acquired = stage.store.job_acquire(Act::by("first"), lease).await;
    let token = acquired
        .expect("acquiring works")
        .expect("a job waits")
        .lease_token;
    assert!(
        stage
            .store
            .job_wait(Duration::from_secs(30))
            .await
            .expect("an answer")
    );
    lost(stage.store.job_heartbeat(id, token, LEASE, None).await);
    assert_eq!(stage.acquire().await.job.attempts, 2);
}
