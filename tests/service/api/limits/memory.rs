//! Jobs that need more memory, or more queries, than there are.

use std::time::Duration;

use serde_json::{Value, json};
use vizard::config::{Limits, Settings};

use super::names;
use crate::api::{Server, story};
use crate::common::client::{Answer, Client};

async fn post(client: &Client, job: &Value) -> Answer {
    client.call("create_job").json(job).send().await
}

/// Bytes that a job of the story is estimated to need.
async fn needed_bytes() -> u64 {
    let server = Server::sqlite().await;
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let view = post(&client, &story::job(&id)).await.expect(202);
    view["memory_bytes"].as_u64().expect("an estimate")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_may_need_all_of_the_memory_and_is_refused_at_once_above() {
    let needed = needed_bytes().await;
    for (memory_bytes_max, is_taken) in [(needed + 1, true), (needed, true), (needed - 1, false)] {
        let server = Server::sqlite_with(Settings {
            memory_bytes_max,
            ..Settings::default()
        })
        .await;
        let client = server.key(&["uploader", "steward"]).await;
        let id = story::filled_dataset(&client).await;
        let answer = post(&client, &story::job(&id)).await;
        if is_taken {
            answer.expect(202);
            continue;
        }
        let problem = answer.expect_problem(422, "limit-exceeded");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(detail.contains(&needed.to_string()), "{detail}");
        assert!(
            detail.contains(&format!("memory_bytes_max is {memory_bytes_max}")),
            "{detail}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_fits_no_worker_fails_and_says_so() {
    let server = Server::sqlite().await;
    server.work_with(|settings| settings.memory_bytes_max = 32 << 20);
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    let view = story::ended(&client, &job).await;
    assert_eq!(view["state"], "failed", "{view}");
    assert_eq!(view["problem"]["type"], "urn:vizard:problem:limit-exceeded");
    let needed = needed_bytes().await.to_string();
    assert!(
        view["problem"]["detail"].to_string().contains(&needed),
        "{view}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_population_table_that_is_put_later_counts_in_what_a_job_needs() {
    let server = Server::sqlite().await;
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let job = story::queue(&client, &story::job(&id)).await;
    // 384 bytes each: 8 MB more than when it was queued.
    let people: String = (0..20_000).map(|age| format!("{age}\n")).collect();
    let put = client.call("put_population_table").at("id", &id);
    let put = put.body("text/csv", format!("age\n{people}"));
    put.send().await.expect(200);
    let memory_bytes_max = needed_bytes().await + (2 << 20);
    server.work_with(|settings| settings.memory_bytes_max = memory_bytes_max);
    let view = story::ended(&client, &job).await;
    assert_eq!(view["state"], "failed", "{view}");
    assert_eq!(view["problem"]["type"], "urn:vizard:problem:limit-exceeded");
}

/// How many jobs work at this moment, for they are at some step; and whether all are over.
async fn working(client: &Client) -> (usize, bool) {
    let (mut working, mut is_over) = (0, true);
    // One look at all of them: one after the other they would have moved.
    let page = client.call("list_jobs").send().await.expect(200);
    for view in page["items"].as_array().expect("a page") {
        let runs = view["state"] == "running" && view["progress"]["step"] != 0;
        working += usize::from(runs);
        is_over &= view["state"] == "succeeded";
        assert_ne!(view["state"], "failed", "{view}");
    }
    (working, is_over)
}

/// The most jobs of three that worked at the same moment.
async fn most_at_once(memory_bytes_max: u64) -> usize {
    let server = Server::sqlite().await;
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    for _ in 0..3 {
        let mut job = story::job(&id);
        job["report"] = json!({"queries": 20_000});
        story::queue(&client, &job).await;
    }
    server.work_with(|settings| {
        settings.workers = 3;
        settings.memory_bytes_max = memory_bytes_max;
    });
    let mut most = 0;
    for _ in 0..3_000 {
        let (working, is_over) = working(&client).await;
        most = most.max(working);
        if is_over {
            return most;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the jobs did not end in time");
}

/// A dataset of one text attribute beside the others, and the estimate of a job on it.
async fn estimate_of(client: &Client, notes: impl Fn(usize) -> String) -> u64 {
    let schema = json!({"name": "notes", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "ill", "role": "sensitive", "type": "categorical"},
        {"name": "note", "role": "insensitive", "type": "categorical"}]});
    let made = client.call("create_dataset").json(&schema).send().await;
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    let mut csv = "id,age,ill,note\n".to_owned();
    for at in 0..200 {
        csv += &format!("p{at:03},{},w{},{}\n", at % 50, at % 7, notes(at));
    }
    let upload = client.call("upload_records").at("id", &id);
    upload.body("text/csv", csv).send().await.expect(201);
    let job = json!({"dataset": id, "engine": "lgb", "parameters": {"k": 5, "l": 2},
        "accept_exact": [{"attribute": "note", "reason": "a test"}]});
    let view = post(client, &job).await.expect(202);
    view["memory_bytes"].as_u64().expect("an estimate")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_counts_by_the_cell_and_by_the_value() {
    let server = Server::sqlite().await;
    let client = server.key(&["uploader", "steward"]).await;
    let short = estimate_of(&client, |_| "n".to_owned()).await;
    let shared = estimate_of(&client, |at| "n".repeat(4_000 + at % 2)).await;
    let own = estimate_of(&client, |at| format!("{at:03}{}", "n".repeat(3_997))).await;
    assert!(shared > short + 200 * 4_000, "{short} {shared}");
    assert!(own > shared + 200 * 4_000 - 100_000, "{shared} {own}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_do_not_fit_together_run_one_after_the_other() {
    let one = needed_bytes().await;
    assert_eq!(most_at_once(2 * one - (2 << 20)).await, 1);
    assert!(
        most_at_once(4 * one).await > 1,
        "the moment was not missed above"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_report_may_ask_as_many_queries_as_the_limit() {
    let server = Server::sqlite_with(Settings {
        limits: Limits {
            report_queries_max: 50,
            ..Limits::default()
        },
        ..Settings::default()
    })
    .await;
    let client = server.key(&["uploader", "steward"]).await;
    let id = story::filled_dataset(&client).await;
    let mut job = story::job(&id);
    for (queries, is_taken) in [(49, true), (50, true), (51, false)] {
        job["report"] = json!({"queries": queries});
        let answer = post(&client, &job).await;
        if is_taken {
            drop(answer.expect(202))
        } else {
            names(&answer, (422, "limit-exceeded"), "report_queries_max", 50);
            assert_eq!(answer.json()["parameter"], "report.queries");
        }
    }
}
