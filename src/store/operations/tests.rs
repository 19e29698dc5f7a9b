//! What the type of `write` cannot rule out is taken back when it happens.

use std::sync::Arc;

use tempfile::TempDir;

use super::entry::Done;
use super::*;
use crate::clock::SystemClock;
use crate::store::backend::StoreFuture;
use crate::store::journal::Journal;
use crate::store::session::Signals;
use crate::store::session::{Surroundings, cells};
use crate::store::statements::keys;
use crate::store::{Act, NewKey, Refused};

async fn store_with_a_key() -> (TempDir, Store, crate::ids::KeyId) {
    let folder = TempDir::new().expect("a folder");
    let surroundings = Surroundings {
        clock: Arc::new(SystemClock),
        master_keys: None,
        journal: None,
    };
    let path = folder.path().join("vizard.db");
    let backend = crate::store::sqlite::open(&path, 2, Some(0), surroundings)
        .await
        .expect("it opens");
    let store = Store::new(backend);
    let id = crate::ids::KeyId::generate();
    let key = NewKey {
        id,
        name: "etl".to_owned(),
        roles: vec!["analyst".to_owned()],
        datasets: None,
        secret_hash: [1; 32],
        lifetime_s: None,
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

/// A store in which somebody writes a row before each reading.
struct Growing(Arc<dyn Backend>);

impl Backend for Growing {
    fn read(&self) -> StoreFuture<'_, Session> {
        Box::pin(async move {
            let store = Store::new(Arc::clone(&self.0));
            let refused = Refused {
                actor: "somebody".to_owned(),
                operation: "list_keys",
                status: 403,
                requests: 1,
            };
            store.audit_refused(vec![refused]).await?;
            self.0.read().await
        })
    }

    fn write(&self, erases: bool) -> StoreFuture<'_, Session> {
        self.0.write(erases)
    }

    fn signals(&self) -> &Signals {
        self.0.signals()
    }

    fn journal(&self) -> Option<Arc<Journal>> {
        self.0.journal()
    }

    fn wipe(&self) -> StoreFuture<'_, bool> {
        self.0.wipe()
    }

    fn overwrites(&self) -> bool {
        self.0.overwrites()
    }

    fn give_back(&self) -> StoreFuture<'_, ()> {
        self.0.give_back()
    }

    fn pool_figures(&self) -> PoolFigures {
        self.0.pool_figures()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        self.0.close()
    }
}

#[tokio::test]
async fn a_log_that_grows_while_it_is_walked_is_walked_to_the_end_that_it_had() {
    let (_folder, store, _) = store_with_a_key().await;
    let before = store.audit_head().await.expect("the head").position;
    let growing = Store::new(Arc::new(Growing(Arc::clone(&store.backend))));
    let limit = std::time::Duration::from_secs(30);
    let walked = tokio::time::timeout(limit, growing.audit_verify(Vec::new())).await;
    let verdict = walked.expect("it ends").expect("an answer");
    assert_eq!((verdict.broken, verdict.rows), (None, before + 1));
    let after = store.audit_head().await.expect("the head").position;
    assert!(after > verdict.rows, "it grew");
}
