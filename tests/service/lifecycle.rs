//! The whole story with a real server process on both stores, and what a
//! crash, a shutdown and a cancellation do to a job.

use hyper::Method;
use hyper::body::Bytes;
use serde_json::{Value, json};
use vizard::cli::client::Client;

use super::common::process::{ServerProcess, client_of, job_when};
use super::place::places;

fn schema() -> Value {
    json!({
        "name": "wards", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "semi_sensitive", "type": "integer"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "days", "role": "quasi_identifier", "type": "integer"},
            {"name": "cost", "role": "sensitive", "type": "integer"}]
    })
}

/// Made-up records whose values are spread evenly.
fn records(count: u64) -> String {
    let mut text = String::from("id,age,ward,days,cost\n");
    for n in 0..count {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let (age, ward, days, cost) = (
            mixed % 90,
            mixed / 90 % 7,
            mixed / 700 % 40,
            mixed / 30_000 % 97,
        );
        text += &format!("p{n},{age},w{ward},{days},{}\n", cost * 100);
    }
    text
}

async fn upload(server: &ServerProcess, count: u64) -> String {
    let uploader = client_of(server, "uploader").await;
    let dataset = uploader.post("/v1/datasets", &schema()).await.unwrap();
    let id = dataset["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/datasets/{id}/records");
    let version = uploader
        .send(Method::POST, &path, "text/csv", Bytes::from(records(count)))
        .await
        .unwrap();
    assert_eq!(version.json().unwrap()["total_records"], count);
    id
}

/// Posts a job; `queries` of the report make it as long as a test needs it.
async fn post_job(steward: &Client, dataset: &str, queries: u32) -> String {
    let job = json!({
        "dataset": dataset, "engine": "lgb", "report": {"queries": queries},
        "parameters": {"k": 5, "l": 4, "generalization": "mdp"}
    });
    steward.post("/v1/jobs", &job).await.unwrap()["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

async fn releases(client: &Client) -> Vec<Value> {
    let list = client.get("/v1/releases").await.unwrap().json().unwrap();
    list["items"].as_array().unwrap().clone()
}

#[tokio::test]
async fn four_people_make_publish_and_read_a_release() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server, 2_000).await;
        let consent = client_of(&server, "consent").await;
        let preferences = "subject,sensitive,max_leakage\np1,age,\np2,age,0.1\np3,,\n";
        let path = format!("/v1/datasets/{dataset}/preferences");
        let given = consent
            .send(Method::POST, &path, "text/csv", Bytes::from(preferences))
            .await
            .unwrap();
        assert_eq!(given.json().unwrap()["accepted"], 3);
        let steward = client_of(&server, "steward").await;
        let analyst = client_of(&server, "analyst").await;
        let job = post_job(&steward, &dataset, 10).await;
        let done = job_when(&steward, &job, |job| {
            job["state"] != "queued" && job["state"] != "running"
        })
        .await;
        assert_eq!(done["state"], "succeeded", "{done}");
        let release = done["release"].as_str().unwrap().to_owned();

        assert!(
            releases(&analyst).await.is_empty(),
            "an analyst sees no draft"
        );
        let table = format!("/v1/releases/{release}/tables/microdata?format=csv");
        assert_eq!(analyst.get(&table).await.unwrap().status, 404);
        assert_eq!(
            analyst
                .get(&format!("/v1/datasets/{dataset}/records"))
                .await
                .unwrap()
                .status
                / 100,
            4
        );
        assert_eq!(
            steward
                .get(&format!("/v1/datasets/{dataset}/records"))
                .await
                .unwrap()
                .status
                / 100,
            4
        );

        steward
            .post(&format!("/v1/releases/{release}/publish"), &json!({}))
            .await
            .unwrap();
        assert_eq!(releases(&analyst).await.len(), 1);
        let text = analyst.get(&table).await.unwrap();
        assert_eq!(text.status, 200);
        assert_eq!(
            text.body.iter().filter(|&&byte| byte == b'\n').count(),
            2_001
        );
        assert!(server.terminate(), "the server ends well");
    }
}

#[tokio::test]
async fn a_draft_is_not_published_after_a_subject_withdrew() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server, 500).await;
        let steward = client_of(&server, "steward").await;
        let job = post_job(&steward, &dataset, 0).await;
        let done = job_when(&steward, &job, |job| job["state"] == "succeeded").await;
        let consent = client_of(&server, "consent").await;
        let path = format!("/v1/datasets/{dataset}/preferences/p7");
        let put = consent
            .send(
                Method::PUT,
                &path,
                "application/json",
                Bytes::from(r#"{"exclude":true}"#),
            )
            .await
            .unwrap();
        assert_eq!(put.status / 100, 2);
        let publish = format!("/v1/releases/{}/publish", done["release"].as_str().unwrap());
        let refused = steward
            .send(
                Method::POST,
                &publish,
                "application/json",
                Bytes::from("{}"),
            )
            .await
            .unwrap();
        assert_eq!(refused.status, 409);
        assert!(
            !String::from_utf8_lossy(&refused.body).contains("p7"),
            "nobody is named"
        );
    }
}

