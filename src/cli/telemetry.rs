//! Options of logs and traces, and the order in which they start and end.
//!
//! Telemetry starts before the async runtime and ends after it, because the
//! exporter of traces has a client that blocks: [`Telling::run`] keeps that
//! order for every command. A command that ends badly says so as a log line
//! where log lines are JSON, so that standard error holds one object a line.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;

use super::exit::Exit;
use super::options::runtime;
use crate::telemetry::{self, LogFormat, TraceSettings, Traces};

/// What a service logs where no filter is given: its own doings, warnings of
/// everything else.
pub const SERVICE_FILTER: &str = "warn,vizard=info";

/// Whether log lines are JSON in this process.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// How logs are written and where traces go.
#[derive(Args, Clone, Debug)]
pub struct TelemetryOptions {
    /// Log lines as JSON
    #[arg(long, env = "VIZARD_LOG_JSON")]
    log_json: bool,
    /// What is logged, as in `info,vizard=debug` [default: `warn,vizard=info`; `demo`: `warn`]
    #[arg(long, env = "VIZARD_LOG", value_name = "FILTER")]
    log: Option<String>,
    /// Collector that traces are sent to by OTLP over HTTP, as in
    /// `http://127.0.0.1:4318` [default: OTEL_EXPORTER_OTLP_ENDPOINT; none: no traces]
    #[arg(long, env = "VIZARD_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// Share of the requests whose traces are kept, 0 to 1, where the caller has
    /// not decided; jobs are all kept
    #[arg(long, env = "VIZARD_TRACE_RATIO", value_name = "SHARE", default_value_t = 1.0, value_parser = share)]
    trace_ratio: f64,
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err("a share lies between 0 and 1".into())
    }
}

impl TelemetryOptions {
    /// Starts logs and traces; `filter` holds where none was given.
    pub fn start(&self, filter: &str) -> Result<Telling, Exit> {
        let format = if self.log_json {
            LogFormat::Json
        } else {
            LogFormat::Text
        };
        IS_JSON.store(self.log_json, Ordering::Relaxed);
        let settings = self.traces();
        let traces = settings.map(|settings| Traces::start(&settings));
        let traces = traces
            .transpose()
            .map_err(|error| Exit::Usage(error.to_string()))?;
        let filter = self.log.as_deref().unwrap_or(filter);
        telemetry::start(format, filter, traces.as_ref());
        Ok(Telling(traces))
    }

    /// Where traces go, if they go anywhere.
    fn traces(&self) -> Option<TraceSettings> {
        let is = |name: &str, word: &str| {
            std::env::var(name).is_ok_and(|value| value.eq_ignore_ascii_case(word))
        };
        let has = |name: &str| std::env::var(name).is_ok_and(|value| !value.is_empty());
        let endpoint = self.otlp_endpoint.clone().filter(|url| !url.is_empty());
        let is_standard =
            has("OTEL_EXPORTER_OTLP_ENDPOINT") || has("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT");
        let is_off = is("OTEL_SDK_DISABLED", "true") || is("OTEL_TRACES_EXPORTER", "none");
        if is_off || (endpoint.is_none() && !is_standard) {
            return None;
        }
        Some(TraceSettings {
            endpoint,
            ratio: self.trace_ratio,
            service_name: (!has("OTEL_SERVICE_NAME")).then(|| "vizard".into()),
        })
    }
}

/// Logs and traces that have started.
pub struct Telling(Option<Traces>);

impl Telling {
    /// Runs a command on a runtime of its own, then sends the last traces.
    pub fn run(self, command: impl Future<Output = Result<(), Exit>>) -> Result<(), Exit> {
        let ended = runtime().and_then(|runtime| runtime.block_on(command));
        // The runtime has ended: nothing blocks it any more.
        if let Some(traces) = self.0 {
            traces.shut_down();
        }
        ended
    }
}

/// Says what an operator should mend: as a log line where lines are logged.
pub fn tell_warning(text: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::warn!("{text}");
    } else {
        eprintln!("warning: {text}");
    }
}

/// Says why a command ended: as a log line where log lines are JSON.
pub fn tell_end(text: &str) {
    if IS_JSON.load(Ordering::Relaxed) {
        tracing::error!(error = text, "ended");
    } else {
        eprintln!("error: {text}");
    }
}
