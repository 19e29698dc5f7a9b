//! How much an upload may bring, and what it is read for.

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
    /// Bytes of one record as it is written; a longer one ends the reading
    /// (`cell_too_long`).
    pub record_bytes_max: usize,
    /// Distinct categories of one attribute without a hierarchy
    /// (`too_many_values`).
    pub values_max: usize,
    /// Times its size that a file with packed columns may grow to when it is
    /// unpacked, and again when it is decoded.
    pub growth_ratio_max: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self {
            records_max: 50_000_000,
            cell_bytes_max: 4096,
            record_bytes_max: 1 << 20,
            values_max: 100_000,
            growth_ratio_max: 100,
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
