//! Slow and obvious versions of what `src/` does fast, written from the
//! definitions and sharing no code with it.

pub mod buckets;
pub mod measures;
pub mod median;
pub mod personalized;
pub mod persons;
pub mod queries;
pub mod release;
