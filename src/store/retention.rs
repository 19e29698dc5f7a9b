//! How long records stay.
//!
//! A dataset may say for how many days its records and lineage are kept after
//! its last release, or after its last upload if that came later (or if there
//! was no release); where it says nothing, the service's own setting counts. A
//! purge removes chunks and lineage, destroys the key that sealed them,
//! withdraws drafts (nobody could check them any more), cancels jobs, and
//! leaves an empty version behind, so that another upload may follow.
//! Published releases and preferences stay.
//!
//! Records that an upload replaced have days of their own, which begin with
//! that upload or with the last release made of them; jobs may work on them
//! until then. Their purge leaves the records that replaced them alone.

use crate::ids::DatasetId;

/// Most days that records may be kept: a hundred years.
pub const RAW_RETENTION_DAYS_MAX: u32 = 36_500;

/// What one purge removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purge {
    /// The dataset.
    pub dataset: DatasetId,
    /// Chunks of records.
    pub chunks: u64,
    /// Releases whose lineage went.
    pub lineages: u64,
    /// Drafts that were withdrawn.
    pub drafts: u64,
    /// Jobs that were queued or running.
    pub jobs_cancelled: u64,
}
