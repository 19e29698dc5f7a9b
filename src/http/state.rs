//! What every handler is given.

use std::sync::Arc;

use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::auth::{AdminDigest, KeyUse, Oidc};
use super::download::Downloads;
use super::refusals::Refusals;
use super::shares::Shares;
use super::throttle::Throttle;
use super::tls::Tls;
use super::upload::ReadingThreads;
use crate::clock::Clock;
use crate::config::Settings;
use crate::store::Store;

/// Draws a report as a page, from report, verification and manifest.
///
/// Pages are drawn next door: a server is handed the function, so that routes
/// and pages need not know each other.
pub type ReportPage = fn(&Value, &Value, &Value, &Value) -> String;

/// The state of a server: cheap to clone, shared by all requests.
#[derive(Clone)]
pub struct AppState {
    /// Everything that survives a restart.
    pub store: Arc<dyn Store>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// What the process was told when it started.
    pub settings: Arc<Settings>,
    /// Renders the metrics.
    pub metrics: PrometheusHandle,
    /// Ends streams that would otherwise never end.
    pub shutdown: CancellationToken,
    /// TLS of the API; without it plain HTTP.
    pub(super) tls: Option<Tls>,
    /// Draws reports; without it they come as JSON alone.
    pub(super) report_page: Option<ReportPage>,
    /// Uploads that are read.
    pub(super) uploads: Arc<Shares>,
    /// Event streams that are open.
    pub(super) event_streams: Arc<Shares>,
    /// How many downloads there are, and how many are made.
    pub(super) downloads: Arc<Downloads>,
    /// Where they are read.
    pub(super) reading: Arc<ReadingThreads>,
    /// The operator's own admin key, if there is one.
    pub(super) admin: Option<AdminDigest>,
    /// Believes the JWTs of an issuer, if one was named.
    pub(super) oidc: Option<Arc<Oidc>>,
    /// How often clients may ask.
    pub(super) throttle: Arc<Throttle>,
    /// Requests that were refused, on their way to the audit log.
    pub(super) refusals: Arc<Refusals>,
    /// When each key was last noted as used.
    pub(super) key_use: Arc<KeyUse>,
}

impl AppState {
    /// Puts the state of a server together; `shutdown` ends its endless streams.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        settings: Settings,
        metrics: PrometheusHandle,
        shutdown: CancellationToken,
    ) -> Self {
        Self {
            uploads: Arc::new(Shares::new(
                settings.limits.uploads_max(),
                settings.limits.uploads_of_key_max(),
            )),
            event_streams: Arc::new(Shares::new(
                settings.limits.event_streams_max(),
                settings.limits.event_streams_of_key_max(),
            )),
            refusals: Arc::default(),
            downloads: Arc::new(Downloads::new(&settings.limits)),
            reading: Arc::default(),
            throttle: Arc::new(Throttle::new(&settings.limits)),
            admin: settings.admin_key.as_ref().map(AdminDigest::of),
            oidc: None,
            key_use: Arc::default(),
            report_page: None,
            tls: None,
            store,
            clock,
            settings: Arc::new(settings),
            metrics,
            shutdown,
        }
    }

    /// The same, with JWTs of an issuer as bearer tokens too.
    #[must_use]
    pub fn with_oidc(mut self, oidc: Oidc) -> Self {
        self.oidc = Some(Arc::new(oidc));
        self
    }

    /// The same, with reports as pages too.
    #[must_use]
    pub fn with_report_page(mut self, draw: ReportPage) -> Self {
        self.report_page = Some(draw);
        self
    }

    /// The same, with the API behind TLS.
    #[must_use]
    pub fn with_tls(mut self, tls: Option<Tls>) -> Self {
        self.tls = tls;
        self
    }
}
