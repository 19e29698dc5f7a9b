//! Engines that publish sensitive values in blocks: `arp` and its comparators.

mod dealt;
mod figures;
pub mod handmade;
mod paper;
mod properties;
pub mod scenario;
mod widened;
