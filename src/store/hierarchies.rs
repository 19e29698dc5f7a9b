//! Hierarchies: named, immutable, addressed by name and revision or digest.
//!
//! A hierarchy belongs to a dataset, or to the library that all datasets
//! share. A dataset finds a name among its own first, then in the library,
//! and never among those of another dataset. A name may get a new revision
//! when the caller says so; older ones stay addressable by digest, because
//! versions of datasets pin them. A dataset's own go when it is erased.

use chrono::{DateTime, Utc};

use crate::ids::DatasetId;

/// A hierarchy to be kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewHierarchy {
    /// The dataset that it belongs to; `None`: the library.
    pub dataset: Option<DatasetId>,
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

/// What is known of a hierarchy without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyHead {
    /// The dataset that it belongs to; `None`: the library.
    pub dataset: Option<DatasetId>,
    /// Its name.
    pub name: String,
    /// 1, 2, … of its owner under that name.
    pub revision: u64,
    /// Digest of its content, in hexadecimal.
    pub digest: String,
    /// Media type of its content.
    pub media_type: String,
    /// Number of leaves.
    pub leaves: u64,
    /// Number of levels above the leaves.
    pub height: u32,
    /// When it was kept.
    pub created_at: DateTime<Utc>,
}

/// A hierarchy as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyRow {
    /// What is known of it.
    pub head: HierarchyHead,
    /// The content as it was given.
    pub content: Vec<u8>,
}

/// Which hierarchies a list holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HierarchyScope {
    /// All of the library.
    Library,
    /// Those of the library that schemas of these datasets name.
    LibraryOf(Vec<DatasetId>),
    /// A dataset's own, and those of the library that its schema names and
    /// that it has none of.
    Dataset(DatasetId),
}

/// One page of a list, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HierarchyPage {
    /// The latest revision of each name.
    pub items: Vec<HierarchyHead>,
    /// The name to go on behind; `None` where this page is the last.
    pub next: Option<String>,
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
