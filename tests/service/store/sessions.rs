//! Sessions of browsers: found while they live, and not a moment longer.

use serde_json::json;
use vizard::store::{Conflict, StoreError};

use super::{Stage, act, on_both};

on_both!(
    a_session_is_found_until_it_is_ended,
    a_session_in_which_nothing_is_asked_ends_after_half_an_hour,
    a_session_ends_after_eight_hours_whatever_is_asked,
    sessions_whose_time_is_over_are_swept,
);

async fn a_session_is_found_until_it_is_ended(stage: &Stage) {
    let (store, holder) = (&stage.store, json!({"key": "one"}));
    let end = store.session_begin(act(), [1; 32], holder.clone()).await;
    let end = end.expect("it begins");
    let row = store.session_find([1; 32]).await.expect("an answer");
    let row = row.expect("it lives");
    assert_eq!((row.holder, row.expires_at), (holder.clone(), end));
    let again = store.session_begin(act(), [1; 32], holder).await;
    assert!(matches!(again, Err(StoreError::Conflict(Conflict::Exists))));
    assert_eq!(store.session_find([2; 32]).await.expect("an answer"), None);
    for ended in [true, false] {
        let found = store.session_end(act(), [1; 32]).await;
        assert_eq!(found.expect("an answer"), ended);
    }
    assert_eq!(store.session_find([1; 32]).await.expect("an answer"), None);
}

async fn a_session_in_which_nothing_is_asked_ends_after_half_an_hour(stage: &Stage) {
    let store = &stage.store;
    for hash in [[1; 32], [2; 32]] {
        let begun = store.session_begin(act(), hash, json!({})).await;
        begun.expect("it begins");
    }
    stage.let_sessions_wait(29).await;
    store.session_touch([1; 32]).await.expect("it is noted");
    stage.let_sessions_wait(1).await;
    let lives = async |hash| store.session_find(hash).await.expect("an answer").is_some();
    assert!(lives([1; 32]).await);
    assert!(!lives([2; 32]).await, "at exactly half an hour it is over");
    store.session_touch([2; 32]).await.expect("nothing happens");
    assert!(!lives([2; 32]).await, "what is over does not come back");
}

async fn a_session_ends_after_eight_hours_whatever_is_asked(stage: &Stage) {
    let store = &stage.store;
    let begun = store.session_begin(act(), [1; 32], json!({})).await;
    begun.expect("it begins");
    for _ in 0..24 {
        let lives = store.session_find([1; 32]).await.expect("an answer");
        assert!(lives.is_some());
        stage.let_sessions_wait(20).await;
        store.session_touch([1; 32]).await.expect("it is noted");
    }
    assert_eq!(store.session_find([1; 32]).await.expect("an answer"), None);
}

async fn sessions_whose_time_is_over_are_swept(stage: &Stage) {
    let store = &stage.store;
    let begun = store.session_begin(act(), [1; 32], json!({})).await;
    begun.expect("it begins");
    stage.let_sessions_wait(25).await;
    let begun = store.session_begin(act(), [2; 32], json!({})).await;
    begun.expect("it begins");
    assert_eq!(store.sessions_sweep().await.expect("swept"), 0);
    stage.let_sessions_wait(6).await;
    assert_eq!(store.sessions_sweep().await.expect("swept"), 1);
    assert!(
        store
            .session_find([2; 32])
            .await
            .expect("an answer")
            .is_some()
    );
}
