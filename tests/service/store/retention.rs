//! How long records stay, and what a purge leaves.

use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use vizard::ids::DatasetId;
use vizard::store::{
    Buried, Conflict, JobState, NewSchema, PublishCheck, PublishDecision, Purge, ReleaseState,
    Retention, SeriesMemory, StoreError, VersionMode,
};
use vizard::worker::{WorkerSettings, keep_house};

use super::stage::{Stage, act, of_days, on_both_and_sealed, version};

async fn set(stage: &Stage, dataset: DatasetId, days: Option<u32>) {
    let retention = of_days(days);
    let set = stage.store.retention_set(act(), dataset, retention);
    assert_eq!(set.await.expect("it is set").retention, retention);
}

async fn due(stage: &Stage, default_days: Option<u32>) -> Vec<DatasetId> {
    stage
        .store
        .retention_due(default_days)
        .await
        .expect("an answer")
}

async fn purge(stage: &Stage, dataset: DatasetId) -> Option<Purge> {
    let purge = stage.store.retention_purge(act(), dataset, None);
    purge.await.expect("an answer")
}

async fn records_stay_until_their_last_day_is_over(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    set(stage, dataset, Some(30)).await;
    stage.let_days_pass(29).await;
    assert_eq!(due(stage, None).await, []);
    assert_eq!(purge(stage, dataset).await, None);
    assert_eq!(
        stage
            .store
            .chunk_get(dataset, 1, 0)
            .await
            .expect("it is there"),
        b"records"
    );
    stage.let_days_pass(1).await;
    assert_eq!(due(stage, None).await, [dataset]);
    let purged = purge(stage, dataset).await.expect("its time is up");
    assert_eq!((purged.dataset, purged.chunks), (dataset, 1));
    assert_eq!(due(stage, None).await, []);
    assert_eq!(purge(stage, dataset).await, None);
}

async fn replaced_records_go_when_their_own_days_are_over(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    set(stage, dataset, Some(10)).await;
    let draft = stage.draft_release(dataset).await;
    stage.let_days_pass(6).await;
    let replaced = version(dataset, 1, VersionMode::Replace, &[b"others"]);
    let replaced = stage.store.version_commit(act(), replaced).await;
    assert_eq!(replaced.expect("a version").version, 2);
    stage.let_days_pass(6).await;
    // An upload begins the days of what it brings, and of what it replaces.
    assert_eq!(due(stage, None).await, []);
    let added = version(dataset, 2, VersionMode::Append, &[b"more"]);
    let added = stage.store.version_commit(act(), added).await;
    assert_eq!(added.expect("a version").version, 3);
    stage.let_days_pass(4).await;
    assert_eq!(due(stage, None).await, [dataset]);
    let purged = purge(stage, dataset).await.expect("their time is up");
    assert_eq!((purged.chunks, purged.lineages, purged.drafts), (1, 1, 1));
    assert_eq!(purge(stage, dataset).await, None);
    let store = &stage.store;
    let gone = store.version_get(dataset, 1).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    let kept = store.chunk_get(dataset, 2, 0).await;
    assert_eq!(kept.expect("it is there"), b"others");
    let draft = store.release_get(draft).await.expect("it");
    assert_eq!(draft.state, ReleaseState::Withdrawn);
}

async fn a_change_of_the_schema_is_no_upload(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    set(stage, dataset, Some(10)).await;
    stage.let_days_pass(6).await;
    let before = stage.store.dataset_get(dataset).await.expect("it");
    let change = NewSchema {
        dataset,
        base_version: 1,
        preference_version: before.preference_version,
        name: before.name,
        schema: before.schema,
        hierarchies: before.hierarchies,
        created_by: "a test".into(),
    };
    let changed = stage.store.schema_change(act(), change).await;
    assert_eq!(changed.expect("a change").version, 2);
    stage.let_days_pass(4).await;
    assert_eq!(due(stage, None).await, [dataset]);
    assert_eq!(purge(stage, dataset).await.map(|one| one.chunks), Some(1));
    // Both versions had the chunks, and neither is the input of a job now.
    for version in [1, 2] {
        let gone = stage.store.version_get(dataset, version).await;
        assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    }
}

