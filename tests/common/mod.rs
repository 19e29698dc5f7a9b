//! What several of the integration test programs share.
//!
//! Every folder under `tests/` with a `main.rs` is a program of its own and
//! takes this folder in by `#[path = "../common/mod.rs"] mod common;`. A
//! program rarely needs all of it, so unused parts are no warning here.
#![allow(
    dead_code,
    reason = "each test program uses its own part of what is shared"
)]

pub mod cases;
#[cfg(feature = "server")]
pub mod certificate;
#[cfg(feature = "server")]
pub mod client;
#[cfg(feature = "server")]
pub mod collector;
#[cfg(feature = "server")]
pub mod description;
pub mod forged_parquet;
#[cfg(feature = "server")]
pub mod issuer;
#[cfg(feature = "server")]
pub mod postgres;
#[cfg(feature = "server")]
pub mod process;
#[cfg(feature = "server")]
pub mod program;
pub mod random_table;
#[cfg(feature = "server")]
pub mod statements;
