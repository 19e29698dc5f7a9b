//! A second release of the same people: refused until two stewards say why,
//! unless both keep together what each claims; named in both manifests.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_second_release_of_the_same_people_needs_a_reason_and_two_stewards,
    a_draft_says_what_it_tells_together_with_public_releases,
    the_same_groups_again_are_published_by_one_steward,
    what_a_withdrawn_release_showed_still_counts,
    an_automatic_second_release_stays_a_draft,
    of_two_drafts_published_at_once_one_is_public,
    releases_of_other_people_are_published_as_ever,
    attributes_that_identify_are_refused_and_accepted_by_name,
);

async fn publish(steward: &Client, release: &str, body: Value) -> Answer {
    let call = steward.call("publish_release").at("id", release);
    call.json(&body).send().await
}

async fn manifest(client: &Client, release: &str) -> Value {
    let seen = client.call("get_release").at("id", release).send().await;
    seen.expect(200)["manifest"].clone()
}

/// A job that makes other groups of the same people.
fn other_job(dataset: &str) -> Value {
    let mut job = story::job(dataset);
    job["parameters"]["k"] = json!(5);
    job
}

fn reasoned() -> Value {
    json!({"acknowledge_composition": true, "reason": "the ministry asked for both"})
}

async fn a_second_release_of_the_same_people_needs_a_reason_and_two_stewards(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let (analyst, auditor) = (
        server.key(&["analyst"]).await,
        server.key(&["auditor"]).await,
    );
    let id = story::filled_dataset(&steward).await;
    let first = story::release(&steward, &story::job(&id)).await;
    publish(&steward, &first, json!({})).await.expect(200);
    let second = story::release(&steward, &other_job(&id)).await;

    let refused = publish(&steward, &second, json!({})).await;
    let detail = refused.expect_problem(409, "composition")["detail"].clone();
    let detail = detail.as_str().expect("a text");
    for said in [
        first.as_str(),
        "120 subjects",
        "The check of the series fails",
    ] {
        assert!(detail.contains(said), "{said}: {detail}");
    }
    for unfit in [
        json!({"acknowledge_composition": true}),
        json!({"acknowledge_composition": true, "reason": " "}),
        json!({"reason": "no"}),
        json!({"acknowledge_composition": true, "reason": "a\nb"}),
    ] {
        let refused = publish(&steward, &second, unfit).await;
        refused.expect_problem(422, "invalid-body");
    }
    let draft = steward.call("get_release").at("id", &second).send().await;
    assert_eq!(draft.expect(200)["state"], "draft");

    let awaits = publish(&steward, &second, reasoned()).await.expect(202);
    assert_eq!(awaits["state"], "draft");
    assert_eq!(
        awaits["approval"]["grounds"],
        json!([{"kind": "composition"}])
    );
    let again = publish(&steward, &second, reasoned()).await;
    again.expect_problem(409, "second-steward");
    let other = server.key(&["steward"]).await;
    let unsaid = publish(&other, &second, json!({})).await;
    unsaid.expect_problem(409, "composition");
    publish(&other, &second, reasoned()).await.expect(200);
    for (release, other) in [(&first, &second), (&second, &first)] {
        let manifest = manifest(&analyst, release).await;
        let kept = &manifest["composition"][0];
        assert_eq!(kept["release"], json!(other));
        assert_eq!(kept["reason"], "the ministry asked for both");
        assert_eq!(kept["shared_subjects"], 120);
        let said = manifest["not_protected"].as_array().expect("a list").iter();
        let said = said.filter(|text| text.as_str().is_some_and(|text| text.contains(other)));
        assert_eq!(said.count(), 1);
    }
    let ledger = auditor.call("list_ledger").send().await.expect(200);
    let entries = ledger["items"].as_array().expect("a list");
    let entry = entries
        .iter()
        .find(|entry| entry["release"] == json!(second));
    let entry = entry.expect("it is in the ledger");
    let kept = &entry["composition"][0];
    assert_eq!(kept["reason"], "the ministry asked for both");
    let approved = &entry["approval"]["acknowledged"];
    assert_eq!(
        approved,
        &json!({"reason": "the ministry asked for both", "with": [first]})
    );
    assert_ne!(entry["approval"]["by"], entry["published"]["by"]);
}

async fn a_draft_says_what_it_tells_together_with_public_releases(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let first = story::release(&steward, &story::job(&id)).await;
    assert_eq!(
        story::attack(&steward, &first, ("composition", "cost")).await,
        Value::Null
    );
    publish(&steward, &first, json!({})).await.expect(200);
    // Five left.
    let replace = steward.call("upload_records").at("id", &id);
    let replace = replace.query("mode", "replace");
    let replaced = replace.body("text/csv", story::records(5, 120));
    replaced.send().await.expect(201);
    let second = story::release(&steward, &other_job(&id)).await;
    let told = story::attack(&steward, &second, ("composition", "cost")).await;
    assert_eq!(told["figures"]["shared_subjects"], 120.0, "{told}");
    assert!(told["figures"]["certain"].is_number(), "{told}");
    assert_eq!(told["state"], "no_bound");
    let told = story::attack(&steward, &second, ("difference", "cost")).await;
    assert_eq!(told["figures"]["left"], 10.0, "{told}");
    assert_eq!(told["figures"]["came"], 0.0, "{told}");
}

async fn what_a_withdrawn_release_showed_still_counts(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let first = story::release(&steward, &story::job(&id)).await;
    publish(&steward, &first, json!({})).await.expect(200);
    let withdraw = steward.call("withdraw_release").at("id", &first);
    withdraw.send().await.expect(200);
    let second = story::release(&steward, &other_job(&id)).await;
    let refused = publish(&steward, &second, json!({})).await;
    let detail = refused.expect_problem(409, "composition")["detail"].clone();
    let detail = detail.as_str().expect("a text");
    assert!(detail.contains("120 subjects"), "{detail}");
}

