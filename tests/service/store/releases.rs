//! Releases: what a job leaves, publishing, withdrawing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use vizard::ids::{DatasetId, ReleaseId};
use vizard::store::{
    Conflict, JobState, PageRequest, PreferenceChange, PublishCheck, PublishDecision,
    ReleaseDocument, ReleaseFilter, ReleaseState, StoreError,
};

use super::stage::{Stage, act, draft, on_both_and_sealed};

fn allow() -> PublishCheck {
    Box::new(|_, _| PublishDecision::Allow)
}

/// Refuses once anybody changed anything.
fn allow_unchanged() -> PublishCheck {
    Box::new(|changes, lineage| {
        assert_eq!(lineage, b"table,row,subject");
        match changes {
            [] => PublishDecision::Allow,
            _ => PublishDecision::Refuse,
        }
    })
}

async fn a_release_is_read_back_as_the_job_left_it(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.draft_release(dataset).await);
    let row = store.release_get(id).await.expect("it is there");
    assert_eq!(
        (row.dataset, row.dataset_version, row.engine.as_str()),
        (dataset, 1, "lgb")
    );
    assert_eq!(
        (row.state, row.published_at, row.withdrawn_at),
        (ReleaseState::Draft, None, None)
    );
    let job = store.job_get(row.job).await.expect("it is there");
    assert_eq!((job.state, job.release), (JobState::Succeeded, Some(id)));
    for (document, expected) in [
        (
            ReleaseDocument::Manifest,
            json!({"format": "vizard-release/1"}),
        ),
        (ReleaseDocument::Report, json!({"c_dm": 12})),
        (ReleaseDocument::Verification, json!({"holds": true})),
    ] {
        assert_eq!(
            store
                .release_document(id, document)
                .await
                .expect("it is there"),
            expected
        );
    }
    assert_eq!(
        store.release_lineage(id).await.expect("it is there"),
        b"table,row,subject"
    );
    let tables = store.table_list(id).await.expect("a list");
    let names: Vec<&str> = tables.iter().map(|table| table.name.as_str()).collect();
    assert_eq!(names, ["microdata", "buckets"]);
    let table = store
        .table_get(id, "microdata".to_owned())
        .await
        .expect("it is there");
    assert_eq!((table.rows, table.pieces, table.raw_bytes), (10, 2, 200));
    assert_eq!(table, tables[0]);
    for (name, position, bytes) in [
        ("microdata", 0, b"first".as_slice()),
        ("microdata", 1, b"second"),
        ("buckets", 0, b"third"),
    ] {
        let piece = store
            .table_piece(id, name.to_owned(), position)
            .await
            .expect("a piece");
        assert_eq!(piece, bytes);
    }
}

async fn what_is_not_there_is_not_found(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.draft_release(dataset).await);
    let found = [
        store.release_get(ReleaseId::generate()).await.is_ok(),
        store.release_lineage(ReleaseId::generate()).await.is_ok(),
        store.table_get(id, "nothing".to_owned()).await.is_ok(),
        store
            .table_get(id, "nul \0 inside".to_owned())
            .await
            .is_ok(),
        store
            .table_piece(id, "microdata".to_owned(), 2)
            .await
            .is_ok(),
        store
            .release_publish(act(), ReleaseId::generate(), allow().into())
            .await
            .is_ok(),
        store
            .release_withdraw(act(), ReleaseId::generate())
            .await
            .is_ok(),
    ];
    assert_eq!(found, [false; 7]);
    assert!(
        store
            .table_list(ReleaseId::generate())
            .await
            .expect("an answer")
            .is_empty()
    );
}

