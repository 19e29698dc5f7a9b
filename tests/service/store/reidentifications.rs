//! Re-identifications in the store: their time, their reasons, and what goes
//! with a dataset, sealed or not.

use vizard::ids::{DatasetId, ReidentificationId, ReleaseId};
use vizard::store::{
    Act, AuditFilter, Conflict, NewReidentification, PageRequest, PublishCheck, PublishDecision,
    ReidentificationState, ReidentificationTold, StoreError,
};

use super::{Stage, act, draft, on_both_and_sealed};

on_both_and_sealed!(
    a_question_that_nobody_confirms_ends,
    the_subject_is_told_for_a_week,
    a_reason_is_as_secret_as_the_records_and_goes_with_the_dataset,
    a_confirmation_beside_an_erasure_comes_before_it_or_finds_nothing,
    a_question_of_what_is_not_public_is_refused,
);

const REASON: &str = "canary-of-a-reason-4719";

fn other<T>() -> Act<T> {
    Act::by("another steward")
}

/// A published release of ten rows.
async fn published(stage: &Stage) -> (DatasetId, ReleaseId) {
    let dataset = stage.filled_dataset().await;
    stage.job(dataset).await;
    let acquired = stage.acquire().await;
    let mut commit = draft();
    commit.lineage = b"table,row,subject\nmicrodata,1,ann\nmicrodata,2,bob\n".to_vec();
    let id = commit.id;
    let (job, token) = (acquired.job.id, acquired.lease_token);
    let done = stage.store.job_complete(act(), job, token, commit).await;
    done.expect("it completes");
    let allow: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
    let public = stage.store.release_publish(act(), id, allow.into()).await;
    public.expect("it is published");
    (dataset, id)
}

fn question(release: ReleaseId, row: u64) -> NewReidentification {
    NewReidentification {
        id: ReidentificationId::generate(),
        release,
        table: "microdata".into(),
        row,
        reason: REASON.into(),
    }
}

async fn asked(stage: &Stage, release: ReleaseId) -> ReidentificationId {
    let asked = stage
        .store
        .reidentification_create(act(), question(release, 2));
    asked.await.expect("it is asked").id
}

async fn confirm(
    stage: &Stage,
    id: ReidentificationId,
) -> Result<ReidentificationTold, StoreError> {
    stage.store.reidentification_confirm(other(), id).await
}

async fn read(stage: &Stage, id: ReidentificationId) -> Result<ReidentificationTold, StoreError> {
    stage.store.reidentification_read(act(), id).await
}

async fn state(stage: &Stage, id: ReidentificationId) -> ReidentificationState {
    let row = stage.store.reidentification_get(id).await;
    row.expect("it is there").state
}

fn is_decided<T>(answer: &Result<T, StoreError>) -> bool {
    matches!(answer, Err(StoreError::Conflict(Conflict::Decided)))
}

async fn a_question_that_nobody_confirms_ends(stage: &Stage) {
    let (_, release) = published(stage).await;
    let id = asked(stage, release).await;
    stage.let_days_pass(2).await;
    assert_eq!(state(stage, id).await, ReidentificationState::Pending);
    stage.let_days_pass(2).await;
    assert_eq!(state(stage, id).await, ReidentificationState::Ended);
    assert!(is_decided(&confirm(stage, id).await));
    assert!(is_decided(&read(stage, id).await));
    let withdrawn = stage.store.reidentification_withdraw(act(), id).await;
    assert!(is_decided(&withdrawn));
}

async fn the_subject_is_told_for_a_week(stage: &Stage) {
    let (_, release) = published(stage).await;
    let id = asked(stage, release).await;
    assert!(is_decided(&read(stage, id).await), "it is pending");
    let told = confirm(stage, id).await.expect("it is told");
    assert_eq!(told.subject.as_deref(), Some("bob"));
    assert!(!format!("{told:?}").contains("bob"));
    stage.let_days_pass(6).await;
    let told = read(stage, id).await.expect("it is told");
    assert_eq!(told.subject.as_deref(), Some("bob"));
    let third = stage
        .store
        .reidentification_read(Act::by("a third steward"), id);
    assert!(is_decided(&third.await));
    stage.let_days_pass(2).await;
    assert_eq!(state(stage, id).await, ReidentificationState::Ended);
    assert!(is_decided(&read(stage, id).await));
    assert!(is_decided(&confirm(stage, id).await));
}

async fn a_reason_is_as_secret_as_the_records_and_goes_with_the_dataset(stage: &Stage) {
    let (dataset, release) = published(stage).await;
    let id = asked(stage, release).await;
    confirm(stage, id).await.expect("it is told");
    let row = stage.store.reidentification_get(id).await;
    assert_eq!(row.expect("it is there").reason, REASON);
    let wanted = [REASON.as_bytes(), b"bob".as_slice()];
    let open = stage.in_the_open(&wanted).await;
    let plain = !stage.is_sealed().await;
    assert_eq!(open.contains(&wanted[0]), plain, "only in a plain dataset");
    let rows = stage.store.audit_list(100, None, AuditFilter::default());
    for row in rows.await.expect("rows").items {
        let is_told = row.detail.contains(REASON) || row.detail.contains("bob");
        assert!(
            !is_told && !row.detail.contains("\"row\""),
            "{}",
            row.detail
        );
    }

    let erased = stage.store.dataset_erase(act(), dataset).await;
    erased.expect("it is erased");
    let gone = stage.store.reidentification_get(id).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    let page = PageRequest {
        limit: 10,
        cursor: None,
    };
    let left = stage.store.reidentification_list(page, release).await;
    assert!(left.expect("a page").items.is_empty());
    assert!(stage.in_the_open(&wanted[..1]).await.is_empty());
}

async fn a_confirmation_beside_an_erasure_comes_before_it_or_finds_nothing(stage: &Stage) {
    for _ in 0..8 {
        let (dataset, release) = published(stage).await;
        let id = asked(stage, release).await;
        let (told, erased) = tokio::join!(
            confirm(stage, id),
            stage.store.dataset_erase(act(), dataset)
        );
        erased.expect("it is erased");
        match told {
            Ok(told) => assert_eq!(told.subject.as_deref(), Some("bob")),
            Err(error) => assert!(
                matches!(error, StoreError::NotFound { .. }),
                "{error:?} is no answer"
            ),
        }
        let late = confirm(stage, id).await;
        assert!(matches!(late, Err(StoreError::NotFound { .. })), "{late:?}");
    }
}

async fn a_question_of_what_is_not_public_is_refused(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let draft = stage.draft_release(dataset).await;
    let (_, public) = published(stage).await;
    let withdrawn = stage.store.release_withdraw(act(), public).await;
    withdrawn.expect("it is withdrawn");
    for release in [draft, public] {
        let refused = stage
            .store
            .reidentification_create(act(), question(release, 1));
        let refused = refused.await;
        assert!(
            matches!(refused, Err(StoreError::Conflict(Conflict::ReleaseState))),
            "{refused:?}"
        );
    }
    let unknown = question(ReleaseId::generate(), 1);
    let unknown = stage.store.reidentification_create(act(), unknown).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { .. })));
}
