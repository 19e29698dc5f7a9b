//! Tokens of subjects.

use serde_json::json;
use vizard::ids::DatasetId;
use vizard::store::{Conflict, NewSubjectTokens, StoreError};

use super::{Stage, act, on_both_and_sealed};
use crate::common::statements::Statements;

const DAY_S: u64 = 24 * 60 * 60;

fn tokens(dataset: DatasetId, tokens: &[(u8, &str)]) -> NewSubjectTokens {
    let tokens = tokens
        .iter()
        .map(|(hash, subject)| ([*hash; 32], (*subject).to_owned()))
        .collect();
    NewSubjectTokens {
        dataset,
        tokens,
        lifetime_s: DAY_S,
        created_by: "a test".to_owned(),
    }
}

fn is_nobodys<T>(answer: Result<T, StoreError>) -> bool {
    let what = "subject token";
    matches!(answer, Err(StoreError::NotFound { what: found }) if found == what)
}

async fn a_token_sets_its_subjects_terms_and_stays_good(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let new = tokens(id, &[(1, "p1"), (2, "nul \0 and ü")]);
    let expires_at = store.subject_tokens_create(act(), new).await.expect("kept");
    let made_at = store.dataset_get(id).await.expect("there").created_at;
    assert!((expires_at - made_at).num_seconds() >= DAY_S as i64);
    let found = store.subject_token_find([2; 32]).await.expect("it is good");
    assert_eq!((found.dataset, &*found.subject), (id, "nul \0 and ü"));
    let terms = json!({"exclude": true});
    let used = store.subject_token_use(act(), [2; 32], terms.clone(), [21; 32]);
    let made_at = used.await.expect("it is used");
    let kept = store
        .preference_get(act(), id, found.subject)
        .await
        .expect("an answer")
        .expect("in force");
    assert_eq!((kept.version, kept.document), (1, terms.clone()));
    assert_eq!(kept.created_at, made_at);
    let receipt = store.receipt_find([21; 32]).await.expect("a receipt");
    assert_eq!((receipt.made_at, receipt.is_in_force), (made_at, true));
    let read = store.subject_token_terms(act(), [2; 32]).await;
    assert_eq!(read.expect("it is good").expect("in force").document, terms);
    assert!(is_nobodys(store.subject_token_find([3; 32]).await));
    let never = store.subject_token_use(act(), [3; 32], json!({}), [22; 32]);
    assert!(is_nobodys(never.await));
    assert!(is_nobodys(store.subject_token_terms(act(), [3; 32]).await));
    store
        .subject_token_find([1; 32])
        .await
        .expect("the other is good");
    let version = store
        .dataset_get(id)
        .await
        .expect("there")
        .preference_version;
    assert_eq!(version, 1, "a refused use makes no version");
}

async fn of_many_uses_at_the_same_time_each_makes_a_version(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let new = tokens(id, &[(1, "p1")]);
    store.subject_tokens_create(act(), new).await.expect("kept");
    let uses: Vec<_> = (0..20)
        .map(|at| {
            let store = store.clone();
            let terms = json!({"max_leakage": f64::from(at + 1) / 20.0});
            tokio::spawn(async move {
                let used = store.subject_token_use(act(), [1; 32], terms, [100 + at; 32]);
                used.await.map(|_| at)
            })
        })
        .collect();
    let mut codes = Vec::new();
    for used in uses {
        codes.push(used.await.expect("no panic").expect("it is used"));
    }
    let mut standing = 0;
    for at in codes {
        let receipt = store.receipt_find([100 + at; 32]).await.expect("kept");
        standing += u8::from(receipt.is_in_force);
    }
    assert_eq!(standing, 1, "the last one is in force");
    let kept = store
        .preference_get(act(), id, "p1".to_owned())
        .await
        .expect("an answer")
        .expect("in force");
    assert_eq!(kept.version, 20);
}

async fn a_use_that_fails_on_its_way_leaves_the_token(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let new = tokens(id, &[(1, "p1")]);
    store.subject_tokens_create(act(), new).await.expect("kept");
    stage
        .sabotage("ALTER TABLE preference RENAME TO elsewhere")
        .await;
    let failed = store
        .subject_token_use(act(), [1; 32], json!({}), [41; 32])
        .await;
    assert!(matches!(failed, Err(StoreError::Driver(_))), "{failed:?}");
    stage
        .sabotage("ALTER TABLE elsewhere RENAME TO preference")
        .await;
    store.subject_token_find([1; 32]).await.expect("it is good");
    store
        .subject_token_use(act(), [1; 32], json!({}), [42; 32])
        .await
        .expect("used");
}