async fn publishing_asks_the_check_and_keeps_to_its_answer(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.draft_release(dataset).await);
    let subject = || "1".to_owned();
    store
        .preference_put(act(), dataset, subject(), json!({"exclude": true}))
        .await
        .expect("kept");
    let refused = store
        .release_publish(act(), id, allow_unchanged().into())
        .await
        .expect("an answer");
    assert_eq!(refused.decision, PublishDecision::Refuse);
    assert_eq!(
        store.release_get(id).await.expect("there").state,
        ReleaseState::Draft
    );
    store
        .preference_delete(act(), dataset, subject())
        .await
        .expect("removed");
    let allowed = store
        .release_publish(act(), id, allow_unchanged().into())
        .await
        .expect("an answer");
    assert_eq!(allowed.decision, PublishDecision::Allow);
    let row = store.release_get(id).await.expect("there");
    assert_eq!(row.state, ReleaseState::Published);
    assert!(row.published_at.expect("a time") >= row.created_at);

    let never: PublishCheck = Box::new(|_, _| panic!("a published release is not asked about"));
    let again = store
        .release_publish(act(), id, never.into())
        .await
        .expect("an answer");
    assert_eq!(again.decision, PublishDecision::Allow);
    assert_eq!(store.release_get(id).await.expect("there"), row);
}

async fn the_check_sees_old_and_new_documents_since_the_job_pinned_them(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let put = |document| {
        stage
            .store
            .preference_put(act(), dataset, "1".to_owned(), document)
    };
    put(json!({"max_leakage": 0.5})).await.expect("kept");
    let id = stage.draft_release(dataset).await;
    put(json!({"max_leakage": 0.1})).await.expect("kept");
    let expected = PreferenceChange {
        subject: "1".to_owned(),
        old: Some(json!({"max_leakage": 0.5})),
        new: Some(json!({"max_leakage": 0.1})),
    };
    let seen = Arc::new(AtomicBool::new(false));
    let check: PublishCheck = Box::new({
        let seen = seen.clone();
        move |changes, _| {
            seen.store(changes == [expected.clone()], Ordering::SeqCst);
            PublishDecision::Refuse
        }
    });
    stage
        .store
        .release_publish(act(), id, check.into())
        .await
        .expect("an answer");
    assert!(seen.load(Ordering::SeqCst));
}

async fn a_job_may_publish_in_its_own_commit(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    for (changed, expected) in [
        (false, ReleaseState::Published),
        (true, ReleaseState::Draft),
    ] {
        let id = stage.job(dataset).await.id;
        let token = stage.acquire().await.lease_token;
        if changed {
            let subject = "1".to_owned();
            stage
                .store
                .preference_put(act(), dataset, subject, json!({}))
                .await
                .expect("kept");
        }
        let mut release = draft();
        release.publish = Some(allow_unchanged().into());
        let release_id = release.id;
        let state = stage
            .store
            .job_complete(act(), id, token, release)
            .await
            .expect("it completes");
        assert_eq!(state, expected);
        let row = stage.store.release_get(release_id).await.expect("there");
        assert_eq!(
            (row.state, row.published_at.is_some()),
            (expected, !changed)
        );
    }
}

async fn withdrawing_takes_the_bytes_and_keeps_the_documents(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let (store, id) = (&stage.store, stage.draft_release(dataset).await);
    store
        .release_publish(act(), id, allow().into())
        .await
        .expect("an answer");
    let row = store
        .release_withdraw(act(), id)
        .await
        .expect("it is withdrawn");
    assert_eq!(row.state, ReleaseState::Withdrawn);
    assert!(row.withdrawn_at.is_some() && row.published_at.is_some());
    assert_eq!(row.manifest, json!({"format": "vizard-release/1"}));
    let piece = store.table_piece(id, "microdata".to_owned(), 0).await;
    assert!(matches!(piece, Err(StoreError::NotFound { .. })));
    assert!(matches!(
        store.release_lineage(id).await,
        Err(StoreError::NotFound { .. })
    ));
    assert_eq!(store.table_list(id).await.expect("a list").len(), 2);
    assert_eq!(
        store
            .release_withdraw(act(), id)
            .await
            .expect("nothing changes"),
        row
    );
    let publish = store.release_publish(act(), id, allow().into()).await;
    assert!(
        matches!(publish, Err(StoreError::Conflict(Conflict::ReleaseState))),
        "{publish:?}"
    );
}

