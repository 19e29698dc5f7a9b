//! The REST API (docs/API.md): routes, roles, problems, openapi.yaml.
//!
//! `router` puts the routes under their layers, `listener` serves them,
//! `access` says who may call what and what may go wrong, `routes` holds one
//! file a resource with its handlers and views. What arrives is read by
//! `extract` and `upload`, under the limits of `body`; what is wrong leaves as a
//! `problem`; tables leave by `download`. Nothing here knows a worker: the two meet in the store.

pub mod access;
mod answer;
pub mod auth;
mod body;
mod bundle;
mod cache_control;
mod coding;
mod connection;
mod consent_origins;
mod convert;
pub mod described;
mod described_formats;
pub mod described_query;
mod download;
mod engine_jobs;
mod extract;
mod framing;
mod header;
mod idempotency;
pub mod line_errors;
mod linger;
mod listener;
mod misfit;
#[cfg(test)]
mod near;
mod negotiate;
mod objects;
mod observe;
pub mod openapi;
mod own_problems;
mod precondition;
pub mod problem;
mod query_indexes;
mod query_names;
mod range;
mod refine;
mod refusals;
mod remainder;
mod router;
mod routes;
mod shares;
mod state;
mod throttle;
mod tls;
mod upload;

pub use listener::{serve, serve_observation};
pub use negotiate::wish;
pub use observe::{Drawn, REQUEST_ID, RequestId};
pub use problem::{Problem, ProblemKind};
pub use router::inner_router;
pub use state::{AppState, ExplorationPage, Pages, ReportPage};
pub use throttle::RemoteAddress;
pub use tls::{Tls, TlsError};