async fn an_upload_a_release_and_a_publishing_each_begin_the_days_anew(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    set(stage, dataset, Some(10)).await;
    stage.let_days_pass(6).await;
    let more = version(dataset, 1, VersionMode::Append, &[b"more"]);
    stage
        .store
        .version_commit(act(), more)
        .await
        .expect("a version");
    stage.let_days_pass(6).await;
    assert_eq!(due(stage, None).await, []);
    let release = stage.draft_release(dataset).await;
    stage.let_days_pass(6).await;
    assert_eq!(due(stage, None).await, []);
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    let published = stage.store.release_publish(act(), release, allow.into());
    published.await.expect("published");
    stage.let_days_pass(9).await;
    assert_eq!(due(stage, None).await, []);
    stage.let_days_pass(1).await;
    assert_eq!(due(stage, None).await, [dataset]);
}

async fn the_settings_count_only_where_the_dataset_says_nothing(stage: &Stage) {
    let (silent, longer) = (stage.filled_dataset().await, stage.filled_dataset().await);
    let empty = stage.dataset().await;
    set(stage, longer, Some(50)).await;
    set(stage, empty, Some(1)).await;
    stage.let_days_pass(20).await;
    assert_eq!(due(stage, None).await, []);
    assert_eq!(due(stage, Some(21)).await, []);
    assert_eq!(due(stage, Some(20)).await, [silent]);
    set(stage, longer, None).await;
    assert_eq!(due(stage, Some(20)).await, [silent, longer]);
    assert_eq!(purge(stage, longer).await, None, "no default was given");
}

/// Lets a filled dataset's time come and purges it.
async fn purged(stage: &Stage, dataset: DatasetId) -> Purge {
    set(stage, dataset, Some(1)).await;
    stage.let_days_pass(1).await;
    purge(stage, dataset).await.expect("its time is up")
}

async fn a_purge_leaves_preferences_and_what_is_public(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    let put = store.preference_put(act(), dataset, "1".to_owned(), json!({"exclude": true}));
    put.await.expect("it is kept");
    let public = stage.draft_release(dataset).await;
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    store
        .release_publish(act(), public, allow.into())
        .await
        .expect("published");
    let draft = stage.draft_release(dataset).await;
    let queued = stage.job(dataset).await.id;
    let done = purged(stage, dataset).await;
    let (chunks, lineages, drafts, jobs_cancelled) = (1, 2, 1, 1);
    assert_eq!(
        done,
        Purge {
            dataset,
            chunks,
            lineages,
            drafts,
            jobs_cancelled,
            memories: 0
        }
    );

    let row = store.dataset_get(dataset).await.expect("it is there");
    assert_eq!(
        (row.version, row.records, row.subjects_with_preference),
        (2, 0, 1)
    );
    assert!(row.records_purged_at.is_some());
    let chunk = store.chunk_get(dataset, 1, 0).await;
    assert!(
        matches!(chunk, Err(StoreError::NotFound { .. })),
        "{chunk:?}"
    );
    for release in [public, draft] {
        let lineage = store.release_lineage(release).await;
        assert!(
            matches!(lineage, Err(StoreError::NotFound { .. })),
            "{lineage:?}"
        );
    }
    let piece = store.table_piece(public, "microdata".to_owned(), 0).await;
    assert_eq!(piece.expect("it is public"), b"first");
    let row = store.release_get(draft).await.expect("it is there");
    assert_eq!(row.state, ReleaseState::Withdrawn);
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    let late = store.release_publish(act(), draft, allow.into()).await;
    assert!(
        matches!(late, Err(StoreError::Conflict(Conflict::ReleaseState))),
        "{late:?}"
    );
    let job = store.job_get(queued).await.expect("it is there");
    assert_eq!(job.state, JobState::Cancelled);
    let tombstones = store.tombstone_list().await.expect("a list");
    let buried: Vec<Buried> = tombstones.iter().map(|tombstone| tombstone.what).collect();
    assert_eq!(buried, [Buried::Records(dataset)]);
}

async fn what_public_releases_show_stays_unless_the_dataset_says_otherwise(stage: &Stage) {
    for (series_memory, memories) in [(SeriesMemory::Keep, 0), (SeriesMemory::Drop, 1)] {
        let (store, dataset) = (&stage.store, stage.filled_dataset().await);
        let retention = Retention {
            raw_days: Some(1),
            series_memory,
        };
        let set = store.retention_set(act(), dataset, retention).await;
        assert_eq!(set.expect("it is set").retention, retention);
        let public = stage.draft_release(dataset).await;
        let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
        let published = store.release_publish(act(), public, allow.into()).await;
        published.expect("published");
        stage.let_days_pass(1).await;
        let done = purge(stage, dataset).await.expect("its time is up");
        assert_eq!(done.memories, memories, "{series_memory:?}");
        let series = store.public_series(dataset).await.expect("a series");
        let is_known: Vec<bool> = series.iter().map(|(_, shown)| shown.is_some()).collect();
        assert_eq!(is_known, [memories == 0], "{series_memory:?}");
    }
}

