//! Hierarchies of datasets and of the library.

use serde_json::{Value, json};
use vizard::ids::DatasetId;
use vizard::store::{
    AuditFilter, HierarchyPut, HierarchyScope, NewDataset, NewHierarchy, StoreError, VersionMode,
};

use super::stage::version;
use super::{Stage, act, on_both};

fn hierarchy(name: &str, digest: &str, allow_new_version: bool) -> NewHierarchy {
    NewHierarchy {
        dataset: None,
        name: name.to_owned(),
        digest: digest.to_owned(),
        media_type: "text/csv".to_owned(),
        content: format!("leaf of {digest};*").into_bytes(),
        leaves: 1,
        height: 1,
        allow_new_version,
    }
}

async fn a_name_keeps_its_content_unless_told_otherwise(stage: &Stage) {
    let put = |digest, allow| {
        stage
            .store
            .hierarchy_put(act(), hierarchy("icd10", digest, allow))
    };
    assert_eq!(
        put("aa", false).await.expect("an answer"),
        HierarchyPut::Created
    );
    assert_eq!(
        put("aa", false).await.expect("an answer"),
        HierarchyPut::Unchanged
    );
    assert_eq!(
        put("bb", false).await.expect("an answer"),
        HierarchyPut::Conflict
    );
    assert_eq!(
        put("bb", true).await.expect("an answer"),
        HierarchyPut::Created
    );
    assert_eq!(
        put("bb", true).await.expect("an answer"),
        HierarchyPut::Unchanged
    );
    let current = stage
        .store
        .hierarchy_get(None, "icd10".to_owned(), None)
        .await
        .expect("it is there");
    assert_eq!(
        (current.head.revision, current.head.digest.as_str()),
        (2, "bb")
    );
    let older = stage
        .store
        .hierarchy_get(None, "icd10".to_owned(), Some("aa".to_owned()))
        .await
        .expect("it is there");
    assert_eq!(
        (older.head.revision, older.content.as_slice()),
        (1, b"leaf of aa;*".as_slice())
    );
}

async fn a_name_may_go_back_to_older_content(stage: &Stage) {
    for digest in ["aa", "bb", "aa"] {
        let put = stage
            .store
            .hierarchy_put(act(), hierarchy("icd10", digest, true))
            .await;
        assert_eq!(put.expect("an answer"), HierarchyPut::Created);
    }
    let current = stage
        .store
        .hierarchy_get(None, "icd10".to_owned(), None)
        .await
        .expect("it is there");
    assert_eq!(
        (current.head.revision, current.head.digest.as_str()),
        (3, "aa")
    );
}

async fn unknown_hierarchies_are_not_found(stage: &Stage) {
    for name in ["nothing", "", "nul \0 inside"] {
        let by_name = stage.store.hierarchy_get(None, name.to_owned(), None).await;
        assert!(
            matches!(by_name, Err(StoreError::NotFound { .. })),
            "{by_name:?}"
        );
        let by_digest =
            (stage.store).hierarchy_get(None, "icd10".to_owned(), Some(name.to_owned()));
        let by_digest = by_digest.await;
        assert!(
            matches!(by_digest, Err(StoreError::NotFound { .. })),
            "{by_digest:?}"
        );
    }
}

async fn of_many_first_contents_of_a_name_one_is_created(stage: &Stage) {
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let store = stage.store.clone();
            let new = hierarchy("icd10", &format!("digest {number}"), false);
            tokio::spawn(async move { store.hierarchy_put(act(), new).await })
        })
        .collect();
    let mut created = 0;
    for task in tasks {
        match task.await.expect("no panic").expect("no error") {
            HierarchyPut::Created => created += 1,
            HierarchyPut::Conflict => {}
            HierarchyPut::Unchanged => panic!("every content is another"),
        }
    }
    assert_eq!(created, 1);
}

/// One of a dataset's own.
fn own(dataset: DatasetId, digest: &str) -> NewHierarchy {
    NewHierarchy {
        dataset: Some(dataset),
        ..hierarchy("icd10", digest, true)
    }
}