#[tokio::test]
async fn a_job_whose_server_was_killed_is_finished_once_by_the_next() {
    for place in places() {
        let server = place.serve(&["--lease-duration-s", "2"]);
        let dataset = upload(&server, 4_000).await;
        let steward = client_of(&server, "steward").await;
        let job = post_job(&steward, &dataset, 20_000).await;
        job_when(&steward, &job, |job| job["state"] == "running").await;
        server.kill();

        let server = place.serve(&["--lease-duration-s", "2"]);
        let steward = client_of(&server, "steward").await;
        let done = job_when(&steward, &job, |job| {
            job["state"] != "queued" && job["state"] != "running"
        })
        .await;
        assert_eq!(done["state"], "succeeded", "{done}");
        assert_eq!(done["attempts"], 2);
        assert_eq!(releases(&steward).await.len(), 1);
    }
}

#[tokio::test]
async fn a_job_goes_back_to_the_queue_when_the_drain_runs_out() {
    for place in places() {
        let server = place.serve(&["--drain-timeout", "0"]);
        let dataset = upload(&server, 4_000).await;
        let steward = client_of(&server, "steward").await;
        let job = post_job(&steward, &dataset, 20_000).await;
        job_when(&steward, &job, |job| job["state"] == "running").await;
        assert!(server.terminate(), "the server ends well");

        let idle = place.serve(&["--workers", "0"]);
        let steward = client_of(&idle, "steward").await;
        let waiting = job_when(&steward, &job, |_| true).await;
        assert_eq!(
            (&waiting["state"], &waiting["attempts"]),
            (&json!("queued"), &json!(0))
        );
        assert!(idle.terminate());

        let server = place.serve(&[]);
        let steward = client_of(&server, "steward").await;
        let done = job_when(&steward, &job, |job| job["state"] == "succeeded").await;
        assert_eq!(done["attempts"], 1);
    }
}

#[tokio::test]
async fn a_cancelled_job_ends_and_leaves_nothing() {
    for place in places() {
        let server = place.serve(&[]);
        let dataset = upload(&server, 4_000).await;
        let steward = client_of(&server, "steward").await;
        let job = post_job(&steward, &dataset, 20_000).await;
        job_when(&steward, &job, |job| job["state"] == "running").await;
        steward
            .post(&format!("/v1/jobs/{job}/cancel"), &json!({}))
            .await
            .unwrap();
        let ended = job_when(&steward, &job, |job| job["state"] != "running").await;
        assert_eq!(ended["state"], "cancelled");
        assert!(releases(&steward).await.is_empty());
    }
}

#[tokio::test]
async fn a_broken_upload_is_refused_with_its_lines_and_leaves_nothing() {
    for place in places() {
        let server = place.serve(&[]);
        let uploader = client_of(&server, "uploader").await;
        let dataset = uploader.post("/v1/datasets", &schema()).await.unwrap();
        let id = dataset["id"].as_str().unwrap();
        let mut text = records(1_000);
        text += "p3,1,w1,1,1\np1000,old,w1,1,1\np1001,1,w1,1\n";
        let path = format!("/v1/datasets/{id}/records");
        let refused = uploader
            .send(Method::POST, &path, "text/csv", Bytes::from(text))
            .await
            .unwrap();
        assert_eq!(refused.status, 422);
        let problem: Value = serde_json::from_slice(&refused.body).unwrap();
        let lines: Vec<_> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["line"].clone())
            .collect();
        assert_eq!(
            (problem["total_errors"].clone(), lines),
            (json!(3), vec![json!(1002), json!(1003), json!(1004)])
        );
        let view = uploader
            .get(&format!("/v1/datasets/{id}"))
            .await
            .unwrap()
            .json()
            .unwrap();
        assert_eq!((&view["version"], &view["records"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn refused_requests_are_in_the_audit_log_with_who_made_them() {
    for place in places() {
        let server = place.serve(&[]);
        let analyst = client_of(&server, "analyst").await;
        for _ in 0..3 {
            let refused = analyst.get("/v1/keys").await.expect("an answer");
            assert_eq!(refused.status, 403);
        }
        let nobody = analyst.with_token("vz_nobody");
        for _ in 0..2 {
            let refused = nobody.get("/v1/releases").await.expect("an answer");
            assert_eq!(refused.status, 401);
        }
        // The last minute is written at the end.
        assert!(server.terminate());

        let server = place.serve(&[]);
        let auditor = client_of(&server, "auditor").await;
        let listed = auditor.get("/v1/audit?action=refuse").await;
        let listed = listed.expect("an answer").json().expect("rows");
        let rows = listed["items"].as_array().expect("rows").iter();
        let mut rows: Vec<Value> = rows
            .map(|row| {
                let actor = row["actor"].as_str().expect("an actor");
                assert!(actor == "nobody" || actor.starts_with("key_"), "{actor}");
                json!([actor == "nobody", row["object_id"], row["detail"]])
            })
            .collect();
        rows.sort_by_key(|row| row[0] == true);
        let status = |status: u16, requests: u64| json!({"status": status, "requests": requests});
        assert_eq!(
            rows,
            [
                json!([false, "list_keys", status(403, 3)]),
                json!([true, "list_releases", status(401, 2)]),
            ]
        );
        assert!(server.terminate());
    }
}
