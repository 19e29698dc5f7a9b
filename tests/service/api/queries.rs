//! Queries on a release, and the hierarchies that are published with it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use vizard::config::{Limits, Settings};

use super::{Server, on_both, story};
use crate::common::client::{Answer, Client};

on_both!(
    a_release_answers_over_rest_as_its_downloads_do_on_files,
    who_may_read_the_tables_may_ask_and_nobody_asks_what_is_withdrawn,
    each_answer_is_in_the_audit_log_without_what_was_asked,
    a_query_that_does_not_fit_names_the_place_and_no_value,
    withheld_hierarchies_close_what_is_generalized_by_them,
    what_changes_nothing_takes_no_idempotency_key,
);

/// A steward, an analyst, and a release by these parameters.
async fn released(server: &Server, change: impl FnOnce(&mut Value)) -> (Client, Client, String) {
    server.work();
    let steward = server.key(&["steward"]).await;
    let analyst = server.key(&["analyst"]).await;
    let dataset = story::filled_dataset(&steward).await;
    let mut job = story::job(&dataset);
    change(&mut job);
    let release = story::release(&steward, &job).await;
    (steward, analyst, release)
}

async fn published(server: &Server, change: impl FnOnce(&mut Value)) -> (Client, Client, String) {
    let (steward, analyst, release) = released(server, change).await;
    server.publish(&steward, &release).await.expect(200);
    (steward, analyst, release)
}

async fn ask(client: &Client, release: &str, query: &Value) -> Answer {
    let call = client.call("query_release").at("id", release);
    call.json(query).send().await
}

/// Puts what an analyst can download of a release into a folder.
async fn download(analyst: &Client, release: &str, folder: &Path) {
    let view = analyst.call("get_release").at("id", release).send().await;
    let view = view.expect(200);
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("room");
    write("manifest.json", view["manifest"].to_string().as_bytes());
    for table in view["manifest"]["tables"].as_array().expect("tables") {
        let name = table["name"].as_str().expect("a name");
        let call = analyst.call("get_release_table").at("id", release);
        let csv = call.at("table", name).send().await;
        write(&format!("{name}.csv"), &csv.body);
    }
    let call = analyst.call("get_release_hierarchies").at("id", release);
    let list = call.send().await.expect(200);
    write("hierarchies.json", list.to_string().as_bytes());
    std::fs::create_dir(folder.join("hierarchies")).expect("room");
    for one in list["published"].as_array().expect("a list") {
        let attribute = one["attribute"].as_str().expect("a name");
        let call = analyst.call("get_release_hierarchy").at("id", release);
        let csv = call.at("attribute", attribute).send().await;
        assert_eq!(csv.media_type(), Some("text/csv"));
        let digest = Sha256::digest(&csv.body);
        let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(one["sha256"], json!(digest));
        write(&format!("hierarchies/{attribute}.csv"), &csv.body);
    }
}

async fn a_release_answers_over_rest_as_its_downloads_do_on_files(server: Server) {
    let (_, analyst, release) = published(&server, |_| {}).await;
    let folder = tempfile::tempdir().expect("a folder");
    download(&analyst, &release, folder.path()).await;
    let ward = std::fs::read_to_string(folder.path().join("hierarchies/ward.csv"));
    assert_eq!(ward.expect("it was written"), story::HIERARCHY);
    for query in [
        json!({"count": true}),
        json!({"count": true, "sum": ["cost"], "avg": ["age", "cost"], "group_by": ["sex", "ward"],
            "where": [{"attribute": "age", "op": "between", "lo": 30, "hi": 55.5}]}),
        json!({"count": true, "group_by": ["ward"], "where": [
            {"attribute": "ward", "op": "in", "values": ["warm", "blue"]},
            {"attribute": "cost", "op": ">=", "value": 400}]}),
    ] {
        // The second time from what is kept.
        let over_rest = ask(&analyst, &release, &query).await.expect(200);
        let again = ask(&analyst, &release, &query).await.expect(200);
        assert_eq!(over_rest, again);
        assert_eq!(over_rest["release"], json!(release));
        let made = Command::new(env!("CARGO_BIN_EXE_vizard"))
            .arg("query")
            .arg(folder.path())
            .args([&query.to_string(), "--format", "json"])
            .output()
            .expect("it runs");
        let on_files: Value = serde_json::from_slice(&made.stdout).expect("JSON");
        assert_eq!(over_rest["cells"], on_files["cells"], "{query}");
        assert_eq!(over_rest["group_by"], on_files["group_by"]);
        assert!(!on_files["cells"].as_array().expect("cells").is_empty());
    }
    let whole = ask(&analyst, &release, &json!({"count": true}))
        .await
        .expect(200);
    let whole = &whole["cells"][0];
    assert_eq!(
        (&whole["rows"], &whole["count"]["lower"]),
        (&json!(120), &json!(120.0))
    );
}

