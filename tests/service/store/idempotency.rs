//! Keys of requests: one request at a time, one answer for good.

use std::time::Duration;

use serde_json::json;
use vizard::ids::DatasetId;
use vizard::store::{
    Act, AuditFilter, Conflict, DatasetRow, KeptAnswer, KeyedRequest, NewDataset, Reservation,
    Reserve, StoreError,
};

use super::stage::{LEASE, Stage, act, on_both};

fn request(principal: &str, what: u8) -> KeyedRequest {
    KeyedRequest {
        principal: principal.to_owned(),
        key_hash: [1; 32],
        request_hash: [what; 32],
        dataset: None,
    }
}

fn answer(text: &str) -> KeptAnswer {
    KeptAnswer {
        body_hash: [8; 32],
        sealed: text.as_bytes().to_vec(),
    }
}

fn dataset() -> NewDataset {
    NewDataset {
        id: DatasetId::generate(),
        name: "admissions".to_owned(),
        schema: json!({}),
        created_by: "a test".to_owned(),
        population: None,
    }
}

/// Creates a dataset under a reservation and keeps its name as the answer.
async fn create(stage: &Stage, reservation: Reservation) -> Result<DatasetRow, StoreError> {
    let keeping = act().keeping(reservation, |row: &DatasetRow| Some(answer(&row.name)));
    stage.store.dataset_create(keeping, dataset()).await
}

async fn reserve(stage: &Stage, request: KeyedRequest) -> Reserve {
    let reserved = stage.store.idempotency_reserve(request, LEASE).await;
    reserved.expect("an answer")
}

async fn ours(stage: &Stage, request: KeyedRequest) -> Reservation {
    match reserve(stage, request).await {
        Reserve::Ours(reservation) => reservation,
        _ => panic!("the key is taken"),
    }
}

/// Datasets and rows of the audit log.
async fn counts(stage: &Stage) -> (usize, usize) {
    let datasets = stage.store.dataset_list(Default::default(), None).await;
    let rows = stage.store.audit_list(200, None, AuditFilter::default());
    let rows = rows.await.expect("a page").items.len();
    (datasets.expect("a page").items.len(), rows)
}

async fn nothing_is_kept_of_a_dataset_that_was_erased(stage: &Stage) {
    let id = stage.filled_dataset().await;
    let of_it = |principal: &str| KeyedRequest {
        dataset: Some(id),
        ..request(principal, 1)
    };
    let (kept, late) = (
        ours(stage, of_it("key_1")).await,
        ours(stage, of_it("key_2")).await,
    );
    let store = &stage.store;
    let keep = store.idempotency_keep(kept, answer("terms")).await;
    assert!(keep.expect("an answer"));
    store.dataset_erase(act(), id).await.expect("it is erased");
    ours(stage, of_it("key_1")).await;
    let keep = store.idempotency_keep(late, answer("terms")).await;
    assert!(!keep.expect("an answer"), "kept after the erasure");
}

async fn a_key_belongs_to_one_request_until_it_is_answered(stage: &Stage) {
    let reservation = ours(stage, request("key_1", 1)).await;
    assert!(reserve(stage, request("key_1", 1)).await == Reserve::Running);
    assert!(reserve(stage, request("key_1", 2)).await == Reserve::OtherRequest);
    ours(stage, request("key_2", 2)).await;
    create(stage, reservation).await.expect("it is created");
    let kept = Reserve::Answered(answer("admissions"));
    for _ in 0..2 {
        assert!(reserve(stage, request("key_1", 1)).await == kept);
    }
    assert!(reserve(stage, request("key_1", 2)).await == Reserve::OtherRequest);
    stage.let_leases_run_out().await;
    assert!(
        reserve(stage, request("key_1", 1)).await == kept,
        "for good"
    );
    assert_eq!(counts(stage).await, (1, 1));
}

async fn a_request_that_lost_its_key_changes_nothing(stage: &Stage) {
    let slow = ours(stage, request("key_1", 1)).await;
    stage.let_leases_run_out().await;
    let fast = ours(stage, request("key_1", 1)).await;
    let extended = stage.store.idempotency_extend(slow.clone(), LEASE).await;
    assert!(!extended.expect("an answer"), "it was lost");
    let late = create(stage, slow.clone()).await;
    assert!(matches!(
        late,
        Err(StoreError::Conflict(Conflict::ReservationLost))
    ));
    assert_eq!(counts(stage).await, (0, 0), "nothing was kept");
    stage
        .store
        .idempotency_free(slow.clone())
        .await
        .expect("an answer");
    create(stage, fast).await.expect("it is created");
    assert!(create(stage, slow).await.is_err());
    assert_eq!(counts(stage).await, (1, 1));
}

