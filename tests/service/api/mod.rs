//! The API over real HTTP, on both stores: one module a resource.

mod access;
mod audit;
mod composition;
mod datasets;
mod engines;
mod first_key;
mod formats;
mod hierarchies;
mod hierarchy_owners;
mod idempotency;
mod job_events;
mod jobs;
mod keys;
mod limits;
mod listener;
mod lists;
mod missing;
mod populations;
mod preconditions;
mod preferences;
mod problems;
mod records;
mod releases;
mod retention;
mod schemas;
mod server;
mod subject_tokens;
mod tables;
mod transfer;
mod unpublished;
mod upserts;

pub(crate) use server::on_both;
pub use server::{Server, story};
