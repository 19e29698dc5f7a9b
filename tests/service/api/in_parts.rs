//! Jobs whose table is published in parts.

use serde_json::{Value, json};

use super::series::{clinic, replaced};
use super::{Server, on_both, story};

on_both!(
    a_table_is_published_in_parts_and_the_manifest_says_so,
    parts_that_an_engine_cannot_keep_are_refused_before_it_runs,
);

async fn a_table_is_published_in_parts_and_the_manifest_says_so(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = story::job(&id);
    job["parts"] = json!({"records_max": 4, "records_min": 2});
    let release = story::release(&steward, &job).await;
    let view = steward.call("get_release").at("id", &release).send().await;
    let view = view.expect(200);
    let made = &view["manifest"]["parts"];
    assert_eq!(made["sizes"], job["parts"]);
    assert!(made["number"].as_u64() > Some(1), "{made}");
    let mut whole = story::job(&id);
    whole["parts"] = Value::Null;
    let release = story::release(&steward, &whole).await;
    let view = steward.call("get_release").at("id", &release).send().await;
    assert!(view.expect(200)["manifest"].get("parts").is_none());
}

async fn parts_that_an_engine_cannot_keep_are_refused_before_it_runs(server: Server) {
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let other = clinic(&steward).await;
    replaced(&steward, &other, 0..20).await;
    let job = json!({
        "dataset": other, "engine": "arp", "parameters": {"l": 2},
        "parts": {"records_max": 4},
    });
    let refused = steward.call("create_job").json(&job).send().await;
    let refused = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(refused["parameter"], "parts");
    for parts in [
        json!({"records_max": 0}),
        json!({"records": 4}),
        json!(4),
        json!({}),
    ] {
        let mut job = story::job(&id);
        job["parts"] = parts;
        let refused = steward.call("create_job").json(&job).send().await;
        refused.expect_problem(422, "invalid-body");
    }
}
