//! The ledger: every release that ever was, whatever became of it.

use serde_json::json;
use vizard::store::{
    LedgerReads, LedgerRow, PageRequest, PublishCheck, PublishDecision, ReleaseRead, StoreError,
};

use super::stage::{Stage, act, on_both};

async fn ledger(stage: &Stage) -> Vec<LedgerRow> {
    let page = stage.store.ledger_list(PageRequest::default(), None);
    page.await.expect("a page").items
}

async fn a_release_stays_in_the_ledger_whatever_becomes_of_it(stage: &Stage) {
    let store = &stage.store;
    let dataset = stage.filled_dataset().await;
    let withdrawn = stage.draft_release(dataset).await;
    let published = stage.draft_release(dataset).await;
    let draft = stage.draft_release(dataset).await;
    for id in [withdrawn, published] {
        let check: PublishCheck = Box::new(|_, _| PublishDecision::Allow);
        let public = store.release_publish(act(), id, check.into()).await;
        public.expect("it is public");
    }
    store
        .release_withdraw(act(), withdrawn)
        .await
        .expect("taken back");
    store
        .dataset_erase(act(), dataset)
        .await
        .expect("it is erased");
    assert!(matches!(
        store.release_get(draft).await,
        Err(StoreError::NotFound { .. })
    ));
    let rows = ledger(stage).await;
    let ids: Vec<_> = rows.iter().map(|row| row.release).collect();
    assert_eq!(ids, [draft, published, withdrawn]);
    let steps = |row: &LedgerRow| {
        [&row.published, &row.withdrawn, &row.erased]
            .map(|step| step.as_ref().and_then(|step| step.by.clone()))
    };
    let by = || Some("a test".to_owned());
    assert_eq!(steps(&rows[0]), [None, None, by()]);
    assert_eq!(steps(&rows[1]), [by(), None, None]);
    assert_eq!(steps(&rows[2]), [by(), by(), None]);
    for row in &rows {
        assert_eq!(row.dataset, dataset);
        assert_eq!((row.dataset_version, row.engine.as_str()), (1, "lgb"));
        assert_eq!(row.requested_by, "a test");
        assert_eq!(row.claims["excluded"], 1);
    }
}

async fn readings_are_counted_by_what_was_read(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let release = stage.draft_release(dataset).await;
    let other = stage.draft_release(dataset).await;
    let table = || ReleaseRead::Table {
        name: "microdata".to_owned(),
        format: "csv",
    };
    let verifications = [(); 3].map(|()| ReleaseRead::Verification);
    let others = [table(), table(), ReleaseRead::Report, ReleaseRead::Query];
    for read in others.into_iter().chain(verifications) {
        let noted = stage.store.release_read(act(), release, read).await;
        noted.expect("it is noted");
    }
    let rows = ledger(stage).await;
    let reads = |id| {
        rows.iter()
            .find(|row| row.release == id)
            .expect("a row")
            .reads
    };
    let expected = LedgerReads {
        tables: 2,
        reports: 1,
        verifications: 3,
        queries: 1,
    };
    assert_eq!(reads(release), expected);
    assert_eq!(reads(other), LedgerReads::default());
}

async fn the_ledger_comes_in_pages_and_of_some_datasets_only(stage: &Stage) {
    let (one, other) = (stage.filled_dataset().await, stage.filled_dataset().await);
    let mut made = Vec::new();
    for dataset in [one, other, one] {
        made.push(stage.draft_release(dataset).await);
    }
    let first = stage.store.ledger_list(PageRequest::first(2), None).await;
    let first = first.expect("a page");
    assert_eq!(first.items.len(), 2);
    let rest = PageRequest {
        limit: 2,
        cursor: first.next_cursor,
    };
    let rest = stage.store.ledger_list(rest, None).await.expect("a page");
    assert_eq!(rest.items[0].release, made[0]);
    assert_eq!(rest.next_cursor, None);
    let only = Some(vec![other]);
    let seen = stage.store.ledger_list(PageRequest::default(), only).await;
    let seen: Vec<_> = seen
        .expect("a page")
        .items
        .iter()
        .map(|row| row.release)
        .collect();
    assert_eq!(seen, [made[1]]);
}

async fn releases_made_before_the_ledger_are_taken_into_it(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let release = stage.draft_release(dataset).await;
    let manifest = json!({"records": 7, "excluded": 2, "suppressed": 0,
        "guarantees": [{"kind": "k_anonymity", "k": 5}], "engine": "lgb"});
    let statement = format!("UPDATE release SET manifest = '{manifest}'");
    stage.sabotage(&statement).await;
    stage.sabotage("DELETE FROM ledger").await;
    // The statement of the migration itself, from its file.
    let migration = if stage.is_postgres() {
        include_str!("../../../migrations/postgres/0002_audit_ledger_idempotency.sql")
    } else {
        include_str!("../../../migrations/sqlite/0002_audit_ledger_idempotency.sql")
    };
    let from = migration
        .find("INSERT INTO ledger")
        .expect("it fills the ledger");
    let length = migration[from..].find(';').expect("it ends");
    stage.sabotage(&migration[from..from + length]).await;
    let rows = ledger(stage).await;
    assert_eq!(rows[0].release, release);
    assert_eq!(rows[0].claims["records"], 7);
    assert_eq!(rows[0].claims["guarantees"][0]["k"], 5);
    assert_eq!(rows[0].requested_by, "a test");
}

on_both!(
    a_release_stays_in_the_ledger_whatever_becomes_of_it,
    readings_are_counted_by_what_was_read,
    the_ledger_comes_in_pages_and_of_some_datasets_only,
    releases_made_before_the_ledger_are_taken_into_it,
);
