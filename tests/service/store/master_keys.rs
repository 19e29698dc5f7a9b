//! The master key: a store that lacks it does not start, and it is rotated
//! while the store is used.

use vizard::store::{DataKeyCounts, MasterKeys, StoreOptions, VersionMode};

use super::audit::rows;
use super::sealing::{filled, on_both_sealed, reads_back};
use super::stage::version;
use super::{Ground, Stage, act, master_keys, sealed};

on_both_sealed!(
    a_sealed_store_does_not_start_without_its_master_key,
    a_dataset_made_without_a_key_stays_readable_with_one,
    after_rotation_the_earlier_master_key_is_needed_no_more,
    rotation_goes_on_where_it_was_stopped_while_the_store_is_used,
    wrapping_anew_leaves_one_row_in_the_log_and_finding_nothing_none,
);

/// What a store says that does not start.
async fn refusal(ground: &Ground, keys: Option<&[&str]>) -> String {
    let opened = ground.open(|options| options.master_keys = keys.map(master_keys));
    opened.await.err().expect("refused").to_string()
}

async fn a_sealed_store_does_not_start_without_its_master_key(stage: Stage) {
    let (dataset, release) = filled(&stage).await;
    let ground = stage.stop().await;
    for keys in [None, Some(&["two"][..])] {
        let message = refusal(&ground, keys).await;
        assert!(message.contains("`one`"), "{message}");
    }
    // The right id and another key.
    let text = "one AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    let false_key = MasterKeys::from_text(text).expect("a key");
    let opened = ground.open(|options| options.master_keys = Some(false_key.into()));
    let message = opened.await.err().expect("refused").to_string();
    assert!(message.contains("`one` is not the one"), "{message}");
    let stage = ground.start(sealed).await;
    reads_back(&stage, dataset, release).await;
}

async fn a_dataset_made_without_a_key_stays_readable_with_one(stage: Stage) {
    let ground = stage.stop().await;
    let stage = ground.start(|_| ()).await;
    let (dataset, release) = filled(&stage).await;
    let ground = stage.stop().await;
    let stage = ground.start(sealed).await;
    reads_back(&stage, dataset, release).await;
    // What is added to it stays as it began; a new one is sealed.
    let more = version(dataset, 1, VersionMode::Append, &[b"more of it"]);
    stage
        .store
        .version_commit(act(), more)
        .await
        .expect("a version");
    assert_eq!(
        stage.store.chunk_get(dataset, 2, 2).await.expect("one"),
        b"more of it"
    );
    assert!(!stage.is_sealed().await);
    stage.dataset().await;
    assert!(stage.is_sealed().await);
}

async fn after_rotation_the_earlier_master_key_is_needed_no_more(stage: Stage) {
    let (dataset, release) = filled(&stage).await;
    let ground = stage.stop().await;
    let stage = ground
        .start(|options| options.master_keys = Some(master_keys(&["two", "one"])))
        .await;
    let counts = stage.store.data_key_counts().await.expect("counts");
    let (current, earlier, destroyed) = (0, 3, 0);
    assert_eq!(
        counts,
        DataKeyCounts {
            current,
            earlier,
            destroyed
        }
    );
    let rewrapped = stage.store.data_keys_rewrap(act(), 100).await;
    assert_eq!(rewrapped.expect("rewrapped"), 3);
    let again = stage.store.data_keys_rewrap(act(), 100).await;
    assert_eq!(again.expect("nothing to do"), 0);
    reads_back(&stage, dataset, release).await;
    let ground = stage.stop().await;
    let message = refusal(&ground, Some(&["one"])).await;
    assert!(message.contains("`two`"), "{message}");
    let stage = ground
        .start(|options| options.master_keys = Some(master_keys(&["two"])))
        .await;
    reads_back(&stage, dataset, release).await;
}

async fn rotation_goes_on_where_it_was_stopped_while_the_store_is_used(stage: Stage) {
    let mut filled_ones = Vec::new();
    for _ in 0..4 {
        filled_ones.push(filled(&stage).await);
    }
    let ground = stage.stop().await;
    let both = |options: &mut StoreOptions| {
        options.master_keys = Some(master_keys(&["two", "one"]));
    };
    let stage = ground.start(both).await;
    // Stopped after each batch: everything can be read, whatever wraps it.
    for left in [7, 2, 0] {
        stage
            .store
            .data_keys_rewrap(act(), 5)
            .await
            .expect("a batch");
        for (dataset, release) in &filled_ones {
            reads_back(&stage, *dataset, *release).await;
        }
        let counts = stage.store.data_key_counts().await.expect("counts");
        assert_eq!(counts.earlier, left);
        filled(&stage).await;
    }
}

async fn wrapping_anew_leaves_one_row_in_the_log_and_finding_nothing_none(stage: Stage) {
    filled(&stage).await;
    let ground = stage.stop().await;
    let stage = ground
        .start(|options| options.master_keys = Some(master_keys(&["two", "one"])))
        .await;
    for expected in [3, 0] {
        let rewrapped = stage.store.data_keys_rewrap(act(), 100).await;
        assert_eq!(rewrapped.expect("an answer"), expected);
    }
    let rows = rows(&stage).await;
    let noted: Vec<_> = rows
        .iter()
        .filter(|row| row.action == "rewrap_data_keys")
        .map(|row| (row.actor.as_str(), row.detail.as_str()))
        .collect();
    assert_eq!(noted, [("a test", r#"{"keys":3,"master_key":"two"}"#)]);
}
