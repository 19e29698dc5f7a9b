//! Who may have webhooks where, and who finds them.

use std::time::Duration;

use serde_json::{Value, json};
use vizard::config::Settings;

use super::{Told, ended, id, on_both_told, settings};
use crate::api::{Server, story};
use crate::common::client::Client;
use crate::common::receiver::Receiver;

on_both_told!(
    a_url_under_no_allowed_origin_is_refused,
    a_steward_of_another_dataset_finds_no_webhook,
    a_receiver_whose_origin_is_allowed_no_more_is_not_asked,
    a_tied_steward_takes_the_places_of_their_own_datasets_alone,
    the_log_of_a_dataset_says_where_its_ends_are_told_and_never_by_which_path,
);

async fn a_url_under_no_allowed_origin_is_refused(told: Told) {
    let make = async |request: Value| {
        told.steward
            .call("create_webhook")
            .json(&request)
            .send()
            .await
    };
    let origin = told.receiver.origin();
    let port = origin.rsplit(':').next().expect("a port");
    for url in [
        "http://127.0.0.1:1/hook".to_owned(),
        "https://169.254.169.254/latest/meta-data".to_owned(),
        format!("http://user@127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}@evil.org/"),
        format!("http://localhost:{port}/"),
        format!("https://127.0.0.1:{port}/"),
        format!("{origin}/#a"),
        format!(" {origin}/"),
        "canary".to_owned(),
    ] {
        let answer = make(json!({"url": url, "events": ["job.failed"]})).await;
        let refused = answer.expect_problem(422, "invalid-body");
        let detail = refused["detail"].as_str().expect("a detail");
        assert!(detail.starts_with("url: "), "{url}: {detail}");
        assert!(!detail.contains("canary"), "{detail}");
        assert_eq!(refused["parameter"], "url");
    }
    let kept = make(json!({"url": format!("HTTP://127.0.0.1:{port}/a/../b"),
        "events": ["job.failed", "job.failed"]}));
    let kept = kept.await.expect(201);
    assert_eq!(kept["url"], format!("{origin}/b"));
    assert_eq!(kept["events"], json!(["job.failed"]));
    for (request, status) in [
        (json!({"url": origin, "events": []}), 422),
        (json!({"url": origin, "events": ["ping"]}), 422),
        (
            json!({"url": origin, "events": ["job.failed"], "datasets": []}),
            422,
        ),
        (
            json!({"url": origin, "events": ["job.failed"],
                "datasets": ["dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70"]}),
            404,
        ),
    ] {
        let answer = make(request.clone()).await;
        assert_eq!(answer.status, status, "{request}: {}", answer.text());
    }
}

