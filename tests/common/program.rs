//! A program of ours that runs, with everything that it writes to standard error.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::client::Client;
use super::process::ADMIN_KEY;

/// How long anything here may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running `vizard`; killed when dropped.
pub struct Program {
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
    /// Its data, if it was given none.
    pub folder: TempDir,
}

impl Program {
    /// Starts `vizard serve` on a free port, with a store of its own.
    pub fn serve(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut all = vec!["serve", "--listen", "127.0.0.1:0", "--threads", "2"];
        all.extend(arguments);
        Self::start(&all, environment)
    }

    /// Starts `vizard` with a folder of its own as `VIZARD_DATA`.
    pub fn start(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().expect("a folder");
        let mut child = Command::new(env!("CARGO_BIN_EXE_vizard"))
            .args(arguments)
            .env("VIZARD_DATA", folder.path())
            .env("VIZARD_ADMIN_KEY", ADMIN_KEY)
            .envs(environment.iter().copied())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary was built");
        let lines = Arc::new(Mutex::new(Vec::new()));
        let said = BufReader::new(child.stderr.take().expect("piped"));
        let kept = Arc::clone(&lines);
        std::thread::spawn(move || {
            for line in said.lines().map_while(Result::ok) {
                kept.lock().expect("no panic").push(line);
            }
        });
        Self {
            child,
            lines,
            folder,
        }
    }

    /// All lines so far.
    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no panic").clone()
    }

    /// Waits for a line that begins so, and gives the rest of it.
    #[track_caller]
    pub fn line_after(&self, prefix: &str) -> String {
        let begin = Instant::now();
        while begin.elapsed() < PATIENCE {
            let lines = self.lines();
            if let Some(rest) = lines.iter().find_map(|line| line.strip_prefix(prefix)) {
                return rest.to_owned();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no line `{prefix}` in {:#?}", self.lines());
    }

    /// Where it listens without TLS.
    pub fn address(&self) -> String {
        self.line_after("listening on http://")
    }

    /// A client without a token.
    pub fn client(&self) -> Client {
        Client::new(&self.address())
    }

    /// Sends a signal, as `kill` does.
    pub fn signal(&self, name: &str) {
        let told = Command::new("kill")
            .args([name, &self.child.id().to_string()])
            .status();
        assert!(told.expect("kill is there").success());
    }

    /// SIGTERM; waits for the end, and for its last lines.
    pub fn terminate(self) -> (ExitStatus, Vec<String>) {
        self.signal("-TERM");
        self.ended()
    }

    /// Waits for an end that comes by itself, and for the last lines.
    pub fn ended(mut self) -> (ExitStatus, Vec<String>) {
        let status = self.child.wait().expect("it can be waited for");
        // The thread that reads ends with the pipe.
        let begin = Instant::now();
        while Arc::strong_count(&self.lines) > 1 && begin.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(5));
        }
        (status, self.lines())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A key of these roles, made by the administrator.
pub async fn key(client: &Client, roles: &[&str]) -> Client {
    let request = serde_json::json!({"name": "a test", "roles": roles, "datasets": null});
    let admin = client.with(ADMIN_KEY);
    let made = admin
        .call("create_key")
        .json(&request)
        .send()
        .await
        .expect(201);
    client.with(made["token"].as_str().expect("a token"))
}
