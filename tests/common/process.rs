//! A real server process, started and ended as an operator would.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use vizard::cli::client::Client;

/// The admin key that the servers of tests are started with.
pub const ADMIN_KEY: &str = "5e0d8a1c97b34f62a40e7c1d93f8b265d70a4e19";

/// Long enough for a command that ends by itself, on a busy machine.
const ENDS_WITHIN: Duration = Duration::from_secs(40);

/// What a command says that ends by itself; a panic where it goes on, as a
/// server does that should have refused to start.
pub fn ended(command: &mut Command) -> Output {
    command.stdin(Stdio::null());
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary was built");
    let begun = Instant::now();
    while child.try_wait().expect("it can be waited for").is_none() {
        if begun.elapsed() > ENDS_WITHIN {
            child.kill().expect("it runs");
            let said = child.wait_with_output().expect("it can be waited for");
            panic!("it goes on: {}", String::from_utf8_lossy(&said.stderr));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("it can be waited for")
}

/// A running `vizard serve`; killed when dropped.
pub struct ServerProcess {
    child: Child,
    /// Where it listens.
    pub address: String,
}

impl ServerProcess {
    /// Starts a server on a free port and waits until it is ready.
    pub fn start(store: &str, data: &Path, extra: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_vizard"))
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--store",
                store,
                "--threads",
                "2",
            ])
            .arg("--data")
            .arg(data)
            .args(extra)
            .env("VIZARD_ADMIN_KEY", ADMIN_KEY)
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
        let address = loop {
            let line = lines
                .next()
                .expect("the server says where it listens")
                .expect("text");
            if let Some(address) = line.strip_prefix("listening on http://") {
                break address.to_owned();
            }
        };
        // Somebody must read on, or the server would stop at a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child, address }
    }

    /// A client with the admin key.
    pub fn admin(&self) -> Client {
        let server = Client::plain(&self.address).expect("a client");
        server.with_token(ADMIN_KEY)
    }

    /// SIGKILL: no handler runs.
    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it can be waited for");
    }

    /// SIGTERM; waits for the orderly end and tells whether it succeeded.
    pub fn terminate(mut self) -> bool {
        let told = Command::new("kill")
            .arg("-TERM")
            .arg(self.child.id().to_string())
            .status();
        assert!(told.expect("kill is there").success());
        self.child.wait().expect("it can be waited for").success()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client of one role, by a key that the admin makes.
pub async fn client_of(server: &ServerProcess, role: &str) -> Client {
    let admin = server.admin();
    let key = admin
        .post(
            "/v1/keys",
            &json!({"name": role, "roles": [role], "datasets": null}),
        )
        .await;
    let key: Value = key.expect("the admin makes keys");
    admin.with_token(key["token"].as_str().expect("the token is shown once"))
}

/// Polls a job until `wanted` says that it is where it should be.
pub async fn job_when(steward: &Client, id: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..1200 {
        let job = steward
            .get(&format!("/v1/jobs/{id}"))
            .await
            .and_then(|answer| answer.json())
            .expect("the job is there");
        if wanted(&job) {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job did not get there within a minute");
}
