//! The list of all metrics: the one place that names them with their kind,
//! their labels and what they mean.
//!
//! docs/OPERATING.md has the same list as a table for people; tests hold list,
//! table, source and a scraped server together. Every label has a closed set
//! of values, so the number of series does not grow with use: methods and
//! statuses are few words, paths are the *matched* ones, engines, steps and
//! outcomes are lists in the code. A label never carries an id or a name that
//! somebody chose.

/// How a metric behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// Only grows; starts anew with the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts of observations in buckets, with their sum.
    Histogram,
}

impl MetricKind {
    /// The word of Prometheus' text form.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A label: its name, and its values where this list is the one to know them
/// (engines, paths and statuses are listed elsewhere).
pub type Label = (&'static str, &'static [&'static str]);

/// One metric. The unit is the last word of its name.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name, as it is scraped.
    pub name: &'static str,
    /// How it behaves.
    pub kind: MetricKind,
    /// Its labels.
    pub labels: &'static [Label],
    /// What it means, in a sentence.
    pub help: &'static str,
}

const fn counter(name: &'static str, labels: &'static [Label], help: &'static str) -> Metric {
    let kind = MetricKind::Counter;
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

const fn gauge(name: &'static str, labels: &'static [Label], help: &'static str) -> Metric {
    let kind = MetricKind::Gauge;
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

const fn histogram(name: &'static str, labels: &'static [Label], help: &'static str) -> Metric {
    let kind = MetricKind::Histogram;
    Metric {
        name,
        kind,
        labels,
        help,
    }
}

const METHOD: Label = ("method", &["GET", "HEAD", "POST", "PUT", "DELETE", "other"]);
const PATH: Label = ("path", &[]);
const ENGINE: Label = ("engine", &[]);

/// All metrics there are, in the order of docs/OPERATING.md.
pub const METRICS: &[Metric] = &[
    counter(
        "vizard_http_requests_total",
        &[METHOD, PATH, ("status", &[])],
        "Requests answered.",
    ),
    histogram(
        "vizard_http_request_duration_seconds",
        &[METHOD, PATH],
        "Time until a response's header.",
    ),
    gauge("vizard_http_connections", &[], "Open connections."),
    counter(
        "vizard_http_connections_cut_total",
        &[(
            "reason",
            &[
                "silent",
                "header",
                "address",
                "anonymous",
                "idle",
                "stalled",
            ],
        )],
        "Connections closed because of what their clients did, or did not do.",
    ),
    counter(
        "vizard_tls_reloads_total",
        &[("outcome", &["changed", "refused"])],
        "Readings of a new certificate and key.",
    ),
    counter(
        "vizard_upload_bytes_total",
        &[],
        "Bytes of records received, refused uploads included.",
    ),
    gauge("vizard_uploads", &[], "Uploads being read."),
    gauge(
        "vizard_jobs",
        &[(
            "state",
            &["queued", "running", "succeeded", "failed", "cancelled"],
        )],
        "Jobs in the store.",
    ),
    counter(
        "vizard_jobs_total",
        &[
            ENGINE,
            (
                "outcome",
                &["succeeded", "failed", "cancelled", "yielded", "retry"],
            ),
        ],
        "Attempts at jobs that ended in this process.",
    ),
    histogram(
        "vizard_job_step_duration_seconds",
        &[
            ENGINE,
            (
                "step",
                &[
                    "admit", "load", "run", "encode", "verify", "measure", "commit",
                ],
            ),
        ],
        "Time of one step of an attempt.",
    ),
    counter(
        "vizard_infeasible_answers_total",
        &[("figures", &["told", "withheld"])],
        "Jobs that ended because a parameter is too strong for the records.",
    ),
    counter(
        "vizard_verification_failures_total",
        &[ENGINE],
        "Releases that did not pass the verifier and were thrown away.",
    ),
    counter(
        "vizard_lease_losses_total",
        &[],
        "Leases lost while their job ran here.",
    ),
    counter(
        "vizard_audit_anchor_failures_total",
        &[],
        "Times that the anchor of the audit log was not moved on.",
    ),
    gauge(
        "vizard_erasures_incomplete",
        &[],
        "Erasures whose bytes are still being wiped.",
    ),
    gauge(
        "vizard_releases_affected",
        &[],
        "Published releases that hold subjects who have since asked for more than they give.",
    ),
    counter(
        "vizard_webhook_messages_total",
        &[("outcome", &["delivered", "again", "given_up", "gone"])],
        "Attempts to tell a webhook something that ended in this process; messages that it gave up without one.",
    ),
    gauge(
        "vizard_store_connections",
        &[("kind", &["open", "idle", "max"])],
        "Connections to the database.",
    ),
    counter("vizard_panics_total", &[], "Panics, caught or not."),
    gauge("vizard_build_info", &[("version", &[])], "Always 1."),
    gauge(
        "process_resident_memory_bytes",
        &[],
        "Memory that the process holds.",
    ),
    gauge(
        "vizard_resident_memory_peak_bytes",
        &[],
        "Most memory that the process has held.",
    ),
    gauge("process_open_fds", &[], "Open files and sockets."),
    gauge(
        "process_start_time_seconds",
        &[],
        "When the process started, in seconds since 1970.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_listed_once_and_counters_end_in_total() {
        for (at, metric) in METRICS.iter().enumerate() {
            let again = METRICS[..at].iter().any(|other| other.name == metric.name);
            assert!(!again, "{}", metric.name);
            let is_counter = metric.kind == MetricKind::Counter;
            assert_eq!(
                metric.name.ends_with("_total"),
                is_counter,
                "{}",
                metric.name
            );
        }
    }
}
