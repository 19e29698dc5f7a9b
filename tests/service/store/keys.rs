//! API keys.

use vizard::ids::{DatasetId, KeyId};
use vizard::store::{Conflict, NewKey, PageRequest, StoreError};

use super::{Stage, act, on_both};

fn key(name: &str, roles: &[&str]) -> NewKey {
    NewKey {
        id: KeyId::generate(),
        name: name.to_owned(),
        roles: roles.iter().map(|role| (*role).to_owned()).collect(),
        datasets: None,
        secret_hash: [5; 32],
        lifetime_s: None,
    }
}

async fn a_key_is_read_back_as_it_was_kept(stage: &Stage) {
    let mut new = key("etl", &["uploader", "consent"]);
    new.datasets = Some(vec![DatasetId::generate(), DatasetId::generate()]);
    let made = stage
        .store
        .key_create(act(), new.clone())
        .await
        .expect("it is kept");
    let read = stage.store.key_get(new.id).await.expect("it is there");
    assert_eq!(made, read);
    assert_eq!(
        (read.name, read.roles, read.datasets),
        (new.name, new.roles, new.datasets)
    );
    assert_eq!(
        (read.secret_hash, read.revoked_at, read.last_used_at),
        ([5; 32], None, None)
    );
}

async fn an_id_is_taken_once(stage: &Stage) {
    let new = key("first", &["analyst"]);
    stage
        .store
        .key_create(act(), new.clone())
        .await
        .expect("it is kept");
    let again = stage.store.key_create(act(), new).await;
    assert!(
        matches!(again, Err(StoreError::Conflict(Conflict::Exists))),
        "{again:?}"
    );
}

async fn a_revoked_key_stays_revoked_since_the_first_time(stage: &Stage) {
    let id = stage
        .store
        .key_create(act(), key("etl", &["analyst"]))
        .await
        .expect("it is kept")
        .id;
    let first = stage
        .store
        .key_revoke(act(), id)
        .await
        .expect("it is revoked");
    assert!(first.revoked_at.is_some());
    let second = stage
        .store
        .key_revoke(act(), id)
        .await
        .expect("nothing changes");
    assert_eq!(first, second);
    let unknown = stage.store.key_revoke(act(), KeyId::generate()).await;
    assert!(matches!(unknown, Err(StoreError::NotFound { what: "key" })));
}

async fn a_touch_notes_the_use(stage: &Stage) {
    let id = stage
        .store
        .key_create(act(), key("etl", &["analyst"]))
        .await
        .expect("it is kept")
        .id;
    stage.store.key_touch(id).await.expect("it is noted");
    let read = stage.store.key_get(id).await.expect("it is there");
    assert!(read.last_used_at.expect("a time") >= read.created_at);
    stage
        .store
        .key_touch(KeyId::generate())
        .await
        .expect("an unknown key is ignored");
}

async fn an_expired_key_is_told_and_does_not_count_as_an_administrators(stage: &Stage) {
    let mut new = key("root", &["admin"]);
    new.lifetime_s = Some(60);
    let made = stage
        .store
        .key_create(act(), new)
        .await
        .expect("it is kept");
    let end = made.expires_at.expect("an end");
    assert_eq!(end - made.created_at, chrono::TimeDelta::seconds(60));
    assert!(made.is_live());
    assert!(stage.store.admin_key_exists().await.expect("an answer"));
    stage.let_keys_run_out(60).await;
    let read = stage.store.key_get(made.id).await.expect("it is there");
    assert!(read.is_expired && !read.is_live());
    let page = stage
        .store
        .key_list(PageRequest::first(7), None)
        .await
        .expect("a page");
    assert!(page.items[0].is_expired);
    assert!(!stage.store.admin_key_exists().await.expect("an answer"));
}

async fn only_a_live_key_with_the_role_admin_counts_as_one(stage: &Stage) {
    let exists = || stage.store.admin_key_exists();
    assert!(!exists().await.expect("an answer"));
    stage
        .store
        .key_create(act(), key("admin", &["analyst"]))
        .await
        .expect("it is kept");
    assert!(!exists().await.expect("an answer"), "a name is no role");
    let id = stage
        .store
        .key_create(act(), key("root", &["admin"]))
        .await
        .expect("it is kept")
        .id;
    assert!(exists().await.expect("an answer"));
    stage
        .store
        .key_revoke(act(), id)
        .await
        .expect("it is revoked");
    assert!(!exists().await.expect("an answer"));
}

async fn processes_that_start_together_make_one_admin_key(stage: &Stage) {
    for _ in 0..12 {
        let tasks: Vec<_> = (0..8)
            .map(|_| {
                let (store, new) = (stage.store.clone(), key("root", &["admin"]));
                tokio::spawn(
                    async move { (new.id, store.key_create_first_admin(act(), new).await) },
                )
            })
            .collect();
        let mut made = Vec::new();
        for task in tasks {
            let (id, answer) = task.await.expect("no panic");
            if answer.expect("no error") {
                made.push(id);
            }
        }
        assert_eq!(made.len(), 1);
        stage
            .store
            .key_revoke(act(), made[0])
            .await
            .expect("the next round starts without");
    }
}

async fn pages_hold_everything_once_and_newest_first(stage: &Stage) {
    let mut ids = Vec::new();
    for number in 0..7 {
        let new = key(&format!("key {number}"), &["analyst"]);
        ids.push(
            stage
                .store
                .key_create(act(), new)
                .await
                .expect("it is kept")
                .id,
        );
    }
    ids.reverse();
    let mut page = PageRequest::first(3);
    let (mut read, mut sizes) = (Vec::new(), Vec::new());
    loop {
        let answer = stage.store.key_list(page, None).await.expect("a page");
        sizes.push(answer.items.len());
        read.extend(answer.items.into_iter().map(|key| key.id));
        match answer.next_cursor {
            Some(cursor) => page.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!(read, ids);
    assert_eq!(sizes, [3, 3, 1]);
    let whole = stage
        .store
        .key_list(PageRequest::first(7), None)
        .await
        .expect("a page");
    assert_eq!((whole.items.len(), whole.next_cursor), (7, None));
}

on_both!(
    a_key_is_read_back_as_it_was_kept,
    an_id_is_taken_once,
    a_revoked_key_stays_revoked_since_the_first_time,
    a_touch_notes_the_use,
    an_expired_key_is_told_and_does_not_count_as_an_administrators,
    only_a_live_key_with_the_role_admin_counts_as_one,
    processes_that_start_together_make_one_admin_key,
    pages_hold_everything_once_and_newest_first,
);
