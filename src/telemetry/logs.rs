//! Log lines: one JSON object a line for machines, or text for people.
//!
//! The operator's filter decides about our own lines. What other crates log
//! is let through from `INFO` up and never below, and what a database says in
//! notices never at all: drivers and protocol crates print statements, frames
//! and headers there, and with them what people entrusted to us. No filter can
//! turn that on.

use std::io::IsTerminal;

use tracing::subscriber::set_global_default;
use tracing::{Level, Metadata, level_filters::LevelFilter};
use tracing_subscriber::filter::{FilterExt, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{EnvFilter, Layer, Registry};

use super::traces::{TRACE_TARGET, Traces};

/// How log lines are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogFormat {
    /// One JSON object a line.
    Json,
    /// Text for people.
    #[default]
    Text,
}

/// The least important level that is let through of crates other than ours.
const FOREIGN_LEVEL: LevelFilter = LevelFilter::INFO;

/// Targets of other crates that are never logged: a database's notices may quote rows.
const SILENCED: &[&str] = &["sqlx::postgres::notice"];

/// Starts logging to standard error, and tracing where `traces` are given,
/// once per process; a second call changes nothing. Text has colours where
/// standard error is a terminal and `NO_COLOR` is not set.
///
/// `filter` has the form of `RUST_LOG` (`info,vizard=debug`); one that cannot
/// be read counts as `info`.
pub fn start(format: LogFormat, filter: &str, traces: Option<&Traces>) {
    let filter = EnvFilter::try_new(filter).unwrap_or_else(|_| EnvFilter::new("info"));
    let filter = filter.and(filter_fn(may_be_logged));
    let is_coloured = std::io::stderr().is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(is_coloured && format == LogFormat::Text)
        .with_writer(std::io::stderr);
    let lines: Box<dyn Layer<Registry> + Send + Sync> = match format {
        LogFormat::Json => {
            let json = lines.json().flatten_event(true).with_span_list(false);
            Box::new(json.with_filter(filter))
        }
        LogFormat::Text => Box::new(lines.with_target(false).with_filter(filter)),
    };
    let layers = tracing_subscriber::registry().with(lines);
    // Not `try_init`, which would take in what crates tell by `log` as well:
    // asking there whether a line is wanted, as drivers do before each
    // statement, makes a layer with a filter of its own miss the line after it.
    // An error says that a subscriber is set already: tests share a process.
    let _ = match traces {
        Some(traces) => set_global_default(layers.with(traces.layer())),
        None => set_global_default(layers),
    };
}

/// Whether a line or span of this kind may be logged at all.
fn may_be_logged(metadata: &Metadata<'_>) -> bool {
    may_be_logged_at(metadata.target(), metadata.level())
}

fn may_be_logged_at(target: &str, level: &Level) -> bool {
    if target == TRACE_TARGET {
        return false;
    }
    let is_ours = target == "vizard" || target.starts_with("vizard::");
    is_ours || (*level <= FOREIGN_LEVEL && !SILENCED.contains(&target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_crates_are_never_logged_below_info() {
        for target in [
            "sqlx::query",
            "hyper::proto",
            "h2::codec",
            "log",
            "vizardry",
        ] {
            assert!(may_be_logged_at(target, &Level::WARN));
            assert!(!may_be_logged_at(target, &Level::DEBUG), "{target}");
            assert!(!may_be_logged_at(target, &Level::TRACE), "{target}");
        }
        assert!(may_be_logged_at("vizard::http::upload", &Level::TRACE));
        assert!(!may_be_logged_at("sqlx::postgres::notice", &Level::WARN));
    }
}
