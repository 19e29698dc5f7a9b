//! How large a hierarchy may be.

use serde_json::{Value, json};
use vizard::config::Limits;

use super::{names, server};
use crate::api::Server;
use crate::common::client::Answer;

const REFUSED: (u16, &str) = (422, "limit-exceeded");

async fn put(server: &Server, media_type: &'static str, content: String) -> Answer {
    let client = server.key(&["steward"]).await;
    let call = client
        .call("put_hierarchy")
        .at("name", "h")
        .query("new_version", true);
    call.body(media_type, content).send().await
}

/// A tree as JSON and as CSV: `leaves` below each of `groups` below the root.
fn tree(groups: usize, leaves: usize) -> [(&'static str, String); 2] {
    let group = |at: usize| {
        let leaves = (0..leaves).map(|leaf| json!({"label": format!("{at}.{leaf}")}));
        json!({"label": format!("g{at}"), "children": leaves.collect::<Value>()})
    };
    let json = json!({"label": "*", "children": (0..groups).map(group).collect::<Value>()});
    let line = |at: usize| format!("{}.{};g{};*\n", at / leaves, at % leaves, at / leaves);
    let csv: String = (0..groups * leaves).map(line).collect();
    [("application/json", json.to_string()), ("text/csv", csv)]
}

/// One leaf under so many levels, it and the root included.
fn chain(levels: usize) -> [(&'static str, String); 2] {
    let mut json = json!({"label": "0"});
    for level in 1..levels {
        json = json!({"label": level.to_string(), "children": [json]});
    }
    let labels: Vec<String> = (0..levels).map(|level| level.to_string()).collect();
    [
        ("application/json", json.to_string()),
        ("text/csv", labels.join(";")),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hierarchy_may_have_as_many_nodes_as_the_limit() {
    // 1 + 4 + 4 × 5 nodes.
    for (hierarchy_nodes_max, is_taken) in [(26, true), (25, true), (24, false)] {
        let server = server(Limits {
            hierarchy_nodes_max,
            ..Limits::default()
        })
        .await;
        for (media_type, content) in tree(4, 5) {
            let answer = put(&server, media_type, content).await;
            if is_taken {
                assert_eq!(answer.json()["leaves"], 20, "{}", answer.text())
            } else {
                names(&answer, REFUSED, "hierarchy_nodes_max", 24)
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hierarchy_may_have_as_many_levels_as_the_limit() {
    for (hierarchy_levels_max, is_taken) in [(8, true), (7, true), (6, false)] {
        let server = server(Limits {
            hierarchy_levels_max,
            ..Limits::default()
        })
        .await;
        for (media_type, content) in chain(7) {
            let answer = put(&server, media_type, content).await;
            if is_taken {
                assert_eq!(answer.json()["height"], 6, "{}", answer.text())
            } else {
                names(&answer, REFUSED, "hierarchy_levels_max", 6)
            }
        }
        // Values, the lowest intervals, four levels more, the root.
        let intervals = json!({"intervals": {"origin": 0, "width": 1, "fanouts": [2, 2, 2, 2]}});
        let answer = put(&server, "application/json", intervals.to_string()).await;
        if is_taken {
            assert_eq!(answer.json()["height"], 6, "{}", answer.text())
        } else {
            names(&answer, REFUSED, "hierarchy_levels_max", 6)
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_and_trees_without_measure_are_refused_soon() {
    let server = server(Limits::default()).await;
    for (media_type, content, limit) in [
        ("text/csv", "a;".repeat(4 << 20), "hierarchy_levels_max"),
        (
            "text/csv",
            tree(1_000, 300)[1].1.clone(),
            "hierarchy_nodes_max",
        ),
        (
            "application/json",
            tree(1_000, 300)[0].1.clone(),
            "hierarchy_nodes_max",
        ),
        ("application/json", chain(60)[0].1.clone(), "json_depth_max"),
    ] {
        let refused = put(&server, media_type, content).await;
        let problem = refused.expect_problem(REFUSED.0, REFUSED.1);
        assert!(problem["detail"].to_string().contains(limit), "{problem}");
    }
}
