//! `vizard serve`: the API, with workers in the same process.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use vizard_anonymizer::catalog::Purposes;

use super::access_options::AccessOptions;
use super::anchor::{AnchorOptions, Keeper};
use super::check;
use super::consent_texts::ConsentTextOptions;
use super::environment::unknown_variables;
use super::exit::Exit;
use super::limits::LimitOptions;
use super::listen::{Listen, ListenOptions, bind};
use super::options::{StoreOption, WorkerOptions, read_secret, shutdown_signal};
use super::policy_options::PolicyOptions;
use super::purposes::PurposeOptions;
use super::telemetry::{SERVICE_FILTER, TelemetryOptions};
use crate::clock::{Clock, SystemClock};
use crate::config::{AccessSettings, Limits, Secret, Settings, TextsByLanguage, judge_admin_key};
use crate::http::auth::{AdminKey, Oidc, ensure_admin_key};
use crate::http::{self, AppState, Tls};
use crate::store::Store;
use crate::telemetry;
use crate::web::{exploration_page, pages, report_page};
use crate::worker::{self, WorkerSettings};

/// Options of `vizard serve`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    listen: ListenOptions,
    #[command(flatten)]
    store: StoreOption,
    /// Jobs at one time in this process; 0 for the API alone
    #[arg(long, env = "VIZARD_WORKERS", value_name = "N", default_value_t = 1)]
    workers: usize,
    #[command(flatten)]
    worker: WorkerOptions,
    #[command(flatten)]
    policy: PolicyOptions,
    #[command(flatten)]
    purposes: PurposeOptions,
    #[command(flatten)]
    consent_texts: ConsentTextOptions,
    /// File that holds the administrator's bearer token [default: VIZARD_ADMIN_KEY]
    #[arg(long, env = "VIZARD_ADMIN_KEY_FILE", value_name = "FILE")]
    admin_key_file: Option<PathBuf>,
    /// How long answers are kept under the idempotency keys of their requests, in seconds
    #[arg(long, env = "VIZARD_IDEMPOTENCY_RETENTION_S", value_name = "SECONDS", default_value_t = Settings::default().idempotency_retention_s)]
    idempotency_retention_s: u64,
    #[command(flatten)]
    limits: LimitOptions,
    #[command(flatten)]
    access: AccessOptions,
    #[command(flatten)]
    anchor: AnchorOptions,
    #[command(flatten)]
    telemetry: TelemetryOptions,
    /// Check the options, open the files, addresses and the store that they name, change nothing, and end
    #[arg(long)]
    check_config: bool,
}

/// Serves until SIGTERM, then drains.
pub fn run(options: Options) -> Result<(), Exit> {
    options
        .telemetry
        .start(SERVICE_FILTER)?
        .run(serve(&options))
}

async fn serve(options: &Options) -> Result<(), Exit> {
    options.store.warn_of_password();
    let plan = Plan {
        listen: options.listen.resolve().await?,
        any_port: false,
        admin_key: options.admin_key()?,
        store: options.store.clone(),
        worker: (options.policy).ruling(options.worker.settings(options.workers)),
        limits: options.limits.limits(),
        idempotency_retention_s: options.idempotency_retention_s,
        access: options.access.settings()?,
        anchor: Some(options.anchor.clone()),
        purposes: options.purposes.read()?,
        consent_texts: options.consent_texts.read()?,
    };
    let unknown = unknown_variables(&super::program()).join(", ");
    if options.check_config {
        if !unknown.is_empty() {
            return Err(Exit::Usage(format!("no option reads {unknown}")));
        }
        return check::check(&plan).await;
    }
    if !unknown.is_empty() {
        tracing::warn!(variables = unknown, "no option reads these variables");
    }
    Server::start(plan).await?.until_signal().await
}

