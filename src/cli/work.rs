//! `vizard work`: workers without an API.
//!
//! A worker answers no requests; with `--metrics-listen` it tells how it is:
//! /healthz, /readyz and /metrics, for the supervisor and for Prometheus.

use std::sync::Arc;

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::anchor::AnchorOptions;
use super::environment::unknown_variables;
use super::exit::Exit;
use super::listen::observation_address;
use super::options::{StoreOption, WorkerOptions, shutdown_signal};
use super::policy_options::PolicyOptions;
use super::serve::{begin_metrics, observe_on};
use super::telemetry::{SERVICE_FILTER, TelemetryOptions};
use crate::clock::SystemClock;
use crate::config::Settings;
use crate::http::AppState;

/// Options of `vizard work`.
#[derive(Args, Debug)]
pub struct Options {
    #[command(flatten)]
    store: StoreOption,
    /// Jobs at one time
    #[arg(long, env = "VIZARD_WORKERS", value_name = "N", default_value_t = 1)]
    workers: usize,
    #[command(flatten)]
    worker: WorkerOptions,
    #[command(flatten)]
    policy: PolicyOptions,
    /// Address of /healthz, /readyz and /metrics, plain HTTP [default: none]
    #[arg(long, env = "VIZARD_METRICS_LISTEN", value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    #[command(flatten)]
    anchor: AnchorOptions,
    #[command(flatten)]
    telemetry: TelemetryOptions,
}

/// Works on jobs until SIGTERM, then drains.
pub fn run(options: Options) -> Result<(), Exit> {
    options.telemetry.start(SERVICE_FILTER)?.run(work(&options))
}

async fn work(options: &Options) -> Result<(), Exit> {
    options.store.warn_of_password();
    let metrics_listen = observation_address(options.metrics_listen.as_deref()).await?;
    let unknown = unknown_variables(&super::program()).join(", ");
    if !unknown.is_empty() {
        tracing::warn!(variables = unknown, "no option reads these variables");
    }
    let store = options.store.open(true).await?;
    let shutdown = CancellationToken::new();
    let keeper = options.anchor.keep(&store, &shutdown).await?;
    let metrics = begin_metrics()?;
    let settings = Settings {
        metrics_listen,
        ..options.store.settings()?
    };
    let clock = Arc::new(SystemClock);
    let state = AppState::new(store.clone(), clock, settings, metrics, shutdown.clone());
    let observation = observe_on(&state).await?;
    let workers = tokio::spawn(crate::worker::run(
        store.clone(),
        (options.policy).ruling(options.worker.settings(options.workers)),
        shutdown.clone(),
    ));
    eprintln!("working on {} job(s) at a time", options.workers);
    shutdown_signal().await?;
    shutdown.cancel();
    workers.await??;
    if let Some(observation) = observation {
        observation.await?;
    }
    if let Some(keeper) = keeper {
        keeper.end(store.as_ref()).await;
    }
    store.close().await?;
    Ok(())
}
