//! A series of releases of the same people that goes on safely.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    increments_have_only_subjects_who_were_not_public,
    a_series_goes_on_with_the_latest_version,
    weeks_of_the_same_people_keep_their_sets_of_values,
    weeks_of_the_same_people_keep_their_groups,
    groups_of_a_series_are_joined_for_other_readers,
    sets_are_kept_by_engines_whose_blocks_have_each_value_once,
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

    // Without a series as well, once records were replaced.
    let mut alone = story::job(&id);
    alone["version"] = json!(1);
    post(&alone).await.expect(202);
    let upload = steward.call("upload_records").at("id", &id);
    let upload = upload.query("mode", "replace");
    let replaced = upload.body("text/csv", story::records(60, 180));
    replaced.send().await.expect(201);
    for version in [1, 2] {
        alone["version"] = json!(version);
        let refused = post(&alone).await;
        let problem = refused.expect_problem(422, "invalid-parameter");
        assert_eq!(problem["parameter"], "version");
    }
    alone["version"] = json!(3);
    post(&alone).await.expect(202);
}

/// A dataset of the patients of a clinic, as yet without one.
pub(super) async fn clinic(steward: &Client) -> String {
    let schema = json!({
        "name": "clinic", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "illness", "role": "sensitive", "type": "categorical"}
        ]
    });
    let made = steward.call("create_dataset").json(&schema).send().await;
    made.expect(201)["id"].as_str().expect("an id").to_owned()
}

/// Replaces the patients by those of these numbers.
pub(super) async fn replaced(steward: &Client, dataset: &str, patients: std::ops::Range<u32>) {
    let mut records = String::from("patient,age,illness\n");
    for at in patients {
        let illness =
            ["flu", "gout", "ulcer", "mumps", "stroke", "asthma"][(at * 5 / 3 % 6) as usize];
        records.push_str(&format!("p{at},{},{illness}\n", 20 + at * 13 % 60));
    }
    let upload = steward.call("upload_records").at("id", dataset);
    let upload = upload.query("mode", "replace");
    upload.body("text/csv", records).send().await.expect(201);
}

/// A job that keeps the sets of values shown before.
fn invariant(dataset: &str) -> Value {
    json!({
        "dataset": dataset, "engine": "arp", "parameters": {"l": 3},
        "series": {"mode": "invariant"}, "report": {"queries": 20},
    })
}

