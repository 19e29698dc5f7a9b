//! Subjects with many records, end to end with a real server on both stores:
//! the long table goes up, one row a subject comes down.

use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::common::process::{ServerProcess, client_of, job_when};
use super::place::places;

const SUBJECTS: u64 = 600;

const CODES: &str = "flu;lung;*\nasthma;lung;*\ncough;lung;*\nulcer;belly;*\nhernia;belly;*\n\
                     angina;heart;*\nstroke;heart;*\n";

fn schema() -> Value {
    json!({
        "name": "visits", "subject_key": "person", "multiplicity": "many", "attributes": [
            {"name": "person", "role": "identifier"},
            {"name": "born", "role": "quasi_identifier", "type": "integer"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "code", "role": "sensitive", "type": "categorical", "hierarchy": "codes"}]
    })
}

/// Made-up visits: one to four a person, not side by side.
fn records() -> String {
    let codes = [
        "flu", "asthma", "cough", "ulcer", "hernia", "angina", "stroke",
    ];
    let mut text = String::from("person,born,ward,code\n");
    for visit in 0..4 {
        for n in 0..SUBJECTS {
            let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
            if visit <= mixed % 4 {
                let code = codes[(mixed / 11 / 7_u64.pow(visit as u32) % 7) as usize];
                text += &format!("p{n},{},w{},{code}\n", 1930 + mixed % 80, mixed / 90 % 5);
            }
        }
    }
    text
}

async fn upload(server: &ServerProcess) -> String {
    let uploader = client_of(server, "uploader").await;
    let dataset = uploader.post("/v1/datasets", &schema()).await.unwrap();
    let id = dataset["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/datasets/{id}/hierarchies/codes");
    let tree = uploader.send(Method::PUT, &path, "text/csv", Bytes::from(CODES));
    tree.await.unwrap();
    let path = format!("/v1/datasets/{id}/records");
    let sent = uploader.send(Method::POST, &path, "text/csv", Bytes::from(records()));
    let version = sent.await.unwrap().json().unwrap();
    assert!(version["total_records"].as_u64().unwrap() > SUBJECTS);
    let consent = client_of(server, "consent").await;
    let path = format!("/v1/datasets/{id}/preferences");
    let preferences = "subject,max_leakage,max_reidentification,exclude\n\
                       p1,0.1,,\np2,,0.05,\np3,,,true\n";
    let sent = consent.send(Method::POST, &path, "text/csv", Bytes::from(preferences));
    assert_eq!(sent.await.unwrap().json().unwrap()["accepted"], 3);
    id
}

async fn publish(server: &ServerProcess, dataset: &str, job: Value) -> Value {
    let steward = client_of(server, "steward").await;
    let mut job = job;
    job["dataset"] = json!(dataset);
    job["publish"] = json!("automatic");
    let posted = steward.post("/v1/jobs", &job).await.unwrap();
    let id = posted["id"].as_str().unwrap().to_owned();
    let done = job_when(&steward, &id, |job| {
        job["state"] != "queued" && job["state"] != "running"
    });
    let done = done.await;
    assert_eq!(done["state"], "succeeded", "{done}");
    let analyst = client_of(server, "analyst").await;
    let path = format!("/v1/releases/{}", done["release"].as_str().unwrap());
    let release = analyst.get(&path).await.unwrap().json().unwrap();
    let path = format!("{path}/tables/persons?format=csv");
    let table = analyst.get(&path).await.unwrap();
    let text = String::from_utf8(table.body.to_vec()).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("group,born,ward,code"));
    assert_eq!(lines.count() as u64, SUBJECTS - 1, "one row a subject");
    release
}

#[tokio::test]
async fn a_long_table_is_published_with_one_row_a_subject() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server).await;
        let job = json!({"engine": "one_to_many", "parameters": {"k": 5, "l": 4, "k_group": 6}});
        let release = publish(&server, &dataset, job).await;
        assert_eq!(release["manifest"]["records"], SUBJECTS - 1);
        // How many are left out is the steward's to know.
        assert!(release["manifest"].get("excluded").is_none(), "{release}");
        let steward = client_of(&server, "steward").await;
        let path = format!("/v1/releases/{}", release["id"].as_str().unwrap());
        let report = steward.get(&format!("{path}/report")).await.unwrap();
        let report = report.json().unwrap();
        for measure in ["qid_ncp", "sa_ncp", "fingerprints", "value_shares"] {
            assert!(
                report["measures"][measure].is_object(),
                "{measure}: {report}"
            );
        }
        let verification = steward.get(&format!("{path}/verification")).await.unwrap();
        let verification = verification.json().unwrap();
        assert_eq!(verification["holds"], true);
    }
}

#[tokio::test]
async fn the_comparator_publishes_the_same_long_table() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server).await;
        let parameters = json!({"k": 5, "m": 2, "delta": 0.7, "max_excluded": 0.1});
        let job = json!({"engine": "rmr", "parameters": parameters});
        let release = publish(&server, &dataset, job).await;
        assert_eq!(release["manifest"]["engine"], "rmr");
    }
}

#[tokio::test]
async fn a_long_table_is_no_table_of_the_other_engine() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server).await;
        let steward = client_of(&server, "steward").await;
        let job = json!({"dataset": dataset, "engine": "lgb", "parameters": {"k": 5, "l": 2}});
        let refused = steward.post("/v1/jobs", &job).await;
        assert!(refused.is_err(), "{refused:?}");
    }
}
