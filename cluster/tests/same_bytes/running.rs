//! A running cluster: a scheduler and executors as processes, boards of this one.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::Runtime;
use tokio_stream::wrappers::TcpListenerStream;
use vizard_cluster::boards::Boards;
use vizard_cluster::cluster::Cluster;
use vizard_cluster::links::Links;

/// How long processes may take to start, and work to begin.
const PATIENCE: Duration = Duration::from_secs(60);

pub struct Running {
    runtime: Runtime,
    scheduler_port: u16,
    scheduler: Child,
    executors: Vec<Child>,
    folder: tempfile::TempDir,
    links: Links,
}

/// An authority and a certificate of it for this machine, in files.
pub struct Certificates([PathBuf; 3]);

impl Certificates {
    /// Of a new authority.
    pub fn new(folder: &Path) -> Self {
        fs::write(
            folder.join("names"),
            "subjectAltName=IP:127.0.0.1,DNS:localhost",
        )
        .expect("a file");
        let new_key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
        for arguments in [
            format!("req -x509 {new_key} -days 1 -subj /CN=authority -keyout ca.key -out ca.pem"),
            format!("req {new_key} -subj /CN=process -keyout key.pem -out process.csr"),
            "x509 -req -in process.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 1 \
             -extfile names -out cert.pem"
                .into(),
        ] {
            let made = Command::new("openssl")
                .args(arguments.split_whitespace())
                .current_dir(folder)
                .output()
                .expect("openssl is installed");
            assert!(
                made.status.success(),
                "{}",
                String::from_utf8_lossy(&made.stderr)
            );
        }
        Self(["ca.pem", "cert.pem", "key.pem"].map(|name| folder.join(name)))
    }

    pub fn links(&self) -> Links {
        let [authority, own, key] = &self.0;
        Links::by_certificates(authority, own, key).expect("certificates")
    }

    fn arguments(&self) -> Vec<String> {
        let names = ["--ca", "--cert", "--key"].iter().zip(&self.0);
        let arguments = names.flat_map(|(name, file)| [(*name).into(), file.display().to_string()]);
        arguments.collect()
    }
}

/// A port that was free a moment ago.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    listener.local_addr().expect("its number").port()
}

fn process(folder: &Path, name: &str, arguments: &[String]) -> Child {
    let log = fs::File::create(folder.join(format!("{name}.log"))).expect("a log");
    Command::new(env!("CARGO_BIN_EXE_vizard-cluster"))
        .args(arguments)
        .env("RUST_LOG", "debug")
        .stdin(Stdio::null())
        .stdout(log.try_clone().expect("the same log"))
        .stderr(log)
        .spawn()
        .expect("the program starts")
}

fn wait_for(port: u16) {
    let begin = Instant::now();
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(begin.elapsed() < PATIENCE, "nobody listens at {port}");
        thread::sleep(Duration::from_millis(50));
    }
}

impl Running {
    pub fn start(executors: usize) -> Self {
        Self::start_by(executors, None)
    }

    /// The same with connections by these certificates.
    pub fn start_by(executors: usize, certificates: Option<&Certificates>) -> Self {
        let shown = certificates.map_or_else(Vec::new, Certificates::arguments);
        let folder = tempfile::tempdir().expect("a folder");
        let scheduler_port = port();
        let port_text = scheduler_port.to_string();
        let mut arguments: Vec<String> =
            ["scheduler", "--port", &port_text].map(String::from).into();
        arguments.extend(shown.iter().cloned());
        let scheduler = process(folder.path(), "scheduler", &arguments);
        wait_for(scheduler_port);
        let executors = (0..executors).map(|number| {
            let port = port();
            let work_dir = folder.path().join(format!("executor{number}"));
            let mut arguments = vec![
                "executor".into(),
                "--scheduler".into(),
                format!("127.0.0.1:{scheduler_port}"),
                "--port".into(),
                port.to_string(),
                "--memory-pool-mib".into(),
                "64".into(),
                "--work-dir".into(),
                work_dir.display().to_string(),
            ];
            arguments.extend(shown.iter().cloned());
            let executor = process(folder.path(), &format!("executor{number}"), &arguments);
            wait_for(port);
            executor
        });
        let executors = executors.collect();
        Self {
            runtime: Runtime::new().expect("a runtime"),
            scheduler_port,
            scheduler,
            executors,
            folder,
            links: certificates.map_or_else(Links::default, Certificates::links),
        }
    }

    /// What an engine is handed; its boards are served.
    pub fn cluster(&self, partitions: usize) -> Cluster {
        self.cluster_by(&self.links, partitions)
    }

    /// The same for somebody who connects otherwise.
    pub fn cluster_by(&self, links: &Links, partitions: usize) -> Cluster {
        let boards = Boards::default();
        let listener = self
            .runtime
            .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"));
        let listener = listener.expect("a port");
        let address = listener.local_addr().expect("its number").to_string();
        let served = boards.service();
        let own = links.clone();
        self.runtime.spawn(async move {
            let mut server = own.server().expect("certificates");
            let incoming = TcpListenerStream::new(listener);
            server
                .add_service(served)
                .serve_with_incoming(incoming)
                .await
        });
        Cluster {
            runtime: self.runtime.handle().clone(),
            scheduler: format!("127.0.0.1:{}", self.scheduler_port),
            links: links.clone(),
            boards,
            address,
            partitions,
        }
    }

    pub fn stop_scheduler(&mut self) {
        self.scheduler.kill().expect("it runs");
        self.scheduler.wait().expect("it ends");
    }

    /// Kills the first executor that has made a file.
    pub fn kill_one_that_works(&mut self) {
        let begin = Instant::now();
        loop {
            for (number, executor) in self.executors.iter_mut().enumerate() {
                let mut files = Vec::new();
                files_of(
                    &self.folder.path().join(format!("executor{number}")),
                    &mut files,
                );
                if !files.is_empty() {
                    executor.kill().expect("it runs");
                    executor.wait().expect("it ends");
                    return;
                }
            }
            assert!(begin.elapsed() < PATIENCE, "no executor works");
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Name and bytes of every file of the processes, their logs among them.
    pub fn written(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut files = Vec::new();
        files_of(self.folder.path(), &mut files);
        files
    }
}

fn files_of(folder: &Path, files: &mut Vec<(PathBuf, Vec<u8>)>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            files_of(&path, files);
        } else if let Ok(bytes) = fs::read(&path) {
            files.push((path, bytes));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            for (name, bytes) in self.written() {
                if name.extension().is_some_and(|extension| extension == "log") {
                    let text = String::from_utf8_lossy(&bytes);
                    let lines: Vec<&str> = text
                        .lines()
                        .filter(|line| !line.contains("DEBUG"))
                        .collect();
                    let last = lines.len().saturating_sub(40);
                    eprintln!("{}:\n{}", name.display(), lines[last..].join("\n"));
                }
            }
        }
        for process in self.executors.iter_mut().chain([&mut self.scheduler]) {
            // It may have ended already.
            let _ = process.kill();
            let _ = process.wait();
        }
    }
}
