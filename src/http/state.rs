//! The state of a server. Extractors and the layers before a handler take the
//! part that they need.

use std::sync::Arc;

use axum::Router;
use axum::extract::FromRef;
use metrics_exporter_prometheus::PrometheusHandle;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::auth::{Gate, Oidc};
use super::download::Downloads;
use super::query_indexes::Queries;
use super::shares::Shares;
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
/// Draws an exploration as a page: the exploration, and what the dataset is called.
pub type ExplorationPage = fn(&Value, &Value) -> String;
/// The pages for people, which ask the API inside the process.
pub type Pages = fn(&AppState) -> Router<AppState>;

/// The state of a server: cheap to clone, shared by all requests.
#[derive(Clone)]
pub struct AppState {
    /// Everything that survives a restart.
    pub store: Arc<Store>,
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
    /// Draws explorations, likewise.
    pub(super) exploration_page: Option<ExplorationPage>,
    /// The pages for people; without them the API alone is served.
    pub(super) pages: Option<Pages>,
    /// Uploads that are read.
    pub(super) uploads: Arc<Shares>,
    /// Event streams that are open.
    pub(super) event_streams: Arc<Shares>,
    /// How many downloads there are, and how many are made.
    pub(super) downloads: Arc<Downloads>,
    /// Queries that are answered, and releases kept for them.
    pub(super) queries: Arc<Queries>,
    /// Where they are read.
    pub(super) reading: Arc<ReadingThreads>,
    /// Lets requests in.
    pub(super) gate: Gate,
}

impl AppState {
    /// Puts the state of a server together; `shutdown` ends its endless streams.
    pub fn new(
        store: Arc<Store>,
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
            downloads: Arc::new(Downloads::new(&settings.limits)),
            queries: Arc::new(Queries::new(&settings.limits)),
            reading: Arc::default(),
            gate: Gate::new(Arc::clone(&store), Arc::clone(&clock), &settings),
            report_page: None,
            exploration_page: None,
            pages: None,
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
        self.gate = self.gate.with_oidc(oidc);
        self
    }

    /// The same, with reports and explorations as pages too, and with pages for people.
    #[must_use]
    pub fn with_pages(
        mut self,
        report: ReportPage,
        exploration: ExplorationPage,
        people: Pages,
    ) -> Self {
        self.report_page = Some(report);
        self.exploration_page = Some(exploration);
        self.pages = Some(people);
        self
    }

    /// What lets requests in: pages let people in by it.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// The same, with the API behind TLS.
    #[must_use]
    pub fn with_tls(mut self, tls: Option<Tls>) -> Self {
        self.tls = tls;
        self
    }
}

impl FromRef<AppState> for Gate {
    fn from_ref(state: &AppState) -> Self {
        state.gate.clone()
    }
}

impl FromRef<AppState> for Arc<Store> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.store)
    }
}

impl FromRef<AppState> for Arc<Settings> {
    fn from_ref(state: &AppState) -> Self {
        Self::clone(&state.settings)
    }
}