async fn a_request_that_extends_its_key_keeps_it(stage: &Stage) {
    let reservation = ours(stage, request("key_1", 1)).await;
    let longer = stage
        .store
        .idempotency_extend(reservation.clone(), 3 * LEASE);
    assert!(longer.await.expect("an answer"));
    if !stage.is_postgres() {
        // There the clock is the database's and cannot be moved.
        stage.let_leases_run_out().await;
        assert!(reserve(stage, request("key_1", 1)).await == Reserve::Running);
    }
    create(stage, reservation.clone())
        .await
        .expect("it is created");
    let over = stage.store.idempotency_extend(reservation, LEASE).await;
    assert!(
        !over.expect("an answer"),
        "an answered request holds nothing"
    );
}

async fn a_change_under_a_key_must_keep_an_answer(stage: &Stage) {
    let reservation = ours(stage, request("key_1", 1)).await;
    let silent: Act<DatasetRow> = act().reserved(reservation.clone());
    assert!(stage.store.dataset_create(silent, dataset()).await.is_err());
    let refusing = act().keeping(reservation.clone(), |_: &DatasetRow| None);
    assert!(
        stage
            .store
            .dataset_create(refusing, dataset())
            .await
            .is_err()
    );
    assert_eq!(counts(stage).await, (0, 0));
    assert!(reserve(stage, request("key_1", 1)).await == Reserve::Running);
}

async fn a_freed_key_is_anybodys_and_an_answered_one_cannot_be_freed(stage: &Stage) {
    let first = ours(stage, request("key_1", 1)).await;
    stage
        .store
        .idempotency_free(first)
        .await
        .expect("it is freed");
    let second = ours(stage, request("key_1", 2)).await;
    let kept = stage
        .store
        .idempotency_keep(second.clone(), answer("nothing to do"));
    assert!(kept.await.expect("an answer"));
    stage
        .store
        .idempotency_free(second.clone())
        .await
        .expect("an answer");
    let answered = Reserve::Answered(answer("nothing to do"));
    assert!(reserve(stage, request("key_1", 2)).await == answered);
    let again = stage.store.idempotency_keep(second, answer("other"));
    assert!(!again.await.expect("an answer"), "the first answer stays");
}

async fn keys_are_kept_as_long_as_they_are_to_be_and_no_longer(stage: &Stage) {
    const DAY: Duration = Duration::from_secs(86_400);
    let answered = ours(stage, request("key_1", 1)).await;
    create(stage, answered).await.expect("it is created");
    ours(stage, request("key_2", 1)).await;
    let swept = stage.store.idempotency_sweep(DAY).await;
    assert_eq!(swept.expect("an answer"), 0, "they are young");
    let earlier = if stage.is_postgres() {
        "created_at - INTERVAL '25 hours'"
    } else {
        "created_at - 90000000000"
    };
    let age = format!("UPDATE idempotency SET created_at = {earlier}");
    stage.sabotage(&age).await;
    let swept = stage.store.idempotency_sweep(DAY).await;
    assert_eq!(swept.expect("an answer"), 1, "a running one stays");
    assert!(reserve(stage, request("key_2", 1)).await == Reserve::Running);
    ours(stage, request("key_1", 1)).await;
}

async fn of_many_that_want_a_key_at_once_one_gets_it(stage: &Stage) {
    for round in 0..5_u8 {
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                let store = stage.store.clone();
                let mut wanted = request("key_1", 1);
                wanted.key_hash = [round; 32];
                tokio::spawn(async move { store.idempotency_reserve(wanted, LEASE).await })
            })
            .collect();
        let mut winners = 0;
        for task in tasks {
            match task.await.expect("no panic").expect("an answer") {
                Reserve::Ours(_) => winners += 1,
                other => assert!(other == Reserve::Running),
            }
        }
        assert_eq!(winners, 1);
    }
}

on_both!(
    a_key_belongs_to_one_request_until_it_is_answered,
    nothing_is_kept_of_a_dataset_that_was_erased,
    a_request_that_lost_its_key_changes_nothing,
    a_request_that_extends_its_key_keeps_it,
    a_change_under_a_key_must_keep_an_answer,
    a_freed_key_is_anybodys_and_an_answered_one_cannot_be_freed,
    keys_are_kept_as_long_as_they_are_to_be_and_no_longer,
    of_many_that_want_a_key_at_once_one_gets_it,
);