/// A dataset whose schema names hierarchies.
async fn dataset_naming(stage: &Stage, names: &[&str]) -> DatasetId {
    let attributes = names
        .iter()
        .map(|name| json!({"name": "a", "hierarchy": name}));
    let dataset = NewDataset {
        id: DatasetId::generate(),
        name: "named".to_owned(),
        // A NUL in a schema is JSON that PostgreSQL reads nothing of.
        schema: json!({"missing_values": ["\u{0}"], "attributes": attributes.collect::<Vec<_>>()}),
        created_by: "a test".to_owned(),
        population: None,
    };
    let id = dataset.id;
    let made = stage.store.dataset_create(act(), dataset).await;
    made.expect("a dataset");
    id
}

async fn put(stage: &Stage, new: NewHierarchy) {
    let put = stage.store.hierarchy_put(act(), new).await;
    assert_eq!(put.expect("an answer"), HierarchyPut::Created);
}

/// Digest and revision of what a dataset finds under the name; of the library: `None`.
async fn found(
    stage: &Stage,
    dataset: Option<DatasetId>,
    digest: Option<&str>,
) -> Option<(String, u64)> {
    let digest = digest.map(str::to_owned);
    let row = (stage.store).hierarchy_get(dataset, "icd10".to_owned(), digest);
    match row.await {
        Ok(row) => Some((row.head.digest, row.head.revision)),
        Err(StoreError::NotFound { .. }) => None,
        Err(error) => panic!("{error}"),
    }
}

async fn a_dataset_finds_its_own_first_then_the_library_and_never_anothers(stage: &Stage) {
    let (one, other) = (stage.dataset().await, stage.dataset().await);
    put(stage, own(one, "aa")).await;
    assert_eq!(found(stage, Some(other), None).await, None);
    assert_eq!(found(stage, Some(other), Some("aa")).await, None);
    assert_eq!(found(stage, None, Some("aa")).await, None);
    put(stage, hierarchy("icd10", "bb", false)).await;
    put(stage, hierarchy("icd10", "cc", true)).await;
    let of = |digest: &str, revision| Some((digest.to_owned(), revision));
    assert_eq!(found(stage, Some(one), None).await, of("aa", 1));
    assert_eq!(found(stage, Some(other), None).await, of("cc", 2));
    assert_eq!(found(stage, None, None).await, of("cc", 2));
    // What the dataset pinned before it had one of its own.
    assert_eq!(found(stage, Some(one), Some("bb")).await, of("bb", 1));
    // Content that several have is each one's own.
    put(stage, own(other, "aa")).await;
    put(stage, own(other, "cc")).await;
    assert_eq!(found(stage, Some(other), Some("cc")).await, of("cc", 2));
    assert_eq!(found(stage, Some(one), None).await, of("aa", 1));
    assert_eq!(found(stage, Some(other), Some("aa")).await, of("aa", 1));
}

/// The rows of an action: object and dataset.
async fn told(stage: &Stage, action: &str) -> Vec<(Option<String>, Option<DatasetId>)> {
    let filter = AuditFilter {
        action: Some(action.to_owned()),
        ..AuditFilter::default()
    };
    let page = stage
        .store
        .audit_list(100, None, filter)
        .await
        .expect("the log");
    let rows = page.items.into_iter().rev();
    rows.map(|row| (row.object, row.dataset)).collect()
}

async fn a_revision_of_the_library_is_told_to_every_dataset_that_uses_it(stage: &Stage) {
    let using = dataset_naming(stage, &["icd10", "icd10"]).await;
    let shadowing = dataset_naming(stage, &["icd10"]).await;
    let _others = dataset_naming(stage, &["icd", "icd10x", "\"icd10\"", "\u{0}"]).await;
    let erased = dataset_naming(stage, &["icd10"]).await;
    let erasing = stage.store.dataset_erase(act(), erased).await;
    erasing.expect("it is erased");
    put(stage, own(shadowing, "aa")).await;
    let name = || Some("icd10".to_owned());
    assert_eq!(told(stage, "hierarchy_changed").await, []);
    let expected = [(name(), Some(shadowing))];
    assert_eq!(told(stage, "put_dataset_hierarchy").await, expected);

    let mut expected = Vec::new();
    for digest in ["aa", "bb"] {
        put(stage, hierarchy("icd10", digest, true)).await;
        expected.push((name(), Some(using)));
        assert_eq!(told(stage, "hierarchy_changed").await, expected);
    }
    assert_eq!(told(stage, "put_hierarchy").await, vec![(name(), None); 2]);
    let same = stage
        .store
        .hierarchy_put(act(), hierarchy("icd10", "bb", true));
    assert_eq!(same.await.expect("an answer"), HierarchyPut::Unchanged);
    assert_eq!(told(stage, "hierarchy_changed").await, expected);
}

