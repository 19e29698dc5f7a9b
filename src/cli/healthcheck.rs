//! `vizard healthcheck`: asks a server whether it is ready.
//!
//! Made for containers and supervisors: it reads the environment that the
//! server was started with. Where that names an address of health and metrics
//! (`VIZARD_METRICS_LISTEN`), it asks there, else where the server listens;
//! where it names a certificate (`VIZARD_TLS_CERT`), it asks over TLS and trusts
//! that certificate alone. In a plain shell a person names the address, or the
//! URL: `https://…` is asked with the system's authorities.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use super::client::Client;
use super::exit::Exit;
use super::options::runtime;

/// Where readiness is asked.
const PATH: &str = "/readyz";

/// Options of `vizard healthcheck`.
#[derive(Args, Debug)]
pub struct Options {
    /// Address or URL of the server [default: where the server listens by VIZARD_LISTEN, else 127.0.0.1:8080]
    #[arg(value_name = "ADDRESS", conflicts_with = "address")]
    place: Option<String>,
    /// The same as an option
    #[arg(long, env = "VIZARD_HEALTHCHECK", value_name = "ADDRESS")]
    address: Option<String>,
    /// Address that the server was told to listen on
    #[arg(
        long,
        env = "VIZARD_LISTEN",
        value_name = "ADDRESS",
        default_value = "127.0.0.1:8080",
        hide = true
    )]
    listen: String,
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
    Err(anyhow::anyhow!("the server is not ready: status {status}{}", hint(status)).into())
}

impl Options {
    async fn status(&self) -> anyhow::Result<u16> {
        // A place that is named is asked, whatever the environment says.
        let (place, is_named) = match (&self.place, &self.metrics_listen, &self.address) {
            (Some(place), ..) => (place.clone(), true),
            (None, Some(address), _) => return plain_status(&reachable(address)).await,
            (None, None, Some(address)) => (address.clone(), true),
            (None, None, None) => (reachable(&self.listen), false),
        };
        let place = place.trim_end_matches('/');
        let (scheme, address) = place.split_once("://").unwrap_or(("", place));
        match (scheme, &self.tls_cert) {
            ("" | "https", Some(certificate)) => {
                let asked = Client::trusting_only(address, certificate)?.get(PATH).await;
                Ok(asked
                    .context("the server shows another certificate, or none")?
                    .status)
            }
            ("https", None) => {
                let asked = Client::trusting_system(address)?.get(PATH).await;
                let asked = asked.with_context(|| {
                    format!("{address} does not answer over TLS, or its certificate is not trusted (--tls-cert FILE)")
                })?;
                Ok(asked.status)
            }
            ("" | "http", _) => {
                let asked = plain_status(address).await;
                asked.with_context(|| format!("{address}{}", where_else(is_named)))
            }
            _ => anyhow::bail!("`{place}` is neither an address nor an http or https URL"),
        }
    }
}

/// What a person may have meant who named no place.
fn where_else(is_named: bool) -> &'static str {
    if is_named {
        " (over TLS it is https://…, or --tls-cert FILE)"
    } else {
        " (elsewhere: `vizard healthcheck ADDRESS`; over TLS: https://…, or --tls-cert FILE)"
    }
}

/// What a status may mean.
fn hint(status: u16) -> &'static str {
    match status {
        404 => "; if the server has --metrics-listen, ask at that address",
        _ => "",
    }
}

async fn plain_status(address: &str) -> anyhow::Result<u16> {
    Ok(Client::plain(address)?.get(PATH).await?.status)
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
