//! Four eyes: what takes two stewards is published by the second one.

use serde_json::{Value, json};
use vizard::config::{SecondSteward, Settings};

use super::floors::set;
use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    an_exception_is_published_by_the_second_steward,
    one_steward_never_publishes_an_exception_however_often_they_call,
    two_stewards_who_call_at_once_publish_once,
    an_approval_is_void_once_another_release_is_public,
    an_approval_is_void_once_the_floors_are_stricter,
    terms_are_compared_again_at_the_second_call,
    both_stewards_acknowledge_other_releases,
    every_publication_takes_two_where_the_operator_says_so,
    no_publication_takes_two_where_the_operator_says_so,
    an_approval_goes_with_its_draft,
);

const REASON: &str = "the hospital board asked for it";

async fn publish(steward: &Client, release: &str, body: Value) -> Answer {
    let call = steward.call("publish_release").at("id", release);
    call.json(&body).send().await
}

async fn read(client: &Client, release: &str) -> Value {
    let seen = client.call("get_release").at("id", release).send().await;
    seen.expect(200)
}

/// Two stewards, a dataset with a floor that its jobs are below, and a draft
/// made under an exception.
struct Excepted {
    one: Client,
    other: Client,
    dataset: String,
    release: String,
}

/// A job below the floor of `excepted`.
fn excepted_job(dataset: &str) -> Value {
    let mut job = story::job(dataset);
    job["floor_exception"] = json!(REASON);
    job
}

async fn excepted(server: &Server) -> Excepted {
    server.work();
    let one = server.key(&["uploader", "steward", "consent"]).await;
    let other = server.key(&["steward"]).await;
    let dataset = story::filled_dataset(&one).await;
    set(server, &dataset, json!({"k_min": 5})).await;
    let release = story::release(&one, &excepted_job(&dataset)).await;
    Excepted {
        one,
        other,
        dataset,
        release,
    }
}

async fn another(server: &Server, settings: Settings) -> Server {
    if server.url.starts_with("sqlite:") {
        Server::sqlite_with(settings).await
    } else {
        Server::postgres_with(settings).await.expect("it is there")
    }
}

async fn an_exception_is_published_by_the_second_steward(server: Server) {
    let Excepted {
        one,
        other,
        release,
        ..
    } = excepted(&server).await;
    let (analyst, auditor) = (
        server.key(&["analyst"]).await,
        server.key(&["auditor"]).await,
    );
    assert_eq!(read(&one, &release).await["awaiting_second_steward"], false);

    let approved = publish(&one, &release, json!({})).await.expect(202);
    assert_eq!(
        (&approved["state"], &approved["awaiting_second_steward"]),
        (&json!("draft"), &json!(true))
    );
    let seen = read(&other, &release).await;
    assert_eq!(seen["awaiting_second_steward"], true);
    let approval = &seen["approval"];
    assert!(
        approval["approved_by"]
            .as_str()
            .is_some_and(|by| by.starts_with("key_"))
    );
    assert!(approval["approved_at"].is_string());
    assert_eq!(approval["grounds"][0]["kind"], "floor_exception");
    assert_eq!(approval["grounds"][0]["reason"], REASON);
    assert_eq!(approval["grounds"][0]["below"][0]["parameter"], "k");
    let hidden = analyst.call("get_release").at("id", &release).send().await;
    hidden.expect_problem(404, "not-found");

    let public = publish(&other, &release, json!({})).await.expect(200);
    assert_eq!(public["state"], "published");
    let seen = read(&analyst, &release).await;
    assert!(seen.get("approval").is_none() && seen.get("awaiting_second_steward").is_none());
    assert!(!seen.to_string().contains("key_"), "{seen}");
    let exception = &seen["manifest"]["floor_exception"];
    assert_eq!(exception["reason"], REASON);
    assert_eq!(exception["below"][0]["floor"], "k_min");
    let said = seen["manifest"]["not_protected"].to_string();
    assert!(
        said.contains(REASON) && said.contains("k is 2, and k_min of the dataset is 5"),
        "{said}"
    );

    let ledger = auditor.call("list_ledger").send().await.expect(200);
    let entry = &ledger["items"][0];
    assert_eq!(entry["grounds"][0]["reason"], REASON);
    let both = [&entry["approval"]["by"], &entry["published"]["by"]];
    assert_eq!(both[0], &approval["approved_by"]);
    assert_ne!(both[0], both[1]);
    let rows = auditor.call("list_audit").query("limit", 200).send().await;
    let rows = rows.expect(200);
    let actions = rows["items"].as_array().expect("a list").iter();
    let actions: Vec<_> = actions
        .filter(|row| row["object_id"] == json!(release))
        .map(|row| row["action"].clone())
        .collect();
    assert_eq!(actions, ["publish_release", "approve_release"]);
}

async fn one_steward_never_publishes_an_exception_however_often_they_call(server: Server) {
    let Excepted { one, release, .. } = excepted(&server).await;
    let calls = (0..8).map(|_| {
        let (one, release) = (one.clone(), release.clone());
        tokio::spawn(async move { publish(&one, &release, json!({})).await.status })
    });
    let calls: Vec<_> = calls.collect();
    let mut statuses = Vec::new();
    for call in calls {
        statuses.push(call.await.expect("an answer"));
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [vec![202], vec![409; 7]].concat());
    let again = publish(&one, &release, json!({})).await;
    again.expect_problem(409, "second-steward");
    assert_eq!(read(&one, &release).await["state"], "draft");
}