async fn names_are_listed_by_owner_and_page_by_page(stage: &Stage) {
    let names = ["B", "a", "b", "ä"];
    let dataset = dataset_naming(stage, &["B", "a", "missing"]).await;
    for name in names {
        put(stage, hierarchy(name, "aa", true)).await;
    }
    put(stage, hierarchy("b", "bb", true)).await;
    for name in ["a", "x"] {
        let new = hierarchy(name, "own", true);
        let dataset = Some(dataset);
        put(stage, NewHierarchy { dataset, ..new }).await;
    }
    let list = async |scope: HierarchyScope| {
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let page = (stage.store).hierarchy_list(scope.clone(), 1, after).await;
            let page = page.expect("a page");
            assert!(page.items.len() <= 1);
            let items = page.items.into_iter();
            found.extend(items.map(|head| {
                let of = if head.dataset.is_some() {
                    "own"
                } else {
                    "library"
                };
                format!("{} {} {of}", head.name, head.revision)
            }));
            after = page.next;
            if after.is_none() {
                return found;
            }
        }
    };
    let all = ["B 1 library", "a 1 library", "b 2 library", "ä 1 library"];
    assert_eq!(list(HierarchyScope::Library).await, all);
    let seen = list(HierarchyScope::LibraryOf(vec![dataset])).await;
    assert_eq!(seen, ["B 1 library", "a 1 library"]);
    let of_none = list(HierarchyScope::LibraryOf(Vec::new())).await;
    assert_eq!(of_none, Vec::<String>::new());
    let used = list(HierarchyScope::Dataset(dataset)).await;
    assert_eq!(used, ["B 1 library", "a 1 own", "x 1 own"]);
}

async fn an_erased_dataset_takes_its_own_hierarchies_along(stage: &Stage) {
    let (erased, other) = (stage.dataset().await, stage.dataset().await);
    for (dataset, digest) in [(erased, "aa"), (erased, "bb"), (other, "aa")] {
        put(stage, own(dataset, digest)).await;
    }
    put(stage, hierarchy("icd10", "cc", true)).await;
    let erasure = stage.store.dataset_erase(act(), erased).await;
    assert_eq!(erasure.expect("it is erased").hierarchies, 2);
    let left = stage.attempt("DELETE FROM hierarchy WHERE digest = 'bb'");
    assert_eq!(left.await.expect("it runs"), 0);
    assert!(found(stage, Some(erased), Some("aa")).await.is_none());
    assert!(found(stage, Some(other), None).await.is_some());
    assert!(found(stage, None, None).await.is_some());
    let late = stage.store.hierarchy_put(act(), own(erased, "dd")).await;
    assert!(matches!(late, Err(StoreError::NotFound { .. })), "{late:?}");
}

async fn an_upload_tells_the_log_which_hierarchies_are_others(stage: &Stage) {
    let dataset = stage.filled_dataset().await;
    for (base, digests) in [
        (1, json!({"icd10": "abc", "zip": "z"})),
        (2, json!({"icd10": "def", "zip": "z"})),
    ] {
        let mut new = version(dataset, base, VersionMode::Append, &[b"more"]);
        new.hierarchies = digests;
        let committed = stage.store.version_commit(act(), new).await;
        committed.expect("a version");
    }
    let filter = AuditFilter {
        action: Some("upload_records".to_owned()),
        ..AuditFilter::default()
    };
    let page = stage
        .store
        .audit_list(100, None, filter)
        .await
        .expect("the log");
    let changed = page.items.iter().map(|row| {
        let detail: Value = serde_json::from_str(&row.detail).expect("a document");
        detail["hierarchies_changed"].clone()
    });
    let expected = [json!({"icd10": "def"}), json!({}), json!({})];
    assert_eq!(changed.collect::<Vec<_>>(), expected);
}

on_both!(
    a_name_keeps_its_content_unless_told_otherwise,
    a_name_may_go_back_to_older_content,
    unknown_hierarchies_are_not_found,
    of_many_first_contents_of_a_name_one_is_created,
    a_dataset_finds_its_own_first_then_the_library_and_never_anothers,
    a_revision_of_the_library_is_told_to_every_dataset_that_uses_it,
    names_are_listed_by_owner_and_page_by_page,
    an_erased_dataset_takes_its_own_hierarchies_along,
    an_upload_tells_the_log_which_hierarchies_are_others,
);
