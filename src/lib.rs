//! Vizard publishes tables about people while keeping each person's own
//! privacy terms.
//!
//! The modules below stand in layer order (docs/ARCHITECTURE.md): a module
//! imports only from modules above it in this list, and siblings of one layer
//! never import each other. `tests/layers.rs` holds the rule.

// Layer 2: what the data is, and what is promised about it.
pub mod microdata;
pub mod privacy;

// Layer 3: what is published.
pub mod release;

// Layer 4: four siblings that never meet.
#[cfg(feature = "engine")]
pub mod engine;
#[cfg(feature = "utility")]
pub mod query;
#[cfg(feature = "utility")]
pub mod utility;
#[cfg(feature = "verify")]
pub mod verify;

// Layer 5: the closed list of engines, and one job from table to release.
#[cfg(all(feature = "engine", feature = "utility", feature = "verify"))]
pub mod catalog;

// Layer 6: names, time, settings, and what a job is.
#[cfg(feature = "server")]
pub mod clock;
#[cfg(feature = "server")]
pub mod config;
#[cfg(feature = "server")]
pub mod failpoint;
#[cfg(feature = "server")]
pub mod ids;
#[cfg(feature = "server")]
pub mod job;
#[cfg(feature = "server")]
pub mod room;
#[cfg(feature = "server")]
pub mod telemetry;

// Layer 7: everything that survives a restart.
#[cfg(feature = "server")]
pub mod store;

// Layer 8: the three that meet only in the store.
#[cfg(feature = "server")]
pub mod http;
#[cfg(feature = "server")]
pub mod web;
#[cfg(feature = "server")]
pub mod worker;

// Layer 9: the program.
#[cfg(feature = "server")]
pub mod cli;
