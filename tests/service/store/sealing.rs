//! Encryption at rest: what is sealed, what refuses to open, and that erasing
//! destroys keys.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vizard::ids::{DatasetId, ReleaseId};
use vizard::store::{
    DataKeyCounts, NewPopulationTable, NewSubjectTokens, PublishCheck, PublishDecision,
    ReleaseDocument, StoreError, VersionMode,
};

use super::stage::{draft, version};
use super::{Stage, act};

/// Made-up strings that stand for people's data.
const CHUNK: &[u8] = b"canary-of-the-records-4711";
const SUBJECT: &str = "canary-of-a-subject-4712";
const TOKEN_HOLDER: &str = "canary-of-a-token-4718";
const TERMS: &str = "canary-of-the-terms-4713";
const LINEAGE: &[u8] = b"canary-of-the-lineage-4714";
const PIECE: &[u8] = b"canary-of-a-piece-4715";
const REPORT: &str = "canary-of-the-report-4716";
const VERIFICATION: &str = "canary-of-the-verification-4717";

const POPULATION_TABLE: &[u8] = b"canary-of-a-population-4719";

const CANARIES: [&[u8]; 9] = [
    CHUNK,
    SUBJECT.as_bytes(),
    TOKEN_HOLDER.as_bytes(),
    TERMS.as_bytes(),
    LINEAGE,
    PIECE,
    REPORT.as_bytes(),
    VERIFICATION.as_bytes(),
    POPULATION_TABLE,
];

/// Makes a test on each database of every function over a stage with a master key.
macro_rules! on_both_sealed {
    ($($test:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let stage = $crate::store::Stage::sqlite_with($crate::store::sealed).await;
                super::$test(stage).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                if let Some(stage) = $crate::store::Stage::postgres_with($crate::store::sealed).await {
                    super::$test(stage).await;
                }
            })+
        }
    };
}

pub(super) use on_both_sealed;

on_both_sealed!(
    what_is_personal_is_nowhere_in_the_open,
    bytes_that_were_moved_or_exchanged_do_not_open,
    plain_bytes_in_a_sealed_dataset_are_damage,
    erasing_destroys_the_keys_and_leaves_no_copy,
    a_published_release_is_readable_after_its_dataset_is_erased,
);

/// A dataset of canaries with a draft.
pub(super) async fn filled(stage: &Stage) -> (DatasetId, ReleaseId) {
    let (store, dataset) = (&stage.store, stage.dataset().await);
    let upload = version(dataset, 0, VersionMode::Append, &[CHUNK, b"another chunk"]);
    store
        .version_commit(act(), upload)
        .await
        .expect("a version");
    let put = store.preference_put(act(), dataset, SUBJECT.to_owned(), json!({"note": TERMS}));
    put.await.expect("it is kept");
    let tokens = NewSubjectTokens {
        dataset,
        tokens: vec![(token_hash(dataset), TOKEN_HOLDER.to_owned())],
        lifetime_s: 1_000,
        created_by: "a test".to_owned(),
    };
    let given = store.subject_tokens_create(act(), tokens);
    given.await.expect("they are kept");
    let table = NewPopulationTable {
        dataset,
        attributes: json!([]),
        people: 1,
        combinations: 1,
        sha256: String::new(),
        content: POPULATION_TABLE.to_vec(),
        created_by: "a test".to_owned(),
    };
    let put = store.population_table_put(act(), table).await;
    put.expect("it is kept");
    let many = vec![("another".to_owned(), json!({"note": TERMS}))];
    let bulk = store.preference_bulk(act(), dataset, std::sync::Arc::new(many));
    bulk.await.expect("they are kept");
    stage.job(dataset).await;
    let acquired = stage.acquire().await;
    let mut release = draft();
    release.lineage = LINEAGE.to_vec();
    release.report = json!({"note": REPORT});
    release.verification = json!({"note": VERIFICATION});
    release.tables[0].pieces[0].bytes = PIECE.to_vec();
    let id = release.id;
    let (job, token) = (acquired.job.id, acquired.lease_token);
    let completed = store.job_complete(act(), job, token, release);
    completed.await.expect("it completes");
    (dataset, id)
}