async fn who_may_read_the_tables_may_ask_and_nobody_asks_what_is_withdrawn(server: Server) {
    let (steward, analyst, release) = released(&server, |_| {}).await;
    let count = json!({"count": true});
    ask(&analyst, &release, &count)
        .await
        .expect_problem(404, "not-found");
    ask(&steward, &release, &count).await.expect(200);
    server.publish(&steward, &release).await.expect(200);
    ask(&analyst, &release, &count).await.expect(200);
    let tag = analyst
        .call("get_release_hierarchy")
        .at("id", &release)
        .at("attribute", "ward");
    let tag = tag.send().await.header("etag").expect("a tag").to_owned();
    let again = analyst
        .call("get_release_hierarchy")
        .at("id", &release)
        .at("attribute", "ward");
    assert_eq!(again.header("if-none-match", &tag).send().await.status, 304);
    let none = analyst
        .call("get_release_hierarchy")
        .at("id", &release)
        .at("attribute", "sex");
    none.send().await.expect_problem(404, "not-found");
    let withdraw = steward.call("withdraw_release").at("id", &release);
    withdraw.send().await.expect(200);
    for client in [&steward, &analyst] {
        let seen = ask(client, &release, &count).await;
        assert!(matches!(seen.status, 404 | 409), "{}", seen.text());
    }
    let refused = ask(&steward, &release, &count).await;
    refused.expect_problem(409, "release-state");
    let list = steward.call("get_release_hierarchies").at("id", &release);
    list.send().await.expect_problem(409, "release-state");
}

async fn each_answer_is_in_the_audit_log_without_what_was_asked(server: Server) {
    let (_, analyst, release) = published(&server, |_| {}).await;
    let query =
        json!({"count": true, "where": [{"attribute": "ward", "op": "=", "value": "violet"}]});
    ask(&analyst, &release, &query).await.expect(200);
    let refused = ask(&analyst, &release, &json!({"group_by": ["ward"]})).await;
    refused.expect_problem(422, "invalid-body");
    let auditor = server.key(&["auditor"]).await;
    let rows = auditor
        .call("list_audit")
        .query("limit", 200)
        .send()
        .await
        .expect(200);
    let rows = rows["items"].as_array().expect("a list").iter();
    let rows: Vec<&Value> = rows
        .filter(|row| row["action"] == "query_release")
        .collect();
    assert_eq!(rows.len(), 1, "{rows:?}");
    let row = rows[0].to_string();
    assert!(row.contains(&release) && !row.contains("violet"), "{row}");
}

