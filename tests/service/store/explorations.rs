//! Explorations: what is kept of the releases of their settings.

use serde_json::json;
use vizard::ids::{DatasetId, ExplorationId};
use vizard::job::{ExplorationSpec, KeptExploration};
use vizard::store::{
    Conflict, ExplorationRow, JobState, NewExploration, NewJob, ReleaseState, SettingRow,
    StoreError,
};
use vizard_anonymizer::catalog::exploration::Measures;

use super::{Stage, act, draft, on_both_and_sealed};

on_both_and_sealed!(
    a_setting_that_is_beaten_loses_its_tables_and_keeps_its_figures,
    jobs_of_an_exploration_come_after_all_others,
    an_exploration_is_queued_whole_or_not_at_all,
    what_is_stopped_is_told_and_what_has_ended_stays,
);

fn asked(dataset: DatasetId) -> ExplorationSpec {
    serde_json::from_value(json!({
        "dataset": dataset, "engines": [{"engine": "lgb"}], "k": [2, 3, 4], "keep": 1,
    }))
    .expect("it is a specification")
}

/// An exploration of three settings.
async fn new(stage: &Stage, dataset: DatasetId) -> NewExploration {
    let exploration = ExplorationId::generate();
    let mut jobs = Vec::new();
    for number in 1..=3 {
        let job = stage.new_job(dataset).await;
        jobs.push(NewJob {
            setting: Some((exploration, number)),
            ..job
        });
    }
    let kept = KeptExploration {
        asked: asked(dataset),
        refused: Vec::new(),
    };
    NewExploration {
        id: exploration,
        dataset,
        dataset_version: 1,
        preference_version: 0,
        spec: serde_json::to_value(kept).expect("it is JSON"),
        created_by: "a test".into(),
        seconds_max: 3_600,
        jobs,
        queued_jobs_max: 3,
    }
}

/// Completes the next job with these figures.
async fn complete(stage: &Stage, exploration: ExplorationId, (loss, risk): (f64, f64)) {
    let acquired = stage.acquire().await;
    assert_eq!(acquired.job.exploration, Some(exploration));
    let mut commit = draft();
    let measures = Measures {
        records: 10,
        query_error: Some(loss),
        reidentification_max: Some(risk),
        ..Measures::default()
    };
    commit.explored = Some((exploration, measures));
    let done = stage
        .store
        .job_complete(act(), acquired.job.id, acquired.lease_token, commit)
        .await;
    done.expect("it completes");
}

async fn begun(stage: &Stage) -> ExplorationRow {
    let dataset = stage.filled_dataset().await;
    let new = new(stage, dataset).await;
    let begun = stage.store.exploration_create(act(), new).await;
    begun.expect("it is queued")
}

async fn a_setting_that_is_beaten_loses_its_tables_and_keeps_its_figures(stage: &Stage) {
    let row = begun(stage).await;
    let states = async || -> Vec<Option<ReleaseState>> {
        let row = stage
            .store
            .exploration_get(row.id)
            .await
            .expect("it is there");
        let of = |one: &SettingRow| one.release.map(|(_, state)| state);
        row.settings.iter().map(of).collect()
    };
    let (kept, gone) = (Some(ReleaseState::Draft), Some(ReleaseState::Withdrawn));
    complete(stage, row.id, (0.5, 0.5)).await;
    assert_eq!(states().await, [kept, None, None]);
    // Worse in both.
    complete(stage, row.id, (0.6, 0.6)).await;
    assert_eq!(states().await, [kept, gone, None]);
    // Better in both: the first goes as well.
    complete(stage, row.id, (0.1, 0.1)).await;
    assert_eq!(states().await, [gone, gone, kept]);
    let found = stage
        .store
        .exploration_get(row.id)
        .await
        .expect("it is there");
    let losses: Vec<Option<f64>> = found
        .settings
        .iter()
        .map(|one| one.measures.and_then(|measures| measures.query_error))
        .collect();
    assert_eq!(losses, [Some(0.5), Some(0.6), Some(0.1)]);
    assert_eq!((found.settings_total, found.settings_open), (3, 0));
    let release = |at: usize| found.settings[at].release.expect("there is one").0;
    let piece = async |at| {
        let read = stage.store.table_piece(release(at), "buckets".into(), 0);
        read.await.is_ok()
    };
    assert_eq!(
        [piece(0).await, piece(1).await, piece(2).await],
        [false, false, true]
    );
}

async fn jobs_of_an_exploration_come_after_all_others(stage: &Stage) {
    let row = begun(stage).await;
    stage.job(row.dataset).await;
    let first = stage.acquire().await;
    assert_eq!(
        first.job.exploration, None,
        "it was queued later, and comes first"
    );
    let next = stage.acquire().await;
    assert_eq!(next.job.exploration, Some(row.id));
    assert_eq!(next.job.id, row.settings[0].job);
}

async fn an_exploration_is_queued_whole_or_not_at_all(stage: &Stage) {
    let row = begun(stage).await;
    let more = new(stage, row.dataset).await;
    let id = more.id;
    let refused = stage.store.exploration_create(act(), more).await;
    assert!(
        matches!(refused, Err(StoreError::Conflict(Conflict::QueueFull))),
        "three are queued, and three may be: {refused:?}"
    );
    let missing = stage.store.exploration_get(id).await;
    assert!(
        matches!(missing, Err(StoreError::NotFound { .. })),
        "{missing:?}"
    );
    // A job by itself is not counted among them.
    stage.job(row.dataset).await;
}

async fn what_is_stopped_is_told_and_what_has_ended_stays(stage: &Stage) {
    let row = begun(stage).await;
    complete(stage, row.id, (0.5, 0.5)).await;
    let running = stage.acquire().await;
    let stopped = stage.store.exploration_cancel(act(), row.id).await;
    let stopped = stopped.expect("it is there");
    let states: Vec<JobState> = stopped.settings.iter().map(|one| one.state).collect();
    let [done, runs, cancelled] = [JobState::Succeeded, JobState::Running, JobState::Cancelled];
    assert_eq!(states, [done, runs, cancelled]);
    assert!(stopped.cancelled_at.is_some());
    let job = stage
        .store
        .job_get(running.job.id)
        .await
        .expect("it is there");
    assert!(job.cancel_requested);
    let again = stage.store.exploration_cancel(act(), row.id).await;
    assert_eq!(again.expect("it is there"), stopped);
    let unknown = stage
        .store
        .exploration_cancel(act(), ExplorationId::generate());
    assert!(matches!(unknown.await, Err(StoreError::NotFound { .. })));
}
