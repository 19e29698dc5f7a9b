//! Where an issuer's key set is: in a file, at a URL, or where the issuer's
//! discovery document says (OpenID Connect Discovery 1.0).
//!
//! What is fetched comes from outside: it is read under limits on time and
//! size, redirects are not followed, and a discovery document must be the
//! issuer's own and must not lead from an encrypted address to a plain one. An
//! address of another machine is encrypted, unless the operator says otherwise:
//! who is on the way to a key set signs tokens of any role.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Client, StatusCode, Url, redirect};
use serde::Deserialize;

use crate::config::OidcSettings;

/// Bytes of a key set or a discovery document.
const BYTES_MAX: usize = 1 << 20;
/// Time for a connection to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Time for one whole answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no key set. Says nothing of what was fetched.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// The address is none that can be fetched from.
    #[error("{0}")]
    Address(&'static str),
    /// Anybody on the way could put other keys in their place.
    #[error(
        "the issuer's keys come from another machine over plain HTTP, and who is on the way can \
         change them: name an address with https://, or say --insecure-issuer where nobody else \
         reaches that network"
    )]
    Plain,
    /// The HTTP client cannot be made.
    #[error("no client for HTTPS can be made: are there trusted certificates (SSL_CERT_FILE)?")]
    Client,
    /// The file cannot be read.
    #[error("the file of the key set cannot be read: {0}")]
    File(std::io::ErrorKind),
    /// Nobody answers, or not in time.
    #[error("the key server does not answer")]
    Silent,
    /// The answer has another status than 200.
    #[error("the key server answers {0}")]
    Status(StatusCode),
    /// The answer is larger than a key set may be.
    #[error("the key set is larger than {BYTES_MAX} bytes")]
    TooLarge,
    /// The discovery document is not the issuer's.
    #[error("the discovery document is none, or another issuer's")]
    Discovery,
    /// What was fetched is no key set.
    #[error(transparent)]
    NoKeySet(#[from] super::key_set::NoKeySet),
}

/// Where a key set comes from.
#[derive(Clone, Debug)]
pub(super) enum Source {
    File(PathBuf),
    Url(Client, Url),
    Discovery(Client, Url, Issuer),
}

/// Whose discovery document it is, and whether it may lead to open addresses.
#[derive(Clone, Debug)]
pub(super) struct Issuer {
    pub name: String,
    pub insecure: bool,
}

impl Source {
    /// The source that the settings name.
    pub fn of(settings: &OidcSettings) -> Result<Self, SourceError> {
        let source = Self::named(settings)?;
        if source.is_open() && !settings.insecure {
            Err(SourceError::Plain)
        } else {
            Ok(source)
        }
    }

    fn named(settings: &OidcSettings) -> Result<Self, SourceError> {
        match settings.keys.as_deref() {
            Some(place) if is_address(place) => {
                let url = address(place, "the address of the key set cannot be read")?;
                Ok(Self::Url(client(&url)?, url))
            }
            Some(path) => Ok(Self::File(path.into())),
            None => {
                let (url, issuer) = discovery(settings)?;
                Ok(Self::Discovery(client(&url)?, url, issuer))
            }
        }
    }

    /// Whether it is a file, which costs nothing to look at again.
    pub fn is_file(&self) -> bool {
        matches!(self, Self::File(_))
    }

    /// Whether somebody on the way could change the key set.
    pub fn is_open(&self) -> bool {
        match self {
            Self::File(_) => false,
            Self::Url(_, url) | Self::Discovery(_, url, _) => is_open(url),
        }
    }

    /// The text of the key set as it is now.
    pub async fn fetch(&self) -> Result<Vec<u8>, SourceError> {
        match self {
            Self::File(path) => file(path).await,
            Self::Url(client, url) => get(client, url.clone()).await,
            Self::Discovery(client, url, issuer) => {
                let document = get(client, url.clone()).await?;
                let keys = keys_of(&document, issuer, url)?;
                get(client, keys).await
            }
        }
    }
}

/// Where an issuer's discovery document is, and whose it has to be.
pub(super) fn discovery(settings: &OidcSettings) -> Result<(Url, Issuer), SourceError> {
    let name = settings.issuer.trim_end_matches('/');
    let place = format!("{name}/.well-known/openid-configuration");
    let why = "an issuer whose own addresses are needed is an http(s) address itself";
    let issuer = Issuer {
        name: settings.issuer.clone(),
        insecure: settings.insecure,
    };
    Ok((address(&place, why)?, issuer))
}

/// Whether the place of a key set is an address; else it is a file.
fn is_address(place: &str) -> bool {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme);
    scheme.is_some_and(|scheme| {
        ["http", "https"]
            .iter()
            .any(|one| scheme.eq_ignore_ascii_case(one))
    })
}

/// Whether what is fetched there crosses a network as plain text.
pub(super) fn is_open(url: &Url) -> bool {
    let is_here = match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            let address = host.trim_start_matches('[').trim_end_matches(']');
            address
                .parse()
                .is_ok_and(|address: IpAddr| address.is_loopback())
        }
        None => false,
    };
    url.scheme() != "https" && !is_here
}

pub(super) fn address(text: &str, why: &'static str) -> Result<Url, SourceError> {
    let url = Url::parse(text).map_err(|_| SourceError::Address(why))?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() {
        Ok(url)
    } else {
        Err(SourceError::Address(why))
    }
}

