//! `vizard push` against a real server: what a schedule runs, what it says, and
//! how it ends.

use std::fmt::Write as _;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use vizard::cli::client::Client;

use super::command;
use super::common::certificate::Certificate;
use super::common::process::ServerProcess;
use super::common::program::Program;

/// A server with a dataset, and a folder with what is pushed to it.
struct Desk {
    server: ServerProcess,
    folder: tempfile::TempDir,
    dataset: String,
    client: Client,
}

impl Desk {
    async fn new(extra: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = format!("sqlite:{}", folder.path().join("vizard.db").display());
        let server = ServerProcess::start(&store, folder.path(), extra);
        let wish = json!({"name": "schedule", "roles": ["uploader", "steward"], "datasets": null});
        let made = server.admin().post("/v1/keys", &wish).await.unwrap();
        let token = made["token"].as_str().unwrap();
        let client = Client::plain(&server.address).unwrap().with_token(token);
        let schema = json!({"name": "stays", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
            {"name": "illness", "role": "sensitive", "type": "categorical"}]});
        let dataset = client.post("/v1/datasets", &schema).await.unwrap();
        let desk = Self {
            dataset: dataset["id"].as_str().unwrap().to_owned(),
            server,
            folder,
            client,
        };
        desk.write("key", token);
        std::fs::set_permissions(desk.path("key"), PermissionsExt::from_mode(0o600)).unwrap();
        desk.write("export.csv", &records(240));
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    /// A file that is pushed to the server, with `publish` as it is given.
    fn order(&self, publish: &str) -> String {
        format!(
            "server: http://{}\nkey_file: key\ndataset: {}\n\
             records: {{file: export.csv, mode: upsert}}\n\
             job:\n  engine: mondrian\n  parameters: {{k: 5}}\n  report: {{queries: 50}}\n\
             timeout_s: 120\n{publish}\n",
            self.server.address, self.dataset
        )
    }

    /// Pushes from another folder than the file's.
    fn push(&self, order: &str, more: &[&str]) -> Output {
        self.write("push.yaml", order);
        let path = self.path("push.yaml").display().to_string();
        let arguments = [&["push", &path][..], more].concat();
        command(&arguments).output().unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        self.client.get(path).await.unwrap().json().unwrap()
    }

    async fn version(&self) -> Value {
        let path = format!("/v1/datasets/{}", self.dataset);
        self.get(&path).await["version"].clone()
    }

    async fn count(&self, path: &str) -> usize {
        self.get(path).await["items"].as_array().unwrap().len()
    }
}

fn records(count: usize) -> String {
    let mut text = String::from("id,age,ward,illness\n");
    for at in 0..count {
        let (age, ward) = (18 + at * 13 % 70, ["a", "b", "c"][at % 3]);
        let illness = ["flu", "gout", "asthma", "measles"][at / 3 % 4];
        writeln!(text, "p{at},{age},{ward},{illness}").unwrap();
    }
    text
}

/// What a command wrote, if it ended with this code.
#[track_caller]
fn said(output: &Output, code: i32) -> String {
    let both = [&output.stdout[..], &output.stderr].concat();
    let both = String::from_utf8(both).unwrap();
    assert_eq!(output.status.code(), Some(code), "{both}");
    both
}

const BOUNDS: &str = "publish:\n  if_at_most: {reidentification_risk.prosecutor_max: 0.2, \
                      ncp.mean: 0.9}\n  if_at_least: {records: 200}";

#[tokio::test]
async fn a_file_is_published_and_pushed_again_does_nothing_twice() {
    let desk = Desk::new(&[]).await;
    let first = desk.push(&desk.order(BOUNDS), &[]);
    let told = said(&first, 0);
    for step in [
        "uploaded: dataset_",
        "version 1, 240 records",
        "job: job_",
        "verified: ",
        "holds: reidentification_risk.prosecutor_max is ",
        "holds: records is 240, at least 200 is asked for",
        "published: release_",
    ] {
        assert!(told.contains(step), "{step}: {told}");
    }
    let second = desk.push(&desk.order(BOUNDS), &["--json"]);
    said(&second, 0);
    let document: Value = serde_json::from_slice(&second.stdout).unwrap();
    assert_eq!(document["outcome"], "published");
    assert_eq!(document["exit_code"], 0);
    assert_eq!(document["upload"]["version"], 1);
    assert_eq!(document["upload"]["repeated"], true);
    let release = document["release"].as_str().unwrap();
    assert!(told.contains(release), "{told}");
    assert_eq!(desk.version().await, 1);
    assert_eq!(desk.count("/v1/jobs").await, 1);
    // Another file is another version.
    desk.write("export.csv", &records(250));
    said(&desk.push(&desk.order(""), &[]), 0);
    assert_eq!(desk.version().await, 2);
    assert_eq!(desk.count("/v1/jobs").await, 2);
}

