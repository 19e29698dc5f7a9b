//! A run of records on its way into the store or into a table.
//!
//! Readers yield chunks, the store keeps them as Parquet blobs, and the
//! builder joins them to a [`Table`](super::Table). Cells are typed and
//! valid: no empty cell, every category a leaf of its hierarchy, every
//! missing number named.

use super::error::TableError;
use super::text::TextColumn;

/// Records in a chunk; bounds the memory of an upload.
pub const CHUNK_RECORDS_MAX: usize = 65_536;
/// Bytes in memory after which a chunk is closed, however few its records.
pub const CHUNK_BYTES_MAX: usize = 6 << 20;
/// Bytes of a chunk as it is stored.
pub const CHUNK_STORED_BYTES_MAX: usize = 8 << 20;

/// Takes chunks as they are closed.
pub type Sink<'a> = dyn FnMut(Chunk) -> Result<(), TableError> + 'a;

/// A run of records: one column per attribute, in schema order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chunk {
    /// Number of records.
    pub records: usize,
    /// One column per attribute.
    pub columns: Vec<ChunkColumn>,
}

/// One attribute of a chunk; one cell per record.
#[derive(Clone, Debug, PartialEq)]
pub enum ChunkColumn {
    /// Identifiers.
    Text(TextColumn),
    /// Whole numbers.
    Integer(Vec<i64>),
    /// Finite numbers; never the negative zero.
    Decimal(Vec<f64>),
    /// Days since 1970-01-01.
    Date(Vec<i32>),
    /// Categories: `codes` point into `labels`, each label once.
    Category {
        /// Distinct labels of this chunk, in order of first appearance.
        labels: TextColumn,
        /// One position in `labels` per record.
        codes: Vec<u32>,
    },
    /// Numbers or days some of which are missing.
    WithMissing {
        /// The numbers or days that are not, in order of records.
        known: Box<ChunkColumn>,
        /// Records whose value is missing, ascending; at least one.
        missing: Vec<u32>,
    },
}

impl ChunkColumn {
    /// Number of cells.
    pub fn len(&self) -> usize {
        match self {
            Self::Text(texts) => texts.len(),
            Self::Integer(values) => values.len(),
            Self::Decimal(values) => values.len(),
            Self::Date(values) => values.len(),
            Self::Category { codes, .. } => codes.len(),
            Self::WithMissing { known, missing } => known.len() + missing.len(),
        }
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