/// The hash of the one token of a dataset.
fn token_hash(dataset: DatasetId) -> [u8; 32] {
    Sha256::digest(dataset.to_string()).into()
}

/// Everything that was filled in can be read.
pub(super) async fn reads_back(stage: &Stage, dataset: DatasetId, release: ReleaseId) {
    let store = &stage.store;
    let chunk = store.chunk_get(dataset, 1, 0).await;
    assert_eq!(chunk.expect("a chunk"), CHUNK);
    let table = store.population_table_content(dataset).await;
    let table = table.expect("an answer").expect("a table");
    assert_eq!(table.1, POPULATION_TABLE);
    let terms = json!({"note": TERMS});
    let one = store
        .preference_get(act(), dataset, SUBJECT.to_owned())
        .await;
    assert_eq!(one.expect("an answer").expect("in force").document, terms);
    let all = store.preferences_at(dataset, 2).await.expect("an answer");
    let both = [
        ("another".to_owned(), terms.clone()),
        (SUBJECT.to_owned(), terms),
    ];
    assert_eq!(all, both);
    let holder = store.subject_token_find(token_hash(dataset)).await;
    assert_eq!(holder.expect("a token").subject, TOKEN_HOLDER);
    assert_eq!(
        store.release_lineage(release).await.expect("a lineage"),
        LINEAGE
    );
    assert_eq!(first_piece(stage, release).await.expect("a piece"), PIECE);
    for (document, canary) in [
        (ReleaseDocument::Report, REPORT),
        (ReleaseDocument::Verification, VERIFICATION),
    ] {
        let read: Value = store
            .release_document(release, document)
            .await
            .expect("one");
        assert_eq!(read["note"], canary);
    }
}

async fn first_piece(stage: &Stage, release: ReleaseId) -> Result<Vec<u8>, StoreError> {
    let table = "microdata".to_owned();
    stage.store.table_piece(release, table, 0).await
}

fn damaged<T: std::fmt::Debug>(answer: Result<T, StoreError>) {
    assert!(
        matches!(answer, Err(StoreError::Inconsistent { .. })),
        "{answer:?}"
    );
}

async fn what_is_personal_is_nowhere_in_the_open(stage: Stage) {
    let (dataset, release) = filled(&stage).await;
    assert_eq!(stage.in_the_open(&CANARIES).await, <[&[u8]; 0]>::default());
    reads_back(&stage, dataset, release).await;
    // The same without a master key: the search finds what there is.
    let plain = if stage.is_postgres() {
        Stage::postgres().await.expect("it was there")
    } else {
        Stage::sqlite().await
    };
    let (dataset, release) = filled(&plain).await;
    assert_eq!(plain.in_the_open(&CANARIES).await, CANARIES);
    reads_back(&plain, dataset, release).await;
}

async fn bytes_that_were_moved_or_exchanged_do_not_open(stage: Stage) {
    let (first, release) = filled(&stage).await;
    let (second, other) = filled(&stage).await;
    let store = &stage.store;
    let exchange = |table: &str, columns: &str, one: &str, other: &str| {
        format!(
            "UPDATE {table} AS changed SET {columns} FROM {table} AS source \
             WHERE changed.{one} AND source.{other}"
        )
    };
    // A chunk from another position of the same dataset, digest and all.
    let columns = "sha256 = source.sha256, bytes = source.bytes";
    for moved in [
        exchange(
            "chunk",
            columns,
            "position = 0",
            "position = 1 AND source.dataset_id = changed.dataset_id",
        ),
        exchange(
            "release_piece",
            columns,
            "position = 0 AND changed.table_position = 0",
            "table_position = 1 AND source.release_id = changed.release_id",
        ),
        exchange(
            "release",
            "report = source.verification",
            "state = 'draft'",
            "id = changed.id",
        ),
        exchange(
            "release",
            "lineage = source.lineage",
            "state = 'draft'",
            "id <> changed.id",
        ),
    ] {
        stage.sabotage(&moved).await;
    }
    for (dataset, release) in [(first, release), (second, other)] {
        damaged(store.chunk_get(dataset, 1, 0).await);
        damaged(store.release_lineage(release).await);
        damaged(first_piece(&stage, release).await);
        damaged(
            store
                .release_document(release, ReleaseDocument::Report)
                .await,
        );
    }
    // Terms under another subject of the same dataset, and of another time.
    let terms = exchange(
        "preference",
        "document = source.document",
        "version = 1",
        "version = 2 AND source.dataset_id = changed.dataset_id",
    );
    stage.sabotage(&terms).await;
    damaged(store.preference_get(act(), first, SUBJECT.to_owned()).await);
    damaged(store.preferences_at(second, 2).await);
}

