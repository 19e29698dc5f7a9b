//! Published tables in memory: dictionary columns of cells.

use serde::{Deserialize, Serialize};

use crate::microdata::{AttributeType, Codes};

use super::cell::Cell;

/// What the cells of a published column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Content {
    /// Number of the row's group, from 1.
    Group,
    /// Number of the row's block, from 1.
    Block,
    /// Number of the bucket that holds the value, from 1; empty for none.
    Bucket,
    /// An attribute, generalized, masked or empty.
    Generalized,
    /// An attribute as it was.
    Exact,
    /// The generalized set of a subject's sensitive values.
    Fingerprint,
    /// Name of an attribute.
    Attribute,
    /// A value of the attribute that the row names.
    Value,
    /// How often the row's value occurs.
    Count,
    /// How many of the values of the row's block belong to no row.
    Counterfeits,
    /// Number of the column, a set of attributes that stay linked on a row of
    /// a sliced table, from 1; empty for none.
    Column,
}

impl Content {
    /// Whether it numbers groups, blocks or buckets.
    pub const fn is_number(self) -> bool {
        matches!(self, Self::Group | Self::Block | Self::Bucket)
    }
}

/// Cells of one published column.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells {
    /// Group, block and bucket numbers and counts; 0 is the empty cell.
    Numbers(Vec<u64>),
    /// Everything else: `codes` point into the distinct `cells`.
    Dictionary {
        /// One position in `cells` per row.
        codes: Codes,
        /// The distinct cells.
        cells: Vec<Cell>,
    },
}

impl Cells {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(numbers) => numbers.len(),
            Self::Dictionary { codes, .. } => codes.len(),
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The largest number; 0 where there is none.
    pub fn largest_number(&self) -> u64 {
        match self {
            Self::Numbers(numbers) => numbers.iter().copied().max().unwrap_or(0),
            Self::Dictionary { .. } => 0,
        }
    }
}

/// One column of a published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedColumn {
    /// Name in the header.
    pub name: String,
    /// What the cells are.
    pub content: Content,
    /// Type of the attribute, for columns that publish one.
    pub kind: Option<AttributeType>,
    /// One cell per row.
    pub cells: Cells,
}

/// One published table.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedTable {
    /// Name in the manifest and of the file.
    pub name: String,
    /// Columns in order, all of one length.
    pub columns: Vec<PublishedColumn>,
}

impl PublishedTable {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.columns.first().map_or(0, |column| column.cells.len())
    }

    /// The column called `name`.
    pub fn column(&self, name: &str) -> Option<&PublishedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }
}
