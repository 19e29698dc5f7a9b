//! What operators rely on: logs, metrics, traces, TLS, options; each with a
//! real server process, as they would run it.

mod logs;
mod metrics;
mod tls;
mod traces;
