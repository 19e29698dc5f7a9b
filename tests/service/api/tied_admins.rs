//! A key that is tied to datasets and has the role `admin`: what it can make,
//! find and take back lies within its own datasets.

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_tied_admin_makes_keys_within_its_own_datasets_and_no_others,
    a_tied_admin_lists_the_keys_within_its_own_datasets_page_by_page,
    a_tied_admin_revokes_keys_within_its_own_datasets_and_finds_no_others,
    an_admin_that_is_tied_to_nothing_can_do_nothing,
);

const NOBODYS: &str = "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";

/// Three datasets.
async fn datasets(server: &Server) -> [String; 3] {
    let uploader = server.key(&["uploader"]).await;
    [
        story::dataset(&uploader).await,
        story::dataset(&uploader).await,
        story::dataset(&uploader).await,
    ]
}

async fn make(admin: &Client, name: &str, (roles, tie): (&[&str], Value)) -> Answer {
    let request = json!({"name": name, "roles": roles, "datasets": tie});
    admin.call("create_key").json(&request).send().await
}

/// The id of a new key.
async fn made(admin: &Client, name: &str, tie: Value) -> String {
    let made = make(admin, name, (&["analyst"], tie)).await.expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// Names of all keys that are listed, with so many on a page.
async fn listed(admin: &Client, limit: u32) -> Vec<String> {
    let (mut names, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut call = admin.call("list_keys").query("limit", limit);
        if let Some(cursor) = cursor {
            call = call.query("cursor", cursor);
        }
        let page = call.send().await.expect(200);
        let items = page["items"].as_array().expect("items");
        names.extend(items.iter().map(|key| key["name"].to_string()));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        match cursor {
            // A page that is not the last one is full: none is lost in a gap.
            Some(_) => assert_eq!(items.len(), limit as usize),
            None => return names,
        }
    }
}

async fn a_tied_admin_makes_keys_within_its_own_datasets_and_no_others(server: Server) {
    let [one, two, three] = datasets(&server).await;
    let admin = server.key_for(&["admin"], json!([one, two])).await;
    let mut refusals = Vec::new();
    for tie in [
        Value::Null,
        json!([]),
        json!([three]),
        json!([one, three]),
        json!([NOBODYS]),
    ] {
        for roles in [&["admin"][..], &["steward"]] {
            let request = json!({"name": "wider", "roles": roles, "datasets": tie});
            let call = admin.call("create_key").header("x-request-id", "same");
            let refused = call.json(&request).send().await;
            refused.expect_problem(403, "forbidden");
            refusals.push(refused.text());
        }
    }
    // Which datasets there are is not told.
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    for tie in [json!([one]), json!([two, one]), json!([two])] {
        let key = make(&admin, "within", (&["admin", "steward"], tie.clone())).await;
        assert_eq!(key.expect(201)["datasets"], tie);
    }
    // One that was made by a tied key is as tied as that.
    let second = make(&admin, "second", (&["admin"], json!([two])))
        .await
        .expect(201);
    let second = server.anyone().with(second["token"].as_str().expect("one"));
    make(&second, "wider", (&["admin"], json!([one, two])))
        .await
        .expect_problem(403, "forbidden");
    let all = listed(&server.operator(), 200).await;
    assert!(!all.contains(&"\"wider\"".to_owned()), "{all:?}");
}

async fn a_tied_admin_lists_the_keys_within_its_own_datasets_page_by_page(server: Server) {
    let [one, two, three] = datasets(&server).await;
    let operator = server.operator();
    for at in 0..5 {
        for (name, tie) in [
            ("untied", Value::Null),
            ("nothing", json!([])),
            ("one", json!([one])),
            ("three", json!([three])),
            ("both", json!([two, one])),
            ("wider", json!([one, two, three])),
        ] {
            made(&operator, &format!("{name} {at}"), tie).await;
        }
    }
    // Keys of its own, made by the fixture, are called the same.
    let both = server.key_for(&["admin"], json!([one, two])).await;
    let narrow = server.key_for(&["admin"], json!([two])).await;
    let mut expected = vec!["\"a test\"".to_owned(), "\"a test\"".to_owned()];
    for at in (0..5).rev() {
        expected.extend([format!("\"both {at}\""), format!("\"one {at}\"")]);
    }
    for limit in [1, 2, 5, 200] {
        assert_eq!(listed(&both, limit).await, expected, "{limit}");
    }
    assert_eq!(listed(&narrow, 1).await, ["\"a test\""]);
    // Three fixtures: those two, and the uploader.
    assert_eq!(listed(&operator, 7).await.len(), 33);
}

async fn a_tied_admin_revokes_keys_within_its_own_datasets_and_finds_no_others(server: Server) {
    let [one, two, three] = datasets(&server).await;
    let operator = server.operator();
    let admin = server.key_for(&["admin"], json!([one, two])).await;
    let revoke = async |id: &str| {
        let call = admin.call("revoke_key").header("x-request-id", "same");
        call.at("id", id).send().await
    };
    let never = revoke("key_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b73").await;
    never.expect_problem(404, "not-found");
    for (name, tie) in [
        ("untied", Value::Null),
        ("nothing", json!([])),
        ("three", json!([three])),
        ("wider", json!([one, three])),
    ] {
        let id = made(&operator, name, tie).await;
        for time in ["while it lives", "when it is revoked"] {
            let refused = revoke(&id).await;
            assert_eq!(refused.text(), never.text(), "{name} {time}");
            let keys = operator.call("list_keys").send().await.expect(200);
            let is_live = keys["items"][0]["revoked_at"].is_null();
            assert_eq!(is_live, time == "while it lives", "{name}");
            let call = operator.call("revoke_key").at("id", &id);
            call.send().await.expect(200);
        }
    }
    for tie in [json!([one]), json!([two, one])] {
        let id = made(&operator, "within", tie).await;
        let revoked = revoke(&id).await.expect(200);
        assert!(revoked["revoked_at"].is_string());
    }
    // The log names who tried and what was done, and nothing of the others.
    let auditor = server.key(&["auditor"]).await;
    let rows = auditor.call("list_audit").query("action", "revoke_key");
    let rows = rows.send().await.expect(200);
    assert_eq!(rows["items"].as_array().map(Vec::len), Some(6));
}

async fn an_admin_that_is_tied_to_nothing_can_do_nothing(server: Server) {
    let [one, ..] = datasets(&server).await;
    let nobody = server.key_for(&["admin"], json!([])).await;
    for tie in [Value::Null, json!([]), json!([one])] {
        make(&nobody, "wider", (&["analyst"], tie))
            .await
            .expect_problem(403, "forbidden");
    }
    assert!(listed(&nobody, 1).await.is_empty());
    let id = made(&server.operator(), "another", json!([])).await;
    let refused = nobody.call("revoke_key").at("id", &id).send().await;
    refused.expect_problem(404, "not-found");
}
