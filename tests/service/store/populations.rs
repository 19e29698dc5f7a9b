//! Populations: terms that hold in every dataset with one name.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{AuditFilter, NewSubjectTokens, PageRequest, StoreError};

use super::{Stage, act, on_both_and_sealed};

on_both_and_sealed!(
    a_change_in_one_dataset_is_made_in_every_one_of_its_population,
    a_dataset_that_joins_takes_over_the_terms_in_force,
    erasing_one_dataset_leaves_the_terms_of_the_others,
    whoever_joins_while_terms_change_misses_none,
    changes_from_all_sides_at_once_leave_the_same_terms_everywhere,
    terms_are_listed_page_by_page_and_the_log_tells_of_it,
);

const WARD: Option<&str> = Some("ward");

fn share(share: f64) -> Value {
    json!({"max_leakage": share})
}

/// The terms in force, by subject.
async fn terms(stage: &Stage, id: DatasetId) -> BTreeMap<String, Value> {
    let version = version(stage, id).await;
    let read = stage.store.preferences_at(id, version).await;
    read.expect("an answer").into_iter().collect()
}

async fn version(stage: &Stage, id: DatasetId) -> u64 {
    let row = stage.store.dataset_get(id).await.expect("it is there");
    row.preference_version
}

/// What the log says of preferences, oldest first: action and dataset.
async fn log(stage: &Stage, actions: &[&str]) -> Vec<(String, Option<DatasetId>)> {
    let page = stage.store.audit_list(200, None, AuditFilter::default());
    let rows = page.await.expect("rows").items.into_iter().rev();
    rows.filter(|row| actions.contains(&row.action.as_str()))
        .map(|row| (row.action, row.dataset))
        .collect()
}

async fn a_change_in_one_dataset_is_made_in_every_one_of_its_population(stage: &Stage) {
    let store = &stage.store;
    let (one, two) = (stage.dataset_of(WARD).await, stage.dataset_of(WARD).await);
    let strangers = [stage.dataset_of(Some("other")).await, stage.dataset().await];
    let mut all = vec![one, two];
    all.sort_by_key(|id| id.uuid());
    assert_eq!(store.dataset_population(two).await.expect("there"), all);
    let alone = store.dataset_population(strangers[1]).await;
    assert_eq!(alone.expect("there"), [strangers[1]]);

    let put = store.preference_put(act(), one, "1".into(), share(0.5));
    assert_eq!(put.await.expect("kept"), 1);
    let many = vec![("2".into(), share(0.2)), ("1".into(), share(0.1))];
    let bulk = store.preference_bulk(act(), two, std::sync::Arc::new(many));
    assert_eq!(bulk.await.expect("kept"), 2);
    let tokens = NewSubjectTokens {
        dataset: one,
        tokens: vec![([7; 32], "3".into())],
        lifetime_s: 60,
        created_by: "a test".into(),
    };
    store
        .subject_tokens_create(act(), tokens)
        .await
        .expect("kept");
    let used = store.subject_token_use(act(), [7; 32], json!({"exclude": true}), [8; 32]);
    used.await.expect("used");
    let gone = store.preference_delete(act(), two, "2".into());
    assert_eq!(gone.await.expect("removed"), 4);

    let expected = BTreeMap::from([
        ("1".to_owned(), share(0.1)),
        ("3".to_owned(), json!({"exclude": true})),
    ]);
    for id in all.iter().copied() {
        assert_eq!(terms(stage, id).await, expected);
        assert_eq!(version(stage, id).await, 4);
        let changes = store.preferences_changed_since(id, 0).await;
        assert_eq!(changes.expect("an answer").len(), 2, "each has a history");
    }
    for id in strangers {
        assert_eq!(
            (terms(stage, id).await.len(), version(stage, id).await),
            (0, 0)
        );
    }
    let actions = [
        "put_preference",
        "import_preferences",
        "put_my_preferences",
        "delete_preference",
    ];
    let expected: Vec<_> = actions
        .iter()
        .flat_map(|action| all.iter().map(|&id| ((*action).to_owned(), Some(id))))
        .collect();
    assert_eq!(log(stage, &actions).await, expected, "a row a dataset");

    let nobody = store.preference_delete(act(), one, "nobody".into()).await;
    assert!(matches!(
        nobody,
        Err(StoreError::NotFound { what: "preference" })
    ));
    assert_eq!(
        version(stage, two).await,
        4,
        "a refused change makes no version"
    );
}

async fn a_dataset_that_joins_takes_over_the_terms_in_force(stage: &Stage) {
    let store = &stage.store;
    let one = stage.dataset_of(WARD).await;
    for (subject, asked) in [("1", 0.5), ("1", 0.25), ("gone", 0.5), ("ü \0", 0.1)] {
        let put = store.preference_put(act(), one, subject.into(), share(asked));
        put.await.expect("kept");
    }
    let gone = store.preference_delete(act(), one, "gone".into());
    gone.await.expect("removed");
    let later = stage.dataset_of(WARD).await;
    assert_eq!(terms(stage, later).await, terms(stage, one).await);
    assert_eq!(terms(stage, later).await.len(), 2);
    assert_eq!(version(stage, later).await, 1, "one version holds them all");
    let alone = [stage.dataset_of(Some("Ward")).await, stage.dataset().await];
    for id in alone {
        assert_eq!(terms(stage, id).await.len(), 0);
    }
    let row = store.dataset_get(later).await.expect("there");
    assert_eq!(row.population.as_deref(), WARD);
    let page = store.dataset_list(PageRequest::default(), None).await;
    let page = page.expect("a page").items;
    let named = page.iter().filter(|row| row.population.is_some()).count();
    assert_eq!(named, 3);
}

