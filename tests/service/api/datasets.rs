//! Datasets: created, described, erased.

use serde_json::{Value, json};

use super::{Server, on_both, story};

on_both!(
    a_dataset_is_created_empty_and_described_with_its_versions,
    datasets_are_listed_newest_first,
    an_erased_dataset_is_gone_and_its_published_release_stays,
    a_schema_that_contradicts_itself_is_refused,
    a_tag_guards_an_upload_and_the_erasure,
);

async fn a_dataset_is_created_empty_and_described_with_its_versions(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let created = uploader
        .call("create_dataset")
        .json(&story::schema())
        .send()
        .await;
    let location = created.header("location").expect("a location").to_owned();
    let created = created.expect(201);
    assert_eq!(created["name"], "wards");
    assert_eq!(
        (&created["version"], &created["records"]),
        (&json!(0), &json!(0))
    );
    let id = created["id"].as_str().expect("an id");
    assert_eq!(location, format!("/v1/datasets/{id}"));

    let digest = story::put_hierarchy(&uploader, id, ("ward", story::HIERARCHY)).await;
    story::upload(&uploader, id, story::records(0, 30))
        .await
        .expect(201);
    let view = uploader
        .call("get_dataset")
        .at("id", id)
        .send()
        .await
        .expect(200);
    assert_eq!(view["records"], 30);
    assert_eq!(view["hierarchies"], json!({"ward": digest}));
    assert_eq!(view["versions"][0]["total_records"], 30);
    assert_eq!(view["versions"][0]["mode"], "append");
    assert_eq!(view["schema"], story::kept_schema());
    assert_eq!(view["preferences"], json!({"version": 0, "subjects": 0}));
}

async fn datasets_are_listed_newest_first(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        made.insert(0, Value::from(story::dataset(&uploader).await));
    }
    let list = uploader.call("list_datasets").send().await.expect(200);
    let items = list["items"].as_array().expect("items");
    let listed: Vec<Value> = items.iter().map(|item| item["id"].clone()).collect();
    assert_eq!(listed, made);
    assert_eq!(list["next_cursor"], Value::Null);
}

async fn an_erased_dataset_is_gone_and_its_published_release_stays(server: Server) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let id = story::filled_dataset(&steward).await;
    let published = story::release(&steward, &story::job(&id)).await;
    steward
        .call("publish_release")
        .at("id", &published)
        .send()
        .await
        .expect(200);
    let draft = story::release(&steward, &story::job(&id)).await;

    let erased = steward
        .call("erase_dataset")
        .at("id", &id)
        .send()
        .await
        .expect(200);
    assert_eq!(erased["drafts"], 1);
    assert!(erased["chunks"].as_u64() > Some(0));
    let (remains, complete) = server.remains();
    assert_eq!(
        (&erased["remains"], &erased["complete"]),
        (&remains, &complete)
    );
    let state = steward.call("get_erasure").at("id", &id).send().await;
    let state = state.expect(200);
    assert!(state["erased_at"].is_string());
    assert_eq!(state["completed_at"].is_string(), complete == true);
    assert_eq!(state["remains"], remains);
    let gone = steward.call("get_dataset").at("id", &id).send().await;
    gone.expect_problem(404, "not-found");
    let gone = steward.call("get_release").at("id", &draft).send().await;
    gone.expect_problem(404, "not-found");
    let analyst = server.key(&["analyst"]).await;
    let table = analyst
        .call("get_release_table")
        .at("id", &published)
        .at("table", "microdata");
    assert_eq!(table.send().await.status, 200);
    let again = steward.call("erase_dataset").at("id", &id).send().await;
    again.expect_problem(404, "not-found");
}

async fn a_schema_that_contradicts_itself_is_refused(server: Server) {
    let uploader = server.key(&["uploader"]).await;
    let changes: [(&str, Value); 7] = [
        ("/subject_key", json!("nobody")),
        ("/subject_key", json!("age")),
        ("/name", json!("")),
        ("/attributes/1/name", json!("sex")),
        ("/attributes/1/role", json!("secret")),
        ("/attributes/1/type", Value::Null),
        (
            "/attributes/1",
            json!({"name": "age", "role": "sensitive", "type": "integer", "colour": 1}),
        ),
    ];
    for (place, value) in changes {
        let mut schema = story::schema();
        *schema.pointer_mut(place).expect("it is there") = value;
        let refused = uploader.call("create_dataset").json(&schema).send().await;
        refused.expect_problem(422, "invalid-schema");
    }
    let refused = uploader
        .call("create_dataset")
        .body("text/plain", "{}")
        .send()
        .await;
    refused.expect_problem(415, "unsupported-media-type");
    let deep = "[".repeat(100_000);
    let refused = uploader
        .call("create_dataset")
        .body("application/json", deep)
        .send()
        .await;
    assert!(matches!(refused.status, 400 | 422), "{}", refused.text());
}

async fn a_tag_guards_an_upload_and_the_erasure(server: Server) {
    let client = server.key(&["uploader", "steward", "consent"]).await;
    let dataset = story::dataset(&client).await;
    let tag = async || {
        let read = client.call("get_dataset").at("id", &dataset).send().await;
        read.header("etag").expect("a tag").to_owned()
    };
    let upload = |tag: &str| {
        let call = client.call("upload_records").at("id", &dataset);
        call.header("if-match", tag)
            .body("text/csv", story::records(0, 10))
    };
    let first = tag().await;
    assert_eq!(first, tag().await, "nothing was changed");
    upload(&first).send().await.expect(201);
    let second = tag().await;
    assert_ne!(first, second);
    let late = upload(&first).send().await;
    late.expect_problem(412, "precondition-failed");
    let terms = client.call("put_preference").at("id", &dataset);
    let terms = terms.at("subject", "p1").json(&json!({"max_leakage": 0.5}));
    terms.send().await.expect(200);
    let third = tag().await;
    assert_ne!(second, third);
    let erase = |tag: &str| {
        let call = client.call("erase_dataset").at("id", &dataset);
        call.header("if-match", tag).send()
    };
    erase(&second)
        .await
        .expect_problem(412, "precondition-failed");
    erase("unquoted")
        .await
        .expect_problem(400, "invalid-header");
    erase(&third).await.expect(200);
}
