//! Engines that publish sensitive values in blocks: `arp` and its comparators.

mod figures;
mod handmade;
mod paper;
mod properties;
pub mod scenario;
