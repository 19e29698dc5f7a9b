//! What a subject may choose, what became of it, and taking it back.

use serde_json::{Value, json};
use vizard::config::{AccessSettings, Settings, WebOrigin};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    a_receipt_says_of_each_public_release_whether_the_choice_was_kept,
    a_receipt_tells_nobody_who_has_a_record,
    what_may_be_chosen_is_told_in_the_words_of_the_schema,
);

async fn token(client: &Client, id: &str, subject: &str) -> String {
    let call = client.call("create_subject_tokens").at("id", id);
    let made = call.json(&json!({"subjects": [subject]})).send().await;
    let made = made.expect(201);
    made["items"][0]["token"]
        .as_str()
        .expect("a token")
        .to_owned()
}

/// Sets terms; the code of their receipt.
async fn say(server: &Server, token: &str, terms: Value) -> String {
    let call = server.anyone().with(token).call("put_my_preferences");
    let said = call.json(&terms).send().await.expect(200);
    said["receipt"].as_str().expect("a code").to_owned()
}

async fn receipt(server: &Server, code: &str) -> Value {
    let call = server.anyone().with(code).call("get_my_receipt");
    call.send().await.expect(200)
}

/// A release that is made and published now.
async fn published(server: &Server, client: &Client, spec: &Value) -> String {
    let release = story::release(client, spec).await;
    server.publish(client, &release).await.expect(200);
    release
}

/// Releases and what became of the choice, oldest first.
fn results(receipt: &Value) -> Vec<(&str, &str)> {
    let releases = receipt["releases"].as_array().expect("a list").iter();
    let text = |of: &'_ Value| of.as_str().expect("a text").to_owned().leak() as &str;
    releases
        .map(|one| (text(&one["id"]), text(&one["result"])))
        .collect()
}

async fn a_receipt_says_of_each_public_release_whether_the_choice_was_kept(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    server.work();
    let id = story::filled_dataset(&client).await;
    let token = token(&client, &id, "p1").await;
    let spec = story::job(&id);
    let before = published(&server, &client, &spec).await;
    let first = say(&server, &token, json!({"sensitive": ["age"]})).await;
    assert_eq!(
        results(&receipt(&server, &first).await),
        [(&*before, "made_before")]
    );
    let under_first = published(&server, &client, &spec).await;
    let draft = story::release(&client, &spec).await;
    let second = say(&server, &token, json!({})).await;
    server.publish(&client, &draft).await.expect(200);
    let of_first = receipt(&server, &first).await;
    assert_eq!(of_first["state"], "replaced");
    assert_eq!(
        results(&of_first),
        [
            (&*before, "made_before"),
            (&*under_first, "kept"),
            (&*draft, "kept")
        ]
    );
    let of_second = receipt(&server, &second).await;
    assert_eq!(
        (&of_second["state"], &of_second["replaced_at"]),
        (&json!("in_force"), &Value::Null)
    );
    assert_eq!(of_first["replaced_at"], of_second["made_at"]);
    assert_eq!(
        results(&of_second),
        [
            (&*before, "made_before"),
            (&*under_first, "made_before"),
            (&*draft, "kept")
        ]
    );

    // However old the code is, it takes consent back.
    let call = server.anyone().with(&first).call("withdraw_my_preferences");
    let withdrawn = call.send().await.expect(200);
    assert_eq!(withdrawn["terms"], json!({"exclude": true}));
    let code = withdrawn["receipt"].as_str().expect("a code");
    let without = published(&server, &client, &spec).await;
    let last = receipt(&server, code).await;
    assert_eq!(last["made_at"], withdrawn["made_at"]);
    assert_eq!(results(&last).last(), Some(&(&*without, "kept")));
    let lineage = server
        .store
        .release_lineage(without.parse().expect("an id"));
    let lineage = String::from_utf8(lineage.await.expect("a lineage")).expect("text");
    assert!(
        !lineage.lines().any(|row| row.ends_with(",p1")),
        "p1 is left out"
    );
    assert_eq!(
        results(&receipt(&server, &second).await).last(),
        Some(&(&*without, "replaced"))
    );
}

/// Of two people who say the same, one of whom has a record, nothing differs.
async fn a_receipt_tells_nobody_who_has_a_record(server: Server) {
    let client = server.key(&["uploader", "consent", "steward"]).await;
    server.work();
    let id = story::filled_dataset(&client).await;
    published(&server, &client, &story::job(&id)).await;
    let mut told = Vec::new();
    for subject in ["p1", "nobody"] {
        let token = token(&client, &id, subject).await;
        let code = say(&server, &token, json!({"exclude": true})).await;
        let mut view = receipt(&server, &code).await;
        view["made_at"].take();
        told.push(view);
    }
    assert_eq!(told[0], told[1]);
}

