//! Receipts: kept with terms, read later, used to withdraw, gone with an erasure.

use serde_json::json;
use vizard::ids::DatasetId;
use vizard::store::{NewSubjectTokens, ReceiptRow, StoreError, SubjectErasure};

use super::{Stage, act, on_both_and_sealed};

const TOKEN: [u8; 32] = [1; 32];

/// Gives a subject a token.
async fn token(stage: &Stage, dataset: DatasetId, subject: &str) {
    let tokens = NewSubjectTokens {
        dataset,
        tokens: vec![(TOKEN, subject.to_owned())],
        lifetime_s: 60,
        created_by: "a test".to_owned(),
    };
    let kept = stage.store.subject_tokens_create(act(), tokens).await;
    kept.expect("kept");
}

async fn says(stage: &Stage, terms: serde_json::Value, code: u8) {
    let said = stage
        .store
        .subject_token_use(act(), TOKEN, terms, [code; 32]);
    said.await.expect("said");
}

async fn receipt(stage: &Stage, code: u8) -> ReceiptRow {
    stage.store.receipt_find([code; 32]).await.expect("kept")
}

fn is_nobodys<T>(answer: Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::NotFound { what: "receipt" }))
}

async fn a_receipt_is_in_force_until_other_terms_replace_it(stage: &Stage) {
    let id = stage.dataset().await;
    token(stage, id, "nul \0 and ü").await;
    says(stage, json!({"max_leakage": 0.5}), 11).await;
    let first = receipt(stage, 11).await;
    assert_eq!((first.dataset, &*first.subject), (id, "nul \0 and ü"));
    assert_eq!((first.is_in_force, first.replaced_at), (true, None));
    says(stage, json!({"max_leakage": 0.5}), 12).await;
    let (first, second) = (receipt(stage, 11).await, receipt(stage, 12).await);
    assert_eq!(
        (first.is_in_force, first.replaced_at),
        (false, Some(second.made_at))
    );
    assert!(second.is_in_force && second.made_at >= first.made_at);
    let subject = second.subject;
    let gone = stage.store.preference_delete(act(), id, subject).await;
    gone.expect("removed");
    let second = receipt(stage, 12).await;
    assert_eq!((second.is_in_force, second.replaced_at), (false, None));
    assert!(is_nobodys(stage.store.receipt_find([13; 32]).await));
}

async fn an_old_receipt_takes_consent_back_in_the_whole_population(stage: &Stage) {
    let one = stage.dataset_of(Some("clinic")).await;
    let two = stage.dataset_of(Some("clinic")).await;
    token(stage, one, "a").await;
    says(stage, json!({}), 11).await;
    says(stage, json!({"max_leakage": 0.5}), 12).await;
    let withdrawn = stage.store.receipt_withdraw(act(), [11; 32], [13; 32]);
    let at = withdrawn.await.expect("withdrawn");
    let new = receipt(stage, 13).await;
    assert_eq!((new.made_at, new.is_in_force), (at, true));
    for dataset in [one, two] {
        let terms = stage.store.preference_get(act(), dataset, "a".to_owned());
        let terms = terms.await.expect("an answer").expect("in force");
        assert_eq!(terms.document, json!({"exclude": true}));
    }
    assert_eq!(receipt(stage, 12).await.replaced_at, Some(at));
    let never = stage.store.receipt_withdraw(act(), [14; 32], [15; 32]);
    assert!(is_nobodys(never.await));
    assert!(is_nobodys(stage.store.receipt_find([15; 32]).await));
}

async fn an_erased_subject_has_no_receipts_and_others_keep_theirs(stage: &Stage) {
    let id = stage.dataset().await;
    token(stage, id, "a").await;
    says(stage, json!({}), 11).await;
    let other = NewSubjectTokens {
        dataset: id,
        tokens: vec![([2; 32], "b".to_owned())],
        lifetime_s: 60,
        created_by: "a test".to_owned(),
    };
    let kept = stage.store.subject_tokens_create(act(), other).await;
    kept.expect("kept");
    let said = stage
        .store
        .subject_token_use(act(), [2; 32], json!({}), [12; 32]);
    said.await.expect("said");
    let erasure = SubjectErasure {
        dataset: id,
        subject: "a".to_owned(),
        base_version: 0,
        keep_exclusion: false,
        is_in_records: false,
        hierarchies: json!({}),
        created_by: "a test".into(),
        releases: Vec::new(),
        drafts: Vec::new(),
        lineages: Vec::new(),
        candidates: Vec::new(),
    };
    let erased = stage.store.subject_erase(act(), erasure, None).await;
    erased.expect("it is erased");
    assert!(is_nobodys(stage.store.receipt_find([11; 32]).await));
    assert!(receipt(stage, 12).await.is_in_force);
}

async fn an_erased_dataset_leaves_no_receipt(stage: &Stage) {
    let id = stage.dataset().await;
    token(stage, id, "a").await;
    says(stage, json!({}), 11).await;
    stage.store.dataset_erase(act(), id).await.expect("erased");
    assert!(is_nobodys(stage.store.receipt_find([11; 32]).await));
    let withdrawn = stage.store.receipt_withdraw(act(), [11; 32], [12; 32]);
    assert!(is_nobodys(withdrawn.await));
}

on_both_and_sealed!(
    a_receipt_is_in_force_until_other_terms_replace_it,
    an_old_receipt_takes_consent_back_in_the_whole_population,
    an_erased_subject_has_no_receipts_and_others_keep_theirs,
    an_erased_dataset_leaves_no_receipt,
);
