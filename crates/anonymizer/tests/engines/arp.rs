//! Engines that publish sensitive values in blocks: `arp` and its comparators.

mod dealt;
mod figures;
pub mod handmade;
mod paper;
mod properties;
mod scenario;
mod widened;
