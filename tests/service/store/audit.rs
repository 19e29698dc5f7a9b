//! The audit log: one row a change of state, none without, written with it.

use serde_json::{Value, json};
use vizard::ids::{DatasetId, KeyId, ReleaseId};
use vizard::store::{
    Act, AuditFilter, AuditRow, HierarchyPut, NewHierarchy, NewKey, PreferenceChange, PublishCheck,
    PublishDecision, Refused, ReleaseRead, StoreError, VersionMode,
};

use super::stage::{LEASE, Stage, act, draft, on_both, version};

/// All rows, oldest first.
pub async fn rows(stage: &Stage) -> Vec<AuditRow> {
    let (mut rows, mut before) = (Vec::new(), None);
    loop {
        let page = stage.store.audit_list(7, before, AuditFilter::default());
        let page = page.await.expect("a page");
        rows.extend(page.items);
        before = page.next;
        if before.is_none() {
            rows.reverse();
            return rows;
        }
    }
}

/// The actions that were noted, oldest first.
async fn actions(stage: &Stage) -> Vec<String> {
    let rows = rows(stage).await;
    rows.into_iter().map(|row| row.action).collect()
}

fn key(name: &str) -> NewKey {
    NewKey {
        id: KeyId::generate(),
        name: name.to_owned(),
        roles: vec!["admin".to_owned()],
        datasets: None,
        secret_hash: [3; 32],
        lifetime_s: None,
    }
}

fn hierarchy(digest: &str) -> NewHierarchy {
    NewHierarchy {
        dataset: None,
        name: "icd10".to_owned(),
        digest: digest.to_owned(),
        media_type: "text/csv".to_owned(),
        content: b"a;*".to_vec(),
        leaves: 1,
        height: 1,
        allow_new_version: false,
    }
}

fn allow() -> PublishCheck {
    Box::new(|_: &[PreferenceChange], _: &[u8]| PublishDecision::Allow)
}

/// Every operation that changes something, once each.
async fn every_change(stage: &Stage) -> (DatasetId, ReleaseId) {
    let store = &stage.store;
    let first = store.key_create_first_admin(act(), key("first"));
    assert!(first.await.expect("it is made"));
    let made = store.key_create(act(), key("second")).await;
    let made = made.expect("it is made").id;
    store.key_revoke(act(), made).await.expect("it is revoked");
    let put = store.hierarchy_put(act(), hierarchy("abc")).await;
    assert_eq!(put.expect("it is put"), HierarchyPut::Created);
    let dataset = stage.dataset().await;
    let records = version(dataset, 0, VersionMode::Append, &[b"records"]);
    let committed = store.version_commit(act(), records).await;
    committed.expect("a version");
    let document = || json!({"max_leakage": 0.2});
    let put = store.preference_put(act(), dataset, "p-1".to_owned(), document());
    put.await.expect("it is kept");
    for subject in ["p-1", "nobody"] {
        let read = store.preference_get(act(), dataset, subject.to_owned());
        let read = read.await.expect("an answer");
        assert_eq!(read.is_some(), subject == "p-1");
    }
    let deleted = store.preference_delete(act(), dataset, "p-1".to_owned());
    deleted.await.expect("it is out of force");
    let many = vec![
        ("p-2".to_owned(), document()),
        ("p-3".to_owned(), document()),
    ];
    let bulk = store
        .preference_bulk(act(), dataset, std::sync::Arc::new(many))
        .await;
    bulk.expect("they are kept");
    let release = stage.draft_release(dataset).await;
    for read in [
        ReleaseRead::Report,
        ReleaseRead::Verification,
        ReleaseRead::Query,
        ReleaseRead::Table {
            name: "microdata".to_owned(),
            format: "csv",
        },
    ] {
        let noted = store.release_read(act(), release, read).await;
        noted.expect("it is noted");
    }
    let published = store.release_publish(act(), release, allow().into()).await;
    published.expect("it is public");
    let withdrawn = store.release_withdraw(act(), release).await;
    withdrawn.expect("it is withdrawn");
    let queued = stage.job(dataset).await;
    let cancelled = store.job_cancel_request(act(), queued.id).await;
    cancelled.expect("it is stopped");
    (dataset, release)
}

