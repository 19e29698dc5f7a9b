//! The chain of the audit log against somebody who can write to the database.
//!
//! The encoding is written down here a second time, as whoever wants to forge
//! the log would write it: what is hashed is part of the promise.

use std::time::Duration;

use sha2::{Digest, Sha256};
use vizard::store::{AuditAnchor, AuditBreak, AuditRow, Store, StoreError};

use super::audit::rows;
use super::stage::{Stage, act, on_both};

/// Rows of the chain that is tampered with.
const ROWS: u64 = 8;

fn encode(row: &AuditRow) -> [u8; 32] {
    let mut text = b"vizard-audit/1\n".to_vec();
    text.extend(row.position.to_be_bytes());
    text.extend(row.occurred_at.timestamp_micros().to_be_bytes());
    let mut column = |bytes: Option<&[u8]>| match bytes {
        None => text.push(0),
        Some(bytes) => {
            text.push(1);
            text.extend((bytes.len() as u64).to_be_bytes());
            text.extend(bytes);
        }
    };
    column(Some(row.actor.as_bytes()));
    column(row.request.as_ref().map(String::as_bytes));
    column(Some(row.action.as_bytes()));
    column(Some(row.object_kind.as_bytes()));
    column(row.object.as_ref().map(String::as_bytes));
    column(
        row.dataset
            .map(|id| id.uuid().into_bytes())
            .as_ref()
            .map(|id| &id[..]),
    );
    column(Some(row.detail.as_bytes()));
    column(Some(&row.previous));
    Sha256::digest(&text).into()
}

/// A chain of some rows, a copy of it, and no trigger in the way.
pub async fn unguarded_chain(stage: &Stage) -> Vec<AuditRow> {
    for _ in 0..ROWS {
        stage.dataset().await;
    }
    if stage.is_postgres() {
        stage
            .sabotage("ALTER TABLE audit DISABLE TRIGGER USER")
            .await;
    } else {
        for name in ["follow", "advance", "no_update", "no_delete"] {
            stage.sabotage(&format!("DROP TRIGGER audit_{name}")).await;
        }
    }
    stage
        .sabotage("CREATE TABLE kept AS SELECT * FROM audit")
        .await;
    stage
        .sabotage("CREATE TABLE kept_head AS SELECT * FROM audit_head")
        .await;
    rows(stage).await
}

async fn mend(stage: &Stage) {
    for statement in [
        "DELETE FROM audit",
        "INSERT INTO audit SELECT * FROM kept",
        "DELETE FROM audit_head",
        "INSERT INTO audit_head SELECT * FROM kept_head",
    ] {
        stage.sabotage(statement).await;
    }
}

async fn broken(store: &Store, anchor: Option<AuditAnchor>) -> Option<(u64, AuditBreak)> {
    let anchors = anchor.into_iter().collect();
    store.audit_verify(anchors).await.expect("a verdict").broken
}

fn anchor(row: &AuditRow) -> AuditAnchor {
    AuditAnchor {
        position: row.position,
        hash: row.hash,
    }
}

async fn a_row_with_any_column_changed_is_found(stage: &Stage) {
    unguarded_chain(stage).await;
    let ones = stage.literal(&[0x11; 32]);
    let later = if stage.is_postgres() {
        "occurred_at + INTERVAL '1 microsecond'"
    } else {
        "occurred_at + 1"
    };
    let changed = AuditBreak::ContentChanged;
    for (column, value, at, expected) in [
        ("occurred_at", later, 3, changed),
        ("actor", "'somebody'", 3, changed),
        ("request_id", "NULL", 3, changed),
        ("action", "'get_dataset'", 3, changed),
        ("object_kind", "'job'", 3, changed),
        ("object_id", "NULL", 3, changed),
        ("dataset_id", "NULL", 3, changed),
        ("detail", "'{\"records\":1}'", 3, changed),
        ("hash", ones.as_str(), 3, changed),
        ("previous", ones.as_str(), 3, AuditBreak::LinkBroken),
        ("position", "1000", 4, AuditBreak::Gap),
    ] {
        assert_eq!(
            broken(stage.store.as_ref(), None).await,
            None,
            "before {column}"
        );
        let tamper = format!("UPDATE audit SET {column} = {value} WHERE position = 3");
        stage.sabotage(&tamper).await;
        let found = broken(stage.store.as_ref(), None).await;
        assert_eq!(found, Some((at, expected)), "{column}");
        mend(stage).await;
    }
}

async fn rows_that_are_missing_are_found_where_they_were(stage: &Stage) {
    let chain = unguarded_chain(stage).await;
    let store = stage.store.as_ref();
    stage.sabotage("DELETE FROM audit WHERE position = 3").await;
    assert_eq!(broken(store, None).await, Some((4, AuditBreak::Gap)));
    mend(stage).await;
    stage.sabotage("DELETE FROM audit WHERE position = 1").await;
    assert_eq!(broken(store, None).await, Some((2, AuditBreak::Gap)));
    mend(stage).await;
    stage.sabotage("DELETE FROM audit WHERE position > 6").await;
    assert_eq!(broken(store, None).await, Some((7, AuditBreak::Truncated)));
    // Whoever turns the head back too is found by the anchor alone.
    let hash = stage.literal(&chain[5].hash);
    let head = format!("UPDATE audit_head SET position = 6, hash = {hash}");
    stage.sabotage(&head).await;
    assert_eq!(broken(store, None).await, None);
    let last = anchor(chain.last().expect("a row"));
    let found = broken(store, Some(last)).await;
    assert_eq!(found, Some((7, AuditBreak::Truncated)));
    assert_eq!(broken(store, Some(anchor(&chain[5]))).await, None);
}