impl Options {
    /// The operator's own admin key: from its file, else from the environment.
    fn admin_key(&self) -> Result<Option<Secret>, Exit> {
        match &self.admin_key_file {
            Some(path) => {
                let key = read_secret(path, "the file of the administrator's token")?;
                judged(Secret::new(key)).map(Some)
            }
            None => chosen_admin_key(),
        }
    }
}

/// The admin key that the environment holds. Not an option: a command line
/// can be read by everyone on the machine.
pub fn chosen_admin_key() -> Result<Option<Secret>, Exit> {
    let chosen = std::env::var("VIZARD_ADMIN_KEY").ok().map(Secret::new);
    chosen.map(judged).transpose()
}

/// The key, unless it is easy to guess.
fn judged(key: Secret) -> Result<Secret, Exit> {
    let judged = judge_admin_key(key.expose());
    judged.map_err(|error| Exit::Usage(error.to_string()))?;
    Ok(key)
}

/// What a server is started with.
pub struct Plan {
    /// Addresses and TLS.
    pub listen: Listen,
    /// Whether another port will do where this one is in use.
    pub any_port: bool,
    /// The operator's own admin key, if there is one.
    pub admin_key: Option<Secret>,
    /// Where the store is.
    pub store: StoreOption,
    /// How jobs are worked on; none with 0 workers.
    pub worker: WorkerSettings,
    /// Limits of the API.
    pub limits: Limits,
    /// How long answers are kept under idempotency keys, in seconds.
    pub idempotency_retention_s: u64,
    /// Who gets in beside the holders of API keys.
    pub access: AccessSettings,
    /// Where the head of the audit log is kept too.
    pub anchor: Option<AnchorOptions>,
    /// What inspections propose jobs for.
    pub purposes: Purposes,
    /// Texts of the consent pages of the operator's own.
    pub consent_texts: TextsByLanguage,
}

/// A running server, with its workers.
pub struct Server {
    /// Address it listens on (`host:port`).
    pub address: String,
    /// Its store.
    pub store: Arc<Store>,
    shutdown: CancellationToken,
    keeper: Option<Keeper>,
    api: JoinHandle<()>,
    observation: Option<JoinHandle<()>>,
    tls: Option<Tls>,
    workers: Option<Working>,
}

/// Workers that run.
type Working = JoinHandle<Result<(), rayon::ThreadPoolBuildError>>;

impl Server {
    /// Opens the store, binds the addresses and starts API and workers.
    pub async fn start(plan: Plan) -> Result<Self, Exit> {
        super::open_files::allow_connections(plan.limits.connections_max);
        let listener = bind(plan.listen.api, plan.any_port).await?;
        let address = listener.local_addr().context("the address is not known")?;
        let store = plan.store.open(true).await?;
        let settings = Settings {
            listen: address,
            metrics_listen: plan.listen.metrics,
            metrics_public: plan.listen.metrics_public,
            workers: plan.worker.workers,
            admin_key: plan.admin_key,
            drain_timeout_s: plan.worker.drain_timeout.as_secs(),
            memory_bytes_max: plan.worker.memory_bytes_max,
            limits: plan.limits,
            idempotency_retention_s: plan.idempotency_retention_s,
            access: plan.access,
            purposes: plan.purposes,
            consent_texts: plan.consent_texts,
            floors: plan.worker.floors.clone(),
            second_steward: plan.worker.second_steward,
            webhook_origins: plan.worker.webhook_origins.clone(),
            audit_anchor: plan
                .anchor
                .as_ref()
                .and_then(|one| one.audit_anchor.clone()),
            ..plan.store.settings()?
        };
        let shutdown = CancellationToken::new();
        let keeper = match &plan.anchor {
            Some(options) => options.keep(&store, &shutdown).await?,
            None => None,
        };
        tell_admin_key(ensure_admin_key(store.as_ref(), &settings).await?);
        let tls = plan.listen.tls;
        let oidc = settings.access.oidc.clone();
        let mut state = AppState::new(
            Arc::clone(&store),
            Arc::new(SystemClock),
            settings,
            begin_metrics()?,
            shutdown.clone(),
        )
        .with_pages(report_page, exploration_page, pages)
        .with_tls(tls.clone());
        if let Some(issuer) = oidc {
            let started = Oidc::start(issuer, Arc::new(SystemClock), shutdown.clone()).await;
            state = state.with_oidc(started.context("the issuer's keys cannot be had")?);
        }
        let observation = observe_on(&state).await?;
        let api = tokio::spawn(http::serve(listener, state));
        let workers = begin_work(&store, plan.worker, &shutdown);
        // Other programs wait for this line.
        let scheme = if tls.is_some() { "https" } else { "http" };
        eprintln!("listening on {scheme}://{address}");
        Ok(Self {
            address: address.to_string(),
            store,
            shutdown,
            keeper,
            api,
            observation,
            tls,
            workers,
        })
    }

