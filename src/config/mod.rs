//! Settings of the service: plain values with their defaults and units.
//!
//! The command line and the environment fill them in (`cli` reads both);
//! nothing else does. A unit stands at the end of a name (`_s` seconds,
//! `_bytes_max` bytes), a limit ends in `_max`. docs/OPERATING.md lists them.

mod access;
mod admin_key;
mod limits;
mod secret_file;
mod webhooks;

use std::collections::BTreeMap;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use vizard_anonymizer::catalog::Purposes;
use vizard_anonymizer::privacy::Floors;

pub use access::{AccessSettings, OidcSettings, SignInSettings, SubjectTokenLimits, WebOrigin};
pub use admin_key::{GuessableKey, judge_admin_key};
pub use limits::{Limit, Limits};
pub use secret_file::{SecretFileError, read_secret_file};
pub use webhooks::{WebhookOrigin, WebhookOrigins, WebhookUrlError};

/// Estimated memory that jobs of one process may use together unless told otherwise, in bytes.
pub const MEMORY_BYTES_MAX: u64 = 8 << 30;

/// Which publications need a second steward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondSteward {
    /// Those of jobs that asked for an exception from the floors, and those beside
    /// releases that share subjects.
    #[default]
    Exceptions,
    /// All.
    Always,
    /// None.
    Never,
}

/// Texts of pages, by language and by key.
pub type TextsByLanguage = BTreeMap<String, BTreeMap<String, String>>;

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
    /// Whether metrics are shown where the API is, also on an address that
    /// other machines reach.
    pub metrics_public: bool,
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
    /// Estimated memory of all jobs of one process, in bytes; the same for
    /// every process on one store.
    pub memory_bytes_max: u64,
    /// How long answers are kept under the idempotency keys of their requests, in seconds.
    pub idempotency_retention_s: u64,
    /// What a client may ask of the service.
    pub limits: Limits,
    /// Who gets in beside the holders of API keys.
    pub access: AccessSettings,
    /// What no job may go below, in any dataset.
    pub floors: Floors,
    /// Which publications need a second steward.
    pub second_steward: SecondSteward,
    /// What inspections propose jobs for.
    pub purposes: Purposes,
    /// Where webhooks may be.
    pub webhook_origins: WebhookOrigins,
    /// Texts of the consent pages beside or in place of those that are shipped.
    pub consent_texts: TextsByLanguage,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            metrics_listen: None,
            metrics_public: false,
            store: None,
            data_dir: PathBuf::from("vizard-data"),
            workers: 1,
            admin_key: None,
            audit_anchor: None,
            drain_timeout_s: 30,
            memory_bytes_max: MEMORY_BYTES_MAX,
            idempotency_retention_s: 86_400,
            limits: Limits::default(),
            access: AccessSettings::default(),
            floors: Floors::of_service(),
            second_steward: SecondSteward::default(),
            purposes: Purposes::default(),
            webhook_origins: WebhookOrigins::default(),
            consent_texts: TextsByLanguage::new(),
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