async fn two_stewards_who_call_at_once_publish_once(server: Server) {
    let Excepted {
        one,
        other,
        release,
        ..
    } = excepted(&server).await;
    let (first, second) = tokio::join!(
        publish(&one, &release, json!({})),
        publish(&other, &release, json!({}))
    );
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 202]);
    assert_eq!(read(&one, &release).await["state"], "published");
}

async fn an_approval_is_void_once_another_release_is_public(server: Server) {
    let Excepted {
        one,
        other,
        dataset,
        release,
    } = excepted(&server).await;
    publish(&one, &release, json!({})).await.expect(202);
    let mut plain = story::job(&dataset);
    plain["parameters"]["k"] = json!(5);
    let plain = story::release(&one, &plain).await;
    publish(&one, &plain, json!({})).await.expect(200);

    // The first steward did not know of it: what the second one says is a first word.
    let body = json!({"acknowledge_composition": true, "reason": "both are needed"});
    let refused = publish(&other, &release, json!({})).await;
    refused.expect_problem(409, "composition");
    publish(&other, &release, body.clone()).await.expect(202);
    publish(&other, &release, body.clone())
        .await
        .expect_problem(409, "second-steward");
    publish(&one, &release, body).await.expect(200);
}

async fn an_approval_is_void_once_the_floors_are_stricter(server: Server) {
    let Excepted {
        one,
        other,
        dataset,
        release,
    } = excepted(&server).await;
    publish(&one, &release, json!({})).await.expect(202);
    set(&server, &dataset, json!({"k_min": 5, "l_min": 4})).await;
    publish(&other, &release, json!({})).await.expect(202);
    assert_eq!(read(&one, &release).await["state"], "draft");
    publish(&one, &release, json!({})).await.expect(200);
}

async fn terms_are_compared_again_at_the_second_call(server: Server) {
    let Excepted {
        one,
        other,
        dataset,
        release,
    } = excepted(&server).await;
    publish(&one, &release, json!({})).await.expect(202);
    let terms = one
        .call("put_preference")
        .at("id", &dataset)
        .at("subject", "p1");
    terms
        .json(&json!({"exclude": true}))
        .send()
        .await
        .expect(200);
    let refused = publish(&other, &release, json!({})).await;
    refused.expect_problem(409, "preferences-moved");
}

async fn both_stewards_acknowledge_other_releases(server: Server) {
    let Excepted {
        one,
        other,
        dataset,
        release,
    } = excepted(&server).await;
    let mut plain = story::job(&dataset);
    plain["parameters"]["k"] = json!(5);
    let plain = story::release(&one, &plain).await;
    publish(&one, &plain, json!({})).await.expect(200);
    let body = json!({"acknowledge_composition": true, "reason": "both are needed"});
    let refused = publish(&one, &release, json!({})).await;
    refused.expect_problem(409, "composition");
    publish(&one, &release, body.clone()).await.expect(202);
    let approval = read(&other, &release).await["approval"].clone();
    assert_eq!(approval["acknowledged"]["with"], json!([plain]));
    assert_eq!(approval["acknowledged"]["reason"], "both are needed");
    let refused = publish(&other, &release, json!({})).await;
    refused.expect_problem(409, "composition");
    publish(&other, &release, body).await.expect(200);
}

async fn every_publication_takes_two_where_the_operator_says_so(server: Server) {
    let settings = Settings {
        second_steward: SecondSteward::Always,
        ..Settings::default()
    };
    let server = another(&server, settings).await;
    server.work();
    let one = server.key(&["uploader", "steward"]).await;
    let other = server.key(&["steward"]).await;
    let mut job = story::job(&story::filled_dataset(&one).await);
    let release = story::release(&one, &job).await;
    publish(&one, &release, json!({})).await.expect(202);
    publish(&one, &release, json!({}))
        .await
        .expect_problem(409, "second-steward");
    let public = publish(&other, &release, json!({})).await.expect(200);
    assert_eq!(
        public["approval"]["grounds"][0]["kind"],
        "every_publication"
    );
    assert!(
        read(&one, &release).await["manifest"]
            .get("floor_exception")
            .is_none()
    );
    job["publish"] = json!("automatic");
    let refused = one.call("create_job").json(&job).send().await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "publish");
}

async fn no_publication_takes_two_where_the_operator_says_so(server: Server) {
    let settings = Settings {
        second_steward: SecondSteward::Never,
        ..Settings::default()
    };
    let server = another(&server, settings).await;
    let Excepted { one, release, .. } = excepted(&server).await;
    publish(&one, &release, json!({})).await.expect(200);
    let manifest = read(&one, &release).await["manifest"].clone();
    assert_eq!(manifest["floor_exception"]["reason"], REASON);
}

async fn an_approval_goes_with_its_draft(server: Server) {
    let Excepted {
        one,
        other,
        dataset,
        release,
    } = excepted(&server).await;
    publish(&one, &release, json!({})).await.expect(202);
    let erased = one.call("erase_dataset").at("id", &dataset).send().await;
    assert!(matches!(erased.status, 200 | 202), "{}", erased.text());
    publish(&other, &release, json!({}))
        .await
        .expect_problem(404, "not-found");

    let kept = excepted(&server).await;
    publish(&kept.one, &kept.release, json!({}))
        .await
        .expect(202);
    let withdraw = kept.one.call("withdraw_release").at("id", &kept.release);
    withdraw.send().await.expect(200);
    publish(&kept.other, &kept.release, json!({}))
        .await
        .expect_problem(409, "release-state");
}
