//! Reviews of hierarchies: of the library's, and against a dataset's records.

use serde_json::{Value, json};

use super::{Server, on_both, story};

on_both!(
    a_hierarchy_is_reviewed_before_and_beside_the_records_of_a_dataset,
    a_review_is_for_those_who_may_read_what_it_is_of,
);

/// Without violet, with a leaf of nobody, and unbalanced.
const OTHER: &str = "red;warm;*\norange;warm;*\nblue;cold;*\ngreen;*\n";

async fn a_hierarchy_is_reviewed_before_and_beside_the_records_of_a_dataset(server: Server) {
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::dataset(&client).await;
    let review = |name: &str| {
        let call = client.call("review_dataset_hierarchy").at("id", &id);
        call.at("name", name)
    };
    let empty = review("ward").send().await.expect(200);
    assert_eq!(
        (&empty["version"], &empty["attributes"]),
        (&Value::Null, &json!([]))
    );
    assert_eq!(
        (&empty["leaves"], &empty["depth"]),
        (&json!(4), &json!([2, 2]))
    );
    story::upload(&client, &id, story::records(0, 60))
        .await
        .expect(201);
    story::upload(&client, &id, story::records(60, 120))
        .await
        .expect(201);

    let own = review("ward").send().await.expect(200);
    assert_eq!(own["version"], 2);
    let covered = json!({"attribute": "ward", "records": 120, "missing": 0, "obstacle": null,
        "unused_leaves": 0,
        "lacking": {"distinct": 0, "is_least": false, "records": 0, "values": []}});
    assert_eq!(own["attributes"], json!([covered]));

    // A revision that an upload could not be read with.
    story::put_hierarchy(&client, &id, ("other", OTHER)).await;
    let none = review("other").send().await.expect(200);
    assert_eq!(none["attributes"], json!([]), "no attribute names it");
    let violets = story::records(0, 120).matches("violet").count();
    let found = review("other").query("attribute", "ward").send().await;
    let found = found.expect(200);
    assert_eq!(
        found["unbalanced"],
        json!({"count": 1, "labels": ["green"]})
    );
    assert_eq!(
        found["single_child"],
        json!({"count": 1, "labels": ["cold"]})
    );
    assert_eq!(
        found["largest"],
        json!({"label": "warm", "leaves": 2, "share": 0.5})
    );
    let covered = &found["attributes"][0];
    assert_eq!(covered["unused_leaves"], 1);
    assert_eq!(
        covered["lacking"]["values"],
        json!([{"value": "violet", "records": violets}])
    );

    // Nobody shares a number with four others: they are counted, not told.
    let numbers = review("other").query("attribute", "cost").send().await;
    let numbers = numbers.expect(200)["attributes"][0].clone();
    assert_eq!(
        (
            &numbers["lacking"]["records"],
            &numbers["lacking"]["values"]
        ),
        (&json!(120), &json!([]))
    );
    for name in ["patient", "street"] {
        let refused = review("other").query("attribute", name).send().await;
        let problem = refused.expect_problem(404, "not-found");
        assert!(!problem.to_string().contains(name), "{problem}");
    }
    let digest = own["digest"].as_str().expect("a digest");
    let elsewhere = review("other").query("digest", digest).send().await;
    elsewhere.expect_problem(404, "not-found");
}

async fn a_review_is_for_those_who_may_read_what_it_is_of(server: Server) {
    let steward = server.key(&["steward"]).await;
    let put = async |name: &str| {
        let call = steward.call("put_hierarchy").at("name", name);
        let put = call.body("text/csv", OTHER).send().await;
        put.expect(201);
    };
    put("wing").await;
    let id = story::dataset(&steward).await;
    let review = steward.call("review_hierarchy").at("name", "wing");
    let found = review.send().await.expect(200);
    assert_eq!(
        (&found["library"], &found["nodes"]),
        (&json!(true), &json!(7))
    );

    // No schema of the dataset names it: a steward of all reads it anyhow.
    let beside = |client: &crate::common::client::Client| {
        let call = client.call("review_dataset_hierarchy").at("id", &id);
        call.at("name", "wing").query("attribute", "ward")
    };
    let found = beside(&steward).send().await.expect(200);
    assert_eq!(found["library"], true);
    let tied = server.key_for(&["steward"], json!([id])).await;
    beside(&tied).send().await.expect_problem(404, "not-found");
    let alone = tied.call("review_hierarchy").at("name", "wing");
    alone.send().await.expect_problem(404, "not-found");
    let own = tied.call("review_dataset_hierarchy").at("id", &id);
    own.at("name", "ward").send().await.expect(200);

    let uploader = server.key(&["uploader"]).await;
    let alone = uploader.call("review_hierarchy").at("name", "wing");
    alone.send().await.expect(200);
    let refused = beside(&uploader).send().await;
    refused.expect_problem(403, "forbidden");
}