async fn a_token_whose_time_is_over_is_nobodys_and_is_swept(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let new = tokens(id, &[(1, "p1"), (2, "p2")]);
    store.subject_tokens_create(act(), new).await.expect("kept");
    assert_eq!(store.subject_tokens_sweep().await.expect("swept"), 0);
    stage.let_subject_tokens_run_out(DAY_S).await;
    assert!(is_nobodys(store.subject_token_find([1; 32]).await));
    assert!(is_nobodys(
        store
            .subject_token_use(act(), [1; 32], json!({}), [43; 32])
            .await
    ));
    let young = tokens(id, &[(3, "p3")]);
    store
        .subject_tokens_create(act(), young)
        .await
        .expect("kept");
    assert_eq!(store.subject_tokens_sweep().await.expect("swept"), 2);
    store.subject_token_find([3; 32]).await.expect("it is good");
}

async fn erasing_a_dataset_takes_its_tokens_away(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let other = stage.dataset().await;
    for (dataset, hash) in [(id, 1), (other, 2)] {
        let new = tokens(dataset, &[(hash, "p1")]);
        store.subject_tokens_create(act(), new).await.expect("kept");
    }
    store.dataset_erase(act(), id).await.expect("erased");
    assert!(is_nobodys(store.subject_token_find([1; 32]).await));
    assert!(is_nobodys(
        store
            .subject_token_use(act(), [1; 32], json!({}), [44; 32])
            .await
    ));
    store
        .subject_token_find([2; 32])
        .await
        .expect("the other's is good");
    stage.let_subject_tokens_run_out(DAY_S).await;
    let swept = store.subject_tokens_sweep().await.expect("swept");
    assert_eq!(swept, 1, "of the erased dataset no row was left");
    let late = store
        .subject_tokens_create(act(), tokens(id, &[(4, "p1")]))
        .await;
    assert!(matches!(
        late,
        Err(StoreError::NotFound { what: "dataset" })
    ));
}

async fn a_hash_is_taken_once_and_a_refused_request_keeps_nothing(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let first = tokens(id, &[(1, "p1")]);
    store
        .subject_tokens_create(act(), first)
        .await
        .expect("kept");
    let again = tokens(id, &[(2, "p2"), (1, "p3")]);
    let refused = store.subject_tokens_create(act(), again).await;
    assert!(matches!(
        refused,
        Err(StoreError::Conflict(Conflict::Exists))
    ));
    assert!(is_nobodys(store.subject_token_find([2; 32]).await));
    let kept = store.subject_token_find([1; 32]).await.expect("it is good");
    assert_eq!(kept.subject, "p1");
}

/// Which statements refuse a token tells nothing of why.
async fn every_bad_token_is_refused_by_the_same_statements(stage: Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let erased = stage.dataset().await;
    let new = tokens(id, &[(1, "p1"), (2, "p2")]);
    store.subject_tokens_create(act(), new).await.expect("kept");
    let new = tokens(erased, &[(3, "p1")]);
    store.subject_tokens_create(act(), new).await.expect("kept");
    store.dataset_erase(act(), erased).await.expect("erased");
    stage.let_subject_tokens_run_out(DAY_S).await;
    let (expired, of_erased, never) = (1, 3, 4);
    let statements = Statements::listen();
    let mut runs = Vec::new();
    for hash in [expired, of_erased, never] {
        assert!(is_nobodys(store.subject_token_find([hash; 32]).await));
        assert!(is_nobodys(
            store
                .subject_token_use(act(), [hash; 32], json!({}), [46; 32])
                .await
        ));
        runs.push(statements.take());
    }
    assert!(runs[0].len() >= 2, "{:?}", runs[0]);
    assert!(runs.iter().all(|run| *run == runs[0]), "{runs:?}");
}

#[tokio::test]
async fn every_bad_token_is_refused_by_the_same_statements_on_sqlite() {
    every_bad_token_is_refused_by_the_same_statements(Stage::sqlite().await).await;
}

#[tokio::test]
async fn every_bad_token_is_refused_by_the_same_statements_on_postgres() {
    if let Some(stage) = Stage::postgres().await {
        every_bad_token_is_refused_by_the_same_statements(stage).await;
    }
}

on_both_and_sealed!(
    a_token_sets_its_subjects_terms_and_stays_good,
    of_many_uses_at_the_same_time_each_makes_a_version,
    a_use_that_fails_on_its_way_leaves_the_token,
    a_token_whose_time_is_over_is_nobodys_and_is_swept,
    erasing_a_dataset_takes_its_tokens_away,
    a_hash_is_taken_once_and_a_refused_request_keeps_nothing,
);
