//! What was never published cannot be told from what an analyst reads.
//!
//! An analyst who knows all of a record but one value computes, for each value
//! that it may have, the digests that a program could make of it, and looks
//! for them in everything that the API gives an analyst. And two datasets that
//! differ in nothing but what is unpublished must look the same.

use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Server, on_both, story};
use crate::common::client::Client;

on_both!(
    no_answer_to_an_analyst_confirms_a_guess,
    datasets_that_differ_in_what_is_unpublished_look_the_same,
);

/// The record whose cost is guessed: appended alone, and excluded by its subject.
fn record(cost: u32) -> String {
    format!("appended-4711,44,F,blue,{cost}")
}

/// Its true cost.
const COST: u32 = 577;

/// A digest as it may be shown.
fn hex(digest: impl AsRef<[u8]>) -> String {
    digest
        .as_ref()
        .iter()
        .fold(String::new(), |mut text, byte| {
            write!(text, "{byte:02x}").expect("a String");
            text
        })
}

/// The content digest of records, as `microdata::digest` describes it.
fn content(records: &[String]) -> String {
    fn text(to: &mut Vec<u8>, text: &str) {
        to.push(u8::try_from(text.len()).expect("a short text"));
        to.extend(text.as_bytes());
    }
    let mut bytes = b"vizard records 1\n".to_vec();
    let names = "patient,age,sex,ward,cost".to_owned();
    for record in [&names].into_iter().chain(records) {
        bytes.push(0xFF);
        record.split(',').for_each(|cell| text(&mut bytes, cell));
    }
    hex(Sha256::digest(&bytes))
}

/// What an analyst could look for, if the cost was `cost`.
fn guesses(cost: u32) -> Vec<String> {
    let mut all: Vec<String> = story::records(0, 120)
        .lines()
        .skip(1)
        .map(str::to_owned)
        .collect();
    let last = record(cost);
    all.push(last.clone());
    vec![
        content(std::slice::from_ref(&last)),
        content(&all),
        hex(Sha256::digest(&last)),
        hex(Sha256::digest(body(cost))),
        hex(Sha256::digest(cost.to_string())),
    ]
}

/// The upload that brings the record.
fn body(cost: u32) -> String {
    format!("patient,age,sex,ward,cost\n{}\n", record(cost))
}

/// Everything that the API tells an analyst of a release, heads included.
async fn everything(analyst: &Client, release: &str) -> String {
    let mut told = String::new();
    let listed = analyst.call("list_releases").send().await.expect(200);
    told += &listed.to_string();
    for operation in [
        "get_release",
        "get_release_report",
        "get_release_verification",
    ] {
        let answer = analyst.call(operation).at("id", release).send().await;
        assert_eq!(answer.status, 200, "{operation}");
        told += &format!("{:?}{}", answer.headers, answer.text());
    }
    for table in ["microdata", "buckets"] {
        let call = analyst.call("get_release_table").at("id", release);
        let answer = call.at("table", table).send().await;
        assert_eq!(answer.status, 200, "{table}");
        told += &format!("{:?}{}", answer.headers, answer.text());
    }
    told
}

async fn no_answer_to_an_analyst_confirms_a_guess(server: Server) {
    server.work();
    let steward = server.key(&["steward", "consent"]).await;
    let analyst = server.key(&["analyst"]).await;
    let id = story::filled_dataset(&steward).await;
    story::upload(&steward, &id, body(COST)).await.expect(201);
    let put = steward.call("put_preference").at("id", &id);
    let put = put
        .at("subject", "appended-4711")
        .json(&json!({"exclude": true}));
    put.send().await.expect(200);
    let mut spec = story::job(&id);
    spec["publish"] = json!("automatic");
    let release = story::release(&steward, &spec).await;
    let told = everything(&analyst, &release).await;
    let confirmed: Vec<u32> = (100..1_000)
        .filter(|&cost| guesses(cost).iter().any(|guess| told.contains(guess)))
        .collect();
    assert_eq!(confirmed, [0_u32; 0], "of 900 guesses");
}

/// A dataset whose published records are always the same: `world` decides the
/// names of its subjects, and how many more there are who are in no release.
async fn published(steward: &Client, world: u32) -> String {
    let schema = json!({"name": "wards", "subject_key": "patient", "missing": "drop", "attributes": [
        {"name": "patient", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "cost", "role": "sensitive", "type": "integer"}]});
    let made = steward.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let mut csv = String::from("patient,age,cost\n");
    for at in 0..60_u32 {
        csv += &format!("{world}-{at},{},{}\n", 20 + at * 13 % 60, 100 + at);
    }
    for at in 0..20 * world {
        csv += &format!("out-{at},{},{}\n", 20 + at % 60, 7_000 + at);
        csv += &format!("missing-{at},,{}\n", 8_000 + at);
    }
    let upload = steward.call("upload_records").at("id", &id);
    let upload = upload.query("allow_loss", true).body("text/csv", csv);
    upload.send().await.expect(201);
    for at in 0..20 * world {
        let put = steward.call("put_preference").at("id", &id);
        let put = put.at("subject", format!("out-{at}"));
        put.json(&json!({"exclude": true})).send().await.expect(200);
    }
    let spec = json!({"dataset": id, "engine": "mondrian", "parameters": {"k": 3, "max_excluded": 1.0},
        "publish": "automatic"});
    story::release(steward, &spec).await
}

/// What an analyst is told of a release, without what every release has of its
/// own: ids, times, and digests of bytes that the analyst has.
async fn told(analyst: &Client, release: &str) -> Value {
    let get = async |operation: &'static str| {
        let answer = analyst.call(operation).at("id", release).send().await;
        answer.expect(200)
    };
    let mut told = get("get_release").await;
    for own in ["id", "dataset", "created_at", "published_at"] {
        assert!(!told[own].take().is_null(), "{own}");
    }
    told["manifest"]["input"]["dataset"].take();
    for table in told["manifest"]["tables"].as_array_mut().expect("tables") {
        let name = table["name"].as_str().expect("a name").to_owned();
        let call = analyst.call("get_release_table").at("id", release);
        let answer = call.at("table", &name).send().await;
        assert_eq!(table["sha256"].take(), hex(Sha256::digest(&answer.body)));
        let length = answer.body.len().to_string();
        assert_eq!(answer.header("content-length"), Some(length.as_str()));
    }
    let documents = [
        get("get_release_report").await,
        get("get_release_verification").await,
    ];
    let mut told = json!([told, documents]);
    round(&mut told);
    told
}

/// Rounds figures to nine decimals: the order of a sum is that of the rows,
/// which the seed decides.
fn round(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Number(number) => {
            let figure = number.as_f64().expect("a figure");
            *value = json!((figure * 1e9).round() / 1e9);
        }
        _ => {}
    }
}

async fn datasets_that_differ_in_what_is_unpublished_look_the_same(server: Server) {
    server.work();
    let steward = server.key(&["steward", "consent"]).await;
    let analyst = server.key(&["analyst"]).await;
    let (one, other) = (published(&steward, 1).await, published(&steward, 2).await);
    assert_eq!(told(&analyst, &one).await, told(&analyst, &other).await);
}
