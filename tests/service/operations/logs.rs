//! Log lines of a real process: one object each, of few fields, whatever happens.

use serde_json::Value;

use crate::api::story;
use crate::common::program::{Program, key};

/// Fields that a line may have.
const FIELDS: &[&str] = &[
    "timestamp",
    "level",
    "message",
    "target",
    "span",
    "status",
    "duration_ms",
    "job",
    "engine",
    "attempt",
    "outcome",
    "error",
    "bytes",
    "place",
    "failed",
    "cancelled",
    "dataset",
    "release",
    "line",
    "key",
    "stack",
    "statement",
    "keys",
    "why",
];

/// Fields that a line says of its request.
const SPAN_FIELDS: &[&str] = &["name", "id", "method", "path", "trace"];

/// Lines that other programs wait for, or that only the operator may read.
const PLAIN: &[&str] = &["listening on ", "metrics on ", "the first admin key "];

fn objects(lines: &[String]) -> Vec<Value> {
    let is_plain = |line: &&String| PLAIN.iter().any(|begin| line.starts_with(begin));
    let lines = lines.iter().filter(|line| !is_plain(line));
    lines
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_line_is_one_object_of_known_fields() {
    let environment = [("VIZARD_LOG_JSON", "true"), ("VIZARD_LOG", "trace")];
    let server = Program::serve(&["--workers", "1"], &environment);
    let client = server.client();
    let everyone = key(&client, &["uploader", "steward"]).await;
    let dataset = story::filled_dataset(&everyone).await;
    story::release(&everyone, &story::job(&dataset)).await;
    everyone.send("GET", "/v1/nothing").await;
    let asked = everyone
        .call("list_jobs")
        .header("x-request-id", "order-66");
    asked.send().await;
    let (status, lines) = server.terminate();
    assert!(status.success());
    let objects = objects(&lines);
    for object in &objects {
        let fields = object.as_object().expect("an object");
        let ours = fields["target"]
            .as_str()
            .expect("a target")
            .starts_with("vizard");
        for needed in ["timestamp", "level", "message"] {
            assert!(fields.contains_key(needed), "{object}");
        }
        let unknown = fields.keys().find(|name| !FIELDS.contains(&name.as_str()));
        assert!(!ours || unknown.is_none(), "{object}");
        // Other crates print statements, frames and headers at these levels.
        assert!(
            ours || !["DEBUG", "TRACE"].iter().any(|low| fields["level"] == *low),
            "{object}"
        );
        if let Some(span) = fields.get("span").and_then(Value::as_object) {
            let unknown = span
                .keys()
                .find(|name| !SPAN_FIELDS.contains(&name.as_str()));
            assert!(unknown.is_none(), "{object}");
        }
    }
    let asked =
        |object: &&Value| object["span"]["id"] == "order-66" && object["message"] == "answered";
    let answered = objects.iter().find(asked).expect("the request is logged");
    assert_eq!(answered["span"]["path"], "/v1/jobs");
    assert_eq!(answered["status"], 200);
    assert!(
        objects
            .iter()
            .any(|object| object["outcome"] == "succeeded")
    );
}

#[test]
fn a_start_that_fails_says_so_as_an_object() {
    let environment = [("VIZARD_LOG_JSON", "true")];
    let program = Program::serve(&["--store", "nonsense:"], &environment);
    let (status, lines) = program.ended();
    assert_eq!(status.code(), Some(1));
    let last = objects(&lines).pop().expect("a line");
    assert_eq!(last["level"], "ERROR");
    let why = last["error"].as_str().expect("why");
    assert!(
        why.contains("begins with `sqlite:` or `postgres://`"),
        "{why}"
    );
}
