//! One conformance suite, run on SQLite and on PostgreSQL.
//!
//! A test is an async function over a `Stage`: an empty store, and the means
//! to let time pass. `on_both!` makes two tests of each.

mod audit;
mod chain;
mod datasets;
mod dropped;
mod hierarchies;
mod jobs;
mod keys;
mod ledger;
mod preferences;
mod releases;
mod stage;
mod subject_tokens;
mod upkeep;
mod versions;

pub(crate) use stage::on_both;
pub use stage::{Stage, act, draft};
