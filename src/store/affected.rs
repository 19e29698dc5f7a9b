//! Published releases that later terms affect.
//!
//! Publishing asks whether everybody in a release gets what they ask for.
//! Terms may change the day after: the release is out, and what it promised at
//! its time holds; but somebody in it has since excluded themself, or asks for
//! more than it gives. The janitor looks, one release after the other,
//! and what was found is kept beside the release, counted up to tens, so that a
//! steward can take it back or publish another one in its place. Up to which
//! preference version it was looked is kept as well: where nobody's terms
//! moved there is nothing to do.

use chrono::{DateTime, Utc};

use crate::ids::{DatasetId, JobId, ReleaseId};

/// What later terms ask of a published release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Affected {
    /// Nothing that it does not give.
    No,
    /// More, by up to so many of its subjects: a multiple of ten.
    Subjects(u64),
    /// Somebody asks for more, and who is in the release is not known any more.
    Unknown,
}

/// A published release, and terms that changed since it was looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unlooked {
    /// The release.
    pub release: ReleaseId,
    /// The job that made it.
    pub job: JobId,
    /// The dataset it was made from.
    pub dataset: DatasetId,
    /// The version of the records.
    pub dataset_version: u64,
    /// The preferences that the job pinned.
    pub preference_version: u64,
    /// The preferences now.
    pub latest_preferences: u64,
}

/// A release that later terms affect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AffectedRelease {
    /// The release.
    pub release: ReleaseId,
    /// Up to so many of its subjects, a multiple of ten; `None`: nobody knows.
    pub subjects: Option<u64>,
    /// When it was first found.
    pub since: DateTime<Utc>,
}
