//! The set-ups that are shipped (unit, image, Compose): every process of them
//! seals, remembers erasures, keeps an anchor and bounds its memory, and starts
//! with exactly what its file says.

mod shipped;

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};
use shipped::{Process, shipped};
use tempfile::TempDir;

use crate::common::certificate::Certificate;
use crate::common::postgres::cluster;
use crate::common::process::{ADMIN_KEY, ended};
use crate::common::program::Program;

/// What every process of a set-up has to say.
const NEEDED: [&str; 4] = [
    "VIZARD_MASTER_KEY_FILE",
    "VIZARD_TOMBSTONES",
    "VIZARD_AUDIT_ANCHOR",
    "VIZARD_MEMORY_BYTES_MAX",
];

#[test]
fn every_process_of_a_set_up_seals_keeps_tombstones_and_an_anchor_and_bounds_its_memory() {
    let processes = shipped();
    let names: Vec<_> = processes.iter().map(|one| one.name).collect();
    assert_eq!(
        names,
        ["unit", "image", "compose service", "compose worker"]
    );
    for process in &processes {
        for needed in NEEDED {
            process.value(needed);
        }
        if process.is_embedded() {
            let reserve: u64 = process
                .value("VIZARD_ERASURE_RESERVE_BYTES")
                .parse()
                .expect("bytes");
            assert!(reserve >= 32 << 20, "{}", process.name);
        }
        let jobs: u64 = process
            .value("VIZARD_MEMORY_BYTES_MAX")
            .parse()
            .expect("bytes");
        match process.memory_max {
            // A process without workers runs no job.
            Some(_) if process.command.contains(&"0".to_owned()) => {}
            Some(limit) => assert!(jobs + (512 << 20) <= limit, "{}: {jobs}", process.name),
            None => assert_eq!(process.name, "image", "who runs it says its --memory"),
        }
    }
}

#[test]
fn tombstones_and_anchor_are_on_another_volume_than_the_store() {
    for process in shipped() {
        let store = process.volume_of(process.value("VIZARD_DATA"));
        for kept in ["VIZARD_TOMBSTONES", "VIZARD_AUDIT_ANCHOR"] {
            let volume = process.volume_of(process.value(kept));
            assert_ne!(volume, store, "{}: {kept}", process.name);
        }
    }
}

#[test]
fn every_variable_of_a_set_up_is_one_that_the_program_reads() {
    let mut known = BTreeSet::new();
    for command in ["serve", "work", "healthcheck"] {
        let help = vizard(&[command, "--help"], &BTreeMap::new());
        let help = String::from_utf8(help.stdout).expect("text");
        let names = help.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        known.extend(
            names
                .filter(|name| name.starts_with("VIZARD_"))
                .map(str::to_owned),
        );
    }
    for process in shipped() {
        let names = process
            .environment
            .keys()
            .filter(|name| name.starts_with("VIZARD_"));
        for name in names {
            assert!(known.contains(name), "{}: {name}", process.name);
        }
    }
}

#[test]
fn every_secret_of_a_set_up_is_given_to_the_process_that_reads_it() {
    for process in shipped() {
        for (name, value) in &process.environment {
            let secret = ["/run/secrets/", "%d/"]
                .iter()
                .find_map(|front| value.strip_prefix(front));
            if let Some(secret) = secret {
                let given = process.secrets.contains(secret) || process.name == "image";
                assert!(given, "{}: {name}={value}", process.name);
            }
        }
    }
}

/// Runs a command that ends by itself, with no variable of ours but these.
fn vizard(arguments: &[&str], environment: &BTreeMap<String, String>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vizard"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("VIZARD_")) {
        command.env_remove(name);
    }
    ended(command.args(arguments).envs(environment))
}

fn private(path: &Path, text: &str) {
    std::fs::write(path, text).expect("written");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o400)).expect("set");
}

/// A machine for a process: its folders are below a temporary one.
struct Machine(TempDir);