async fn what_releases_of_replaced_records_show_goes_with_these_records(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    let retention = Retention {
        raw_days: Some(10),
        series_memory: SeriesMemory::Drop,
    };
    let set = store.retention_set(act(), dataset, retention).await;
    set.expect("it is set");
    let public = stage.draft_release(dataset).await;
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    let published = store.release_publish(act(), public, allow.into()).await;
    published.expect("published");
    stage.let_days_pass(6).await;
    let replaced = version(dataset, 1, VersionMode::Replace, &[b"others"]);
    store.version_commit(act(), replaced).await.expect("it");
    stage.let_days_pass(6).await;
    assert_eq!(purge(stage, dataset).await, None);
    let shown = store.release_candidates(public).await;
    assert!(shown.expect("a release").is_some());
    let more = version(dataset, 2, VersionMode::Append, &[b"more"]);
    store.version_commit(act(), more).await.expect("it");
    stage.let_days_pass(4).await;
    let done = purge(stage, dataset).await.expect("their time is up");
    assert_eq!((done.chunks, done.memories), (1, 1));
    let shown = store.release_candidates(public).await;
    assert_eq!(shown.expect("a release"), None);
}

async fn records_may_be_uploaded_again_after_a_purge(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    purged(stage, dataset).await;
    let gone = store.version_get(dataset, 1).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    let append = version(dataset, 2, VersionMode::Append, &[b"anew"]);
    let row = store
        .version_commit(act(), append)
        .await
        .expect("a version");
    assert_eq!((row.version, row.total_records, row.chunks), (3, 10, 1));
    assert_eq!(store.chunk_get(dataset, 3, 0).await.expect("one"), b"anew");
    let versions = store.version_list(dataset).await.expect("a list");
    let purged: Vec<bool> = versions.iter().map(|row| row.purged_at.is_some()).collect();
    assert_eq!(purged, [false, false, true]);
    assert_eq!(due(stage, Some(1)).await, []);
}

async fn a_purge_is_in_the_audit_log_and_leaves_no_bytes(stage: &Stage) {
    const CANARY: &[u8] = b"canary-of-purged-records-5813";
    let dataset = stage.dataset().await;
    let upload = version(dataset, 0, VersionMode::Append, &[CANARY]);
    stage
        .store
        .version_commit(act(), upload)
        .await
        .expect("a version");
    let plain = !stage.is_sealed().await;
    assert_eq!(stage.in_the_open(&[CANARY]).await.len(), usize::from(plain));
    purged(stage, dataset).await;
    assert_eq!(stage.in_the_open(&[CANARY]).await.len(), 0);
    let page = stage.store.audit_list(10, None, Default::default()).await;
    let actions: Vec<String> = page
        .expect("rows")
        .items
        .into_iter()
        .map(|row| row.action)
        .collect();
    assert_eq!(actions[..2], ["purge_records", "set_retention"]);
    let verdict = stage
        .store
        .audit_verify(Vec::new())
        .await
        .expect("a verdict");
    assert_eq!(verdict.broken, None);
}

async fn a_process_without_workers_purges_too(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    stage.let_days_pass(3).await;
    let mut settings = WorkerSettings::new("a test".to_owned(), 1);
    settings.raw_retention_days = Some(3);
    settings.retention_interval = Duration::from_millis(20);
    let shutdown = CancellationToken::new();
    let keeping = tokio::spawn(keep_house(stage.store.clone(), settings, shutdown.clone()));
    for _ in 0..3_000 {
        let row = stage.store.dataset_get(dataset).await.expect("it is there");
        if row.records_purged_at.is_some() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    shutdown.cancel();
    keeping.await.expect("it ends");
    let row = stage.store.dataset_get(dataset).await.expect("it is there");
    assert!(row.records_purged_at.is_some());
}

on_both_and_sealed!(
    replaced_records_go_when_their_own_days_are_over,
    a_change_of_the_schema_is_no_upload,
    records_stay_until_their_last_day_is_over,
    an_upload_a_release_and_a_publishing_each_begin_the_days_anew,
    the_settings_count_only_where_the_dataset_says_nothing,
    a_purge_leaves_preferences_and_what_is_public,
    what_public_releases_show_stays_unless_the_dataset_says_otherwise,
    what_releases_of_replaced_records_show_goes_with_these_records,
    records_may_be_uploaded_again_after_a_purge,
    a_purge_is_in_the_audit_log_and_leaves_no_bytes,
    a_process_without_workers_purges_too,
);