async fn a_steward_of_another_dataset_finds_no_webhook(told: Told) {
    let own = story::dataset(&told.steward).await;
    let foreign = story::dataset(&told.steward).await;
    let webhook = told.webhook(&["job.failed"], json!([own])).await;
    let both = told.webhook(&["job.failed"], json!([own, foreign])).await;
    let tied = told.server.key_for(&["steward"], json!([own])).await;
    let other = told.server.key_for(&["steward"], json!([foreign])).await;
    let listed = async |client: &Client| {
        let list = client.call("list_webhooks").send().await.expect(200);
        let items = list["items"].as_array().expect("items").clone();
        items
            .iter()
            .map(|one| id(one).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(listed(&tied).await, [id(&webhook)]);
    assert!(listed(&other).await.is_empty());
    for (client, hidden) in [(&other, &webhook), (&other, &both), (&tied, &both)] {
        for operation in [
            "get_webhook",
            "rotate_webhook",
            "ping_webhook",
            "delete_webhook",
        ] {
            let answer = client.call(operation).at("id", id(hidden)).send().await;
            answer.expect_problem(404, "not-found");
        }
    }
    let make = async |datasets: Value| {
        let request = json!({"url": told.receiver.url(), "events": ["job.failed"],
            "datasets": datasets});
        tied.call("create_webhook").json(&request).send().await
    };
    for beyond in [Value::Null, json!([foreign]), json!([own, foreign])] {
        make(beyond).await.expect_problem(403, "forbidden");
    }
    make(json!([own])).await.expect(201);
    assert_eq!(listed(&tied).await.len(), 2);
}

async fn a_receiver_whose_origin_is_allowed_no_more_is_not_asked(told: Told) {
    let webhook = told.webhook(&["job.failed"], Value::Null).await;
    let other = Receiver::start().await.origins();
    told.server.work_with(|settings| {
        settings.webhook_origins = other;
        settings.webhook_retry_after = vec![Duration::from_millis(20); 7];
    });
    told.ping(&webhook).await;
    let view = told.view_when(&webhook, |view| ended(view, "origin_refused"));
    assert_eq!(view.await["last_delivery"]["attempts"], 8);
    assert!(told.receiver.heard().is_empty());
}

async fn a_tied_steward_takes_the_places_of_their_own_datasets_alone(told: Told) {
    let own = story::dataset(&told.steward).await;
    let foreign = story::dataset(&told.steward).await;
    let tied = told.server.key_for(&["steward"], json!([own])).await;
    let make = async |client: &Client, datasets: Value| {
        let request = json!({"url": told.receiver.url(), "events": ["job.failed"],
            "datasets": datasets});
        client.call("create_webhook").json(&request).send().await
    };
    for _ in 0..20 {
        make(&tied, json!([own])).await.expect(201);
    }
    for (client, datasets) in [
        (&tied, json!([own])),
        (&told.steward, json!([own, foreign])),
    ] {
        let refused = make(client, datasets).await;
        let refused = refused.expect_problem(422, "limit-exceeded");
        let detail = "more than webhooks_of_dataset_max, 20 webhooks of a dataset";
        assert_eq!(refused["detail"], detail);
    }
    make(&told.steward, json!([foreign])).await.expect(201);
    make(&told.steward, Value::Null).await.expect(201);
}

async fn the_log_of_a_dataset_says_where_its_ends_are_told_and_never_by_which_path(told: Told) {
    let own = story::dataset(&told.steward).await;
    let foreign = story::dataset(&told.steward).await;
    let webhook = told.webhook(&["job.failed"], json!([own, foreign])).await;
    let call = told.steward.call("delete_webhook").at("id", id(&webhook));
    call.send().await.expect(200);
    for dataset in [&own, &foreign] {
        let auditor = told.server.key_for(&["auditor"], json!([dataset])).await;
        let log = auditor.call("list_audit").send().await.expect(200);
        let rows = log["items"].as_array().expect("rows");
        let of_webhook = |action: &str| {
            let is_it = |row: &&Value| row["action"] == action && row["object_id"] == webhook["id"];
            let row = rows.iter().find(is_it).expect("a row");
            assert_eq!(row["dataset"], dataset.as_str());
            row.clone()
        };
        of_webhook("delete_webhook");
        let made = of_webhook("create_webhook");
        assert_eq!(made["detail"]["origin"], told.receiver.origin());
        assert!(
            !log.to_string().contains("canary"),
            "the path may hold a token"
        );
        let hidden = if *dataset == own { &foreign } else { &own };
        assert!(
            !log.to_string().contains(hidden.as_str()),
            "another dataset"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_origin_is_allowed_the_answer_says_what_to_set() {
    let server = Server::sqlite_with(Settings::default()).await;
    let request = json!({"url": "https://hooks.hospital.org", "events": ["job.failed"]});
    let call = server.operator().call("create_webhook").json(&request);
    let refused = call.send().await.expect_problem(422, "invalid-body");
    let detail = refused["detail"].as_str().expect("a detail");
    for word in ["--webhook-origin", "VIZARD_WEBHOOK_ORIGINS", "vizard work"] {
        assert!(detail.contains(word), "{detail}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_are_a_hundred_webhooks_at_most() {
    let receiver = Receiver::start().await;
    let server = Server::sqlite_with(settings(receiver.origins())).await;
    let request = json!({"url": receiver.url(), "events": ["job.failed"]});
    let make = async || {
        let call = server.operator().call("create_webhook").json(&request);
        call.send().await
    };
    for _ in 0..100 {
        make().await.expect(201);
    }
    let refused = make().await.expect_problem(422, "limit-exceeded");
    assert_eq!(refused["detail"], "more than webhooks_max, 100 webhooks");
}
