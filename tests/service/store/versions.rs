//! Versions of records and their chunks.

use serde_json::json;
use sha2::{Digest, Sha256};
use vizard::store::{Conflict, NewChunk, NewSchema, StoreError, VersionMode};
use vizard_anonymizer::microdata::TextSize;

use super::stage::{CHUNK_TEXT, Stage, act, on_both_and_sealed, version};

/// Bytes of text in a version of so many records, ten a chunk.
fn text_of(records: u64) -> TextSize {
    TextSize {
        cells_bytes: records / 10 * CHUNK_TEXT.cells_bytes,
        labels_bytes: records / 10 * CHUNK_TEXT.labels_bytes,
    }
}

/// The bytes of a version, chunk by chunk.
async fn content(stage: &Stage, dataset: vizard::ids::DatasetId, version: u64) -> Vec<Vec<u8>> {
    let chunks = stage
        .store
        .version_chunk_list(dataset, version)
        .await
        .expect("chunks");
    let mut content = Vec::new();
    for (position, chunk) in (0..).zip(chunks) {
        assert_eq!(chunk.position, position);
        let bytes = stage
            .store
            .chunk_get(dataset, version, position)
            .await
            .expect("a chunk");
        // Sealed bytes are others than those that are read.
        if !stage.is_sealed().await {
            assert_eq!(chunk.bytes, bytes.len() as u64);
            assert_eq!(chunk.sha256, <[u8; 32]>::from(Sha256::digest(&bytes)));
        }
        content.push(bytes);
    }
    content
}

async fn an_append_shares_the_chunks_before_and_a_replace_begins_anew(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let commits = [
        (VersionMode::Append, vec![b"a1".as_slice(), b"a2"], 20),
        (VersionMode::Append, vec![b"b1".as_slice()], 30),
        (VersionMode::Replace, vec![b"c1".as_slice()], 10),
        (VersionMode::Append, vec![b"d1".as_slice()], 20),
    ];
    for (base, (mode, chunks, total)) in (0..).zip(commits) {
        let row = store
            .version_commit(act(), version(id, base, mode, &chunks))
            .await
            .expect("a version");
        assert_eq!(
            (row.version, row.mode, row.total_records),
            (base + 1, mode, total)
        );
        assert_eq!((row.records, row.dropped), (10 * chunks.len() as u64, 3));
        assert_eq!(row.text, text_of(total));
        assert_eq!(
            store.version_get(id, base + 1).await.expect("it is there"),
            row
        );
    }
    assert_eq!(
        content(stage, id, 1).await,
        [b"a1".to_vec(), b"a2".to_vec()]
    );
    assert_eq!(
        content(stage, id, 2).await,
        [b"a1".to_vec(), b"a2".to_vec(), b"b1".to_vec()]
    );
    assert_eq!(content(stage, id, 3).await, [b"c1".to_vec()]);
    assert_eq!(
        content(stage, id, 4).await,
        [b"c1".to_vec(), b"d1".to_vec()]
    );
    let versions = store.version_list(id).await.expect("a list");
    assert_eq!(
        versions.iter().map(|row| row.version).collect::<Vec<_>>(),
        [4, 3, 2, 1]
    );
    let beyond = store.chunk_get(id, 1, 2).await;
    assert!(
        matches!(beyond, Err(StoreError::NotFound { .. })),
        "not of that version"
    );
}

async fn an_upsert_shares_the_chunks_before_or_brings_those_that_stay(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset().await);
    let commits = [
        (VersionMode::Append, None, vec![b"a1".as_slice(), b"a2"], 20),
        (VersionMode::Upsert, None, vec![b"b1".as_slice()], 30),
        (
            VersionMode::Upsert,
            Some(10),
            vec![b"a2".as_slice(), b"c1"],
            20,
        ),
        (VersionMode::Append, None, vec![b"d1".as_slice()], 30),
    ];
    for (base, (mode, rewrites, chunks, total)) in (0..).zip(commits) {
        let mut new = version(id, base, mode, &chunks);
        new.records -= rewrites.unwrap_or(0);
        new.rewrites = rewrites;
        let row = store.version_commit(act(), new).await.expect("a version");
        assert_eq!((row.mode, row.total_records), (mode, total));
        assert_eq!(row.text, text_of(total));
        assert_eq!(row.schema, store.dataset_get(id).await.expect("it").schema);
    }
    let chunks = [
        vec![b"a1".to_vec(), b"a2".to_vec()],
        vec![b"a1".to_vec(), b"a2".to_vec(), b"b1".to_vec()],
        vec![b"a2".to_vec(), b"c1".to_vec()],
        vec![b"a2".to_vec(), b"c1".to_vec(), b"d1".to_vec()],
    ];
    for (version, chunks) in (1..).zip(chunks) {
        assert_eq!(
            content(stage, id, version).await,
            chunks,
            "version {version}"
        );
    }
    let mut miscounted = version(id, 4, VersionMode::Upsert, &[b"ten records"]);
    miscounted.rewrites = Some(1);
    let answer = store.version_commit(act(), miscounted).await;
    assert!(matches!(answer, Err(StoreError::Driver(_))), "{answer:?}");
}

