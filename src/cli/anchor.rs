//! `--audit-anchor`: keeps the head of the audit log outside the store.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use crate::store::{AnchorFile, Store};

/// Where the anchor is kept, and how often it is moved on.
#[derive(Args, Clone, Debug)]
pub struct AnchorOptions {
    /// File that keeps the head of the audit log outside the store; a log that does not go
    /// through it is not served
    #[arg(long, env = "VIZARD_AUDIT_ANCHOR", value_name = "FILE")]
    pub audit_anchor: Option<PathBuf>,
    /// How often the anchor is moved on, in seconds
    #[arg(
        long,
        env = "VIZARD_AUDIT_ANCHOR_INTERVAL_S",
        value_name = "SECONDS",
        default_value_t = 10
    )]
    pub audit_anchor_interval_s: u64,
}

/// The task that moves the anchor on.
pub struct Keeper {
    file: AnchorFile,
    task: JoinHandle<()>,
}

impl AnchorOptions {
    /// Compares log and anchor, then keeps moving the anchor on until
    /// `shutdown`; `None` where no file was named.
    pub async fn keep(
        &self,
        store: &Arc<Store>,
        shutdown: &CancellationToken,
    ) -> Result<Option<Keeper>, Exit> {
        let Some(path) = &self.audit_anchor else {
            return Ok(None);
        };
        let file = AnchorFile::new(path);
        let compared = file.advance(store.as_ref()).await;
        compared.context("the service does not start")?;
        let interval = Duration::from_secs(self.audit_anchor_interval_s.max(1));
        let (again, store, shutdown) = (file.clone(), Arc::clone(store), shutdown.clone());
        let task = tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => return,
                    () = tokio::time::sleep(interval) => {}
                }
                if let Err(error) = again.advance(store.as_ref()).await {
                    metrics::counter!("vizard_audit_anchor_failures_total").increment(1);
                    tracing::error!(%error, "the anchor of the audit log was not moved on");
                }
            }
        });
        Ok(Some(Keeper { file, task }))
    }
}

impl Keeper {
    /// Moves the anchor on for the last time: after the last request.
    pub async fn end(self, store: &Store) {
        // It ends with the shutdown; a panic in it was logged.
        let _ = self.task.await;
        if let Err(error) = self.file.advance(store).await {
            tracing::error!(%error, "the anchor of the audit log was not moved on");
        }
    }
}
