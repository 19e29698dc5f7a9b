//! Parts of tables on several machines, by Apache DataFusion Ballista.
//!
//! ```text
//! cluster     somebody who counts and publishes parts, for an engine in this process
//! queries     what is asked of the executors, as plans
//! leaf scan   the two steps of plans that are ours: publish sets, read a board
//! codec       both as bytes
//! boards      tables as numbers, kept here and served to executors
//! links       connections between processes, by mutual TLS
//! scheduler executor  the two other processes
//! ```
//!
//! Executors see numbers only (`vizard_anonymizer::catalog::elsewhere`). They read them
//! from the process that has the table, for as long as it lets them: once a board is
//! gone, nothing reads from it any more, and whoever publishes a part of it stops.

#![forbid(unsafe_code)]

pub mod boards;
pub mod cluster;
pub mod codec;
pub mod executor;
pub mod leaf;
pub mod links;
mod queries;
pub mod scan;
pub mod scheduler;
mod sets;
