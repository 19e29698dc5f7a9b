//! Keys: made, shown once, listed, revoked.

use chrono::{DateTime, TimeDelta};
use serde_json::json;
use vizard::clock::ManualClock;
use vizard::config::Settings;

use super::{Server, on_both};

on_both!(
    a_key_is_made_listed_and_revoked,
    a_token_is_shown_in_one_answer_alone,
    keys_are_paged_newest_first,
    a_key_without_a_role_or_name_is_refused,
    the_last_use_of_a_key_is_shown,
    whatever_is_wrong_with_a_key_the_answer_is_the_same,
    a_key_that_expires_is_refused_as_one_that_was_revoked,
);

async fn a_key_is_made_listed_and_revoked(server: Server) {
    let admin = server.operator();
    let request = json!({"name": "etl", "roles": ["uploader", "uploader"], "datasets": null});
    let key = admin
        .call("create_key")
        .json(&request)
        .send()
        .await
        .expect(201);
    assert_eq!(key["roles"], json!(["uploader"]));
    let holder = server
        .anyone()
        .with(key["token"].as_str().expect("a token"));
    holder.call("list_datasets").send().await.expect(200);

    let id = key["id"].as_str().expect("an id");
    let revoked = admin
        .call("revoke_key")
        .at("id", id)
        .send()
        .await
        .expect(200);
    assert!(revoked["revoked_at"].is_string());
    let refused = holder.call("list_datasets").send().await;
    refused.expect_problem(401, "unauthenticated");
    assert!(
        refused
            .header("www-authenticate")
            .is_some_and(|value| value.starts_with("Bearer"))
    );
    let again = admin
        .call("revoke_key")
        .at("id", id)
        .send()
        .await
        .expect(200);
    assert_eq!(again["revoked_at"], revoked["revoked_at"]);
}

