//! The recorder of metrics: one a process, rendered as Prometheus' text.
//!
//! Counters are shown from the start, at zero, where it is known which there
//! will be: a rule on the growth of a counter that is not there yet would miss
//! its first step.

use std::sync::OnceLock;
use std::time::Duration;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use super::metric::{METRICS, MetricKind};

/// Upper ends of the buckets of every histogram of durations, in seconds.
const DURATION_BUCKETS_S: [f64; 14] = [
    0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 300.0, 1800.0,
];

/// Time between two upkeeps of the recorder.
const UPKEEP_INTERVAL: Duration = Duration::from_secs(5);

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
    use ::metrics::{counter, describe_counter, describe_gauge, describe_histogram};
    for metric in METRICS {
        match metric.kind {
            MetricKind::Counter => {
                describe_counter!(metric.name, metric.help);
                match metric.labels {
                    [] => counter!(metric.name).increment(0),
                    [(label, values)] => {
                        for &value in *values {
                            counter!(metric.name, *label => value).increment(0);
                        }
                    }
                    _ => {}
                }
            }
            MetricKind::Gauge => describe_gauge!(metric.name, metric.help),
            MetricKind::Histogram => describe_histogram!(metric.name, metric.help),
        }
    }
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

    #[test]
    fn counters_without_labels_are_there_before_anything_happened() {
        let rendered = super::metrics().expect("a recorder").render();
        for name in ["vizard_lease_losses_total", "vizard_panics_total"] {
            assert!(
                rendered.contains(&format!("# TYPE {name} counter")),
                "{name}"
            );
        }
    }
}
