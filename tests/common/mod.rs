//! What several of the integration test programs share.
//!
//! Every folder under `tests/` with a `main.rs` is a program of its own and
//! takes this folder in by `#[path = "../common/mod.rs"] mod common;`. A
//! program rarely needs all of it, so unused parts are no warning here.
#![allow(
    dead_code,
    reason = "each test program uses its own part of what is shared"
)]

#[path = "../../crates/anonymizer/tests/common/cases.rs"]
pub mod cases;
pub mod certificate;
pub mod client;
pub mod collector;
pub mod description;
#[path = "../../crates/anonymizer/tests/common/forged_parquet.rs"]
pub mod forged_parquet;
pub mod issuer;
pub mod login;
pub mod postgres;
pub mod process;
pub mod program;
#[path = "../../crates/anonymizer/tests/common/random_table.rs"]
pub mod random_table;
pub mod receiver;
pub mod statements;