async fn erasing_one_dataset_leaves_the_terms_of_the_others(stage: &Stage) {
    let store = &stage.store;
    let (one, two) = (stage.dataset_of(WARD).await, stage.dataset_of(WARD).await);
    let put = store.preference_put(act(), one, "1".into(), share(0.5));
    put.await.expect("kept");
    store.dataset_erase(act(), one).await.expect("erased");
    assert_eq!(terms(stage, two).await.len(), 1);
    assert_eq!(store.dataset_population(two).await.expect("there"), [two]);
    let erased = store.dataset_population(one).await;
    assert!(matches!(erased, Err(StoreError::NotFound { .. })));
    let put = store.preference_put(act(), two, "2".into(), share(0.5));
    put.await.expect("kept without the erased one");
    let later = stage.dataset_of(WARD).await;
    assert_eq!(terms(stage, later).await.len(), 2);
    for id in [two, later] {
        store.dataset_erase(act(), id).await.expect("erased");
    }
    let anew = stage.dataset_of(WARD).await;
    assert_eq!(
        terms(stage, anew).await.len(),
        0,
        "nobody is left to take from"
    );
}

async fn whoever_joins_while_terms_change_misses_none(stage: &Stage) {
    let first = stage.dataset_of(WARD).await;
    let changes = async {
        for number in 0..40 {
            let subject = number.to_string();
            let put = stage.store.preference_put(act(), first, subject, json!({}));
            put.await.expect("kept");
        }
    };
    let joining = async {
        let mut joined = Vec::new();
        for _ in 0..8 {
            joined.push(stage.dataset_of(WARD).await);
        }
        joined
    };
    let ((), joined) = tokio::join!(changes, joining);
    assert_eq!(terms(stage, first).await.len(), 40);
    for id in joined {
        assert_eq!(terms(stage, id).await, terms(stage, first).await);
    }
}

async fn changes_from_all_sides_at_once_leave_the_same_terms_everywhere(stage: &Stage) {
    let ids = [
        stage.dataset_of(WARD).await,
        stage.dataset_of(WARD).await,
        stage.dataset_of(WARD).await,
    ];
    let tasks: Vec<_> = (0..48_usize)
        .map(|number| {
            let (store, id) = (stage.store.clone(), ids[number % ids.len()]);
            let (subject, asked) = (
                (number % 5).to_string(),
                share(0.01 + number as f64 / 100.0),
            );
            tokio::spawn(async move {
                match number % 4 {
                    0 => {
                        let many = vec![(subject, asked.clone()), ("all".to_owned(), asked)];
                        store
                            .preference_bulk(act(), id, std::sync::Arc::new(many))
                            .await
                    }
                    _ => store.preference_put(act(), id, subject, asked).await,
                }
            })
        })
        .collect();
    for task in tasks {
        task.await
            .expect("no panic")
            .expect("no error, no deadlock");
    }
    let expected = terms(stage, ids[0]).await;
    assert_eq!(expected.len(), 6);
    for id in ids {
        assert_eq!(terms(stage, id).await, expected);
        assert_eq!(version(stage, id).await, 48);
    }
}

async fn terms_are_listed_page_by_page_and_the_log_tells_of_it(stage: &Stage) {
    let (store, id) = (&stage.store, stage.dataset_of(WARD).await);
    let many = (0..7).map(|number| (format!("p{number} ü"), share(0.1)));
    let bulk = store.preference_bulk(act(), id, std::sync::Arc::new(many.collect::<Vec<_>>()));
    bulk.await.expect("kept");
    let put = store.preference_put(act(), id, "p3 ü".into(), share(0.2));
    put.await.expect("kept");
    let gone = store.preference_delete(act(), id, "p4 ü".into());
    gone.await.expect("removed");
    let (mut listed, mut cursor, mut pages) = (BTreeMap::new(), None, 0);
    loop {
        let page = store.preference_list(act(), id, 2, cursor).await;
        let page = page.expect("a page");
        pages += 1;
        for (subject, row) in page.items {
            let twice = listed.insert(subject, row.document);
            assert!(twice.is_none(), "each once");
        }
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((pages, &listed), (3, &terms(stage, id).await));
    assert_eq!(listed["p3 ü"], share(0.2));
    let told = log(stage, &["list_preferences"]).await;
    assert_eq!(told, vec![("list_preferences".to_owned(), Some(id)); 3]);
    store.dataset_erase(act(), id).await.expect("erased");
    let erased = store.preference_list(act(), id, 2, None).await;
    assert!(matches!(
        erased,
        Err(StoreError::NotFound { what: "dataset" })
    ));
}
