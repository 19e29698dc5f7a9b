//! Keys across processes: revoked by one, refused by all; and the command line.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use vizard::config::Settings;

use crate::api::Server;
use crate::common::postgres::cluster;
use crate::common::process::ServerProcess;

#[tokio::test]
async fn a_key_that_one_process_revokes_is_refused_by_the_other_on_the_next_request() {
    let Some(cluster) = cluster() else {
        return;
    };
    let url = cluster.fresh_database();
    let one = Server::postgres_at(&url, Settings::default()).await;
    let other = Server::postgres_at(&url, Settings::default()).await;
    for _ in 0..10 {
        let request = json!({"name": "etl", "roles": ["uploader"]});
        let call = one.operator().call("create_key").json(&request);
        let made = call.send().await.expect(201);
        let token = made["token"].as_str().expect("a token");
        let holder = other.anyone().with(token);
        holder.call("list_datasets").send().await.expect(200);
        let id = made["id"].as_str().expect("an id");
        one.operator()
            .call("revoke_key")
            .at("id", id)
            .send()
            .await
            .expect(200);
        let refused = holder.call("list_datasets").send().await;
        refused.expect_problem(401, "unauthenticated");
    }
}

fn keys(data: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_vizard"))
        .arg("keys")
        .arg("--data")
        .arg(data)
        .args(arguments)
        .env_remove("VIZARD_STORE")
        .output()
        .expect("the binary was built");
    assert!(output.status.success(), "{:?}", output);
    String::from_utf8(output.stdout).expect("text")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_line_makes_lists_and_revokes_keys_beside_a_running_server() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("vizard.db").display());
    let server = ServerProcess::start(&store, folder.path(), &[]);
    let dataset = "dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70";
    let create = [
        "create", "--role", "uploader", "--role", "analyst", "--name", "etl",
    ];
    let made = keys(
        folder.path(),
        &[&create[..], &["--dataset", dataset]].concat(),
    );
    let (id, token) = made.trim().split_once('\t').expect("id and token");
    let holder = server.admin().with_token(token);
    assert_eq!(
        holder.get("/v1/datasets").await.expect("an answer").status,
        200
    );

    let secret = token.rsplit('_').next().expect("a secret");
    let listed = || keys(folder.path(), &["list"]);
    let line = |list: &str| {
        let line = list.lines().find(|line| line.starts_with(id));
        let cells: Vec<String> = line
            .expect("the key")
            .split('\t')
            .map(str::to_owned)
            .collect();
        cells
    };
    let list = listed();
    assert!(!list.contains(secret), "{list}");
    let cells = line(&list);
    assert_eq!(cells[1..4], ["active", "analyst,uploader", dataset]);
    assert_eq!(cells[5], "etl");
    let mut last_used = cells[4].clone();
    for _ in 0..200 {
        if last_used != "never" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        last_used = line(&listed())[4].clone();
    }
    assert!(last_used.ends_with('Z'), "{last_used}");

    keys(folder.path(), &["revoke", id]);
    assert_eq!(
        holder.get("/v1/datasets").await.expect("an answer").status,
        401
    );
    assert_eq!(line(&listed())[1], "revoked");

    let create = ["create", "--role", "analyst", "--expires-in-s", "1"];
    let made = keys(folder.path(), &create);
    let (id, token) = made.trim().split_once('\t').expect("id and token");
    let end = |list: &str| {
        let line = list
            .lines()
            .find(|line| line.starts_with(id))
            .expect("the key");
        let cells: Vec<&str> = line.split('\t').collect();
        (cells[1].to_owned(), cells[6].to_owned())
    };
    assert!(end(&listed()).1.ends_with('Z'));
    tokio::time::sleep(std::time::Duration::from_millis(1_100)).await;
    assert_eq!(end(&listed()).0, "expired");
    let holder = server.admin().with_token(token);
    let refused = holder.get("/v1/datasets").await.expect("an answer");
    assert_eq!(refused.status, 401);
}
