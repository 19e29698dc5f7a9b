//! What the type of `write` cannot rule out is taken back when it happens.

use std::sync::Arc;

use tempfile::TempDir;

use super::entry::Done;
use super::*;
use crate::clock::SystemClock;
use crate::store::session::{Surroundings, cells};
use crate::store::statements::keys;
use crate::store::{Act, Audit as _, Keys as _, NewKey};

async fn store_with_a_key() -> (TempDir, SqlStore, crate::ids::KeyId) {
    let folder = TempDir::new().expect("a folder");
    let surroundings = Surroundings {
        clock: Arc::new(SystemClock),
        master_keys: None,
        journal: None,
    };
    let path = folder.path().join("vizard.db");
    let store = super::super::sqlite::open(&path, 2, Some(0), surroundings)
        .await
        .expect("it opens");
    let id = crate::ids::KeyId::generate();
    let key = NewKey {
        id,
        name: "etl".to_owned(),
        roles: vec!["analyst".to_owned()],
        datasets: None,
        secret_hash: [1; 32],
    };
    let made = store.key_create(Act::by("a test"), key).await;
    made.expect("it is kept");
    (folder, store, id)
}

#[tokio::test]
async fn a_change_that_says_nothing_for_the_log_is_taken_back() {
    let (_folder, store, id) = store_with_a_key().await;
    let silent = store.write(Act::by("a test"), move |session| {
        Box::pin(async move {
            let now = session.now().await?;
            let cells = cells![id.uuid(), now];
            assert_eq!(session.run(keys::REVOKE, cells).await?, 1);
            Ok(Done::unchanged(()))
        })
    });
    assert!(silent.await.is_err(), "it was kept without a row");
    let key = store.key_get(id).await.expect("the key");
    assert_eq!(key.revoked_at, None, "the change was not taken back");
    assert_eq!(store.audit_head().await.expect("the head").position, 1);
}

#[tokio::test]
async fn a_row_that_was_changed_and_returned_counts_as_a_change() {
    const RENAME: &str = "UPDATE api_key SET name = 'x' WHERE id = $1 RETURNING id";
    let (_folder, store, id) = store_with_a_key().await;
    let silent = store.write(Act::by("a test"), move |session| {
        Box::pin(async move {
            let row = session.row("api_key", RENAME, cells![id.uuid()]).await?;
            assert!(row.is_some());
            Ok(Done::unchanged(()))
        })
    });
    assert!(silent.await.is_err(), "it was kept without a row");
}
