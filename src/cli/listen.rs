//! Where the service listens: addresses, TLS, and the rule between them.
//!
//! Tokens and records travel in requests, so an address that other machines
//! can reach needs TLS; who ends TLS elsewhere says so (`--insecure-listen`).
//! Health and metrics hold neither, and take no token: their own address
//! (`--metrics-listen`) may be any, and is plain HTTP. Without one, metrics are
//! shown on the machine's own address alone: how much is done, and when, is
//! nobody else's business unless the operator says so (`--metrics-public`).

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use tokio::net::TcpListener;

use super::exit::Exit;
use crate::http::Tls;

/// Options of addresses and TLS.
#[derive(Args, Clone, Debug)]
pub struct ListenOptions {
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
    /// Certificate chain, PEM; read again when it changes and on SIGHUP
    #[arg(
        long,
        env = "VIZARD_TLS_CERT",
        value_name = "FILE",
        requires = "tls_key"
    )]
    tls_cert: Option<PathBuf>,
    /// The certificate's private key, PEM
    #[arg(
        long,
        env = "VIZARD_TLS_KEY",
        value_name = "FILE",
        requires = "tls_cert"
    )]
    tls_key: Option<PathBuf>,
    /// Address of /healthz, /readyz and /metrics alone, plain HTTP; they are then not where the API is
    #[arg(long, env = "VIZARD_METRICS_LISTEN", value_name = "ADDRESS")]
    metrics_listen: Option<String>,
    /// Show /metrics to everybody who reaches the API
    #[arg(long, env = "VIZARD_METRICS_PUBLIC", conflicts_with = "metrics_listen")]
    metrics_public: bool,
}

impl ListenOptions {
    /// Plain HTTP on one address of the machine's own.
    pub fn plain(listen: String) -> Self {
        Self {
            listen,
            insecure_listen: false,
            tls_cert: None,
            tls_key: None,
            metrics_listen: None,
            metrics_public: false,
        }
    }

    /// Resolves the addresses and reads the certificate.
    pub async fn resolve(&self) -> Result<Listen, Exit> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(Tls::load(certificate, key).map_err(|error| Exit::Usage(error.to_string()))?)
            }
            _ => None,
        };
        let api = address(&self.listen, "--listen").await?;
        if !api.ip().is_loopback() && tls.is_none() && !self.insecure_listen {
            return Err(Exit::Usage(
                "without TLS the service listens on the machine's own address only; \
                 give it --tls-cert and --tls-key, put a TLS proxy in front, \
                 or say --insecure-listen"
                    .into(),
            ));
        }
        let metrics = observation_address(self.metrics_listen.as_deref()).await?;
        if metrics.is_none() && !self.metrics_public && !api.ip().is_loopback() {
            tracing::info!(
                "/metrics is shown nowhere; --metrics-listen gives it an address of its own"
            );
        }
        Ok(Listen {
            api,
            metrics,
            metrics_public: self.metrics_public,
            tls,
        })
    }
}

/// Addresses and certificate, ready to be used.
pub struct Listen {
    /// Address of the API.
    pub api: SocketAddr,
    /// Address of health and metrics, where it is another.
    pub metrics: Option<SocketAddr>,
    /// Whether metrics are shown where the API is, no matter who reaches it.
    pub metrics_public: bool,
    /// TLS of the API.
    pub tls: Option<Tls>,
}

/// The address of health and metrics, where they have one of their own.
pub async fn observation_address(text: Option<&str>) -> Result<Option<SocketAddr>, Exit> {
    match text {
        Some(text) => Ok(Some(address(text, "--metrics-listen").await?)),
        None => Ok(None),
    }
}

async fn address(text: &str, option: &str) -> Result<SocketAddr, Exit> {
    let wrong = || {
        Exit::Usage(format!(
            "{option}: `{text}` is not an address with a port, as in 127.0.0.1:8080"
        ))
    };
    let mut addresses = tokio::net::lookup_host(text).await.map_err(|_| wrong())?;
    addresses.next().ok_or_else(wrong)
}

/// Binds an address; with `any_port` another port will do where it is in use.
pub async fn bind(address: SocketAddr, any_port: bool) -> Result<TcpListener, Exit> {
    match TcpListener::bind(address).await {
        Ok(listener) => Ok(listener),
        Err(error) if any_port && error.kind() == std::io::ErrorKind::AddrInUse => {
            eprintln!("{address} is in use; taking a free port");
            Ok(TcpListener::bind(SocketAddr::new(address.ip(), 0))
                .await
                .context("no port is free")?)
        }
        Err(error) => Err(anyhow::Error::new(error)
            .context(format!("{address} cannot be listened on"))
            .into()),
    }
}