async fn every_change_leaves_one_row_with_its_actor_and_request(stage: &Stage) {
    let (dataset, release) = every_change(stage).await;
    let erased = stage.store.dataset_erase(act(), dataset).await;
    erased.expect("it is erased");
    let rows = rows(stage).await;
    let noted: Vec<&str> = rows.iter().map(|row| row.action.as_str()).collect();
    let expected = [
        "create_key",
        "create_key",
        "revoke_key",
        "put_hierarchy",
        "create_dataset",
        "upload_records",
        "put_preference",
        "get_preference",
        "get_preference",
        "delete_preference",
        "import_preferences",
        "create_job",
        "acquire_job",
        "complete_job",
        "get_release_report",
        "get_release_verification",
        "query_release",
        "get_release_table",
        "publish_release",
        "withdraw_release",
        "create_job",
        "cancel_job",
        "erase_dataset",
    ];
    assert_eq!(noted, expected);
    for (position, row) in (1..).zip(&rows) {
        assert_eq!(row.position, position);
        let by_worker = row.action == "acquire_job";
        let actor = if by_worker { "worker" } else { "a test" };
        assert_eq!(row.actor, actor, "{}", row.action);
        let request = (!by_worker).then_some("request-1");
        assert_eq!(row.request.as_deref(), request, "{}", row.action);
        let of_dataset = position > 4;
        assert_eq!(row.dataset, of_dataset.then_some(dataset), "{}", row.action);
    }
    let published = &rows[18];
    assert_eq!(published.object_kind, "release");
    assert_eq!(published.object, Some(release.to_string()));
    let uploaded: Value = serde_json::from_str(&rows[5].detail).expect("JSON");
    assert_eq!(uploaded["records"], 10);
    let verdict = stage
        .store
        .audit_verify(Vec::new())
        .await
        .expect("a verdict");
    assert_eq!((verdict.rows, verdict.broken), (23, None));
}

async fn what_was_refused_is_a_row_of_its_actor(stage: &Stage) {
    let refused = |actor: &str, operation, requests| Refused {
        actor: actor.to_owned(),
        operation,
        status: 403,
        requests,
    };
    let all = vec![
        refused("key_2", "list_keys", 3),
        refused("key_1", "erase_dataset", 1),
        refused("key_2", "create_key", 2),
    ];
    stage.store.audit_refused(all).await.expect("it is kept");
    let noted = rows(stage).await.into_iter().map(|row| {
        assert_eq!((&*row.action, &*row.object_kind), ("refuse", "operation"));
        (row.actor, row.object.expect("an operation"), row.detail)
    });
    let mut noted: Vec<_> = noted.collect();
    noted.sort();
    let row = |actor: &str, operation: &str, requests: u64| {
        let detail = json!({"status": 403, "requests": requests});
        (actor.to_owned(), operation.to_owned(), detail.to_string())
    };
    assert_eq!(
        noted,
        [
            row("key_1", "erase_dataset", 1),
            row("key_2", "create_key", 2),
            row("key_2", "list_keys", 3),
        ]
    );
    let verdict = stage.store.audit_verify(Vec::new()).await;
    assert_eq!(verdict.expect("an answer").broken, None);
}

async fn no_row_names_a_subject(stage: &Stage) {
    every_change(stage).await;
    for row in rows(stage).await {
        let text = format!("{row:?}");
        assert!(!text.contains("p-1"), "{text}");
        assert!(!text.contains("p-2"), "{text}");
        assert!(!text.contains("max_leakage"), "{text}");
    }
}

async fn an_operation_that_fails_leaves_no_row(stage: &Stage) {
    let store = &stage.store;
    let dataset = stage.filled_dataset().await;
    let taken = key("taken");
    store.key_create(act(), taken.clone()).await.expect("made");
    stage.job(dataset).await;
    let acquired = stage.acquire().await;
    let (job, stale) = (acquired.job.id, acquired.lease_token);
    let yielded = store.job_yield(act(), job, stale).await;
    yielded.expect("it goes back");
    let before = actions(stage).await;
    assert_eq!(before.last().map(String::as_str), Some("yield_job"));
    assert!(store.key_create(act(), taken).await.is_err());
    assert!(store.key_revoke(act(), KeyId::generate()).await.is_err());
    let moved = version(dataset, 9, VersionMode::Append, &[b"late"]);
    assert!(store.version_commit(act(), moved).await.is_err());
    let mut miscounted = version(dataset, 1, VersionMode::Append, &[b"more"]);
    miscounted.records = 999;
    assert!(store.version_commit(act(), miscounted).await.is_err());
    let nobody = store.preference_delete(act(), dataset, "nobody".to_owned());
    assert!(nobody.await.is_err());
    let late = store.job_complete(act(), job, stale, draft()).await;
    assert!(matches!(late, Err(StoreError::LeaseLost)));
    let unknown = ReleaseId::generate();
    assert!(store.release_withdraw(act(), unknown).await.is_err());
    let read = store.release_read(act(), unknown, ReleaseRead::Report);
    assert!(read.await.is_err());
    assert_eq!(actions(stage).await, before);
}

