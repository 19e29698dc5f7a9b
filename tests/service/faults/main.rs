//! The fault suite: what a running service does when it is killed, stopped,
//! starved or lied to. Real server processes on both stores.
//!
//! | module | fault |
//! |---|---|
//! | `first_starts` | SIGKILL while a store is made and the first key is written |
//! | `released_schemas` | a store that an older program wrote |
//!
//! Sizes are those of CI; `VIZARD_FAULTS_FULL=1` (`scripts/faults --full`)
//! multiplies them by ten. Random moments come from a seed that is printed,
//! and that `VIZARD_FAULTS_SEED` sets.

#[path = "../../common/mod.rs"]
mod common;
mod first_starts;
mod launch;
mod place;
mod released_schemas;
mod size;
mod ward;
