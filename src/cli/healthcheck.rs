//! `vizard healthcheck`: asks a server whether it is ready.
//!
//! Made for containers and supervisors: it reads the environment that the
//! server was started with. Where that names an address of health and metrics
//! (`VIZARD_METRICS_LISTEN`), it asks there; where it names a certificate
//! (`VIZARD_TLS_CERT`), it asks over TLS and trusts that certificate alone.

use std::path::PathBuf;

use clap::Args;

use super::client::Client;
use super::exit::Exit;
use super::options::runtime;
use super::pinned;

/// Where readiness is asked.
const PATH: &str = "/readyz";

/// Options of `vizard healthcheck`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address of the server
    #[arg(
        long,
        env = "VIZARD_HEALTHCHECK",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080"
    )]
    address: String,
    /// Address of the server's health and metrics, where they have one of their own
    #[arg(long, env = "VIZARD_METRICS_LISTEN", value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// The server's certificate, PEM: asks over TLS and trusts this certificate alone
    #[arg(long, env = "VIZARD_TLS_CERT", value_name = "FILE")]
    tls_cert: Option<PathBuf>,
}

/// Succeeds if the server answers that it is ready.
pub fn run(options: &Options) -> Result<(), Exit> {
    let status = runtime()?.block_on(options.status())?;
    if status == 200 {
        return Ok(());
    }
    Err(anyhow::anyhow!("the server is not ready: status {status}").into())
}

impl Options {
    async fn status(&self) -> anyhow::Result<u16> {
        match (&self.metrics_listen, &self.tls_cert) {
            (Some(address), _) => plain_status(&reachable(address)).await,
            (None, Some(certificate)) => pinned::status_of(&self.address, PATH, certificate).await,
            (None, None) => plain_status(&self.address).await,
        }
    }
}

async fn plain_status(address: &str) -> anyhow::Result<u16> {
    Ok(Client::new(address, None).get(PATH).await?.status)
}

/// An address to ask at, for one to listen on: "all of them" is not a place.
fn reachable(listen: &str) -> String {
    match listen.rsplit_once(':') {
        Some(("0.0.0.0" | "[::]" | "", port)) => format!("127.0.0.1:{port}"),
        _ => listen.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_everyone_is_asked_on_the_machine_itself() {
        assert_eq!(reachable("0.0.0.0:9090"), "127.0.0.1:9090");
        assert_eq!(reachable("[::]:9090"), "127.0.0.1:9090");
        assert_eq!(reachable("10.0.0.7:9090"), "10.0.0.7:9090");
    }
}
