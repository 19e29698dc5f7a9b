//! Population tables: one a dataset, sealed where it is, gone with it.

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{AuditFilter, NewPopulationTable, StoreError};

use super::stage::{Stage, act, of_days, on_both_and_sealed};

on_both_and_sealed!(
    a_dataset_keeps_one_table_and_the_log_says_what_it_is,
    a_table_stays_when_records_are_purged_and_goes_with_the_dataset,
);

const CONTENT: &[u8] = b"canary-of-a-population-4719";

fn table(dataset: DatasetId, sha256: &str) -> NewPopulationTable {
    NewPopulationTable {
        dataset,
        attributes: json!([{"name": "age", "type": "integer"}]),
        people: 12,
        combinations: 3,
        sha256: sha256.to_owned(),
        content: CONTENT.to_vec(),
        created_by: "a test".to_owned(),
    }
}

async fn put(stage: &Stage, new: NewPopulationTable) {
    let sha256 = new.sha256.clone();
    let put = stage.store.population_table_put(act(), new).await;
    assert_eq!(put.expect("it is kept").sha256, sha256);
}

/// Actions on a dataset that are about its table, the latest first, each with its
/// detail's digest.
async fn told(stage: &Stage, dataset: DatasetId) -> Vec<(String, String)> {
    let filter = AuditFilter {
        dataset: Some(dataset),
        ..AuditFilter::default()
    };
    let page = stage.store.audit_list(50, None, filter).await;
    let rows = page.expect("a page").items.into_iter();
    rows.filter(|row| row.action.ends_with("population_table"))
        .map(|row| {
            let detail: Value = serde_json::from_str(&row.detail).expect("JSON");
            (
                row.action,
                detail["sha256"].as_str().expect("it is told").to_owned(),
            )
        })
        .collect()
}

async fn a_dataset_keeps_one_table_and_the_log_says_what_it_is(stage: &Stage) {
    let (store, dataset, other) = (&stage.store, stage.dataset().await, stage.dataset().await);
    assert_eq!(
        store
            .population_table_get(dataset)
            .await
            .expect("an answer"),
        None
    );
    put(stage, table(dataset, "aa")).await;
    // The same again is no change.
    put(stage, table(dataset, "aa")).await;
    put(stage, table(dataset, "bb")).await;
    let kept = store
        .population_table_content(dataset)
        .await
        .expect("an answer");
    let (row, content) = kept.expect("it is kept");
    assert_eq!(
        (row.sha256.as_str(), row.people, row.combinations),
        ("bb", 12, 3)
    );
    assert_eq!(content, CONTENT);
    assert_eq!(
        store.population_table_get(other).await.expect("an answer"),
        None
    );
    let of_other = store.population_table_delete(act(), other).await;
    assert!(matches!(
        of_other,
        Err(StoreError::NotFound {
            what: "population table"
        })
    ));
    let gone = store.population_table_delete(act(), dataset).await;
    assert_eq!(gone.expect("it was there").sha256, "bb");
    let again = store.population_table_content(dataset).await;
    assert_eq!(again.expect("an answer"), None);
    let said = told(stage, dataset).await;
    let said: Vec<(&str, &str)> = said
        .iter()
        .map(|(one, other)| (one.as_str(), other.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            ("delete_population_table", "bb"),
            ("put_population_table", "bb"),
            ("put_population_table", "aa")
        ]
    );
    let unknown = table(DatasetId::generate(), "aa");
    let refused = store.population_table_put(act(), unknown).await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })));
}

async fn a_table_stays_when_records_are_purged_and_goes_with_the_dataset(stage: &Stage) {
    let (store, dataset) = (&stage.store, stage.filled_dataset().await);
    put(stage, table(dataset, "aa")).await;
    let days = store.retention_set(act(), dataset, of_days(Some(1))).await;
    days.expect("it is set");
    stage.let_days_pass(2).await;
    let purged = store.retention_purge(act(), dataset, None).await;
    assert!(purged.expect("an answer").is_some(), "records are purged");
    let kept = store.population_table_content(dataset).await;
    assert_eq!(kept.expect("an answer").expect("it stays").1, CONTENT);
    store
        .dataset_erase(act(), dataset)
        .await
        .expect("it is erased");
    let gone = store.population_table_content(dataset).await;
    assert_eq!(gone.expect("an answer"), None);
    let refused = store
        .population_table_put(act(), table(dataset, "bb"))
        .await;
    assert!(matches!(refused, Err(StoreError::NotFound { .. })));
}