async fn a_list_for_analysts_holds_published_releases_only(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let ids = [
        stage.draft_release(dataset).await,
        stage.draft_release(dataset).await,
        stage.draft_release(dataset).await,
    ];
    stage
        .store
        .release_publish(act(), ids[1], allow().into())
        .await
        .expect("an answer");
    stage
        .store
        .release_withdraw(act(), ids[2])
        .await
        .expect("an answer");
    let listed = async |states, only: Option<Vec<DatasetId>>| {
        let filter = ReleaseFilter {
            states,
            dataset: None,
            only,
        };
        let page = stage
            .store
            .release_list(PageRequest::default(), filter)
            .await
            .expect("a page");
        page.items
            .into_iter()
            .map(|release| release.id)
            .collect::<Vec<ReleaseId>>()
    };
    assert_eq!(listed(vec![ReleaseState::Published], None).await, [ids[1]]);
    assert_eq!(
        listed(Vec::new(), Some(vec![dataset])).await,
        [ids[2], ids[1], ids[0]]
    );
    assert_eq!(
        listed(Vec::new(), Some(vec![DatasetId::generate()])).await,
        []
    );
    let first = stage
        .store
        .release_list(PageRequest::first(2), ReleaseFilter::default())
        .await;
    assert_eq!(first.expect("a page").next_cursor, Some(ids[1].uuid()));
}

/// Consent is withdrawn while the steward publishes: whoever comes first, no
/// release goes out *after* a withdrawal that was answered.
async fn a_publish_that_races_a_withdrawal_of_consent_is_never_stale(stage: &Stage) {
    for round in 0..25u64 {
        let dataset = stage.filled_dataset().await;
        let id = stage.draft_release(dataset).await;
        let answered = Arc::new(AtomicBool::new(false));
        let withdraw = tokio::spawn({
            let (store, answered) = (stage.store.clone(), answered.clone());
            async move {
                let document = json!({"exclude": true});
                let version = store
                    .preference_put(act(), dataset, "1".to_owned(), document)
                    .await;
                answered.store(true, Ordering::SeqCst);
                version
            }
        });
        if round % 2 == 0 {
            tokio::time::sleep(std::time::Duration::from_micros(100 * round)).await;
        }
        let check: PublishCheck = Box::new({
            let answered = answered.clone();
            move |changes, _| {
                let stale = answered.load(Ordering::SeqCst) && changes.is_empty();
                assert!(!stale, "the withdrawal was answered and is not seen");
                if changes.is_empty() {
                    // Hold the door open: the withdrawal must wait outside.
                    std::thread::sleep(std::time::Duration::from_millis(5));
                    assert!(!answered.load(Ordering::SeqCst), "answered in between");
                    PublishDecision::Allow
                } else {
                    PublishDecision::Refuse
                }
            }
        });
        let decision = stage
            .store
            .release_publish(act(), id, check.into())
            .await
            .expect("the check held");
        withdraw.await.expect("no panic").expect("kept");
        let state = stage.store.release_get(id).await.expect("there").state;
        let expected = match decision.decision {
            PublishDecision::Allow => ReleaseState::Published,
            _ => ReleaseState::Draft,
        };
        assert_eq!(state, expected);
    }
}

on_both_and_sealed!(
    a_release_is_read_back_as_the_job_left_it,
    what_is_not_there_is_not_found,
    publishing_asks_the_check_and_keeps_to_its_answer,
    the_check_sees_old_and_new_documents_since_the_job_pinned_them,
    a_job_may_publish_in_its_own_commit,
    withdrawing_takes_the_bytes_and_keeps_the_documents,
    a_list_for_analysts_holds_published_releases_only,
    a_publish_that_races_a_withdrawal_of_consent_is_never_stale,
);
