//! How much an upload may bring, and what it is read for.

use super::error::TableError;
use super::hierarchy::HierarchySet;
use super::schema::Schema;

/// How much an upload may bring; past a limit reading stops or the line is an
/// error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimits {
    /// Records in one upload; one more ends the reading (`too_many_records`).
    pub records_max: u64,
    /// Bytes of one cell (`cell_too_long`).
    pub cell_bytes_max: usize,
    /// Bytes of one record as it is written, its line end included; a longer
    /// one ends the reading (`record_too_long`).
    pub record_bytes_max: usize,
    /// Distinct categories of one attribute without a hierarchy; one more
    /// ends the reading (`too_many_values`).
    pub distinct_values_max: usize,
    /// Levels that JSON in a line may nest (`nests_too_deep`).
    pub json_depth_max: usize,
    /// Times its size that a file with packed columns may grow to when it is
    /// unpacked, and again when it is decoded.
    pub growth_ratio_max: u64,
}

impl ReadLimits {
    /// For one's own files, which need no guard against others: as many records as
    /// half of the 32-bit positions tell apart.
    pub fn of_own_files() -> Self {
        Self {
            records_max: 1 << 31,
            ..Self::default()
        }
    }
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            records_max: 50_000_000,
            cell_bytes_max: 4096,
            record_bytes_max: 1 << 20,
            distinct_values_max: 100_000,
            json_depth_max: 64,
            growth_ratio_max: 100,
        }
    }
}

/// How large a hierarchy may be; past a limit it is refused before it is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HierarchyLimits {
    /// Nodes, root and leaves included.
    pub hierarchy_nodes_max: usize,
    /// Levels, root and leaves included.
    pub hierarchy_levels_max: usize,
    /// Levels that its JSON may nest.
    pub json_depth_max: usize,
}

impl HierarchyLimits {
    /// What can be read at all, whatever an operator allows: for what was
    /// checked before, and for one's own files.
    pub const WIDEST: Self = Self {
        hierarchy_nodes_max: u32::MAX as usize,
        hierarchy_levels_max: 512,
        json_depth_max: 127,
    };

    pub(super) fn too_many_nodes(&self) -> TableError {
        TableError::PastLimit {
            name: "hierarchy_nodes_max",
            value: self.hierarchy_nodes_max as u64,
            unit: "nodes",
        }
    }

    pub(super) fn too_many_levels(&self) -> TableError {
        TableError::PastLimit {
            name: "hierarchy_levels_max",
            value: self.hierarchy_levels_max as u64,
            unit: "levels",
        }
    }
}

/// What records and preferences are read for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The schema of the dataset.
    pub schema: &'a Schema,
    /// At least the hierarchies that the schema names.
    pub hierarchies: &'a HierarchySet,
    /// How much may come.
    pub limits: ReadLimits,
}