#[tokio::test]
async fn a_figure_beyond_its_bound_leaves_a_draft_and_is_named() {
    let desk = Desk::new(&[]).await;
    let strict = "publish: {if_at_most: {reidentification_risk.prosecutor_max: 0.001}}";
    let told = said(&desk.push(&desk.order(strict), &["--json"]), 6);
    assert!(told.contains("\"outcome\": \"threshold\""), "{told}");
    assert!(told.contains("left as a draft: reidentification_risk.prosecutor_max is 0."));
    assert!(told.contains("at most 0.001 is asked for"), "{told}");
    let drafts = "/v1/releases?state=draft";
    assert_eq!(desk.count(drafts).await, 1);
    let misspelt = "publish: {if_at_most: {ncp.meen: 1}}";
    let told = said(&desk.push(&desk.order(misspelt), &[]), 6);
    assert!(
        told.contains("ncp.meen is not a number of the report"),
        "{told}"
    );
    // The same draft is published once its figures are within the bounds.
    said(&desk.push(&desk.order(BOUNDS), &[]), 0);
    assert_eq!(desk.count(drafts).await, 0);
    assert_eq!(desk.count("/v1/jobs").await, 1);
}

#[tokio::test]
async fn records_that_are_refused_are_named_by_their_lines_and_nothing_is_kept() {
    let desk = Desk::new(&[]).await;
    desk.write(
        "export.csv",
        &records(240).replace("p1,31,", "p1,secretly-old,"),
    );
    for more in [&[][..], &["--dry-run"]] {
        let told = said(&desk.push(&desk.order(BOUNDS), more), 3);
        assert!(told.contains("The records do not fit the schema"), "{told}");
        assert!(
            told.contains("age: 1 × not_an_integer, first in 3"),
            "{told}"
        );
        assert!(told.contains("line 3, age: not_an_integer"), "{told}");
        assert!(!told.contains("secretly"), "{told}");
    }
    assert_eq!(desk.version().await, 0);
    // Mended, it goes on; a trial keeps nothing.
    desk.write("export.csv", &records(240));
    let told = said(&desk.push(&desk.order(BOUNDS), &["--dry-run"]), 0);
    assert!(told.contains("checked: 240 records"), "{told}");
    assert_eq!(desk.version().await, 0);
    assert_eq!(desk.count("/v1/jobs").await, 0);
}

#[tokio::test]
async fn several_tables_are_one_upload_and_again_the_same_one() {
    let desk = Desk::new(&[]).await;
    let (mut patients, mut stays) = (String::from("id,age\n"), String::from("id,ward,illness\n"));
    for line in records(240).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        writeln!(patients, "{},{}", cells[0], cells[1]).unwrap();
        writeln!(stays, "{},{},{}", cells[0], cells[2], cells[3]).unwrap();
    }
    desk.write("patients.csv", &patients);
    desk.write("stays.csv", &stays);
    let tables = "tables: {patients: patients.csv, stays: stays.csv}";
    let order = desk.order(BOUNDS).replace("file: export.csv", tables);
    let told = said(&desk.push(&order, &[]), 0);
    assert!(told.contains("version 1, 240 records"), "{told}");
    assert!(told.contains("published: release_"), "{told}");
    let told = said(&desk.push(&order, &[]), 0);
    assert!(told.contains("uploaded before: "), "{told}");
    assert_eq!(desk.version().await, 1);
}

#[tokio::test]
async fn a_job_that_cannot_hold_is_told_and_run_anew_by_the_next_push() {
    let desk = Desk::new(&[]).await;
    let order = desk.order(BOUNDS).replace("k: 5", "k: 1000");
    for jobs in 1..=3 {
        let told = said(&desk.push(&order, &[]), 4);
        assert!(told.contains("infeasible: "), "{told}");
        assert_eq!(desk.count("/v1/jobs").await, jobs);
        assert_eq!(desk.version().await, 1);
    }
}