async fn the_last_use_of_a_key_is_shown(server: Server) {
    let admin = server.operator();
    let request = json!({"name": "etl", "roles": ["uploader"]});
    let call = admin.call("create_key").json(&request);
    let made = call.send().await.expect(201);
    let last_use = async || {
        let list = admin.call("list_keys").send().await.expect(200);
        list["items"][0]["last_used_at"].clone()
    };
    assert!(last_use().await.is_null());
    let holder = server
        .anyone()
        .with(made["token"].as_str().expect("a token"));
    holder.call("list_datasets").send().await.expect(200);
    // It is noted beside the answer, not before it.
    for _ in 0..200 {
        if last_use().await.is_string() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the use was not noted");
}

async fn a_key_that_expires_is_refused_as_one_that_was_revoked(server: Server) {
    let admin = server.operator();
    let request =
        |seconds: u64| json!({"name": "etl", "roles": ["uploader"], "expires_in_s": seconds});
    let make = async |seconds| {
        admin
            .call("create_key")
            .json(&request(seconds))
            .send()
            .await
            .expect(201)
    };
    let (short, long, revoked) = (make(2).await, make(3_600).await, make(3_600).await);
    let time = |key: &serde_json::Value, name: &str| {
        let text = key[name].as_str().expect("a time");
        DateTime::parse_from_rfc3339(text).expect("a time")
    };
    assert_eq!(
        time(&short, "expires_at") - time(&short, "created_at"),
        TimeDelta::seconds(2)
    );
    let holder = |key: &serde_json::Value| {
        server
            .anyone()
            .with(key["token"].as_str().expect("a token"))
    };
    holder(&short)
        .call("list_datasets")
        .send()
        .await
        .expect(200);
    let id = revoked["id"].as_str().expect("an id");
    admin
        .call("revoke_key")
        .at("id", id)
        .send()
        .await
        .expect(200);
    tokio::time::sleep(std::time::Duration::from_millis(2_100)).await;
    let refused = async |key| {
        let call = holder(key)
            .call("list_datasets")
            .header("x-request-id", "same");
        let answer = call.send().await;
        answer.expect_problem(401, "unauthenticated");
        answer.text()
    };
    assert_eq!(refused(&short).await, refused(&revoked).await);
    holder(&long).call("list_datasets").send().await.expect(200);
    // It stays in the list, with its end.
    let list = admin.call("list_keys").send().await.expect(200);
    let ends: Vec<_> = list["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|key| &key["expires_at"])
        .collect();
    assert_eq!(
        ends,
        [
            &revoked["expires_at"],
            &long["expires_at"],
            &short["expires_at"]
        ]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clock_of_the_store_decides_about_a_keys_end() {
    let far = DateTime::from_timestamp(4_000_000_000, 0).expect("in range");
    let clock = std::sync::Arc::new(ManualClock::new(far));
    let server = Server::sqlite_by(Settings::default(), clock).await;
    let request = json!({"name": "etl", "roles": ["uploader"], "expires_in_s": 3_600});
    let made = server
        .operator()
        .call("create_key")
        .json(&request)
        .send()
        .await
        .expect(201);
    assert!(
        made["expires_at"].as_str().is_some_and(|end| end < "2090"),
        "{made}"
    );
    let holder = server
        .anyone()
        .with(made["token"].as_str().expect("a token"));
    holder.call("list_datasets").send().await.expect(200);
}

async fn whatever_is_wrong_with_a_key_the_answer_is_the_same(server: Server) {
    let admin = server.operator();
    let request = json!({"name": "etl", "roles": ["uploader"]});
    let call = || admin.call("create_key").json(&request).send();
    let (revoked, live) = (call().await.expect(201), call().await.expect(201));
    let id = revoked["id"].as_str().expect("an id");
    admin
        .call("revoke_key")
        .at("id", id)
        .send()
        .await
        .expect(200);
    let live = live["token"].as_str().expect("a token");
    let (front, secret) = live.rsplit_once('_').expect("a secret");
    let other = revoked["token"].as_str().expect("a token");
    let mut first = None;
    for token in [
        other.to_owned(),
        format!("{front}_{}", "0".repeat(secret.len())),
        format!("{front}_"),
        format!("{front}_{secret}0"),
        format!("vz_0199d1f25a3e7c419d0b2f6a8c1e4b70_{secret}"),
        secret.to_owned(),
        "vz_".to_owned(),
    ] {
        let client = server.anyone().with(&token);
        let call = client.call("list_datasets").header("x-request-id", "same");
        let answer = call.send().await;
        answer.expect_problem(401, "unauthenticated");
        assert_eq!(first.get_or_insert_with(|| answer.text()), &answer.text());
    }
}

async fn a_token_is_shown_in_one_answer_alone(server: Server) {
    let admin = server.operator();
    let request = json!({"name": "etl", "roles": ["analyst"]});
    let made = admin
        .call("create_key")
        .json(&request)
        .send()
        .await
        .expect(201);
    let token = made["token"].as_str().expect("a token");
    let secret = token.rsplit('_').next().expect("a secret");
    assert_eq!(secret.len(), 64);
    let list = admin.call("list_keys").send().await;
    assert!(!list.text().contains(secret));
    let id = made["id"].as_str().expect("an id");
    let revoked = admin.call("revoke_key").at("id", id).send().await;
    assert!(!revoked.text().contains(secret));
}

async fn keys_are_paged_newest_first(server: Server) {
    let admin = server.operator();
    for at in 0..5 {
        let request = json!({"name": format!("key {at}"), "roles": ["analyst"]});
        admin
            .call("create_key")
            .json(&request)
            .send()
            .await
            .expect(201);
    }
    let (mut names, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut call = admin.call("list_keys").query("limit", 2);
        if let Some(cursor) = cursor {
            call = call.query("cursor", cursor);
        }
        let page = call.send().await.expect(200);
        for key in page["items"].as_array().expect("items") {
            names.push(key["name"].as_str().expect("a name").to_owned());
        }
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(names, ["key 4", "key 3", "key 2", "key 1", "key 0"]);
    for (name, value) in [
        ("limit", "0"),
        ("limit", "201"),
        ("limit", "x"),
        ("cursor", "x"),
        ("limits", "2"),
    ] {
        let refused = admin.call("list_keys").query(name, value).send().await;
        refused.expect_problem(400, "invalid-query");
    }
}

async fn a_key_without_a_role_or_name_is_refused(server: Server) {
    let admin = server.operator();
    for request in [
        json!({"name": "a", "roles": []}),
        json!({"name": "", "roles": ["analyst"]}),
        json!({"name": "a".repeat(201), "roles": ["analyst"]}),
        json!({"name": "a\nvz_b", "roles": ["analyst"]}),
        json!({"name": "\u{1b}[2J", "roles": ["analyst"]}),
        json!({"name": "a", "roles": ["owner"]}),
        json!({"name": "a", "roles": ["analyst"], "datasets": ["job_x"]}),
        json!({"name": "a", "roles": ["analyst"], "note": 1}),
        json!({"roles": ["analyst"]}),
        json!({"name": "a", "roles": ["analyst"], "expires_in_s": 0}),
        json!({"name": "a", "roles": ["analyst"], "expires_in_s": 315_360_001}),
        json!({"name": "a", "roles": ["analyst"], "expires_in_s": -1}),
        json!({"name": "a", "roles": ["analyst"], "expires_in_s": "1"}),
        json!([]),
    ] {
        let refused = admin.call("create_key").json(&request).send().await;
        refused.expect_problem(422, "invalid-body");
    }
    let refused = admin
        .call("create_key")
        .body("application/json", "{")
        .send()
        .await;
    refused.expect_problem(400, "malformed-json");
    let unknown = "key_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73";
    let refused = admin.call("revoke_key").at("id", unknown).send().await;
    refused.expect_problem(404, "not-found");
    let refused = admin
        .call("revoke_key")
        .at("id", unknown.replace("key", "job"))
        .send()
        .await;
    refused.expect_problem(400, "invalid-id");
}