async fn a_query_that_does_not_fit_names_the_place_and_no_value(server: Server) {
    let (_, analyst, release) = published(&server, |_| {}).await;
    let of = |condition: Value| json!({"count": true, "where": [condition]});
    let many = vec![json!({"attribute": "age", "op": "<", "value": 1}); 65];
    for (query, slug, parameter) in [
        (json!({}), "invalid-body", json!(null)),
        (
            json!({"count": true, "top": 3}),
            "invalid-body",
            json!(null),
        ),
        (
            of(json!({"attribute": "age", "op": "~", "value": 3})),
            "invalid-body",
            json!(null),
        ),
        (
            of(json!({"attribute": "age", "op": "<"})),
            "invalid-body",
            json!(null),
        ),
        (
            of(json!({"attribute": "patient", "op": "=", "value": "p1"})),
            "invalid-parameter",
            json!("where[0]"),
        ),
        (
            of(json!({"attribute": "ward", "op": "=", "value": "secret-ward"})),
            "invalid-parameter",
            json!("where[0]"),
        ),
        (
            of(json!({"attribute": "age", "op": "=", "value": "secret-ward"})),
            "invalid-parameter",
            json!("where[0]"),
        ),
        (
            json!({"count": true, "sum": ["sex"]}),
            "invalid-parameter",
            json!("sum[0]"),
        ),
        (
            json!({"count": true, "group_by": ["sex", "sex"]}),
            "invalid-parameter",
            json!("group_by[1]"),
        ),
        (
            json!({"count": true, "group_by": ["age", "cost"]}),
            "limit-exceeded",
            json!(null),
        ),
        (
            json!({"count": true, "where": many}),
            "limit-exceeded",
            json!(null),
        ),
    ] {
        let refused = ask(&analyst, &release, &query).await;
        let problem = refused.expect_problem(422, slug);
        assert_eq!(problem["parameter"], parameter, "{query}");
        assert!(!refused.text().contains("secret-ward"));
    }
    let call = analyst.call("query_release").at("id", &release);
    let refused = call.body("application/json", "{").send().await;
    refused.expect_problem(400, "malformed-json");
}

async fn withheld_hierarchies_close_what_is_generalized_by_them(server: Server) {
    let (_, analyst, release) =
        published(&server, |job| job["hierarchies"] = json!("withhold")).await;
    let list = analyst.call("get_release_hierarchies").at("id", &release);
    let list = list.send().await.expect(200);
    assert_eq!(list, json!({"published": [], "withheld": ["ward"]}));
    let one = analyst
        .call("get_release_hierarchy")
        .at("id", &release)
        .at("attribute", "ward");
    one.send().await.expect_problem(404, "not-found");
    let by = |name: &str| json!({"count": true, "group_by": [name]});
    let refused = ask(&analyst, &release, &by("ward")).await;
    let problem = refused.expect_problem(422, "invalid-parameter");
    assert_eq!(problem["parameter"], "group_by[0]");
    ask(&analyst, &release, &by("sex")).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_that_takes_longer_than_the_limit_is_ended() {
    let limits = Limits {
        query_timeout_ms: 1,
        ..Limits::default()
    };
    let settings = Settings {
        limits,
        ..Settings::default()
    };
    let server = Server::sqlite_with(settings).await;
    let (_, analyst, release) = published(&server, |_| {}).await;
    // Every value of one condition is held against every one of the next.
    let values: Vec<u32> = (0..1_000).collect();
    let among = json!({"attribute": "cost", "op": "in", "values": values});
    let query = json!({"count": true, "where": vec![among; 8]});
    let refused = ask(&analyst, &release, &query).await;
    let problem = refused.expect_problem(422, "limit-exceeded");
    let detail = problem["detail"].as_str().expect("a text");
    assert!(detail.contains("query_timeout_ms"), "{detail}");
}

async fn what_changes_nothing_takes_no_idempotency_key(server: Server) {
    let (steward, _, release) = published(&server, |_| {}).await;
    for time in ["first", "again"] {
        let query = steward.call("query_release").at("id", &release);
        let query = query.header("idempotency-key", "of-a-query");
        let asked = query.json(&json!({"count": true})).send().await;
        asked.expect(200);
        let compare = steward.call("compare_releases").at("id", &release);
        let compare = compare.header("idempotency-key", "of-a-comparison");
        let compared = compare.json(&json!({"with": release})).send().await;
        assert!(compared.status < 500, "{time}: {}", compared.text());
        assert_eq!(compared.header("idempotency-replayed"), None);
    }
}
