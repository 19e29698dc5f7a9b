//! Engines for subjects with many records: `one_to_many` and its comparator.

mod handmade;
mod properties;
pub mod scenario;
