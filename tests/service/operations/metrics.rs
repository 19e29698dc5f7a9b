//! Metrics: the list in the code, the table in docs/OPERATING.md, what the
//! source counts and what a server shows are one and the same.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use vizard::telemetry::{METRICS, Metric};

use crate::api::story;
use crate::common::client::{Client, description};
use crate::common::program::{Program, key};

/// The row that docs/OPERATING.md must have for a metric.
fn row(metric: &Metric) -> String {
    let labels: Vec<_> = metric
        .labels
        .iter()
        .map(|(name, _)| format!("`{name}`"))
        .collect();
    let (name, kind) = (metric.name, metric.kind.as_str());
    format!(
        "| `{name}` | {kind} | {} | {} |",
        labels.join(", "),
        metric.help
    )
}

#[test]
fn the_table_for_operators_is_the_list_in_the_code() {
    let text = std::fs::read_to_string("docs/OPERATING.md").expect("it is there");
    let rows = text.lines().filter(|line| {
        ["| `vizard_", "| `process_"]
            .iter()
            .any(|begin| line.starts_with(begin))
    });
    let rows: Vec<_> = rows.collect();
    let wanted: Vec<_> = METRICS.iter().map(row).collect();
    assert_eq!(rows, wanted, "\n{}", wanted.join("\n"));
}

/// Names of metrics that a source file counts by.
fn counted_in(text: &str, found: &mut BTreeSet<String>) {
    for call in ["counter!(", "gauge!(", "histogram!("] {
        for (at, _) in text.match_indices(call) {
            let rest = text[at + call.len()..].trim_start();
            if let Some(name) = rest
                .strip_prefix('"')
                .and_then(|rest| rest.split('"').next())
            {
                found.insert(name.to_owned());
            }
        }
    }
}

fn counted_below(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            counted_below(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text = std::fs::read_to_string(&path).expect("text");
            let (code, _) = text.split_once("#[cfg(test)]").unwrap_or((&text, ""));
            counted_in(code, found);
        }
    }
}

#[test]
fn nothing_is_counted_that_is_not_in_the_list_and_nothing_listed_is_not_counted() {
    let mut found = BTreeSet::new();
    counted_below(Path::new("src"), &mut found);
    let listed: BTreeSet<_> = METRICS
        .iter()
        .map(|metric| metric.name.to_owned())
        .collect();
    assert_eq!(found, listed);
}

/// What one metric shows: its type, the names of its labels, their values.
#[derive(Debug, Default)]
struct Shown {
    kind: String,
    labels: BTreeSet<String>,
    values: BTreeMap<String, BTreeSet<String>>,
}

/// Reads Prometheus' text form.
fn read(text: &str) -> BTreeMap<String, Shown> {
    let mut all = BTreeMap::<String, Shown>::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        if let Some(described) = line.strip_prefix("# TYPE ") {
            let (name, kind) = described.split_once(' ').expect("name and type");
            all.entry(name.into()).or_default().kind = kind.into();
        } else if !line.starts_with('#') {
            let (series, value) = line.rsplit_once(' ').expect("series and value");
            assert!(value.parse::<f64>().is_ok(), "{line}");
            read_series(series, &mut all);
        }
    }
    all
}

fn read_series(series: &str, all: &mut BTreeMap<String, Shown>) {
    let (name, labels) = series.split_once('{').unwrap_or((series, "}"));
    let is_part = |end: &&str| {
        let of = name.strip_suffix(end).and_then(|name| all.get(name));
        of.is_some_and(|shown| shown.kind == "histogram")
    };
    let end = ["_bucket", "_sum", "_count"].into_iter().find(is_part);
    let name = name.strip_suffix(end.unwrap_or("")).expect("found before");
    let shown = all
        .get_mut(name)
        .unwrap_or_else(|| panic!("{name} has no type"));
    let labels = labels.strip_suffix('}').expect("a closing brace");
    for label in labels.split("\",").filter(|label| !label.is_empty()) {
        let (label, value) = label.split_once("=\"").expect("a label");
        // The end of a bucket belongs to the form of a histogram.
        if label != "le" {
            shown.labels.insert(label.into());
            let values = shown.values.entry(label.into()).or_default();
            values.insert(value.trim_end_matches('"').into());
        }
    }
}

/// A whole story, with everything in it that somebody could choose freely.
async fn story(client: &Client) {
    let everyone = key(client, &["uploader", "steward", "consent", "analyst"]).await;
    let dataset = story::filled_dataset(&everyone).await;
    let release = story::release(&everyone, &story::job(&dataset)).await;
    let table = everyone.call("get_release_table").at("id", release);
    assert_eq!(table.at("table", "microdata").send().await.status, 200);
    for (method, path) in [
        ("GET", "/nothing/canary-1?canary-2=canary-3"),
        ("BREW", "/v1/jobs"),
        ("CANARY", "/canary"),
        ("PATCH", "/v1/datasets/canary"),
        ("GET", "/v1/datasets/canary"),
        ("GET", "/docs/canary.css"),
        ("PUT", "/v1/hierarchies/canary"),
        ("GET", "/v1/releases/canary/tables/canary"),
    ] {
        everyone.send(method, path).await;
    }
    let mut job = story::job(&dataset);
    job["engine"] = "canary".into();
    let refused = everyone.call("create_job").json(&job).send().await;
    assert_eq!(refused.status, 422);
}

