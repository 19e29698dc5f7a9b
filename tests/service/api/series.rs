//! A series of releases of the same people that goes on safely.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    increments_have_only_subjects_who_were_not_public,
    a_series_goes_on_with_the_latest_version,
);

async fn publish(steward: &Client, release: &str) -> Answer {
    let call = steward.call("publish_release").at("id", release);
    call.json(&json!({})).send().await
}

fn increments(dataset: &str) -> Value {
    let mut job = story::job(dataset);
    job["series"] = json!({"mode": "increments"});
    job
}

async fn increments_have_only_subjects_who_were_not_public(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = increments(&id);
    let first = story::release(&steward, &job).await;
    publish(&steward, &first).await.expect(200);
    let ended = story::ended(&steward, &story::queue(&steward, &job).await).await;
    assert_eq!(ended["state"], "failed");
    assert_eq!(ended["problem"]["type"], "urn:vizard:problem:nothing-new");

    // Who left is public too, and so is who was in a withdrawn release.
    let withdraw = steward.call("withdraw_release").at("id", &first);
    withdraw.send().await.expect(200);
    let replace = steward
        .call("upload_records")
        .at("id", &id)
        .query("mode", "replace");
    let replaced = replace
        .body("text/csv", story::records(60, 240))
        .send()
        .await;
    replaced.expect(201);
    // Other groups, which by themselves would be refused.
    job["parameters"]["k"] = json!(5);
    job["publish"] = json!("automatic");
    let second = story::release(&steward, &job).await;
    let seen = steward.call("get_release").at("id", &second).send().await;
    let seen = seen.expect(200);
    assert_eq!(seen["state"], "published");
    let manifest = &seen["manifest"];
    assert_eq!(manifest["tables"][0]["rows"], 120);
    assert_eq!(manifest["input"]["series"], "increments");
    assert_eq!(manifest["composition"], Value::Null);

    let third = story::release(&steward, &story::job(&id)).await;
    publish(&steward, &third)
        .await
        .expect_problem(409, "composition");
}

async fn a_series_goes_on_with_the_latest_version(server: Server) {
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let more = story::upload(&steward, &id, story::records(120, 180)).await;
    more.expect(201);
    let mut job = increments(&id);
    let post = async |job: &Value| steward.call("create_job").json(job).send().await;
    job["series"] = json!({"mode": "decrements"});
    post(&job).await.expect_problem(422, "invalid-body");
    job["series"] = json!({});
    post(&job).await.expect_problem(422, "invalid-body");
    let mut older = increments(&id);
    older["version"] = json!(1);
    let refused = post(&older).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "version");
    older["version"] = json!(2);
    post(&older).await.expect(202);
}
