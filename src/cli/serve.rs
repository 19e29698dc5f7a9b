//! `vizard serve`: the API, with workers in the same process.

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::access_options::AccessOptions;
use super::exit::Exit;
use super::options::{LogOptions, StoreOption, WorkerOptions, runtime, shutdown_signal};
use crate::clock::SystemClock;
use crate::config::{AccessSettings, Limits, Secret, Settings};
use crate::http::auth::{AdminKey, Oidc, ensure_admin_key};
use crate::http::{self, AppState};
use crate::store::Store;
use crate::worker::{self, WorkerSettings};

/// Options of `vizard serve`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address to listen on; port 0 picks one
    #[arg(
        long,
        env = "VIZARD_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080"
    )]
    listen: String,
    /// Listen on an address that is not the machine's own, without TLS
    #[arg(long, env = "VIZARD_INSECURE_LISTEN")]
    insecure_listen: bool,
    #[command(flatten)]
    store: StoreOption,
    /// Jobs at one time in this process; 0 for the API alone
    #[arg(long, env = "VIZARD_WORKERS", value_name = "N", default_value_t = 1)]
    workers: usize,
    #[command(flatten)]
    worker: WorkerOptions,
    /// Largest body of an upload, in bytes
    #[arg(long, env = "VIZARD_UPLOAD_BYTES_MAX", value_name = "BYTES", default_value_t = Limits::default().upload_bytes_max)]
    upload_bytes_max: u64,
    /// Uploads at one time; further ones are asked to come again
    #[arg(long, env = "VIZARD_UPLOADS_MAX", value_name = "N", default_value_t = Limits::default().uploads_max)]
    uploads_max: usize,
    /// Records of one upload
    #[arg(long, env = "VIZARD_RECORDS_MAX", value_name = "N", default_value_t = Limits::default().records_max)]
    records_max: u64,
    /// Connections at one time
    #[arg(long, env = "VIZARD_CONNECTIONS_MAX", value_name = "N", default_value_t = Limits::default().connections_max)]
    connections_max: usize,
    #[command(flatten)]
    access: AccessOptions,
    #[command(flatten)]
    log: LogOptions,
}

/// Serves until SIGTERM, then drains.
pub fn run(options: Options) -> Result<(), Exit> {
    options.log.start();
    let access = options.access.settings()?;
    runtime()?.block_on(async {
        let server = Server::start(Plan {
            listen: options.listen.clone(),
            insecure_listen: options.insecure_listen,
            any_port: false,
            store: options.store.clone(),
            worker: options.worker.settings(options.workers),
            limits: options.limits(),
            access,
        })
        .await?;
        server.until_signal().await
    })
}

impl Options {
    fn limits(&self) -> Limits {
        Limits {
            upload_bytes_max: self.upload_bytes_max,
            uploads_max: self.uploads_max,
            records_max: self.records_max,
            connections_max: self.connections_max,
            ..Limits::default()
        }
    }
}

/// What a server is started with.
pub struct Plan {
    /// Address to listen on.
    pub listen: String,
    /// Whether an address that is not the machine's own is allowed.
    pub insecure_listen: bool,
    /// Whether another port will do where this one is in use.
    pub any_port: bool,
    /// Where the store is.
    pub store: StoreOption,
    /// How jobs are worked on; none with 0 workers.
    pub worker: WorkerSettings,
    /// Limits of the API.
    pub limits: Limits,
    /// Who gets in beside the holders of API keys.
    pub access: AccessSettings,
}

/// A running server, with its workers.
pub struct Server {
    /// Address it listens on (`host:port`).
    pub address: String,
    /// Its store.
    pub store: Arc<dyn Store>,
    shutdown: CancellationToken,
    api: JoinHandle<()>,
    workers: Option<JoinHandle<Result<(), rayon::ThreadPoolBuildError>>>,
}

impl Server {
    /// Opens the store, binds the address and starts API and workers.
    pub async fn start(plan: Plan) -> Result<Self, Exit> {
        let listener = bind(&plan).await?;
        let address = listener.local_addr().context("the address is not known")?;
        let store = plan.store.open(true).await?;
        let settings = Settings {
            listen: address,
            workers: plan.worker.workers,
            admin_key: std::env::var("VIZARD_ADMIN_KEY").ok().map(Secret::new),
            drain_timeout_s: plan.worker.drain_timeout.as_secs(),
            limits: plan.limits,
            access: plan.access,
            ..plan.store.settings()
        };
        tell_admin_key(ensure_admin_key(store.as_ref(), &settings).await?);
        let shutdown = CancellationToken::new();
        let metrics = crate::telemetry::metrics()?;
        tokio::spawn(crate::telemetry::upkeep(metrics.clone()));
        let oidc = settings.access.oidc.clone();
        let mut state = AppState::new(
            Arc::clone(&store),
            Arc::new(SystemClock),
            settings,
            metrics,
            shutdown.clone(),
        )
        .with_report_page(crate::web::report_page);
        if let Some(issuer) = oidc {
            let started = Oidc::start(issuer, Arc::new(SystemClock), shutdown.clone()).await;
            state = state.with_oidc(started.context("the issuer's keys cannot be had")?);
        }
        let api = tokio::spawn(http::serve(listener, state));
        let workers = (plan.worker.workers > 0).then(|| {
            tokio::spawn(worker::run(
                Arc::clone(&store),
                plan.worker,
                shutdown.clone(),
            ))
        });
        // Other programs wait for this line.
        eprintln!("listening on http://{address}");
        Ok(Self {
            address: address.to_string(),
            store,
            shutdown,
            api,
            workers,
        })
    }

    /// Serves until SIGTERM or SIGINT, then drains.
    pub async fn until_signal(self) -> Result<(), Exit> {
        shutdown_signal().await?;
        self.stop().await
    }

    /// Stops taking work, lets what runs end, and closes the store.
    pub async fn stop(self) -> Result<(), Exit> {
        self.shutdown.cancel();
        if let Some(workers) = self.workers {
            workers.await??;
        }
        self.api.await?;
        self.store.close().await?;
        Ok(())
    }
}

/// The first admin key is told where only the operator looks.
fn tell_admin_key(key: AdminKey) {
    match key {
        AdminKey::Chosen | AdminKey::Present => {}
        AdminKey::Written(path) => eprintln!("the first admin key is in {}", path.display()),
        AdminKey::Print(token) => {
            eprintln!("the first admin key, shown only here: {}", token.expose())
        }
    }
}

async fn bind(plan: &Plan) -> Result<TcpListener, Exit> {
    let mut addresses = tokio::net::lookup_host(&plan.listen)
        .await
        .context("the address to listen on is not one")?;
    let address = addresses
        .next()
        .context("the address to listen on is not one")?;
    if !address.ip().is_loopback() && !plan.insecure_listen {
        return Err(Exit::Usage(
            "without TLS the service listens on the machine's own address only; \
             put a TLS proxy in front, or say --insecure-listen"
                .into(),
        ));
    }
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if plan.any_port && error.kind() == std::io::ErrorKind::AddrInUse => {
            eprintln!("{address} is in use; taking a free port");
            Ok(TcpListener::bind(SocketAddr::new(address.ip(), 0))
                .await
                .context("no port is free")?)
        }
        Err(error) => Err(anyhow::Error::new(error)
            .context("the address cannot be listened on")
            .into()),
    }
}