async fn what_may_be_chosen_is_told_in_the_words_of_the_schema(server: Server) {
    let client = server.key(&["uploader", "consent"]).await;
    let id = story::filled_dataset(&client).await;
    let mut schema = story::kept_schema();
    schema["title"] = json!({"en": "Stays of 2026", "de": "Aufenthalte 2026"});
    schema["purpose"] = json!({"en": "To learn what\nhelps."});
    schema["contact"] = json!({"en": "consent@hospital.example"});
    schema["default_preference"] = json!({"max_leakage": 0.5});
    schema["attributes"][1]["title"] = json!({"en": "Age in years"});
    schema["attributes"][1]["description"] = json!({"en": "On the day of admission."});
    schema["attributes"][3]["role"] = json!("semi_sensitive");
    let put = client.call("put_schema").at("id", &id).json(&schema);
    put.send().await.expect(200);
    let token = token(&client, &id, "p1").await;
    let call = server.anyone().with(&token).call("get_my_preferences");
    let told = call.send().await.expect(200);
    assert_eq!(
        told["dataset"],
        json!({"name": "wards", "title": schema["title"], "purpose": schema["purpose"],
            "contact": schema["contact"]})
    );
    assert_eq!(told["without_terms"], schema["default_preference"]);
    assert_eq!(told["steps"], json!([2, 5, 10, 20]));
    let attribute = |name: &str, published: &str, may_hide: bool| {
        json!({"name": name, "title": {}, "description": {}, "published": published,
            "may_hide": may_hide, "values": null, "guards": []})
    };
    let mut age = attribute("age", "coarsened", true);
    age["title"] = schema["attributes"][1]["title"].clone();
    age["description"] = schema["attributes"][1]["description"].clone();
    let mut ward = attribute("ward", "coarsened", true);
    ward["values"] = json!(4);
    ward["guards"] = json!(["warm", "cold"]);
    assert_eq!(
        told["attributes"],
        json!([
            attribute("patient", "never", false),
            age,
            attribute("sex", "coarsened", true),
            ward,
            attribute("cost", "hidden", false)
        ])
    );
    assert!(!told.to_string().contains("p1"));

    for (place, bad) in [
        ("title", json!({"en": "turned \u{202e}"})),
        ("contact", json!({"English": "x"})),
        ("purpose", json!("text")),
    ] {
        let mut schema = schema.clone();
        schema[place] = bad;
        let put = client.call("put_schema").at("id", &id).json(&schema);
        let refused = put.send().await;
        refused.expect_problem(422, "invalid-schema");
        assert!(!refused.text().contains("turned"));
    }
}

/// Settings that let consent forms of one origin call.
fn with_origin() -> Settings {
    let origin = WebOrigin::parse("https://consent.hospital.example");
    Settings {
        access: AccessSettings {
            consent_origins: vec![origin.expect("an origin")],
            ..AccessSettings::default()
        },
        ..Settings::default()
    }
}

#[tokio::test]
async fn browsers_may_call_from_the_origins_that_the_operator_named() {
    let server = Server::sqlite_with(with_origin()).await;
    let own = "https://consent.hospital.example";
    let preflight = async |server: &Server, path: &str, origin: &str| {
        let headers = [
            ("origin", origin.to_owned()),
            ("access-control-request-method", "PUT".to_owned()),
            (
                "access-control-request-headers",
                "authorization,content-type".to_owned(),
            ),
        ];
        let client = server.anyone();
        client.send_whole("OPTIONS", path, &headers, "").await
    };
    let allowed = |answer: &crate::common::client::Answer| {
        let header = answer.headers.get("access-control-allow-origin");
        header.map(|value| value.to_str().expect("a text").to_owned())
    };
    let answer = preflight(&server, "/v1/my-preferences", own).await;
    assert_eq!(
        (answer.status, allowed(&answer).as_deref()),
        (200, Some(own))
    );
    assert_eq!(
        answer.header("access-control-allow-headers"),
        Some("authorization,content-type")
    );
    assert!(
        answer
            .headers
            .get("access-control-allow-credentials")
            .is_none()
    );
    for path in [
        "/v1/my-preferences/receipt",
        "/v1/my-preferences/withdrawal",
    ] {
        let answer = preflight(&server, path, own).await;
        assert_eq!(allowed(&answer).as_deref(), Some(own), "{path}");
    }
    for (path, origin) in [
        ("/v1/my-preferences", "https://evil.example"),
        ("/v1/my-preferences", "null"),
        ("/v1/datasets", own),
        ("/v1/my-preferences-else", own),
    ] {
        let answer = preflight(&server, path, origin).await;
        assert_eq!(allowed(&answer), None, "{path} {origin}");
    }
    // The answer itself may be read too, refused or not.
    let call = server.anyone().call("get_my_preferences");
    let refused = call.header("origin", own).send().await;
    refused.expect_problem(401, "unauthenticated");
    assert_eq!(allowed(&refused).as_deref(), Some(own));

    let closed = Server::sqlite().await;
    let answer = preflight(&closed, "/v1/my-preferences", own).await;
    assert_eq!((answer.status, allowed(&answer)), (405, None));
}