async fn a_change_of_the_schema_shares_the_chunks_before(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    let before = store.dataset_get(id).await.expect("it is there");
    let change = |base_version, preference_version| NewSchema {
        dataset: id,
        base_version,
        preference_version,
        name: "another name".into(),
        schema: json!({"name": "another name", "attributes": []}),
        hierarchies: json!({"icd10": "def"}),
        created_by: "a test".into(),
    };
    let after = store.schema_change(act(), change(1, before.preference_version));
    let after = after.await.expect("a change");
    assert_eq!((after.version, after.records), (2, 10));
    assert_eq!(after.name, "another name");
    assert_eq!(after.hierarchies, json!({"icd10": "def"}));
    assert_eq!(content(stage, id, 2).await, content(stage, id, 1).await);
    let [older, newer] = [1, 2].map(|version| store.version_get(id, version));
    let (older, newer) = (older.await.expect("one"), newer.await.expect("one"));
    assert_eq!((older.schema, newer.schema), (before.schema, after.schema));
    assert_eq!((newer.mode, newer.records), (VersionMode::Schema, 0));
    // What is appended stands behind the same chunks.
    let more = version(id, 2, VersionMode::Append, &[b"more"]);
    store.version_commit(act(), more).await.expect("a version");
    let both = [b"records".to_vec(), b"more".to_vec()];
    assert_eq!(content(stage, id, 3).await, both);

    // Neither on older records, nor on older terms.
    let terms = store.preference_put(act(), id, "p".into(), json!({"exclude": true}));
    let preference_version = terms.await.expect("a version");
    let stale = [(2, preference_version), (3, preference_version - 1)];
    for (base, preferences) in stale {
        let moved = store.schema_change(act(), change(base, preferences)).await;
        let is_moved = matches!(moved, Err(StoreError::Conflict(Conflict::VersionMoved)));
        assert!(is_moved, "{moved:?}");
    }
    assert_eq!(store.dataset_get(id).await.expect("it is there").version, 3);
}

async fn an_empty_upload_is_a_version_too(stage: &Stage) {
    let id = stage.filled_dataset().await;
    let row = stage
        .store
        .version_commit(act(), version(id, 1, VersionMode::Append, &[]))
        .await;
    assert_eq!(row.expect("a version").total_records, 10);
    assert_eq!(content(stage, id, 2).await, [b"records".to_vec()]);
}

async fn a_version_on_an_older_base_is_refused(stage: &Stage) {
    let id = stage.filled_dataset().await;
    let late = stage
        .store
        .version_commit(act(), version(id, 0, VersionMode::Replace, &[b"late"]))
        .await;
    assert!(
        matches!(late, Err(StoreError::Conflict(Conflict::VersionMoved))),
        "{late:?}"
    );
    assert_eq!(content(stage, id, 1).await, [b"records".to_vec()]);
}

async fn of_many_appends_on_one_base_one_wins(stage: &Stage) {
    let id = stage.filled_dataset().await;
    let tasks: Vec<_> = (0..8u8)
        .map(|number| {
            let store = stage.store.clone();
            let commit = version(id, 1, VersionMode::Append, &[&[number], &[number]]);
            tokio::spawn(async move { store.version_commit(act(), commit).await })
        })
        .collect();
    let mut won = Vec::new();
    for task in tasks {
        match task.await.expect("no panic") {
            Ok(row) => won.push(row),
            Err(StoreError::Conflict(Conflict::VersionMoved)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(won.len(), 1);
    let content = content(stage, id, 2).await;
    assert_eq!(content.len(), 3);
    assert_eq!(
        content[1], content[2],
        "both chunks are of the one that won"
    );
}

async fn a_source_that_breaks_off_leaves_nothing(stage: &Stage) {
    let (store, id) = (&stage.store, stage.filled_dataset().await);
    let mut broken = version(id, 1, VersionMode::Append, &[]);
    broken.records = 10;
    let chunk = NewChunk {
        bytes: b"half".to_vec(),
        records: 10,
        text: CHUNK_TEXT,
    };
    broken.chunks = Box::new([Ok(chunk), Err(std::io::Error::other("gone"))].into_iter());
    let answer = store.version_commit(act(), broken).await;
    assert!(matches!(answer, Err(StoreError::Driver(_))), "{answer:?}");
    let mut miscounted = version(id, 1, VersionMode::Append, &[b"ten records"]);
    miscounted.records = 11;
    let answer = store.version_commit(act(), miscounted).await;
    assert!(matches!(answer, Err(StoreError::Driver(_))), "{answer:?}");

    let dataset = store.dataset_get(id).await.expect("it is there");
    assert_eq!((dataset.version, dataset.records), (1, 10));
    let next = store
        .version_commit(act(), version(id, 1, VersionMode::Append, &[b"whole"]))
        .await;
    assert_eq!(next.expect("a version").version, 2);
    assert_eq!(
        content(stage, id, 2).await,
        [b"records".to_vec(), b"whole".to_vec()]
    );
}

async fn damage_is_found_and_named(stage: &Stage) {
    let id = stage.filled_dataset().await;
    let damaged = |answer: Result<Vec<u8>, StoreError>| match answer {
        Err(StoreError::Inconsistent { table, column, row }) => (table, column, row),
        other => panic!("{other:?}"),
    };
    stage.sabotage("UPDATE chunk SET bytes = sha256").await;
    let (table, column, row) = damaged(stage.store.chunk_get(id, 1, 0).await);
    assert_eq!((table, column), ("chunk", "bytes"));
    assert!(row.contains(&id.uuid().to_string()), "{row}");
    stage.sabotage("DELETE FROM chunk").await;
    let list = stage
        .store
        .version_chunk_list(id, 1)
        .await
        .map(|_| Vec::new());
    assert_eq!(damaged(list).0, "dataset_version");
}

on_both_and_sealed!(
    an_append_shares_the_chunks_before_and_a_replace_begins_anew,
    an_upsert_shares_the_chunks_before_or_brings_those_that_stay,
    a_change_of_the_schema_shares_the_chunks_before,
    an_empty_upload_is_a_version_too,
    a_version_on_an_older_base_is_refused,
    of_many_appends_on_one_base_one_wins,
    a_source_that_breaks_off_leaves_nothing,
    damage_is_found_and_named,
);
