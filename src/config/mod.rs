//! Settings of the service: plain values with their defaults and units.
//!
//! The command line and the environment fill them in (`cli` reads both);
//! nothing else does. A unit stands at the end of a name (`_s` seconds,
//! `_bytes_max` bytes), a limit ends in `_max`. docs/OPERATING.md lists them.

mod access;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

pub use access::{AccessSettings, OidcSettings, SubjectTokenLimits};

/// Characters that an admin key of the operator's choosing has at least.
pub const ADMIN_KEY_CHARACTERS_MIN: usize = 32;

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes the text into custody.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// What a server process is told when it starts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Address to listen on; port 0 picks one.
    pub listen: SocketAddr,
    /// Address of health and metrics alone; `None`: they are where the API is.
    pub metrics_listen: Option<SocketAddr>,
    /// URL of the store: `sqlite:PATH` or `postgres://…`; `None`: `vizard.db` in the data directory.
    pub store: Option<String>,
    /// Directory of the embedded store and of the first admin key.
    pub data_dir: PathBuf,
    /// Workers in this process; 0 for the API alone.
    pub workers: usize,
    /// Bearer token of the operator's choosing that has the role `admin`.
    pub admin_key: Option<Secret>,
    /// File that keeps the head of the audit log outside the store, if one does.
    pub audit_anchor: Option<PathBuf>,
    /// How long running work may take to finish after a signal to stop, in seconds.
    pub drain_timeout_s: u64,
    /// What a client may ask of the service.
    pub limits: Limits,
    /// Who gets in beside the holders of API keys.
    pub access: AccessSettings,
}

/// Limits on what a client may ask; past one the answer is 413, 422 or 429 at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes in the body of an upload of records.
    pub upload_bytes_max: u64,
    /// Bytes in a JSON body.
    pub json_bytes_max: u64,
    /// Bytes in a hierarchy.
    pub hierarchy_bytes_max: u64,
    /// Bytes in a body of many preferences.
    pub preference_bytes_max: u64,
    /// Times its packed size that a compressed body may grow to.
    pub inflation_ratio_max: u64,
    /// Uploads read at the same time.
    pub uploads_max: usize,
    /// Records in a dataset version.
    pub records_max: u64,
    /// Connections open at the same time.
    pub connections_max: usize,
    /// Time for a request's header to arrive, in seconds.
    pub header_timeout_s: u64,
    /// Time within which the next piece of a body must arrive, in seconds.
    pub body_idle_timeout_s: u64,
    /// How long answers are kept under the idempotency keys of their requests, in seconds.
    pub idempotency_retention_s: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            metrics_listen: None,
            store: None,
            data_dir: PathBuf::from("vizard-data"),
            workers: 1,
            admin_key: None,
            audit_anchor: None,
            drain_timeout_s: 30,
            limits: Limits::default(),
            access: AccessSettings::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            upload_bytes_max: 4 << 30,
            json_bytes_max: 1 << 20,
            hierarchy_bytes_max: 16 << 20,
            preference_bytes_max: 64 << 20,
            inflation_ratio_max: 100,
            uploads_max: 8,
            records_max: 50_000_000,
            connections_max: 1_024,
            header_timeout_s: 10,
            body_idle_timeout_s: 30,
            idempotency_retention_s: 86_400,
        }
    }
}

impl Settings {
    /// The store's URL, the default filled in.
    pub fn store_url(&self) -> String {
        match &self.store {
            Some(url) => url.clone(),
            None => format!("sqlite:{}", self.data_dir.join("vizard.db").display()),
        }
    }

    /// How long running work may take to finish after a signal to stop.
    pub fn drain_timeout(&self) -> Duration {
        Duration::from_secs(self.drain_timeout_s)
    }
}

impl Limits {
    /// Time for a request's header to arrive.
    pub fn header_timeout(&self) -> Duration {
        Duration::from_secs(self.header_timeout_s)
    }

    /// Time within which the next piece of a body must arrive.
    pub fn body_idle_timeout(&self) -> Duration {
        Duration::from_secs(self.body_idle_timeout_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_in_a_log_do_not_show_the_admin_key() {
        let settings = Settings {
            admin_key: Some(Secret::new("0123456789abcdef0123456789abcdef")),
            ..Settings::default()
        };
        assert!(!format!("{settings:?}").contains("0123456789"));
    }

    #[test]
    fn the_embedded_store_lies_in_the_data_directory_by_default() {
        let settings = Settings {
            data_dir: PathBuf::from("here"),
            ..Settings::default()
        };
        assert_eq!(settings.store_url(), "sqlite:here/vizard.db");
    }
}
