//! Options that several commands share, and what they open.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context;
use clap::Args;

use super::exit::Exit;
use crate::clock::SystemClock;
use crate::config::{MEMORY_BYTES_MAX, Secret, WebhookOrigin, WebhookOrigins, read_secret_file};
use crate::store::{self, Found, MasterKeys, RAW_RETENTION_DAYS_MAX, Store, StoreOptions};
use crate::worker::LEASE_DURATION;

/// Where the store is.
#[derive(Args, Clone, Debug)]
pub struct StoreOption {
    /// The store: `sqlite:PATH` or `postgres://…` [default: `vizard.db` in the data directory]
    #[arg(
        long,
        env = "VIZARD_STORE",
        value_name = "URL",
        hide_env_values = true,
        global = true
    )]
    pub store: Option<String>,
    /// File that holds the store's address, for addresses with a password
    #[arg(
        long,
        env = "VIZARD_STORE_FILE",
        value_name = "FILE",
        conflicts_with = "store",
        global = true
    )]
    pub store_file: Option<PathBuf>,
    /// Let records travel to another machine without TLS
    #[arg(long, env = "VIZARD_INSECURE_STORE", global = true)]
    pub insecure_store: bool,
    /// Directory of the embedded store and of files made at the first start
    #[arg(
        long,
        env = "VIZARD_DATA",
        value_name = "DIR",
        default_value = "./vizard-data",
        global = true
    )]
    pub data: PathBuf,
    /// File of the master keys that seal datasets, a line each: `ID BASE64`; the first is current. VIZARD_MASTER_KEY gives the lines themselves [default: datasets are not sealed]
    #[arg(
        long,
        env = "VIZARD_MASTER_KEY_FILE",
        value_name = "FILE",
        global = true
    )]
    pub master_key_file: Option<PathBuf>,
    /// File outside the store that remembers what was erased; applied after a backup was restored
    #[arg(long, env = "VIZARD_TOMBSTONES", value_name = "FILE", global = true)]
    pub tombstones: Option<PathBuf>,
    /// Bytes held back beside an SQLite file, so that an erasure is possible when the disk is full; 0: none
    #[arg(
        long,
        env = "VIZARD_ERASURE_RESERVE_BYTES",
        value_name = "BYTES",
        default_value_t = 32 << 20,
        global = true,
        hide_short_help = true
    )]
    pub erasure_reserve_bytes: u64,
}

impl StoreOption {
    /// The master keys of the file, or else of the environment.
    pub fn master_keys(&self) -> Result<Option<MasterKeys>, Exit> {
        let given = std::env::var("VIZARD_MASTER_KEY").ok().map(Secret::new);
        let read = match (&self.master_key_file, given) {
            (Some(_), Some(_)) => {
                return Err(Exit::Usage(
                    "say --master-key-file or VIZARD_MASTER_KEY, not both".into(),
                ));
            }
            (Some(path), None) => MasterKeys::from_file(path),
            (None, Some(text)) => MasterKeys::from_text(text.expose()),
            (None, None) => return Ok(None),
        };
        read.map(Some)
            .map_err(|error| Exit::Usage(error.to_string()))
    }

    /// Opens the store for a command that works beside a running server; where
    /// there is none it makes none.
    pub async fn open_present(&self) -> Result<Arc<Store>, Exit> {
        self.warn_of_password();
        let url = self.url()?;
        let found = store::inspect(&url).await;
        if found.context("the store cannot be opened")? == Found::Nothing {
            let place = match url.strip_prefix("sqlite:") {
                Some(path) => format!("in {path}"),
                None => "in this database".into(),
            };
            return Err(Exit::Usage(format!(
                "there is no store {place}; --data or --store says where it is, and \
                 `vizard serve` or `vizard migrate` makes one"
            )));
        }
        self.open(false).await
    }

