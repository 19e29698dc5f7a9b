//! One conformance suite, run on SQLite and on PostgreSQL.
//!
//! A test is an async function over a `Stage`: an empty store, and the means
//! to let time pass. `on_both!` makes two tests of each.

mod anchor;
mod audit;
mod chain;
mod datasets;
mod dropped;
mod explorations;
mod ground;
mod hierarchies;
mod idempotency;
mod jobs;
mod keys;
mod ledger;
mod master_keys;
mod population_tables;
mod populations;
mod preferences;
mod receipts;
mod reidentifications;
mod releases;
mod retention;
mod sealing;
mod secrets;
mod sessions;
mod stage;
mod subject_tokens;
mod subjects;
mod tombstones;
mod upkeep;
mod versions;
mod webhooks;

pub use ground::{Ground, master_keys, sealed};
pub use stage::{Stage, act, draft};
pub(crate) use stage::{on_both, on_both_and_sealed};
