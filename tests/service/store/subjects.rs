//! One subject's terms, tokens and records in the store: told, and forgotten,
//! sealed or not, in every dataset of a population.

use serde_json::json;
use vizard::ids::DatasetId;
use vizard::store::{
    Conflict, NewChunk, NewSubjectTokens, Remains, Rewritten, StoreError, SubjectErased,
    SubjectErasure, SubjectHeld, VersionMode,
};
use vizard_anonymizer::microdata::TextSize;

use super::stage::version;
use super::{Stage, act, on_both_and_sealed};

on_both_and_sealed!(
    a_subject_is_told_of_and_forgotten_with_history_and_tokens,
    terms_are_forgotten_in_the_whole_population_or_an_exclusion_stays_there,
    an_erasure_that_has_not_seen_everything_changes_nothing,
);

const CANARY: &[u8] = b"canary-of-one-subject-2204";

async fn consents(stage: &Stage, dataset: DatasetId) {
    for subject in ["a", "b"] {
        for terms in [json!({"max_leakage": 0.5}), json!({"max_leakage": 0.25})] {
            let put = stage
                .store
                .preference_put(act(), dataset, subject.into(), terms);
            put.await.expect("it is put");
        }
    }
    let tokens = NewSubjectTokens {
        dataset,
        tokens: vec![([1; 32], "a".into()), ([2; 32], "b".into())],
        lifetime_s: 600,
        created_by: "a test".into(),
    };
    let made = stage.store.subject_tokens_create(act(), tokens);
    made.await.expect("they are made");
}

async fn held(stage: &Stage, dataset: DatasetId, subject: &str) -> SubjectHeld {
    let told = stage
        .store
        .subject_export(act(), dataset, subject.into(), 0);
    told.await.expect("it is told")
}

fn erasure(dataset: DatasetId, base_version: u64) -> SubjectErasure {
    SubjectErasure {
        dataset,
        subject: "a".into(),
        base_version,
        releases: Vec::new(),
        is_in_records: false,
        hierarchies: json!({}),
        drafts: Vec::new(),
        lineages: Vec::new(),
        candidates: Vec::new(),
        keep_exclusion: false,
        created_by: "a test".into(),
    }
}

async fn a_subject_is_told_of_and_forgotten_with_history_and_tokens(stage: &Stage) {
    let dataset = stage.dataset().await;
    let upload = version(dataset, 0, VersionMode::Append, &[CANARY]);
    let committed = stage.store.version_commit(act(), upload).await;
    committed.expect("a version");
    let release = stage.draft_release(dataset).await;
    consents(stage, dataset).await;
    let before = held(stage, dataset, "b").await;
    let own = held(stage, dataset, "a").await;
    assert_eq!((own.terms.len(), own.tokens.len()), (2, 1));
    assert_eq!(own.terms[0].until_version, Some(2));
    assert_eq!(own.terms[1].document, json!({"max_leakage": 0.25}));

    let text = TextSize {
        cells_bytes: 7,
        labels_bytes: 5,
    };
    let rest = NewChunk {
        bytes: b"rest".to_vec(),
        records: 9,
        text,
    };
    let erasure = SubjectErasure {
        releases: vec![release],
        is_in_records: true,
        lineages: vec![(release, b"table,row,subject\n".to_vec())],
        candidates: vec![(release, b"others".to_vec())],
        ..erasure(dataset, 1)
    };
    let rewritten: Option<Rewritten> = Some((9, Box::new([Ok(rest)].into_iter())));
    let erased = stage
        .store
        .subject_erase(act(), erasure, rewritten)
        .await
        .expect("it is erased");
    // The dataset's keys stay: on PostgreSQL the bytes do too.
    let is_overwritten = stage.url().starts_with("sqlite:");
    let expected = SubjectErased {
        version: 2,
        chunks: 1,
        terms: 2,
        tokens: 1,
        remains: if is_overwritten {
            Remains::Nothing
        } else {
            Remains::UntilOverwritten
        },
        ..SubjectErased::default()
    };
    assert_eq!(erased, expected);
    assert!(held(stage, dataset, "b").await == before);
    let own = held(stage, dataset, "a").await;
    assert!(own.terms.is_empty() && own.tokens.is_empty());
    let store = &stage.store;
    assert_eq!(store.chunk_get(dataset, 2, 0).await.expect("one"), b"rest");
    let row = store.version_get(dataset, 2).await.expect("a version");
    assert_eq!((row.total_records, row.mode), (9, VersionMode::Upsert));
    assert_eq!(row.text, text);
    let old = store.version_get(dataset, 1).await;
    assert!(matches!(old, Err(StoreError::NotFound { .. })));
    assert_eq!(
        store.release_lineage(release).await.expect("one"),
        b"table,row,subject\n"
    );
    assert_eq!(
        store.release_candidates(release).await.expect("some"),
        Some(b"others".to_vec())
    );
    assert_eq!(stage.in_the_open(&[CANARY]).await.len(), 0);
    assert_eq!(store.erasures_incomplete().await.expect("a count"), 0);
}

async fn terms_are_forgotten_in_the_whole_population_or_an_exclusion_stays_there(stage: &Stage) {
    let one = stage.dataset_of(Some("clinic")).await;
    let two = stage.dataset_of(Some("clinic")).await;
    consents(stage, one).await;
    let keeps = SubjectErasure {
        keep_exclusion: true,
        ..erasure(one, 0)
    };
    stage
        .store
        .subject_erase(act(), keeps, None)
        .await
        .expect("it is erased");
    for dataset in [one, two] {
        let left = held(stage, dataset, "a").await.terms;
        assert_eq!(
            (left.len(), &left[0].document),
            (1, &json!({"exclude": true}))
        );
        assert_eq!(held(stage, dataset, "b").await.terms.len(), 2);
    }
    let again = SubjectErasure {
        keep_exclusion: true,
        ..erasure(one, 0)
    };
    let again = stage
        .store
        .subject_erase(act(), again, None)
        .await
        .expect("nothing is left");
    assert_eq!(again.terms, 0);
    stage
        .store
        .subject_erase(act(), erasure(one, 0), None)
        .await
        .expect("it is erased");
    for dataset in [one, two] {
        assert!(held(stage, dataset, "a").await.terms.is_empty());
    }
}

async fn an_erasure_that_has_not_seen_everything_changes_nothing(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    let release = stage.draft_release(dataset).await;
    consents(stage, dataset).await;
    for (base_version, releases) in [(0, vec![release]), (1, Vec::new())] {
        let erasure = SubjectErasure {
            releases,
            ..erasure(dataset, base_version)
        };
        let refused = stage.store.subject_erase(act(), erasure, None).await;
        assert!(matches!(
            refused,
            Err(StoreError::Conflict(Conflict::VersionMoved))
        ));
    }
    assert_eq!(held(stage, dataset, "a").await.terms.len(), 2);
}