    /// Opens the store and brings its tables up to date. A command that works
    /// beside a running server is not `exclusive`.
    pub async fn open(&self, exclusive: bool) -> Result<Arc<Store>, Exit> {
        let url = self.url()?;
        if url.starts_with("sqlite:") {
            std::fs::create_dir_all(&self.data).context("the data directory cannot be made")?;
        }
        let options = StoreOptions {
            exclusive,
            master_keys: self.master_keys()?.map(Arc::new),
            tombstones: self.tombstones.clone(),
            erasure_reserve_bytes: self.erasure_reserve_bytes,
            ..StoreOptions::new(url)
        };
        Ok(store::open(options, Arc::new(SystemClock))
            .await
            .context("the store cannot be opened")?)
    }
}

/// The first line of a file that holds a secret, without the space around it.
/// Others than its owner must not be able to read the file.
pub fn read_secret(path: &Path, what: &str) -> Result<String, Exit> {
    let text = read_secret_file(path).map_err(|error| {
        let path = path.display();
        Exit::Usage(format!("{what}, {path}, {error}"))
    })?;
    match text.lines().next().map(str::trim) {
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(Exit::Usage(format!("{what} is empty"))),
    }
}

/// How jobs are worked on.
#[derive(Args, Clone, Debug)]
pub struct WorkerOptions {
    /// Threads of the CPU pool that engines share [default: all cores]
    #[arg(long, env = "VIZARD_THREADS", value_name = "N")]
    pub threads: Option<usize>,
    /// Estimated memory that jobs may use together, in bytes; further jobs wait
    #[arg(long, env = "VIZARD_MEMORY_BYTES_MAX", value_name = "BYTES", default_value_t = MEMORY_BYTES_MAX)]
    pub memory_bytes_max: u64,
    /// How long a job's lease lasts without a heartbeat, in seconds
    #[arg(
        long,
        env = "VIZARD_LEASE_DURATION_S",
        value_name = "SECONDS",
        default_value_t = LEASE_DURATION.as_secs()
    )]
    pub lease_duration_s: u64,
    /// How long running jobs may go on after SIGTERM, in seconds
    #[arg(
        long = "drain-timeout",
        env = "VIZARD_DRAIN_TIMEOUT_S",
        value_name = "SECONDS",
        default_value_t = 30
    )]
    pub drain_timeout_s: u64,
    /// Days that records stay after a dataset's last release or upload, where the dataset says nothing itself [default: for good]
    #[arg(long, env = "VIZARD_RAW_RETENTION_DAYS", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=i64::from(RAW_RETENTION_DAYS_MAX)))]
    pub raw_retention_days: Option<u32>,
    /// Origins under which webhooks may be, with commas between them or said again: `https://hooks.hospital.org` [default: there are no webhooks]
    #[arg(
        long = "webhook-origin",
        env = "VIZARD_WEBHOOK_ORIGINS",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub webhook_origins: Vec<WebhookOrigin>,
}

impl WorkerOptions {
    /// Settings for `workers` jobs at one time.
    pub fn settings(&self, workers: usize) -> crate::worker::WorkerSettings {
        let name = format!("{}-{}", host_name(), std::process::id());
        let threads = self.threads.unwrap_or_else(cores);
        let mut settings = crate::worker::WorkerSettings::new(name, threads);
        settings.workers = workers;
        settings.lease_duration = std::time::Duration::from_secs(self.lease_duration_s.max(1));
        settings.drain_timeout = std::time::Duration::from_secs(self.drain_timeout_s);
        settings.memory_bytes_max = self.memory_bytes_max;
        settings.raw_retention_days = self.raw_retention_days;
        settings.webhook_origins = WebhookOrigins::new(self.webhook_origins.clone());
        settings
    }
}

fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// The async runtime of the commands that need one.
pub fn runtime() -> Result<tokio::runtime::Runtime, Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    Ok(runtime.context("the runtime cannot be started")?)
}

/// Waits for SIGTERM or SIGINT.
pub async fn shutdown_signal() -> Result<(), Exit> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("SIGTERM cannot be awaited")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("SIGINT cannot be awaited")?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}
