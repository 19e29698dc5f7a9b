//! `vizard work`: workers without an API.

use clap::Args;
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::options::{LogOptions, StoreOption, WorkerOptions, runtime, shutdown_signal};

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
    log: LogOptions,
}

/// Works on jobs until SIGTERM, then drains.
pub fn run(options: Options) -> Result<(), Exit> {
    options.log.start();
    runtime()?.block_on(async {
        let store = options.store.open(true).await?;
        let shutdown = CancellationToken::new();
        let workers = tokio::spawn(crate::worker::run(
            store.clone(),
            options.worker.settings(options.workers),
            shutdown.clone(),
        ));
        eprintln!("working on {} job(s) at a time", options.workers);
        shutdown_signal().await?;
        shutdown.cancel();
        workers.await??;
        store.close().await?;
        Ok(())
    })
}