async fn plain_bytes_in_a_sealed_dataset_are_damage(stage: Stage) {
    let (dataset, release) = filled(&stage).await;
    stage
        .sabotage("UPDATE preference SET document = '{}'")
        .await;
    stage.sabotage("UPDATE release SET report = '{}'").await;
    damaged(
        stage
            .store
            .preference_get(act(), dataset, SUBJECT.to_owned())
            .await,
    );
    damaged(
        stage
            .store
            .release_document(release, ReleaseDocument::Report)
            .await,
    );
}

async fn erasing_destroys_the_keys_and_leaves_no_copy(stage: Stage) {
    let (dataset, _) = filled(&stage).await;
    let wrapped = wrapped_keys(&stage).await;
    let wrapped: Vec<&[u8]> = wrapped.iter().map(Vec::as_slice).collect();
    assert_eq!(wrapped.len(), 3);
    assert_eq!(stage.in_the_open(&wrapped).await, wrapped);
    stage
        .store
        .dataset_erase(act(), dataset)
        .await
        .expect("erased");
    assert_eq!(stage.in_the_open(&wrapped).await, <[&[u8]; 0]>::default());
    let counts = stage.store.data_key_counts().await.expect("counts");
    let (current, earlier, destroyed) = (0, 0, 3);
    assert_eq!(
        counts,
        DataKeyCounts {
            current,
            earlier,
            destroyed
        }
    );
    if !stage.is_postgres() {
        // Without a key the bytes themselves must be gone, also from the log.
        let plain = Stage::sqlite().await;
        let (dataset, _) = filled(&plain).await;
        assert_eq!(plain.in_the_open(&CANARIES).await, CANARIES);
        plain
            .store
            .dataset_erase(act(), dataset)
            .await
            .expect("erased");
        assert_eq!(plain.in_the_open(&CANARIES).await, <[&[u8]; 0]>::default());
    }
}

/// The wrapped keys as they are kept.
async fn wrapped_keys(stage: &Stage) -> Vec<Vec<u8>> {
    let all = "SELECT wrapped FROM dataset_key WHERE wrapped IS NOT NULL";
    stage.byte_column(all).await
}

async fn a_published_release_is_readable_after_its_dataset_is_erased(stage: Stage) {
    let (dataset, release) = filled(&stage).await;
    let allow: PublishCheck = Box::new(|_, lineage| {
        assert_eq!(lineage, LINEAGE);
        PublishDecision::Allow
    });
    let published = stage.store.release_publish(act(), release, allow.into());
    published.await.expect("it is published");
    let (_, draft) = {
        stage.job(dataset).await;
        let acquired = stage.acquire().await;
        let (made, job) = (draft(), acquired.job.id);
        let id = made.id;
        let done = stage
            .store
            .job_complete(act(), job, acquired.lease_token, made);
        done.await.expect("it completes");
        (dataset, id)
    };
    stage
        .store
        .dataset_erase(act(), dataset)
        .await
        .expect("erased");
    assert_eq!(first_piece(&stage, release).await.expect("public"), PIECE);
    let report = stage
        .store
        .release_document(release, ReleaseDocument::Report);
    assert_eq!(report.await.expect("public")["note"], REPORT);
    let gone = first_piece(&stage, draft).await;
    assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    let counts = stage.store.data_key_counts().await.expect("counts");
    // Of the release that is public; those of records, terms and draft are gone.
    assert_eq!((counts.current, counts.destroyed), (1, 3));
}