async fn a_head_that_is_not_the_last_row_is_found(stage: &Stage) {
    let chain = unguarded_chain(stage).await;
    let (ones, sixth) = (stage.literal(&[0x11; 32]), stage.literal(&chain[5].hash));
    for head in [
        format!("hash = {ones}"),
        format!("position = 6, hash = {sixth}"),
    ] {
        let tamper = format!("UPDATE audit_head SET {head}");
        stage.sabotage(&tamper).await;
        let found = broken(stage.store.as_ref(), None).await;
        assert_eq!(found, Some((ROWS, AuditBreak::LinkBroken)), "{head}");
        mend(stage).await;
    }
}

async fn a_chain_that_was_hashed_anew_is_found_by_the_anchor(stage: &Stage) {
    let chain = unguarded_chain(stage).await;
    let store = stage.store.as_ref();
    assert_eq!(
        encode(&chain[2]),
        chain[2].hash,
        "the encoding is the promised one"
    );
    let mut previous = chain[1].hash;
    for row in &chain[2..] {
        let mut forged = row.clone();
        forged.actor = "somebody".to_owned();
        forged.previous = previous;
        forged.hash = encode(&forged);
        let (old, new) = (stage.literal(&previous), stage.literal(&forged.hash));
        let position = row.position;
        let tamper = format!(
            "UPDATE audit SET actor = 'somebody', previous = {old}, hash = {new} \
             WHERE position = {position}"
        );
        stage.sabotage(&tamper).await;
        if position == ROWS {
            let head = format!("UPDATE audit_head SET hash = {new}");
            stage.sabotage(&head).await;
        }
        previous = forged.hash;
    }
    assert_eq!(broken(store, None).await, None, "it holds together");
    let last = anchor(chain.last().expect("a row"));
    let found = broken(store, Some(last)).await;
    assert_eq!(found, Some((ROWS, AuditBreak::Rewritten)));
    assert_eq!(broken(store, Some(anchor(&chain[1]))).await, None);
}

async fn the_log_refuses_every_change_but_appending(stage: &Stage) {
    for _ in 0..3 {
        stage.dataset().await;
    }
    let mut attempts = vec![
        "UPDATE audit SET actor = 'somebody' WHERE position = 2".to_owned(),
        "DELETE FROM audit WHERE position = 3".to_owned(),
        "DELETE FROM audit".to_owned(),
        // Not the next position, and not the hash of the row before.
        "INSERT INTO audit SELECT position + 2, occurred_at, actor, request_id, action, \
         object_kind, object_id, dataset_id, detail, previous, hash FROM audit WHERE position = 3"
            .to_owned(),
        "INSERT INTO audit SELECT position + 1, occurred_at, actor, request_id, action, \
         object_kind, object_id, dataset_id, detail, previous, hash FROM audit WHERE position = 3"
            .to_owned(),
    ];
    attempts.push(if stage.is_postgres() {
        "TRUNCATE audit".to_owned()
    } else {
        "INSERT OR REPLACE INTO audit SELECT * FROM audit WHERE position = 2".to_owned()
    });
    for attempt in attempts {
        assert!(stage.attempt(&attempt).await.is_err(), "{attempt}");
    }
    assert_eq!(rows(stage).await.len(), 3);
    assert_eq!(broken(stage.store.as_ref(), None).await, None);
}

async fn many_writers_at_once_make_one_chain_without_a_gap(stage: &Stage) {
    const WRITERS: u64 = 8;
    const EACH: u64 = 25;
    let mut datasets = Vec::new();
    // Half of them change one row of one dataset, so that they queue for it
    // too; the others have nothing in common but the log.
    for writer in 0..WRITERS {
        datasets.push(match writer % 2 {
            0 if writer > 0 => datasets[0],
            _ => stage.dataset().await,
        });
    }
    let tasks: Vec<_> = (0..WRITERS)
        .zip(datasets)
        .map(|(writer, dataset)| {
            let store = stage.store.clone();
            tokio::spawn(async move {
                for number in 0..EACH {
                    let subject = format!("{}", writer % 2 * number);
                    let document = serde_json::json!({});
                    let put = store.preference_put(act(), dataset, subject, document);
                    put.await.expect("it is kept");
                    // One that fails takes no position with it.
                    let nobody = format!("nobody {writer}");
                    let missing = store.preference_delete(act(), dataset, nobody).await;
                    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
                }
            })
        })
        .collect();
    let all = async {
        for task in tasks {
            task.await.expect("no panic");
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(60), all).await;
    in_time.expect("nobody waits for anybody for ever");
    let verdict = stage
        .store
        .audit_verify(Vec::new())
        .await
        .expect("a verdict");
    let rows_made = 1 + WRITERS / 2 + WRITERS * EACH;
    assert_eq!((verdict.rows, verdict.broken), (rows_made, None));
    assert_eq!(
        verdict.head,
        stage.store.audit_head().await.expect("the head")
    );
    let times: Vec<_> = rows(stage)
        .await
        .iter()
        .map(|row| row.occurred_at)
        .collect();
    assert!(times.is_sorted(), "later rows were done later");
}

on_both!(
    a_row_with_any_column_changed_is_found,
    rows_that_are_missing_are_found_where_they_were,
    a_head_that_is_not_the_last_row_is_found,
    a_chain_that_was_hashed_anew_is_found_by_the_anchor,
    the_log_refuses_every_change_but_appending,
    many_writers_at_once_make_one_chain_without_a_gap,
);
