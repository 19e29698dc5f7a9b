//! Connections between processes: both sides show a certificate of one authority.
//!
//! Ballista opens most connections itself, and lets us say how. What it serves itself
//! it serves without TLS, so that every server is made here.

use std::io;
use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::EndpointOverrideFn;
use tonic::transport::{
    Certificate, Channel, ClientTlsConfig, Endpoint, Error, Identity, Server, ServerTlsConfig,
};

/// How long a connection may take to open.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A side that says nothing is asked whether it is there as often as this.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);

/// How this process connects and is connected to.
#[derive(Clone, Debug, Default)]
pub struct Links {
    tls: Option<Arc<Tls>>,
}

#[derive(Debug)]
struct Tls {
    authority: Certificate,
    identity: Identity,
}

/// An address beyond this machine is not connected to without certificates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("without --ca, --cert and --key addresses are of this machine")]
pub struct NotLoopback;

impl Links {
    /// Connections by the certificates in these files of PEM: of the authority, and of
    /// this process with its key.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn by_certificates(authority: &Path, own: &Path, key: &Path) -> io::Result<Self> {
        let tls = Tls {
            authority: Certificate::from_pem(std::fs::read(authority)?),
            identity: Identity::from_pem(std::fs::read(own)?, std::fs::read(key)?),
        };
        Ok(Self {
            tls: Some(Arc::new(tls)),
        })
    }

    /// Whether both sides show certificates.
    pub fn are_secure(&self) -> bool {
        self.tls.is_some()
    }

    /// Refuses hosts beyond this machine where there are no certificates.
    ///
    /// # Errors
    /// Where one is.
    pub fn check<'a>(&self, hosts: impl IntoIterator<Item = &'a str>) -> Result<(), NotLoopback> {
        let is_own = |host: &str| {
            let address: Option<IpAddr> = host.parse().ok();
            host == "localhost" || address.is_some_and(|address| address.is_loopback())
        };
        let are_own = hosts.into_iter().all(is_own);
        (self.are_secure() || are_own)
            .then_some(())
            .ok_or(NotLoopback)
    }

    /// The URL of `host:port`.
    pub fn url(&self, address: &str) -> String {
        let scheme = if self.are_secure() { "https" } else { "http" };
        format!("{scheme}://{address}")
    }

    /// The same endpoint, connected to as this process does.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub fn endpoint(&self, endpoint: &Endpoint) -> Result<Endpoint, Error> {
        let authority = endpoint.uri().authority();
        let address = authority.map_or("", |authority| authority.as_str());
        let endpoint = Endpoint::from_shared(self.url(address))?
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_nodelay(true)
            .http2_keep_alive_interval(KEEPALIVE_INTERVAL)
            .keep_alive_while_idle(true);
        match &self.tls {
            None => Ok(endpoint),
            Some(tls) => endpoint.tls_config(
                ClientTlsConfig::new()
                    .ca_certificate(tls.authority.clone())
                    .identity(tls.identity.clone()),
            ),
        }
    }

    /// What Ballista is told for its own connections. It writes `http` into the
    /// addresses of some of them.
    pub fn for_ballista(&self) -> EndpointOverrideFn {
        let links = self.clone();
        Arc::new(move |endpoint| Ok(links.endpoint(&endpoint)?))
    }

    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Nobody is there, or shows no certificate of the authority.
    pub async fn connect(&self, address: &str) -> Result<Channel, Error> {
        let endpoint = Endpoint::from_shared(self.url(address))?;
        self.endpoint(&endpoint)?.connect().await
    }

    /// A server that asks for certificates.
    ///
    /// # Errors
    /// The certificates cannot be used.
    pub fn server(&self) -> Result<Server, Error> {
        let server = Server::builder()
            .tcp_nodelay(true)
            .http2_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        match &self.tls {
            None => Ok(server),
            Some(tls) => server.tls_config(
                ServerTlsConfig::new()
                    .identity(tls.identity.clone())
                    .client_ca_root(tls.authority.clone()),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_certificates_addresses_are_of_this_machine() {
        let plain = Links::default();
        assert_eq!(plain.check(["127.0.0.1", "::1", "localhost"]), Ok(()));
        for host in [
            "0.0.0.0",
            "10.0.0.1",
            "::",
            "scheduler",
            "localhost.example.com",
        ] {
            assert_eq!(plain.check(["127.0.0.1", host]), Err(NotLoopback), "{host}");
        }
    }
}
