//! What the integration test programs of the anonymizer share; the service's
//! tests take some of it in too.
#![allow(
    dead_code,
    reason = "each test program uses its own part of what is shared"
)]

pub mod cases;
pub mod forged_parquet;
pub mod random_table;
