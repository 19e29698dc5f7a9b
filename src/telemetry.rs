//! Logs and metrics of the process.
//!
//! Logs go to standard error, as JSON lines for machines or as text for
//! people. Metrics are gathered in one recorder per process and rendered in
//! Prometheus' text form by `GET /metrics`. Neither ever holds a cell value,
//! a quasi-identifier or a subject key: what is logged is ids, counts, times
//! and matched paths.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tracing_subscriber::EnvFilter;

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text for people.
    #[default]
    Text,
}

/// Upper ends of the buckets of every histogram of durations, in seconds.
const DURATION_BUCKETS_S: [f64; 14] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0, 1800.0,
];

/// Time between two upkeeps of the recorder.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

/// Starts logging to standard error, once per process; a second call changes nothing.
/// Text has colours where standard error is a terminal and `NO_COLOR` is not set.
///
/// `filter` has the form of `RUST_LOG` (`info,vizard=debug`); one that cannot
/// be read counts as `info`.
pub fn start_logging(format: LogFormat, filter: &str) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let is_coloured = std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let builder = tracing_subscriber::fmt()
        .with_ansi(is_coloured)
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    // An error says that a subscriber is set already: tests share a process.
    let _ = match format {
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
        LogFormat::Text => builder.with_target(false).try_init(),
    };
}

/// The process's metrics; the first call installs the recorder.
///
/// Fails where another recorder was installed before.
pub fn metrics() -> Result<PrometheusHandle, MetricsError> {
    static HANDLE: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            PrometheusBuilder::new()
                .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &DURATION_BUCKETS_S)
                .and_then(PrometheusBuilder::install_recorder)
                .inspect(|_| describe())
                .ok()
        })
        .clone()
        .ok_or(MetricsError)
}

/// The recorder of metrics could not be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another recorder of metrics is installed in this process")]
pub struct MetricsError;

/// Keeps the recorder tidy for as long as it is polled; never ends by itself.
pub async fn upkeep(handle: PrometheusHandle) {
    let mut ticks = tokio::time::interval(UPKEEP_INTERVAL);
    loop {
        ticks.tick().await;
        handle.run_upkeep();
    }
}

fn describe() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!(
        "vizard_http_requests_total",
        "Requests answered, by method, matched path and status."
    );
    describe_histogram!(
        "vizard_http_request_duration_seconds",
        "Time until a response's header, by method and matched path."
    );
    describe_gauge!("vizard_http_connections", "Open connections.");
    describe_counter!(
        "vizard_upload_bytes_total",
        "Bytes of records received, refused uploads included."
    );
    describe_gauge!("vizard_jobs", "Jobs by state.");
    describe_gauge!(
        "vizard_store_connections",
        "Connections to the database: open, idle, max."
    );
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_recorder_is_installed_once_and_renders() {
        let first = super::metrics().expect("no other recorder is installed");
        metrics::counter!("vizard_test_total").increment(2);
        let second = super::metrics().expect("the same one again");
        assert!(first.render().contains("vizard_test_total 2"));
        assert!(second.render().contains("vizard_test_total 2"));
    }
}