impl Machine {
    fn new(store: Option<&str>) -> Self {
        let folder = TempDir::new().expect("a folder");
        for name in ["secrets", "state", "kept"] {
            std::fs::create_dir(folder.path().join(name)).expect("made");
        }
        let secrets = folder.path().join("secrets");
        private(&secrets.join("admin-key"), ADMIN_KEY);
        private(
            &secrets.join("master-keys"),
            "2026-11 AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        );
        private(&secrets.join("store"), store.unwrap_or_default());
        let certificate = Certificate::of_this_machine("vizard");
        certificate.write(&secrets.join("tls-cert"), &secrets.join("tls-key"));
        Self(folder)
    }

    /// The environment of a process, with the places of this machine.
    fn environment(&self, process: &Process) -> BTreeMap<String, String> {
        let place = |name: &str| self.0.path().join(name).display().to_string();
        let moved = process.environment.iter().map(|(name, value)| {
            let mut value = value.clone();
            for (theirs, ours) in [
                ("%d", "secrets"),
                ("/run/secrets", "secrets"),
                ("%S/vizard/spool", "state"),
                ("%S/vizard", "state"),
                ("/data", "state"),
                ("%L/vizard", "kept"),
                ("/kept", "kept"),
            ] {
                if let Some(rest) = value.strip_prefix(theirs) {
                    value = format!("{}{rest}", place(ours));
                }
            }
            if name.ends_with("_LISTEN") && value.contains(':') {
                value = "127.0.0.1:0".into();
            }
            (name.clone(), value)
        });
        moved.collect()
    }
}

/// Checks the options, starts the process, and makes a dataset; the server.
async fn start(process: &Process, environment: &BTreeMap<String, String>) -> Program {
    let arguments: Vec<&str> = process.command.iter().map(String::as_str).collect();
    let check = [&arguments[..], &["--check-config"]].concat();
    let checked = vizard(&check, environment);
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success(), "{}: {said}", process.name);
    let pairs: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .collect();
    let mut pairs = pairs;
    if environment.contains_key("VIZARD_ADMIN_KEY_FILE") {
        // Its file says otherwise: this is not read.
        pairs.push(("VIZARD_ADMIN_KEY", "no-key-at-all"));
    }
    let server = Program::start(&arguments, &pairs);
    let url = format!("http{}", server.line_after("listening on http"));
    let client = reqwest::Client::builder().danger_accept_invalid_certs(true);
    let client = client.build().expect("a client");
    let post = async |path: &str, token: &str, body: Value| {
        let request = client.post(format!("{url}{path}")).bearer_auth(token);
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        let answer = request.send().await.expect("an answer");
        assert_eq!(answer.status().as_u16(), 201, "{path}");
        let text = answer.text().await.expect("text");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let key = json!({"name": "etl", "roles": ["uploader"]});
    let key = post("/v1/keys", ADMIN_KEY, key).await;
    let token = key["token"].as_str().expect("a token").to_owned();
    let schema = crate::api::story::schema();
    post("/v1/datasets", &token, schema).await;
    server
}

/// Whether there is a dataset, and its key is wrapped by a master key.
fn assert_sealed(process: &Process, environment: &BTreeMap<String, String>) {
    let rotated = vizard(&["keys", "rotate-master"], environment);
    let told = String::from_utf8_lossy(&rotated.stdout).into_owned();
    let keys = told
        .split('\t')
        .nth(1)
        .and_then(|text| text.split(' ').next());
    let keys: u32 = keys.and_then(|count| count.parse().ok()).expect("a count");
    assert!(keys > 0, "{}: {told}", process.name);
    let kept = Path::new(&environment["VIZARD_AUDIT_ANCHOR"]);
    assert!(kept.exists(), "{}: the anchor", process.name);
    let kept = Path::new(&environment["VIZARD_TOMBSTONES"]);
    assert!(kept.exists(), "{}: the tombstones", process.name);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_with_the_environment_of_unit_or_image_starts_and_seals() {
    for process in shipped().iter().filter(|process| process.is_embedded()) {
        let machine = Machine::new(None);
        let mut environment = machine.environment(process);
        if process.name == "image" {
            // As the first lines of the Dockerfile say.
            environment.insert("VIZARD_INSECURE_LISTEN".into(), "true".into());
            let admin = machine
                .0
                .path()
                .join("secrets/admin-key")
                .display()
                .to_string();
            environment.insert("VIZARD_ADMIN_KEY_FILE".into(), admin);
        }
        let server = start(process, &environment).await;
        assert_sealed(process, &environment);
        let reserve: u64 = environment["VIZARD_ERASURE_RESERVE_BYTES"]
            .parse()
            .expect("bytes");
        let files = std::fs::read_dir(machine.0.path().join("state")).expect("the folder");
        let mut sizes =
            files.map(|file| file.and_then(|file| file.metadata()).expect("a file").len());
        assert!(
            sizes.any(|size| size == reserve),
            "{}: the reserve",
            process.name
        );
        assert!(server.terminate().0.success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_and_worker_of_compose_start_on_one_database_and_seal() {
    let Some(cluster) = cluster() else {
        return;
    };
    let machine = Machine::new(Some(&cluster.fresh_database()));
    let processes = shipped();
    let [.., service, worker] = &processes[..] else {
        panic!("service and worker are the last");
    };
    let environment = machine.environment(service);
    let server = start(service, &environment).await;
    assert_sealed(service, &environment);
    let environment = machine.environment(worker);
    let pairs = environment
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let pairs: Vec<_> = pairs.collect();
    let arguments: Vec<&str> = worker.command.iter().map(String::as_str).collect();
    let worker = Program::start(&arguments, &pairs);
    worker.line_after("working on 1 job");
    assert!(worker.terminate().0.success());
    assert!(server.terminate().0.success());
}
