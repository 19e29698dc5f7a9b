//! Hierarchies.

use vizard::store::{HierarchyPut, NewHierarchy, StoreError};

use super::{Stage, act, on_both};

fn hierarchy(name: &str, digest: &str, allow_new_version: bool) -> NewHierarchy {
    NewHierarchy {
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
        .hierarchy_get("icd10".to_owned())
        .await
        .expect("it is there");
    assert_eq!((current.revision, current.digest.as_str()), (2, "bb"));
    let older = stage
        .store
        .hierarchy_get_by_digest("aa".to_owned())
        .await
        .expect("it is there");
    assert_eq!(
        (older.revision, older.content.as_slice()),
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
        .hierarchy_get("icd10".to_owned())
        .await
        .expect("it is there");
    assert_eq!((current.revision, current.digest.as_str()), (3, "aa"));
}

async fn unknown_hierarchies_are_not_found(stage: &Stage) {
    for name in ["nothing", "", "nul \0 inside"] {
        let by_name = stage.store.hierarchy_get(name.to_owned()).await;
        assert!(
            matches!(by_name, Err(StoreError::NotFound { .. })),
            "{by_name:?}"
        );
        let by_digest = stage.store.hierarchy_get_by_digest(name.to_owned()).await;
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

on_both!(
    a_name_keeps_its_content_unless_told_otherwise,
    a_name_may_go_back_to_older_content,
    unknown_hierarchies_are_not_found,
    of_many_first_contents_of_a_name_one_is_created,
);
