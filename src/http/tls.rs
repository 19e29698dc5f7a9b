//! TLS of the service: a certificate that can be changed while it runs.
//!
//! TLS 1.2 and 1.3 by rustls on aws-lc-rs; HTTP/2 or HTTP/1.1 as client and
//! server agree in the handshake (ALPN). Certificates live for weeks and the
//! service for months: [`Tls::reload`] reads both files again, and handshakes
//! from then on show the new certificate, while connections that are open go
//! on with theirs. Files that cannot be used, or do not belong together
//! because only one of them was replaced so far, change nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, aws_lc_rs};
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{ClientHello, ResolvesServerCert, ServerConfig};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_rustls::rustls::{self, version};

use crate::config::{SecretFileError, read_secret_file};

/// The protocols that are spoken, the one we would rather speak first.
const PROTOCOLS: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// How often the files are looked at.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// Why certificate and key cannot be used. Says nothing of their content.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The certificate cannot be read.
    #[error("the certificate cannot be read: {0}")]
    Certificate(io::ErrorKind),
    /// The key's file cannot be read, or others than its owner may read it.
    #[error("the key {0}")]
    Key(#[from] SecretFileError),
    /// A file is not what it should be.
    #[error("{0} is not a PEM file with what is needed")]
    NotPem(&'static str),
    /// rustls refuses them.
    #[error("certificate and key cannot be used together: {0}")]
    Refused(#[from] rustls::Error),
}

/// TLS with the certificate of two files.
#[derive(Clone)]
pub struct Tls {
    files: Arc<Files>,
    current: Arc<Current>,
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads the certificate chain and the private key, both PEM.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let files = Files {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
        };
        let certified = files.read(&provider)?;
        let current = Arc::new(Current(RwLock::new(Arc::new(certified))));
        let resolver: Arc<dyn ResolvesServerCert> = Arc::clone(&current) as _;
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&version::TLS13, &version::TLS12])?
            .with_no_client_auth()
            .with_cert_resolver(resolver);
        config.alpn_protocols = PROTOCOLS.map(<[u8]>::to_vec).to_vec();
        Ok(Self {
            files: Arc::new(files),
            current,
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }

    /// Reads both files again; where they cannot be used, the certificate stays.
    pub fn reload(&self) -> Result<(), TlsError> {
        let read = self.files.read(&aws_lc_rs::default_provider());
        let outcome = if read.is_ok() { "changed" } else { "refused" };
        metrics::counter!("vizard_tls_reloads_total", "outcome" => outcome).increment(1);
        match read {
            Ok(certified) => {
                self.current.replace(certified);
                tracing::info!("the certificate was read again");
                Ok(())
            }
            Err(error) => {
                tracing::error!(%error, "the certificate stays as it is");
                Err(error)
            }
        }
    }

    /// Reloads whenever a file has changed; never ends by itself.
    pub async fn watch(self) {
        let mut known = self.files.stamp();
        loop {
            tokio::time::sleep(WATCH_INTERVAL).await;
            let stamp = self.files.stamp();
            // While one of the two is missing they are being replaced.
            if stamp != known && stamp.iter().all(Option::is_some) {
                known = stamp;
                let _ = self.reload();
            }
        }
    }

    pub(super) fn acceptor(&self) -> &TlsAcceptor {
        &self.acceptor
    }
}

struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn read(&self, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let key = read_secret_file(&self.key)?;
        let certificate = fs::read(&self.certificate);
        let certificate = certificate.map_err(|error| TlsError::Certificate(error.kind()))?;
        let chain = CertificateDer::pem_slice_iter(&certificate)
            .collect::<Result<Vec<_>, pem::Error>>()
            .map_err(|_| TlsError::NotPem("the certificate"))?;
        if chain.is_empty() {
            return Err(TlsError::NotPem("the certificate"));
        }
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes());
        let key = key.map_err(|_| TlsError::NotPem("the key"))?;
        Ok(CertifiedKey::from_der(chain, key, provider)?)
    }

    /// When each file was written last, and how large it is.
    fn stamp(&self) -> [Option<(SystemTime, u64)>; 2] {
        [&self.certificate, &self.key].map(|path| {
            let described = fs::metadata(path).ok()?;
            Some((described.modified().ok()?, described.len()))
        })
    }
}

/// The certificate that handshakes show now.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    fn replace(&self, certified: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(certified);
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}