async fn what_changes_nothing_leaves_no_row(stage: &Stage) {
    let store = &stage.store;
    let (dataset, release) = every_change(stage).await;
    let revoked = store
        .key_list(Default::default(), None)
        .await
        .expect("keys");
    let revoked = revoked
        .items
        .into_iter()
        .find(|key| key.revoked_at.is_some());
    let revoked = revoked.expect("one was revoked").id;
    stage.job(dataset).await;
    let acquired = stage.acquire().await;
    let before = actions(stage).await;
    store.key_revoke(act(), revoked).await.expect("an answer");
    store.key_touch(revoked).await.expect("it is noted");
    let again = store.hierarchy_put(act(), hierarchy("abc")).await;
    assert_eq!(again.expect("an answer"), HierarchyPut::Unchanged);
    let nothing = store
        .preference_bulk(
            act(),
            dataset,
            std::sync::Arc::new(Vec::<(String, Value)>::new()),
        )
        .await;
    nothing.expect("an answer");
    store
        .release_withdraw(act(), release)
        .await
        .expect("an answer");
    let (job, token) = (acquired.job.id, acquired.lease_token);
    let beat = store.job_heartbeat(job, token, LEASE, Some(json!({"step": 1})));
    beat.await.expect("it holds");
    let none = store.job_acquire(Act::by("other"), LEASE).await;
    assert_eq!(none.expect("an answer"), None);
    let swept = store.job_sweep(Act::by("janitor"), json!({})).await;
    swept.expect("an answer");
    assert_eq!(actions(stage).await, before);
}

async fn the_end_of_every_job_is_noted(stage: &Stage) {
    let store = &stage.store;
    let dataset = stage.filled_dataset().await;
    for _ in 0..5 {
        stage.job(dataset).await;
    }
    let problem = json!({"type": "urn:vizard:problem:infeasible", "detail": "age 41"});
    let failing = stage.acquire().await;
    let failed = store.job_fail(
        act(),
        failing.job.id,
        failing.lease_token,
        problem.clone().into(),
    );
    failed.await.expect("it fails");
    let stopped = stage.acquire().await;
    let stop = store.job_cancelled(act(), stopped.job.id, stopped.lease_token);
    stop.await.expect("it stops");
    let kept = rows(stage).await;
    let [.., fail, _, stop] = kept.as_slice() else {
        panic!("three rows at least");
    };
    assert_eq!(
        (fail.action.as_str(), stop.action.as_str()),
        ("fail_job", "stop_job")
    );
    assert_eq!(
        fail.detail,
        r#"{"problem":"urn:vizard:problem:infeasible"}"#
    );
    assert_eq!(stop.object, Some(stopped.job.id.to_string()));
    let flagged = stage.acquire().await;
    let asked = store.job_cancel_request(act(), flagged.job.id).await;
    asked.expect("it is flagged");
    stage.let_leases_run_out().await;
    let swept = store.job_sweep(Act::by("janitor"), problem).await;
    assert_eq!(swept.expect("an answer").cancelled, 1);
    let kept = rows(stage).await;
    let last = kept.last().expect("a row");
    assert_eq!(
        (last.actor.as_str(), last.action.as_str()),
        ("janitor", "stop_job")
    );
    assert_eq!(last.object, Some(flagged.job.id.to_string()));
}

async fn lists_filter_by_dataset_actor_and_action(stage: &Stage) {
    let (one, other) = (stage.filled_dataset().await, stage.filled_dataset().await);
    let found = async |filter: AuditFilter| {
        let page = stage.store.audit_list(200, None, filter).await;
        page.expect("a page").items.len()
    };
    let all = AuditFilter::default();
    assert_eq!(found(all.clone()).await, 4);
    let of_one = AuditFilter {
        dataset: Some(one),
        ..all.clone()
    };
    assert_eq!(found(of_one.clone()).await, 2);
    let hidden = AuditFilter {
        only: Some(vec![other]),
        ..of_one
    };
    assert_eq!(found(hidden).await, 0);
    let uploads = AuditFilter {
        action: Some("upload_records".to_owned()),
        ..all.clone()
    };
    assert_eq!(found(uploads.clone()).await, 2);
    let page = stage.store.audit_list(200, None, uploads).await;
    let mut items = page.expect("a page").items.into_iter();
    assert!(items.all(|row| row.action == "upload_records"));
    for actor in ["nobody", "a\0b"] {
        let by = AuditFilter {
            actor: Some(actor.to_owned()),
            ..all.clone()
        };
        assert_eq!(found(by).await, 0);
    }
}

on_both!(
    every_change_leaves_one_row_with_its_actor_and_request,
    what_was_refused_is_a_row_of_its_actor,
    no_row_names_a_subject,
    an_operation_that_fails_leaves_no_row,
    what_changes_nothing_leaves_no_row,
    the_end_of_every_job_is_noted,
    lists_filter_by_dataset_actor_and_action,
);
