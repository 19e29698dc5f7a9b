//! The service around `vizard_anonymizer`: it publishes tables about people
//! over HTTP while keeping each person's own privacy terms.
//!
//! The modules below stand in layer order (docs/ARCHITECTURE.md): a module
//! imports only from modules above it in this list. Layers 2 to 5 are the
//! package `vizard-anonymizer`. `tests/layers.rs` holds the rule.

// Layer 6: names, time, settings, and what a job is.
pub mod clock;
pub mod config;
pub mod failpoint;
pub mod ids;
pub mod job;
pub mod spill_file;
pub mod telemetry;

// Layer 7: everything that survives a restart.
pub mod store;

// Layer 8: the three that meet only in the store.
pub mod http;
pub mod web;
pub mod worker;

// Layer 9: the program.
pub mod cli;
