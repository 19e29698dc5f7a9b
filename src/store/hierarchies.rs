//! Hierarchies: named, immutable, addressed by name or by digest.
//!
//! A name may get a new revision when the caller says so; older ones stay
//! addressable by digest, because versions of datasets pin them.

use chrono::{DateTime, Utc};

use super::{Act, StoreFuture};

/// A hierarchy to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHierarchy {
    /// Its name.
    pub name: String,
    /// Digest of its content, in hexadecimal.
    pub digest: String,
    /// Media type of `content`.
    pub media_type: String,
    /// The content as it was given.
    pub content: Vec<u8>,
    /// Number of leaves.
    pub leaves: u64,
    /// Number of levels above the leaves.
    pub height: u32,
    /// Whether other content may become the name's new revision.
    pub allow_new_version: bool,
}

/// A hierarchy as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyRow {
    /// Its name.
    pub name: String,
    /// 1, 2, … under that name.
    pub revision: u64,
    /// Digest of its content, in hexadecimal.
    pub digest: String,
    /// Media type of `content`.
    pub media_type: String,
    /// The content as it was given.
    pub content: Vec<u8>,
    /// Number of leaves.
    pub leaves: u64,
    /// Number of levels above the leaves.
    pub height: u32,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}

/// What putting a hierarchy did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HierarchyPut {
    /// It is the name's first or new revision.
    Created,
    /// The name has this content already.
    Unchanged,
    /// The name has other content, and a new revision was not allowed.
    Conflict,
}

/// Operations on hierarchies.
pub trait Hierarchies {
    /// Keeps a hierarchy under its name.
    fn hierarchy_put(
        &self,
        act: Act<HierarchyPut>,
        hierarchy: NewHierarchy,
    ) -> StoreFuture<'_, HierarchyPut>;

    /// The latest revision of a name.
    fn hierarchy_get(&self, name: String) -> StoreFuture<'_, HierarchyRow>;

    /// Any hierarchy with this digest.
    fn hierarchy_get_by_digest(&self, digest: String) -> StoreFuture<'_, HierarchyRow>;
}