async fn weeks_of_the_same_people_keep_their_sets_of_values(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = clinic(&steward).await;
    let mut job = invariant(&id);
    job["publish"] = json!("automatic");
    let weeks = [0..120, 0..120, 7..141, 13..141];
    for (week, patients) in weeks.into_iter().enumerate() {
        // Some left, others came.
        replaced(&steward, &id, patients).await;
        let release = story::release(&steward, &job).await;
        let seen = steward.call("get_release").at("id", &release).send().await;
        let seen = seen.expect(200);
        assert_eq!(seen["state"], "published", "week {week}: {seen}");
        let manifest = &seen["manifest"];
        assert_eq!(manifest["input"]["series"], "invariant");
        let beside = manifest["composition"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        assert_eq!(beside.len(), week);
        for other in beside {
            assert_eq!(other["safe"], true);
            // The same people may stand in the same blocks again.
            let shape = &other["attributes"][0]["shape"];
            assert!(
                shape == "invariant" || week == 1 && shape == "nested",
                "{other}"
            );
        }
        let kept = &manifest["kept"]["attributes"][0];
        // Who comes takes the places of those who left; then nobody comes.
        assert_eq!(
            kept["counterfeits"] != json!(0),
            week == 3,
            "week {week}: {kept}"
        );
        let columns = manifest["tables"][1]["columns"]
            .as_array()
            .expect("columns");
        assert_eq!(columns[4]["name"], "counterfeits");
        if week == 1 {
            // A withdrawn release was read: what it showed is kept.
            let withdraw = steward.call("withdraw_release").at("id", &release);
            withdraw.send().await.expect(200);
        }
    }

    // No counterfeits are allowed, and some are needed.
    let mut strict = job.clone();
    strict["series"]["max_counterfeits"] = json!(0.000_001);
    let ended = story::ended(&steward, &story::queue(&steward, &strict).await).await;
    let problem = &ended["problem"];
    assert_eq!(problem["type"], "urn:vizard:problem:infeasible", "{ended}");
    assert_eq!(problem["parameter"], "series.max_counterfeits");

    // A release that does not keep the sets is refused, with the figures.
    let mut other = job.clone();
    other["series"] = Value::Null;
    other["publish"] = json!("manual");
    let other = story::release(&steward, &other).await;
    let refused = publish(&steward, &other).await;
    let detail = refused.expect_problem(409, "composition")["detail"].clone();
    let detail = detail.as_str().expect("a text");
    assert!(
        detail.contains("do not keep their set of values"),
        "{detail}"
    );
}

/// A job that keeps the groups shown before.
fn nested(dataset: &str) -> Value {
    json!({
        "dataset": dataset, "engine": "mondrian", "parameters": {"k": 4, "l": 3},
        "series": {"mode": "nested"}, "report": {"queries": 20}, "publish": "automatic",
    })
}

async fn weeks_of_the_same_people_keep_their_groups(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = clinic(&steward).await;
    let job = nested(&id);
    // Nobody leaves; then somebody does, and others come.
    for (week, patients) in [0..120, 0..140, 2..141].into_iter().enumerate() {
        let last = patients.end;
        replaced(&steward, &id, patients).await;
        let release = story::release(&steward, &job).await;
        let seen = steward.call("get_release").at("id", &release).send().await;
        let seen = seen.expect(200);
        assert_eq!(seen["state"], "published", "week {week}: {seen}");
        let manifest = &seen["manifest"];
        assert_eq!(manifest["input"]["series"], "nested");
        let beside = manifest["composition"].as_array();
        for other in beside.map_or(&[][..], Vec::as_slice) {
            assert_eq!(other["safe"], true);
            assert_eq!(other["attributes"][0]["shape"], "nested");
        }
        let rows = manifest["tables"][0]["rows"].as_u64().expect("rows");
        let companions = manifest["kept"]["companions"].as_u64().unwrap_or(0);
        if week < 2 {
            assert_eq!((rows, companions), (u64::from(last), 0));
        } else {
            assert!(companions >= 10 && rows >= 100, "{rows} {companions}");
        }
        let seen = analyst.call("get_release").at("id", &release).send().await;
        let seen = &seen.expect(200)["manifest"]["kept"];
        assert!(seen["companions"].is_null() && seen["waiting"].is_null());
        if week == 1 {
            // What a withdrawn release showed is kept as well.
            let withdraw = steward.call("withdraw_release").at("id", &release);
            withdraw.send().await.expect(200);
        }
    }
    let strict = ended_with(&steward, &job, |job| {
        job["series"]["max_companions"] = json!(0.000_001);
    });
    let strict = strict.await;
    assert_eq!(strict["type"], "urn:vizard:problem:infeasible");
    assert_eq!(strict["parameter"], "series.max_companions");
    let finer = ended_with(&steward, &job, |job| job["parameters"]["k"] = json!(30));
    let finer = finer.await;
    assert_eq!(finer["type"], "urn:vizard:problem:invalid-parameter");

    // A series begins with its first release.
    let other = clinic(&steward).await;
    replaced(&steward, &other, 0..120).await;
    let mut alone = nested(&other);
    alone["series"] = Value::Null;
    story::release(&steward, &alone).await;
    let late = ended_with(&steward, &nested(&other), |_| {}).await;
    assert_eq!(late["type"], "urn:vizard:problem:series-unsafe");
}

async fn groups_of_a_series_are_joined_for_other_readers(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = clinic(&steward).await;
    replaced(&steward, &id, 0..120).await;
    let join = |job: &mut Value| {
        job["parameters"]["k"] = json!(25);
        job["series"]["join_groups"] = json!(true);
    };
    let job = nested(&id);
    let early = ended_with(&steward, &job, join).await;
    assert_eq!(early["type"], "urn:vizard:problem:invalid-parameter");
    assert_eq!(early["parameter"], "series.join_groups");
    let how = early["detail"].as_str().expect("a text");
    assert!(how.contains("publish one first"), "{how}");
    let first = story::release(&steward, &job).await;
    let mut joined = job.clone();
    join(&mut joined);
    let larger = story::release(&steward, &joined).await;
    let seen = steward.call("get_release").at("id", &larger).send().await;
    let seen = seen.expect(200);
    assert_eq!(seen["state"], "published", "{seen}");
    let manifest = &seen["manifest"];
    assert_eq!(manifest["kept"]["joins_groups"], true);
    assert_eq!(manifest["composition"][0]["release"], json!(first));
    assert_eq!(manifest["composition"][0]["safe"], true);
    assert_eq!(manifest["tables"][0]["rows"], 120);
    let said = manifest["not_protected"].to_string();
    assert!(said.contains("joined to larger ones"), "{said}");
    // The series goes on beside it.
    replaced(&steward, &id, 0..140).await;
    let next = story::release(&steward, &job).await;
    let seen = steward.call("get_release").at("id", &next).send().await;
    assert_eq!(seen.expect(200)["state"], "published");

    let mut of_sets = invariant(&id);
    of_sets["series"]["join_groups"] = json!(true);
    let mut of_blocks = joined.clone();
    of_blocks["engine"] = json!("arp");
    of_blocks["parameters"] = json!({"l": 3, "publish": "generalization"});
    for refused in [of_sets, of_blocks] {
        let refused = steward.call("create_job").json(&refused).send().await;
        let problem = refused.expect_problem(422, "invalid-parameter");
        assert_eq!(problem["parameter"], "series.join_groups");
    }
}

/// The problem that a job fails with, once it was changed.
async fn ended_with(steward: &Client, job: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut job = job.clone();
    change(&mut job);
    let queued = story::queue(steward, &job).await;
    let ended = story::ended(steward, &queued).await;
    assert_eq!(ended["state"], "failed", "{ended}");
    ended["problem"].clone()
}

async fn sets_are_kept_by_engines_whose_blocks_have_each_value_once(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = clinic(&steward).await;
    replaced(&steward, &id, 0..120).await;
    let post = async |job: &Value| steward.call("create_job").json(job).send().await;
    let mut job = invariant(&id);
    job["engine"] = json!("aip");
    let refused = post(&job).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "series.mode");
    let mut counted = increments(&id);
    counted["series"]["max_counterfeits"] = json!(0.1);
    let refused = post(&counted).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "series.max_counterfeits");
    let mut changing = increments(&id);
    changing["series"]["changes"] = json!("visible");
    let refused = post(&changing).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "series.changes");
    let mut none = invariant(&id);
    none["series"]["max_counterfeits"] = json!(0);
    post(&none).await.expect_problem(422, "invalid-body");

    // What groups of rows showed cannot be kept by buckets.
    let mut grouped = invariant(&id);
    grouped["engine"] = json!("mondrian");
    grouped["parameters"] = json!({"k": 5});
    grouped["series"] = Value::Null;
    let first = story::release(&steward, &grouped).await;
    publish(&steward, &first).await.expect(200);
    let ended = story::ended(&steward, &story::queue(&steward, &invariant(&id)).await).await;
    assert_eq!(ended["state"], "failed");
    assert_eq!(
        ended["problem"]["type"], "urn:vizard:problem:series-unsafe",
        "{ended}"
    );
}
