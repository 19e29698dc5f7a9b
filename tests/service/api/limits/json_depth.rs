//! How deep JSON may nest: in bodies, in lines and in hierarchies.

use serde_json::json;
use vizard::config::Limits;

use super::{names, server, version};
use crate::api::{Server, story};
use crate::common::client::Client;

const REFUSED: (u16, &str) = (422, "limit-exceeded");

async fn prepared(json_depth_max: u64) -> (Server, Client, String) {
    let limits = Limits {
        json_depth_max,
        ..Limits::default()
    };
    let server = server(limits).await;
    let client = server.key(&["uploader", "consent"]).await;
    // Three levels: the schema, its attributes, each of them.
    let id = story::dataset(&client).await;
    (server, client, id)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_may_nest_as_deep_as_the_limit_and_no_deeper() {
    let four = json!({"label": "*", "children": [{"label": "a", "children": [{"label": "b"}]}]});
    let three = json!({"label": "*", "children": [{"label": "a"}]});
    let (_server, client, id) = prepared(3).await;
    let put = |subject: &str| {
        client
            .call("put_preference")
            .at("id", &id)
            .at("subject", subject)
    };
    // Read to its end, and judged for what it says.
    let guard = json!({"guard": {"ward": ["warm"]}});
    let read = put("p1").json(&guard).send().await;
    read.expect_problem(422, "invalid-preference");
    let deeper = json!({"guard": {"ward": [["warm"]]}});
    names(
        &put("p1").json(&deeper).send().await,
        REFUSED,
        "json_depth_max",
        3,
    );

    let tree = || {
        client
            .call("put_dataset_hierarchy")
            .at("id", &id)
            .at("name", "h")
    };
    tree().json(&three).send().await.expect(201);
    names(
        &tree().json(&four).send().await,
        REFUSED,
        "json_depth_max",
        3,
    );

    let lines = |line: serde_json::Value| {
        let call = client.call("import_preferences").at("id", &id);
        call.body("application/x-ndjson", format!("{line}\n"))
    };
    let read = lines(json!({"subject": "p2", "sensitive": ["age"]}))
        .send()
        .await;
    read.expect(200);
    let mut preference = deeper.clone();
    preference["subject"] = json!("p2");
    let refused = lines(preference).send().await;
    names(&refused, (422, "invalid-preference"), "json_depth_max", 3);
    assert_eq!(refused.json()["errors"][0]["code"], "nests_too_deep");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_thousand_levels_are_refused_like_one_too_many() {
    let (_server, client, id) = prepared(64).await;
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    for levels in [65, 128, 100_000] {
        let body = format!("{{\"name\": {}}}", deep(levels - 1));
        let calls = [
            client.call("create_dataset"),
            client
                .call("put_dataset_hierarchy")
                .at("id", &id)
                .at("name", "deep"),
            client
                .call("put_preference")
                .at("id", &id)
                .at("subject", "p1"),
        ];
        for call in calls {
            let refused = call.body("application/json", body.clone()).send().await;
            names(&refused, REFUSED, "json_depth_max", 64);
        }
        let line = format!("{{\"patient\": {}}}\n", deep(levels - 1));
        let upload = client.call("upload_records").at("id", &id);
        let refused = upload.body("application/x-ndjson", line).send().await;
        names(&refused, (422, "invalid-data"), "json_depth_max", 64);
        assert_eq!(refused.json()["errors"][0]["code"], "nests_too_deep");
    }
    // As deep as allowed it is read, and does not fit.
    let body = format!("{{\"name\": {}}}", deep(63));
    let read = client.call("create_dataset").body("application/json", body);
    read.send().await.expect_problem(422, "invalid-schema");
    assert_eq!(version(&client, &id).await, 0);
}
