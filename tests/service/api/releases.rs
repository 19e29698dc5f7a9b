//! Releases: drafts for stewards, published ones for analysts, and consent
//! that moved in between.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Client, description};

on_both!(
    a_draft_is_hidden_from_analysts_until_it_is_published,
    a_withdrawn_release_keeps_its_manifest_and_loses_its_bytes,
    publishing_is_refused_where_preferences_moved_against_the_draft,
    an_automatic_release_is_public_at_once,
    analysts_see_the_public_part_of_report_and_verification,
);

async fn listed(client: &Client) -> Vec<Value> {
    let list = client.call("list_releases").send().await.expect(200);
    let items = list["items"].as_array().expect("items");
    items.iter().map(|item| item["id"].clone()).collect()
}

async fn a_draft_is_hidden_from_analysts_until_it_is_published(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    assert_eq!(listed(&steward).await, [json!(release)]);
    assert!(listed(&analyst).await.is_empty());
    let drafts = analyst
        .call("list_releases")
        .query("state", "draft")
        .send()
        .await
        .expect(200);
    assert_eq!(drafts["items"], json!([]));
    for call in [
        analyst.call("get_release"),
        analyst.call("get_release_table").at("table", "microdata"),
        analyst.call("get_release_report"),
        analyst.call("get_release_verification"),
    ] {
        call.at("id", &release)
            .send()
            .await
            .expect_problem(404, "not-found");
    }
    let draft = steward
        .call("get_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    assert_eq!(draft["state"], "draft");
    assert_eq!(draft["manifest"]["format"], "vizard-release/1");
    description().validate(
        &description().shape("Manifest"),
        &draft["manifest"],
        "the manifest",
    );

    let publish = || {
        steward
            .call("publish_release")
            .at("id", &release)
            .json(&json!({}))
    };
    let published = publish().send().await.expect(200);
    assert_eq!(published["state"], "published");
    assert_eq!(publish().send().await.expect(200), published);
    assert_eq!(listed(&analyst).await, [json!(release)]);
    let seen = analyst
        .call("get_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    // How many records were left out is for stewards.
    let mut public = draft["manifest"].clone();
    for private in ["excluded", "suppressed"] {
        let removed = public.as_object_mut().expect("fields").remove(private);
        assert!(removed.is_some(), "{private}");
    }
    assert_eq!(seen["manifest"], public);
    assert!(draft["job"].is_string() && seen["job"].is_null());
    let text = seen.to_string();
    assert!(!text.contains("seed"), "the seed is in no manifest");
}

async fn a_withdrawn_release_keeps_its_manifest_and_loses_its_bytes(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    steward
        .call("publish_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    let withdrawn = steward
        .call("withdraw_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    assert_eq!(withdrawn["state"], "withdrawn");
    let view = steward
        .call("get_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    assert_eq!(view["manifest"]["engine"], "lgb");
    let table = steward
        .call("get_release_table")
        .at("id", &release)
        .at("table", "microdata");
    table.send().await.expect_problem(409, "release-state");
    let publish = steward
        .call("publish_release")
        .at("id", &release)
        .send()
        .await;
    publish.expect_problem(409, "release-state");
    let hidden = analyst.call("get_release").at("id", &release).send().await;
    hidden.expect_problem(404, "not-found");
}

async fn publishing_is_refused_where_preferences_moved_against_the_draft(server: Server) {
    server.work();
    let client = server.key(&["steward", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let set = async |subject: &str, terms: Value| {
        let put = client
            .call("put_preference")
            .at("id", &id)
            .at("subject", subject);
        put.json(&terms).send().await.expect(200);
    };
    let draft = story::release(&client, &story::job(&id)).await;
    // What the draft gives everyone already, and what concerns nobody in it.
    set(
        "p1",
        json!({"max_leakage": 0.5, "max_reidentification": 0.5}),
    )
    .await;
    set("nobody", json!({"exclude": true})).await;
    let publish = async |release: &str| server.publish(&client, release).await;
    publish(&draft).await.expect(200);

    for (subject, terms) in [
        ("p2", json!({"exclude": true})),
        ("p3", json!({"max_leakage": 0.49})),
        ("p4", json!({"sensitive": ["age"]})),
    ] {
        let draft = story::release(&client, &story::job(&id)).await;
        set(subject, terms).await;
        let refused = publish(&draft).await;
        refused.expect_problem(409, "preferences-moved");
        assert!(!refused.text().contains(subject));
        let view = client
            .call("get_release")
            .at("id", &draft)
            .send()
            .await
            .expect(200);
        assert_eq!(view["state"], "draft");
        // A job that knows the new terms is published.
        let draft = story::release(&client, &story::job(&id)).await;
        publish(&draft).await.expect(200);
    }
}

async fn an_automatic_release_is_public_at_once(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    let mut spec = story::job(&id);
    spec["publish"] = json!("automatic");
    let release = story::release(&steward, &spec).await;
    assert_eq!(listed(&analyst).await, [json!(release)]);
}

async fn analysts_see_the_public_part_of_report_and_verification(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    let release = story::release(&steward, &story::job(&id)).await;
    steward
        .call("publish_release")
        .at("id", &release)
        .send()
        .await
        .expect(200);
    let report = |client: &Client| client.call("get_release_report").at("id", &release);
    let all = report(&steward).send().await.expect(200);
    let public = report(&analyst).send().await.expect(200);
    let measures = |report: &Value| report["measures"].as_object().expect("measures").clone();
    assert!(
        measures(&all)
            .values()
            .any(|measure| measure["audience"] == "steward")
    );
    assert!(!measures(&public).is_empty());
    assert!(
        measures(&public)
            .values()
            .all(|measure| measure["audience"] == "analyst")
    );
    let page = report(&analyst).header("accept", "text/html").send().await;
    assert_eq!(page.media_type(), Some("text/html"));
    assert!(page.text().contains("<svg"), "histograms are drawn");
    assert!(page.header("content-security-policy").is_some());
    let refused = report(&analyst).header("accept", "image/png").send().await;
    refused.expect_problem(406, "not-acceptable");

    let verification = |client: &Client| client.call("get_release_verification").at("id", &release);
    let all = verification(&steward).send().await.expect(200);
    let public = verification(&analyst).send().await.expect(200);
    assert_eq!(
        (&all["holds"], &public["holds"]),
        (&json!(true), &json!(true))
    );
    assert!(all["structure"].is_array() && all["attacks"].is_array());
    assert!(public.get("structure").is_none() && public.get("attacks").is_none());
    let checks = public["guarantees"].as_array().expect("guarantees");
    assert!(!checks.is_empty() && checks.iter().all(|check| check.get("worst").is_none()));
}