    /// Serves until SIGTERM or SIGINT, then drains.
    pub async fn until_signal(self) -> Result<(), Exit> {
        match self.tls.clone() {
            None => shutdown_signal().await?,
            Some(tls) => tokio::select! {
                stopped = shutdown_signal() => stopped?,
                () = tls.clone().watch() => {}
                failed = reload_on_signal(&tls) => failed?,
            },
        }
        self.stop().await
    }

    /// Stops taking work, lets what runs end, and closes the store.
    pub async fn stop(self) -> Result<(), Exit> {
        self.shutdown.cancel();
        if let Some(workers) = self.workers {
            workers.await??;
        }
        self.api.await?;
        if let Some(observation) = self.observation {
            observation.await?;
        }
        if let Some(keeper) = self.keeper {
            keeper.end(self.store.as_ref()).await;
        }
        self.store.close().await?;
        Ok(())
    }
}

/// Starts workers; without any, what has to be done all the same.
fn begin_work(
    store: &Arc<Store>,
    settings: WorkerSettings,
    shutdown: &CancellationToken,
) -> Option<Working> {
    let (store, shutdown) = (Arc::clone(store), shutdown.clone());
    if settings.workers > 0 {
        return Some(tokio::spawn(worker::run(store, settings, shutdown)));
    }
    // Retention must not wait for a process with workers.
    tokio::spawn(worker::keep_house(store, settings, shutdown));
    None
}

/// The first admin key is told where only the operator looks.
fn tell_admin_key(key: AdminKey) {
    match key {
        AdminKey::Chosen | AdminKey::Present => {}
        AdminKey::Written(path) => eprintln!("the first admin key is in {}", path.display()),
    }
}

/// Reads the certificate again on every SIGHUP; ends only if none can be awaited.
async fn reload_on_signal(tls: &Tls) -> Result<(), Exit> {
    let mut hang_up = signal(SignalKind::hangup()).context("SIGHUP cannot be awaited")?;
    while hang_up.recv().await.is_some() {
        // What is wrong is in the log; the certificate stays as it is.
        let _ = tls.reload();
    }
    Ok(())
}

/// Starts the process's metrics.
pub fn begin_metrics() -> Result<PrometheusHandle, Exit> {
    let metrics = telemetry::metrics()?;
    telemetry::tell_start(SystemClock.now().timestamp_micros() as f64 / 1e6);
    tokio::spawn(telemetry::upkeep(metrics.clone()));
    Ok(metrics)
}

/// Serves health and metrics on their own address, where they have one.
pub async fn observe_on(state: &AppState) -> Result<Option<JoinHandle<()>>, Exit> {
    let Some(address) = state.settings.metrics_listen else {
        return Ok(None);
    };
    let listener = bind(address, false).await?;
    let address = listener.local_addr().context("the address is not known")?;
    eprintln!("metrics on http://{address}");
    Ok(Some(tokio::spawn(http::serve_observation(
        listener,
        state.clone(),
    ))))
}
