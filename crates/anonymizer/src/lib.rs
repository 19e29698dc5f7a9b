//! A table about people in, a verified release out, with each person's own
//! privacy terms kept.
//!
//! Nothing here reads a file, a socket, a clock or ambient randomness: seeds
//! and room for text are handed down. The modules stand in layer order
//! (docs/ARCHITECTURE.md): a module imports only from modules above it in this
//! list, and siblings of one layer never import each other. `tests/layers.rs`
//! of the service holds the rule.

// Layer 2: what the data is, and what is promised about it.
pub mod microdata;
pub mod privacy;

// Layer 3: what is published.
pub mod release;

// Layer 4: five siblings that never meet.
pub mod engine;
pub mod inspect;
pub mod query;
pub mod utility;
pub mod verify;

// Layer 5: the closed list of engines, and one job from table to release.
pub mod catalog;