/// Whether a label may have a value: one of its list, or of the list elsewhere.
fn is_closed(label: &str, value: &str, listed: &[&str]) -> bool {
    let engines = vizard_anonymizer::catalog::descriptions();
    let mut engines = engines.as_array().expect("a list").iter();
    match label {
        "path" => {
            let mut ids = description().ids();
            let is_described = ids.any(|id| description().operation(id).path == value);
            value == "unmatched" || value.starts_with("/docs") || is_described
        }
        "status" => value.len() == 3 && value.parse::<u16>().is_ok(),
        "engine" => engines.any(|engine| engine["name"] == value),
        "version" => value == env!("CARGO_PKG_VERSION"),
        _ => listed.contains(&value),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_shows_what_the_list_says_with_labels_that_nobody_can_widen() {
    let server = Program::serve(&["--workers", "1"], &[]);
    let client = server.client();
    story(&client).await;
    let text = client.call("get_metrics").send().await.text();
    assert!(
        !text.contains("canary") && !text.contains("CANARY"),
        "{text}"
    );
    let shown = read(&text);
    let names: BTreeSet<_> = shown.keys().map(String::as_str).collect();
    let listed: BTreeSet<_> = METRICS.iter().map(|metric| metric.name).collect();
    assert_eq!(names, listed);
    for metric in METRICS {
        let shown = &shown[metric.name];
        assert_eq!(shown.kind, metric.kind.as_str(), "{}", metric.name);
        let labels: BTreeSet<_> = shown.labels.iter().map(String::as_str).collect();
        let listed: BTreeSet<_> = metric.labels.iter().map(|(label, _)| *label).collect();
        assert_eq!(labels, listed, "{}", metric.name);
        for (label, listed) in metric.labels {
            for value in &shown.values[*label] {
                assert!(
                    is_closed(label, value, listed),
                    "{} {label}={value}",
                    metric.name
                );
            }
        }
    }
    let jobs = "vizard_jobs_total{engine=\"lgb\",outcome=\"succeeded\"} 1";
    assert!(text.contains(jobs), "{text}");
    assert!(text.contains("vizard_upload_bytes_total "));
    assert!(!text.contains("vizard_upload_bytes_total 0"));
    for step in [
        "admit", "load", "run", "encode", "verify", "measure", "commit",
    ] {
        let count = format!("_count{{engine=\"lgb\",step=\"{step}\"}} 1");
        assert!(text.contains(&count), "{step}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_and_metrics_move_to_an_address_of_their_own() {
    let server = Program::serve(&["--metrics-listen", "127.0.0.1:0"], &[]);
    let api = server.client();
    let observation = Client::new(&server.line_after("metrics on http://"));
    for id in ["get_health", "get_readiness", "get_metrics"] {
        assert_eq!(observation.call(id).send().await.status, 200, "{id}");
        let path = description().operation(id).path.clone();
        assert_eq!(api.send("GET", &path).await.status, 404, "{path}");
    }
    for path in ["/v1/datasets", "/openapi.yaml", "/docs/"] {
        assert_eq!(observation.send("GET", path).await.status, 404, "{path}");
    }
    assert_eq!(api.call("get_openapi").send().await.status, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_are_shown_where_nobody_else_reaches_the_api_or_where_it_was_said() {
    let everywhere = ["--listen", "0.0.0.0:0", "--insecure-listen"];
    let own = ["--listen", "127.0.0.1:0"];
    for (options, status) in [
        (&everywhere[..], 404),
        (&[&everywhere[..], &["--metrics-public"]].concat(), 200),
        (&own, 200),
    ] {
        let server = Program::start(&[&["serve"], options].concat(), &[]);
        let address = server.address().replace("0.0.0.0", "127.0.0.1");
        let client = Client::new(&address);
        let answer = client.send("GET", "/metrics").await;
        assert_eq!(answer.status, status, "{options:?}");
        // The health check of a container asks there.
        client.call("get_readiness").send().await.expect(200);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_without_an_api_tells_how_it_is() {
    let worker = Program::start(&["work", "--metrics-listen", "127.0.0.1:0"], &[]);
    let observation = Client::new(&worker.line_after("metrics on http://"));
    worker.line_after("working on 1 job");
    observation.call("get_readiness").send().await.expect(200);
    let metrics = observation.call("get_metrics").send().await.text();
    for shown in [
        "vizard_verification_failures_total{engine=\"lgb\"} 0",
        "vizard_infeasible_answers_total{figures=\"told\"} 0",
        "vizard_infeasible_answers_total{figures=\"withheld\"} 0",
    ] {
        assert!(metrics.contains(shown), "{shown}");
    }
    let (status, _) = worker.terminate();
    assert!(status.success());
}
