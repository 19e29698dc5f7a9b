//! Shapes that every area of the store shares: pages of a list, and figures.
//!
//! Lists are newest first. Ids are UUIDv7 and sort by time, so the cursor of
//! the next page is the last id of this one: it stays valid whatever is added
//! or erased in between.

use uuid::Uuid;

/// Most items that one page may hold.
pub const PAGE_LIMIT_MAX: u32 = 200;

/// Which part of a list is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRequest {
    /// Number of items, at most [`PAGE_LIMIT_MAX`] (more is cut to that).
    pub limit: u32,
    /// The cursor of the page before; `None` starts at the newest.
    pub cursor: Option<Uuid>,
}

impl PageRequest {
    /// The first page of `limit` items.
    pub fn first(limit: u32) -> Self {
        Self {
            limit,
            cursor: None,
        }
    }
}

impl Default for PageRequest {
    fn default() -> Self {
        Self::first(PAGE_LIMIT_MAX)
    }
}

/// One page of a list, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Cursor of the next page; `None` where this one is the last.
    pub next_cursor: Option<Uuid>,
}

/// How busy the connections to the database are, for the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolFigures {
    /// Open connections.
    pub open: u32,
    /// Open connections that nobody uses.
    pub idle: u32,
    /// Most connections that may be open.
    pub max: u32,
}
