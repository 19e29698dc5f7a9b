//! What the process tells of itself: logs, metrics, traces.
//!
//! Logs go to standard error, as JSON lines for machines or as text for
//! people (`logs`). Metrics are gathered in one recorder per process and
//! rendered in Prometheus' text form by `GET /metrics` (`recorder`; the list
//! of all of them is `metric`). Traces leave by OTLP over HTTP, where an
//! endpoint is configured (`traces`). A panic is told by its place alone
//! (`panics`).
//!
//! None of them ever holds a cell value, a quasi-identifier, a subject key or
//! a secret: what is told is ids, counts, times, matched paths, and words of
//! closed lists. Crates that we depend on do not know that rule; so what they
//! log below `INFO` is dropped whatever the filter says.

mod job_trace;
mod logs;
mod metric;
mod panics;
mod process;
mod recorder;
mod traces;

pub use job_trace::{link_job, root_of_job};
pub use logs::{LogFormat, start};
pub use metric::{Label, METRICS, Metric, MetricKind};
pub use panics::tell_places_only;
pub use process::{observe_process, tell_start};
pub use recorder::{MetricsError, metrics, upkeep};
pub use traces::{TRACE_TARGET, TraceError, TraceSettings, Traces, continue_trace, trace_id};
