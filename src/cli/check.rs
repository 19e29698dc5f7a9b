//! `vizard serve --check-config`: opens what a start would open, and changes
//! nothing.
//!
//! The server that this one will follow may still run: an address in use and a
//! store in use are no faults. What is not there yet and is made at the first
//! start (store, anchor, tombstones) is checked by the folder it will be in.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::exit::Exit;
use super::serve::Plan;
use crate::clock::SystemClock;
use crate::http::auth::Oidc;
use crate::store::{self, AuditAnchor, Found};

/// Checks the plan of a server; the first fault is the answer.
pub async fn check(plan: &Plan) -> Result<(), Exit> {
    for address in [Some(plan.listen.api), plan.listen.metrics]
        .into_iter()
        .flatten()
    {
        match TcpListener::bind(address).await {
            Err(error) if error.kind() != ErrorKind::AddrInUse => {
                let what = format!("{address} cannot be listened on");
                return Err(anyhow::Error::new(error).context(what).into());
            }
            _ => {}
        }
    }
    plan.store.master_keys()?;
    if let Some(path) = &plan.store.tombstones {
        readable_or_makeable(path, "the file of tombstones")?;
    }
    let anchor = plan.anchor.as_ref();
    if let Some(path) = anchor.and_then(|anchor| anchor.audit_anchor.as_ref())
        && readable_or_makeable(path, "the anchor file")?
    {
        let text = std::fs::read_to_string(path).context("the anchor file cannot be read")?;
        let read = text.trim().parse::<AuditAnchor>();
        read.map_err(|error| Exit::Usage(format!("{}: {error}", path.display())))?;
    }
    if let Some(issuer) = plan.access.oidc.clone() {
        let stop = CancellationToken::new();
        let started = Oidc::start(issuer, Arc::new(SystemClock), stop.clone()).await;
        stop.cancel();
        started.context("the issuer's keys cannot be had")?;
    }
    let url = plan.store.url()?;
    let found = store::inspect(&url).await;
    match found.context("the store cannot be opened")? {
        Found::Store(version) => println!("the store is there, at version {version}"),
        Found::Nothing => println!("there is no store yet; the first start makes it"),
    }
    println!("the options can be used");
    Ok(())
}

/// Whether the file is there; an error if it can be neither read and appended
/// to nor made.
fn readable_or_makeable(path: &Path, what: &str) -> Result<bool, Exit> {
    let failed = |kind: ErrorKind| {
        Exit::Usage(format!(
            "{what}, {}, cannot be used: {kind}",
            path.display()
        ))
    };
    match OpenOptions::new().read(true).append(true).open(path) {
        Ok(_) => return Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error.kind())),
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match rustix::fs::access(folder, rustix::fs::Access::WRITE_OK) {
        Ok(()) => Ok(false),
        Err(error) => Err(failed(std::io::Error::from(error).kind())),
    }
}
