//! Values that a schema says are changed beforehand: declared with the dataset or
//! later, seen by risk and jobs, and never by whoever reads a release.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    a_release_shows_what_the_schema_makes_of_the_stored_records,
    a_transform_is_declared_and_changed_without_a_new_upload,
    a_tree_is_held_against_what_the_transform_makes,
);

fn schema(age: Value) -> Value {
    json!({"name": "stays", "subject_key": "patient", "attributes": [
        {"name": "patient", "role": "identifier"},
        {"name": "birth", "role": "identifier", "type": "date"},
        {"name": "age", "role": "quasi_identifier", "type": "integer", "transform": age},
        {"name": "admission", "role": "sensitive", "type": "date",
         "transform": {"shift_days": 30}},
        {"name": "test", "role": "sensitive", "type": "date",
         "transform": {"days_since": "birth"}}]})
}

fn records() -> String {
    let mut text = String::from("patient,birth,age,admission,test\n");
    for at in 0..120 {
        writeln!(
            text,
            "p{at},1919-{:02}-{:02},{},2021-05-{:02},2021-06-01",
            1 + at % 12,
            1 + at % 28,
            41 + at % 60,
            1 + at % 20
        )
        .expect("a String");
    }
    text
}

async fn dataset(client: &Client, schema: &Value) -> String {
    let made = client.call("create_dataset").json(schema).send().await;
    made.expect(201)["id"].as_str().expect("an id").to_owned()
}

async fn upload(client: &Client, id: &str, records: String) {
    let call = client.call("upload_records").at("id", id);
    call.body("text/csv", records).send().await.expect(201);
}

fn job(id: &str) -> Value {
    json!({"dataset": id, "engine": "mondrian", "parameters": {"k": 5}})
}

async fn microdata(client: &Client, release: &str) -> String {
    let call = client.call("get_release_table").at("id", release);
    let answer = call.at("table", "microdata").send().await;
    assert_eq!(answer.status, 200);
    answer.text()
}

/// The ends of the ages that a table shows.
fn ages_shown(table: &str) -> Vec<u32> {
    let mut rows = table.lines().map(|line| line.split(','));
    let mut header = rows.next().expect("a header");
    let at = header.position(|name| name == "age").expect("age");
    let cells = rows.map(|mut row| row.nth(at).expect("a cell").to_owned());
    let ends = cells.flat_map(|cell| {
        let ends = cell.split("..").map(|end| end.parse().expect("a number"));
        ends.collect::<Vec<u32>>()
    });
    ends.collect()
}

/// Distinct ages that the risk of a dataset counts.
async fn ages(client: &Client, id: &str) -> Value {
    let risk = client.call("get_dataset_risk").at("id", id).send().await;
    let risk = risk.expect(200);
    let mut attributes = risk["attributes"].as_array().expect("a list").iter();
    attributes.find(|one| one["name"] == "age").expect("age")["distinct"].clone()
}

async fn a_release_shows_what_the_schema_makes_of_the_stored_records(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = dataset(&client, &schema(json!({"top": 90}))).await;
    let call = client.call("upload_records").at("id", &id);
    let bad = records().replacen("1919-02-02", "1919-02-30", 1);
    let refused = call.body("text/csv", bad).send().await;
    let problem = refused.expect_problem(422, "invalid-data");
    assert_eq!(
        (
            &problem["errors"][0]["line"],
            &problem["errors"][0]["attribute"]
        ),
        (&json!(3), &json!("birth"))
    );
    upload(&client, &id, records()).await;
    assert_eq!(ages(&client, &id).await, 50);

    let release = story::release(&client, &job(&id)).await;
    let table = microdata(&client, &release).await;
    assert_eq!(ages_shown(&table).iter().max(), Some(&90));
    assert!(!table.contains("birth") && !table.contains("patient"));
    let view = client.call("get_release").at("id", &release).send().await;
    let manifest = view.expect(200)["manifest"].clone();
    assert_eq!(manifest["transformed"][0]["transform"], json!({"top": 90}));
    // The person's own records are what was uploaded.
    let call = client
        .call("get_subject")
        .at("id", &id)
        .at("subject", "p59");
    let own = call.send().await.expect(200);
    assert!(own.to_string().contains("1919-12-04"), "{own}");
}

async fn a_transform_is_declared_and_changed_without_a_new_upload(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let id = dataset(&client, &schema(json!({}))).await;
    upload(&client, &id, records()).await;
    assert_eq!(ages(&client, &id).await, 60);
    let lower = schema(json!({"top": 80, "bottom": 50}));
    let call = client.call("put_schema").at("id", &id);
    call.json(&lower).send().await.expect(200);
    assert_eq!(ages(&client, &id).await, 31);
    let release = story::release(&client, &job(&id)).await;
    let table = microdata(&client, &release).await;
    let ages = ages_shown(&table);
    assert_eq!(
        (ages.iter().min(), ages.iter().max()),
        (Some(&50), Some(&80))
    );

    // Keys were not read as days: no days are counted from them.
    let mut other = lower.clone();
    other["attributes"][0]["type"] = json!("date");
    other["attributes"][4]["transform"] = json!({"days_since": "patient"});
    let call = client.call("put_schema").at("id", &id);
    let refused = call.json(&other).send().await;
    let problem = refused.expect_problem(409, "schema-unfit");
    assert_eq!(
        problem["misfits"][0],
        json!({"attribute": "patient", "code": "identifier_changed"})
    );
    let mut wrong = lower;
    wrong["attributes"][3]["transform"] = json!({"shift_days": 4000});
    let call = client.call("put_schema").at("id", &id);
    let refused = call.json(&wrong).send().await;
    refused.expect_problem(422, "invalid-schema");
}

async fn a_tree_is_held_against_what_the_transform_makes(server: Server) {
    server.work();
    let client = server.key(&["uploader", "steward"]).await;
    let mut with_tree = schema(json!({"top": 60}));
    with_tree["attributes"][2]["hierarchy"] = json!("ages");
    let id = dataset(&client, &with_tree).await;
    let mut tree = String::new();
    for age in 41..=60 {
        writeln!(tree, "{age};{}s;*", age / 10 * 10).expect("a String");
    }
    story::put_hierarchy(&client, &id, ("ages", tree.leak())).await;
    // Ages above 60 are leaves once they are 60.
    upload(&client, &id, records()).await;
    story::release(&client, &job(&id)).await;

    let mut higher = with_tree;
    higher["attributes"][2]["transform"] = json!({"top": 61});
    let call = client.call("put_schema").at("id", &id);
    call.json(&higher).send().await.expect(200);
    let queued = story::queue(&client, &job(&id)).await;
    let ended = story::ended(&client, &queued).await;
    assert_eq!(ended["state"], "failed", "{ended}");
    assert!(
        ended["problem"]["type"]
            .as_str()
            .is_some_and(|kind| kind.ends_with("invalid-data"))
    );
    assert!(!ended["problem"].to_string().contains("61"), "{ended}");
}
