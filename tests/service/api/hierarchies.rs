//! Hierarchies: put once, never changed, revised only on demand.

use serde_json::json;

use super::{Server, on_both, story};

on_both!(
    a_hierarchy_is_put_once_and_revised_only_on_demand,
    a_hierarchy_comes_as_csv_as_a_tree_or_as_intervals,
    a_hierarchy_that_contradicts_itself_is_refused,
);

async fn a_hierarchy_is_put_once_and_revised_only_on_demand(server: Server) {
    let steward = server.key(&["steward"]).await;
    let put = |content: &'static str| {
        steward
            .call("put_hierarchy")
            .at("name", "ward")
            .body("text/csv", content)
    };
    let first = put(story::HIERARCHY).send().await.expect(201);
    assert_eq!((&first["leaves"], &first["height"]), (&json!(4), &json!(2)));
    let same = put(story::HIERARCHY).send().await.expect(200);
    assert_eq!(same, first);
    let other = "red;*\nblue;*\n";
    let refused = put(other).send().await;
    let problem = refused.expect_problem(409, "hierarchy-exists");
    assert_eq!(problem["hierarchy"], "ward");
    let second = put(other)
        .query("new_version", true)
        .send()
        .await
        .expect(201);
    assert_ne!(second["digest"], first["digest"]);

    let get = || steward.call("get_hierarchy").at("name", "ward");
    let latest = get().send().await.expect(200);
    assert_eq!(
        (&latest["revision"], &latest["digest"]),
        (&json!(2), &second["digest"])
    );
    let digest = first["digest"].as_str().expect("a digest");
    let older = get()
        .query("digest", digest)
        .query("content", true)
        .send()
        .await;
    assert_eq!(older.media_type(), Some("text/csv"));
    assert_eq!(older.text(), story::HIERARCHY);
    let elsewhere = steward
        .call("get_hierarchy")
        .at("name", "other")
        .query("digest", digest);
    elsewhere.send().await.expect_problem(404, "not-found");
}

async fn a_hierarchy_comes_as_csv_as_a_tree_or_as_intervals(server: Server) {
    let steward = server.key(&["steward"]).await;
    let put = |name: &str, document: serde_json::Value| {
        steward
            .call("put_hierarchy")
            .at("name", name)
            .json(&document)
    };
    let tree = json!({"label": "*", "children": [
        {"label": "warm", "children": [{"label": "red"}, {"label": "orange"}]},
        {"label": "cold", "children": [{"label": "blue"}, {"label": "violet"}]}]});
    let tree = put("tree", tree).send().await.expect(201);
    let csv = steward
        .call("put_hierarchy")
        .at("name", "csv")
        .body("text/csv", story::HIERARCHY);
    assert_eq!(csv.send().await.expect(201)["digest"], tree["digest"]);
    let intervals = json!({"intervals": {"origin": 0, "width": 5, "fanouts": [2, 5]}});
    let intervals = put("intervals", intervals).send().await.expect(201);
    assert_eq!(intervals["leaves"], 0);
    let content = steward
        .call("get_hierarchy")
        .at("name", "intervals")
        .query("content", true);
    let content = content.send().await.expect(200);
    assert_eq!(content["intervals"]["fanouts"], json!([2, 5]));
}

async fn a_hierarchy_that_contradicts_itself_is_refused(server: Server) {
    let steward = server.key(&["steward"]).await;
    let put = || steward.call("put_hierarchy").at("name", "ward");
    for content in ["", "a\n", "a;*\nb;+\n", "a;*\na;*\n"] {
        let refused = put().body("text/csv", content).send().await;
        refused.expect_problem(422, "invalid-hierarchy");
    }
    let refused = put().body("application/json", "{").send().await;
    refused.expect_problem(422, "invalid-hierarchy");
    let refused = put().body("application/xml", "<a/>").send().await;
    refused.expect_problem(415, "unsupported-media-type");
    let name = "x".repeat(65);
    let refused = steward
        .call("put_hierarchy")
        .at("name", name)
        .body("text/csv", "a;*\n");
    refused.send().await.expect_problem(400, "invalid-id");
    let missing = steward
        .call("get_hierarchy")
        .at("name", "ward")
        .send()
        .await;
    missing.expect_problem(404, "not-found");
}
