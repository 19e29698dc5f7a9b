//! Datasets and their erasure.

use serde_json::json;
use vizard::ids::{DatasetId, ReleaseId};
use vizard::store::{
    Erasure, JobState, PageRequest, PublishCheck, PublishDecision, ReleaseFilter, ReleaseState,
    Remains, StoreError, VersionMode,
};

use super::stage::{Stage, act, draft, on_both_and_sealed, version};

async fn a_new_dataset_has_no_records(stage: &Stage) {
    let id = stage.dataset().await;
    let row = stage.store.dataset_get(id).await.expect("it is there");
    assert_eq!(
        (row.version, row.records, row.preference_version),
        (0, 0, 0)
    );
    assert_eq!(
        (row.subjects_with_preference, row.hierarchies),
        (0, json!({}))
    );
    assert_eq!(row.schema, json!({"name": "admissions", "attributes": []}));
}

async fn a_dataset_tells_of_its_latest_version_and_of_subjects_once(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    for subject in ["1", "2", "1"] {
        let document = json!({"exclude": true});
        store
            .preference_put(act(), id, subject.to_owned(), document)
            .await
            .expect("it is kept");
    }
    let append = version(id, 1, VersionMode::Append, &[b"more", b"and more"]);
    store
        .version_commit(act(), append)
        .await
        .expect("a version");
    let row = store.dataset_get(id).await.expect("it is there");
    assert_eq!((row.version, row.records), (2, 30));
    assert_eq!(
        (row.preference_version, row.subjects_with_preference),
        (3, 2)
    );
    assert_eq!(row.hierarchies, json!({"icd10": "abc"}));
}

async fn a_list_holds_only_the_datasets_asked_for(stage: &Stage) {
    let ids = [
        stage.dataset().await,
        stage.dataset().await,
        stage.dataset().await,
    ];
    let listed = async |only| {
        let page = stage
            .store
            .dataset_list(PageRequest::default(), only)
            .await
            .expect("a page");
        page.items
            .into_iter()
            .map(|dataset| dataset.id)
            .collect::<Vec<DatasetId>>()
    };
    assert_eq!(listed(None).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(listed(Some(vec![ids[0], ids[2]])).await, [ids[2], ids[0]]);
    assert_eq!(listed(Some(Vec::new())).await, []);
}

async fn only_what_is_public_stays(stage: &Stage, published: ReleaseId) {
    let store = &stage.store;
    let public = store
        .release_get(published)
        .await
        .expect("what is public stays");
    assert_eq!(public.state, ReleaseState::Published);
    let piece = store
        .table_piece(published, "microdata".to_owned(), 0)
        .await;
    assert_eq!(piece.expect("its bytes stay"), b"first");
    assert!(matches!(
        store.release_lineage(published).await,
        Err(StoreError::NotFound { .. })
    ));
}

async fn erasing_leaves_nothing_personal_and_keeps_what_is_public(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    let published = stage.draft_release(id).await;
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    store
        .release_publish(act(), published, allow.into())
        .await
        .expect("it is published");
    let kept_draft = stage.draft_release(id).await;
    for terms in [json!({}), json!({"exclude": true})] {
        let kept = store.preference_put(act(), id, "1".to_owned(), terms);
        kept.await.expect("it is kept");
    }
    stage.job(id).await;
    let running = stage.acquire().await;
    let queued = stage.job(id).await.id;

    let erasure = store.dataset_erase(act(), id).await.expect("it is erased");
    let keys = store.data_key_counts().await.expect("counts");
    let remains = match (stage.url().starts_with("sqlite:"), keys.destroyed) {
        (true, _) => Remains::Nothing,
        (false, 0) => Remains::UntilOverwritten,
        (false, _) => Remains::Sealed,
    };
    assert_eq!(
        erasure,
        Erasure {
            chunks: 1,
            preferences: 2,
            hierarchies: 0,
            drafts: 1,
            jobs_cancelled: 2,
            remains,
        }
    );

    assert!(matches!(
        store.dataset_get(id).await,
        Err(StoreError::NotFound { .. })
    ));
    assert!(matches!(
        store.version_get(id, 1).await,
        Err(StoreError::NotFound { .. })
    ));
    assert!(matches!(
        store.chunk_get(id, 1, 0).await,
        Err(StoreError::NotFound { .. })
    ));
    assert!(matches!(
        store.release_get(kept_draft).await,
        Err(StoreError::NotFound { .. })
    ));
    let terms = store.preferences_at(id, 2).await.expect("an answer");
    assert!(terms.is_empty());
    let listed = store
        .dataset_list(PageRequest::default(), None)
        .await
        .expect("a page");
    assert!(listed.items.is_empty());

    only_what_is_public_stays(stage, published).await;
    for job in [queued, running.job.id] {
        assert_eq!(
            store.job_get(job).await.expect("it stays").state,
            JobState::Cancelled
        );
    }
    let late = store
        .job_complete(act(), running.job.id, running.lease_token, draft())
        .await;
    assert!(matches!(late, Err(StoreError::LeaseLost)), "{late:?}");
}

async fn an_erased_dataset_takes_nothing_any_more(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    store.dataset_erase(act(), id).await.expect("it is erased");
    let again = store.dataset_erase(act(), id).await;
    assert!(matches!(again, Err(StoreError::NotFound { .. })));
    let upload = store
        .version_commit(act(), version(id, 1, VersionMode::Append, &[b"late"]))
        .await;
    assert!(
        matches!(upload, Err(StoreError::NotFound { .. })),
        "{upload:?}"
    );
    let preference = store
        .preference_put(act(), id, "1".to_owned(), json!({}))
        .await;
    assert!(matches!(preference, Err(StoreError::NotFound { .. })));
    let many = store
        .preference_bulk(
            act(),
            id,
            std::sync::Arc::new(vec![("1".to_owned(), json!({}))]),
        )
        .await;
    assert!(matches!(many, Err(StoreError::NotFound { .. })));
}

async fn an_erasure_and_the_commit_of_a_job_at_once_wait_for_each_other(stage: &Stage) {
    const ROUNDS: usize = 20;
    for round in 0..ROUNDS {
        let dataset = stage.filled_dataset().await;
        stage.job(dataset).await;
        let acquired = stage.acquire().await;
        let (job, token) = (acquired.job.id, acquired.lease_token);
        let completing = stage.store.job_complete(act(), job, token, draft());
        let erasing = stage.store.dataset_erase(act(), dataset);
        let (completed, erased) = tokio::join!(completing, erasing);
        assert!(erased.is_ok(), "round {round}: {erased:?}");
        assert!(
            matches!(completed, Ok(_) | Err(StoreError::LeaseLost)),
            "round {round}: {completed:?}"
        );
        let left = ReleaseFilter {
            dataset: Some(dataset),
            ..ReleaseFilter::default()
        };
        let left = stage.store.release_list(PageRequest::default(), left);
        assert!(
            left.await.expect("a page").items.is_empty(),
            "round {round}"
        );
    }
}

on_both_and_sealed!(
    a_new_dataset_has_no_records,
    a_dataset_tells_of_its_latest_version_and_of_subjects_once,
    a_list_holds_only_the_datasets_asked_for,
    erasing_leaves_nothing_personal_and_keeps_what_is_public,
    an_erased_dataset_takes_nothing_any_more,
    an_erasure_and_the_commit_of_a_job_at_once_wait_for_each_other,
);
