//! A server with an anchor file: keeps it, and does not serve a log that was cut.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

use crate::common::process::{ServerProcess, ended};

fn position(anchor: &Path) -> u64 {
    let text = std::fs::read_to_string(anchor).expect("the anchor");
    let (position, hash) = text.trim_end().split_once(':').expect("an anchor");
    assert_eq!(hash.len(), 64);
    position.parse().expect("a position")
}

/// Runs statements behind the stopped server's back.
async fn tamper(store: &str, statements: &[&str]) {
    let mut connection = SqliteConnection::connect(store).await.expect("the file");
    for statement in statements {
        let ran = sqlx::query(AssertSqlSafe((*statement).to_owned()));
        ran.execute(&mut connection).await.expect("it runs");
    }
    connection.close().await.expect("it closes");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_keeps_its_anchor_and_does_not_serve_a_log_that_was_cut() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("vizard.db").display());
    let anchor = folder.path().join("anchor");
    let path = anchor.to_str().expect("text");
    let options = ["--audit-anchor", path, "--audit-anchor-interval-s", "1"];
    let server = ServerProcess::start(&store, folder.path(), &options);
    let request = json!({"name": "etl", "roles": ["uploader"]});
    for _ in 0..3 {
        let made = server.admin().post("/v1/keys", &request).await;
        made.expect("the admin makes keys");
    }
    let mut kept = 0;
    for _ in 0..100 {
        kept = position(&anchor);
        if kept == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(kept, 3, "it is moved on while the server runs");
    let made = server.admin().post("/v1/keys", &request).await;
    made.expect("the admin makes keys");
    assert!(server.terminate());
    assert_eq!(position(&anchor), 4, "it is moved on at the end");

    tamper(
        &store,
        &[
            "DROP TRIGGER audit_no_delete",
            "DELETE FROM audit WHERE position > 2",
            "UPDATE audit_head SET position = 2, hash = (SELECT hash FROM audit WHERE position = 2)",
        ],
    )
    .await;
    let mut again = Command::new(env!("CARGO_BIN_EXE_vizard"));
    again.args(["serve", "--listen", "127.0.0.1:0", "--store", &store]);
    let refused = ended(again.args(options).arg("--data").arg(folder.path()));
    assert_eq!(refused.status.code(), Some(1));
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("anchored at 4:"), "{said}");
    assert!(said.contains("it is shorter"), "{said}");
    assert!(!said.contains("listening"), "{said}");
    assert_eq!(position(&anchor), 4, "the anchor stays as evidence");
}