pub(super) fn client(url: &Url) -> Result<Client, SourceError> {
    let builder = Client::builder()
        .user_agent(concat!("vizard/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        // Minutes lie between two fetches.
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(ANSWER_TIMEOUT);
    // A plain address needs no certificates, and a system may have none.
    let builder = match url.scheme() {
        "https" => builder.https_only(true),
        _ => builder.tls_certs_only([]),
    };
    builder.build().map_err(|_| SourceError::Client)
}

async fn file(path: &std::path::Path) -> Result<Vec<u8>, SourceError> {
    use tokio::io::AsyncReadExt as _;
    let unreadable = |error: std::io::Error| SourceError::File(error.kind());
    let opened = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let mut text = Vec::new();
    let mut limited = opened.take(BYTES_MAX as u64 + 1);
    limited.read_to_end(&mut text).await.map_err(unreadable)?;
    if text.len() > BYTES_MAX {
        Err(SourceError::TooLarge)
    } else {
        Ok(text)
    }
}

async fn get(client: &Client, url: Url) -> Result<Vec<u8>, SourceError> {
    let silent = |_: reqwest::Error| SourceError::Silent;
    let answer = client.get(url).send().await.map_err(silent)?;
    if answer.status() != StatusCode::OK {
        return Err(SourceError::Status(answer.status()));
    }
    text_of(answer).await
}

/// The body of an answer, if it is not too large.
pub(super) async fn text_of(mut answer: reqwest::Response) -> Result<Vec<u8>, SourceError> {
    let silent = |_: reqwest::Error| SourceError::Silent;
    let mut text = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(silent)? {
        if text.len() + piece.len() > BYTES_MAX {
            return Err(SourceError::TooLarge);
        }
        text.extend_from_slice(&piece);
    }
    Ok(text)
}

/// The address of the key set that a discovery document names.
fn keys_of(document: &[u8], owner: &Issuer, from: &Url) -> Result<Url, SourceError> {
    #[derive(Deserialize)]
    struct Discovery {
        issuer: String,
        jwks_uri: String,
    }
    let document: Discovery =
        serde_json::from_slice(document).map_err(|_| SourceError::Discovery)?;
    let keys = address(&document.jwks_uri, "").map_err(|_| SourceError::Discovery)?;
    let is_downgrade = from.scheme() == "https" && keys.scheme() != "https";
    if document.issuer != owner.name || is_downgrade {
        return Err(SourceError::Discovery);
    }
    if is_open(&keys) && !owner.insecure {
        return Err(SourceError::Plain);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_named(issuer: &str, keys: &str, from: &str) -> Option<String> {
        let document = serde_json::json!({"issuer": issuer, "jwks_uri": keys}).to_string();
        let from = Url::parse(from).expect("an address");
        let owner = Issuer {
            name: from.origin().ascii_serialization(),
            insecure: false,
        };
        let found = keys_of(document.as_bytes(), &owner, &from);
        found.ok().map(|url| url.to_string())
    }

    #[test]
    fn plain_addresses_of_other_machines_need_a_word() {
        for (issuer, keys, is_open) in [
            ("http://id.example", None, true),
            ("http://10.0.0.7:8080", None, true),
            ("http://127.0.0.1.example", None, true),
            ("https://id.example", Some("HTTP://id.example/keys"), true),
            ("http://127.9.9.9:9", None, false),
            ("http://[::1]:9", None, false),
            ("http://localhost:9", None, false),
            ("https://id.example", None, false),
            ("http://id.example", Some("/etc/vizard/keys.json"), false),
            ("http://id.example", Some("https://id.example/keys"), false),
        ] {
            let mut settings = OidcSettings::new(issuer, "vizard");
            settings.keys = keys.map(str::to_owned);
            let refused = matches!(Source::of(&settings), Err(SourceError::Plain));
            assert_eq!(refused, is_open, "{issuer} {keys:?}");
            settings.insecure = true;
            let source = Source::of(&settings).expect("a source");
            assert_eq!(source.is_open(), is_open, "{issuer} {keys:?}");
        }
        // Nor does a document of the machine's own lead to one.
        let (own, keys) = ("http://127.0.0.1:9", "http://127.0.0.1:8/keys");
        assert_eq!(keys_named(own, keys, own).as_deref(), Some(keys));
        assert_eq!(keys_named(own, "http://id.example/keys", own), None);
    }

    #[test]
    fn a_discovery_document_is_the_issuers_own_and_leads_to_no_plain_address() {
        let (own, keys) = ("https://id.example", "https://id.example/keys");
        assert_eq!(keys_named(own, keys, own).as_deref(), Some(keys));
        assert_eq!(keys_named("https://other.example", keys, own), None);
        assert_eq!(keys_named(own, "http://id.example/keys", own), None);
        assert_eq!(keys_named(own, "file:///etc/keys", own), None);
    }

    #[test]
    fn a_source_is_a_file_an_address_or_the_issuers_own_word() {
        let mut settings = OidcSettings::new("http://127.0.0.1:9/realm/", "vizard");
        let source = Source::of(&settings).expect("a source");
        let Source::Discovery(_, url, issuer) = &source else {
            panic!("{source:?}");
        };
        assert!(
            url.as_str()
                .ends_with("/realm/.well-known/openid-configuration")
        );
        assert_eq!(issuer.name, "http://127.0.0.1:9/realm/");
        settings.keys = Some("/etc/vizard/keys.json".into());
        assert!(Source::of(&settings).expect("a source").is_file());
        settings.keys = Some("http://127.0.0.1:9/keys".into());
        assert!(matches!(Source::of(&settings), Ok(Source::Url(..))));
        settings.keys = None;
        settings.issuer = "a realm".into();
        assert!(matches!(
            Source::of(&settings),
            Err(SourceError::Address(_))
        ));
    }
}