async fn an_automatic_second_release_stays_a_draft(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut job = story::job(&id);
    job["publish"] = json!("automatic");
    let state = async |release: &str| {
        let seen = steward.call("get_release").at("id", release).send().await;
        seen.expect(200)["state"].clone()
    };
    let first = story::release(&steward, &job).await;
    assert_eq!(state(&first).await, "published");
    // The same groups again tell nothing new.
    let second = story::release(&steward, &job).await;
    assert_eq!(state(&second).await, "published");
    let mut job = other_job(&id);
    job["publish"] = json!("automatic");
    let third = story::release(&steward, &job).await;
    assert_eq!(state(&third).await, "draft");
}

async fn the_same_groups_again_are_published_by_one_steward(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let auditor = server.key(&["auditor"]).await;
    let id = story::filled_dataset(&steward).await;
    let first = story::release(&steward, &story::job(&id)).await;
    publish(&steward, &first, json!({})).await.expect(200);
    let second = story::release(&steward, &story::job(&id)).await;
    publish(&steward, &second, json!({})).await.expect(200);
    for (release, other) in [(&first, &second), (&second, &first)] {
        let manifest = manifest(&steward, release).await;
        let kept = &manifest["composition"][0];
        assert_eq!(kept["release"], json!(other));
        assert_eq!(
            (&kept["safe"], &kept["reason"]),
            (&json!(true), &Value::Null)
        );
        assert_eq!(kept["shared_subjects"], 120);
        assert_eq!(kept["attributes"][0]["shape"], "nested");
        let said = manifest["not_protected"].to_string();
        assert!(!said.contains(other.as_str()), "{said}");
    }
    let ledger = auditor.call("list_ledger").send().await.expect(200);
    let mut entries = ledger["items"].as_array().expect("a list").iter();
    let entry = entries.find(|entry| entry["release"] == json!(second));
    let entry = entry.expect("it is in the ledger");
    assert_eq!(entry["composition"][0]["safe"], true);
    assert_eq!(entry["grounds"], json!([]));
}

async fn of_two_drafts_published_at_once_one_is_public(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let one = story::release(&steward, &story::job(&id)).await;
    let other = story::release(&steward, &other_job(&id)).await;
    let (first, second) = tokio::join!(
        publish(&steward, &one, json!({})),
        publish(&steward, &other, json!({}))
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
}

async fn releases_of_other_people_are_published_as_ever(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let (one, other) = (
        story::filled_dataset(&steward).await,
        story::filled_dataset(&steward).await,
    );
    // Two datasets are two populations, whatever their subjects are called.
    for id in [one, other] {
        let release = story::release(&steward, &story::job(&id)).await;
        publish(&steward, &release, json!({})).await.expect(200);
        assert_eq!(
            manifest(&steward, &release).await["composition"],
            Value::Null
        );
    }
}

async fn attributes_that_identify_are_refused_and_accepted_by_name(server: Server) {
    server.work();
    let steward = server.key(&["uploader", "steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let schema = json!({
        "name": "laboratory", "subject_key": "patient",
        "attributes": [
            {"name": "patient", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "cost", "role": "sensitive", "type": "integer"},
            {"name": "value", "role": "insensitive", "type": "integer"},
            {"name": "mail", "role": "insensitive", "type": "categorical"}]});
    let made = steward.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let mut csv = String::from("patient,age,cost,value,mail\n");
    for at in 0..120 {
        let (age, cost) = (20 + at % 30, 100 + at * 37 % 900);
        csv += &format!("p{at},{age},{cost},{at},p{at}@example.org\n");
    }
    story::upload(&steward, &id, csv).await.expect(201);
    let mut job = json!({"dataset": id, "engine": "mondrian", "parameters": {"k": 5}});
    let failed = |view: &Value| {
        assert_eq!(view["state"], "failed", "{view}");
        let problem = &view["problem"];
        assert_eq!(
            problem["type"],
            "urn:vizard:problem:exact-attributes-identify"
        );
        assert!(!problem.to_string().contains("example.org"), "{problem}");
        problem["attributes"].clone()
    };
    let run = async |job: &Value| story::ended(&steward, &story::queue(&steward, job).await).await;
    // What values look like is known before anything else.
    assert_eq!(failed(&run(&job).await), json!(["mail"]));
    job["accept_exact"] = json!([{"attribute": "mail", "reason": "made up"}]);
    let view = run(&job).await;
    assert_eq!(failed(&view), json!(["value"]));
    assert_eq!(view["problem"]["records"], json!([120]));
    job["accept_exact"] = json!([{"attribute": "mail"}]);
    let refused = steward.call("create_job").json(&job).send().await;
    refused.expect_problem(422, "invalid-body");
    job["accept_exact"] = json!([{"attribute": "patient", "reason": "x"}]);
    let refused = steward.call("create_job").json(&job).send().await;
    refused.expect_problem(422, "invalid-parameter");

    job["accept_exact"] = json!([
        {"attribute": "mail", "reason": "made up"},
        {"attribute": "value", "reason": "on every door"}]);
    let release = story::release(&steward, &job).await;
    publish(&steward, &release, json!({})).await.expect(200);
    let manifest = manifest(&analyst, &release).await;
    assert_eq!(manifest["accept_exact"], job["accept_exact"]);
    let exact = &manifest["published_exactly"];
    assert_eq!(exact["unique_share_with_quasi_identifiers"], 1.0);
    let said = manifest["not_protected"].to_string();
    assert!(said.contains("on every door"), "{said}");
}
