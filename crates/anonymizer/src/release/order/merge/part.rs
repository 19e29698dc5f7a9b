//! How parts and their groups are named, what callers give, and how much of it is in
//! memory at once.

use std::io;

use crate::microdata::{Spill, SubjectIndex};
use crate::release::table::PublishedTable;

/// Gives empty room beside the memory.
pub type Rooms<'r> = dyn FnMut() -> io::Result<Box<dyn Spill + Send + Sync>> + 'r;

/// Takes rows of a table, which follow those before, and their subjects; no subjects
/// where a row is of none. Every table comes at least once, without rows if it has none.
pub type Chunks<'c> = dyn FnMut(PublishedTable, &[SubjectIndex]) -> io::Result<()> + 'c;

/// A part, by the order in which parts were added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartNumber(pub u32);

/// A group of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartGroup {
    /// The part.
    pub part: PartNumber,
    /// Number of the group in the part, from 1, by the part's own order.
    pub group: u32,
}

/// How much is in memory at once.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blocks {
    /// Rows of a chunk, at most.
    pub chunk_rows: usize,
    /// Rows of all parts together that are merged at once, about.
    pub merged_rows: usize,
    /// Rows of groups of several parts that are sorted at once, or one group.
    pub joined_rows: usize,
}

impl Blocks {
    /// Blocks of some ten MiB each.
    pub const USUAL: Self = Self {
        chunk_rows: 1 << 16,
        merged_rows: 1 << 20,
        joined_rows: 1 << 18,
    };

    /// Rows in memory of each of so many runs.
    pub fn rows_of_run(self, runs: usize) -> usize {
        (self.merged_rows / runs.max(1)).clamp(1, self.merged_rows.max(1))
    }
}

/// What a caller did that does not fit.
pub(super) fn unfit(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}