#[tokio::test]
async fn a_release_that_two_stewards_publish_waits_for_the_other() {
    let desk = Desk::new(&["--second-steward", "always"]).await;
    for _ in 0..2 {
        let told = said(&desk.push(&desk.order(BOUNDS), &[]), 7);
        assert!(told.contains("two stewards are needed"), "{told}");
    }
    assert_eq!(desk.count("/v1/releases?state=draft").await, 1);
}

#[tokio::test]
async fn a_wrong_key_and_a_server_that_is_not_there_are_told() {
    let desk = Desk::new(&[]).await;
    desk.write("key", "vz_nobody_has_this");
    let told = said(&desk.push(&desk.order(BOUNDS), &[]), 1);
    assert!(told.contains("A valid bearer token is needed"), "{told}");
    assert!(!told.contains("vz_nobody"), "{told}");
    let nowhere = desk
        .order(BOUNDS)
        .replace(&desk.server.address, "127.0.0.1:9");
    let nowhere = nowhere.replace("timeout_s: 120", "timeout_s: 2");
    let told = said(&desk.push(&nowhere, &[]), 1);
    assert!(told.contains("the server does not answer"), "{told}");
    std::fs::set_permissions(desk.path("key"), PermissionsExt::from_mode(0o644)).unwrap();
    said(&desk.push(&desk.order(BOUNDS), &[]), 2);
    let told = said(&desk.push(&desk.order("publsh: {}"), &[]), 2);
    assert!(told.contains("unknown field `publsh`"), "{told}");
}

/// Passes connections on to a server; the first answer is lost on its way.
fn losing_the_first_answer(server: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = server.to_owned();
    std::thread::spawn(move || {
        for (number, near) in listener.incoming().enumerate() {
            let (near, far) = (near.unwrap(), TcpStream::connect(&server).unwrap());
            let (mut from, mut to) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
            std::thread::spawn(move || back(number, far, near));
        }
    });
    address
}

fn back(number: usize, mut far: TcpStream, mut near: TcpStream) {
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = far.read(&mut piece) {
        if number == 0 || near.write_all(&piece[..read]).is_err() {
            break;
        }
    }
    let _ = near.shutdown(std::net::Shutdown::Both);
}

#[tokio::test]
async fn an_upload_whose_answer_was_lost_is_sent_again_and_done_once() {
    let desk = Desk::new(&[]).await;
    let between = losing_the_first_answer(&desk.server.address);
    let order = desk.order(BOUNDS).replace(&desk.server.address, &between);
    let told = said(&desk.push(&order, &[]), 0);
    assert!(told.contains("uploaded before: "), "{told}");
    assert!(told.contains("published: release_"), "{told}");
    assert_eq!(desk.version().await, 1);
}

#[tokio::test]
async fn a_server_over_tls_is_trusted_by_the_authority_that_the_file_names() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let shown = Certificate::of_this_machine("vizard");
    shown.write(path("cert.pem").as_ref(), path("cert.key").as_ref());
    let (cert, key) = (path("cert.pem"), path("cert.key"));
    let program = Program::serve(&["--tls-cert", &cert, "--tls-key", &key], &[]);
    let address = program.line_after("listening on https://");
    std::fs::write(path("export.csv"), records(5)).unwrap();
    let push = |ca_file: &str| {
        let order = format!(
            "server: https://{address}\n{ca_file}\nkey_env: PUSH_KEY\n\
             dataset: dataset_0199d1f2-5a3e-7c41-9d0b-2f6a8c1e4b70\n\
             records: {{file: export.csv, mode: append}}\njob: {{engine: lgb}}\ntimeout_s: 3\n"
        );
        std::fs::write(path("push.yaml"), order).unwrap();
        let mut push = command(&["push", &path("push.yaml")]);
        push.env("PUSH_KEY", "vz_nobody").output().unwrap()
    };
    let told = said(&push(""), 1);
    assert!(told.contains("the server does not answer"), "{told}");
    let told = said(&push("ca_file: cert.pem"), 1);
    assert!(told.contains("A valid bearer token is needed"), "{told}");
}
