//! How a table is to be sliced: which attributes stay linked, and what is
//! done with the others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::microdata::AttributeIndex;

/// Which kind of slicing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SliceVariant {
    /// Every attribute in one column (`[Slicing]`).
    #[default]
    Slicing,
    /// Attributes may be in two columns, which can be joined on them
    /// (`[Slicing]` section 7; checked on the join, *ours*).
    Overlap,
    /// Some quasi-identifiers are generalized over each bucket, or dropped.
    Generalized,
}

/// Which attributes form a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnRule {
    /// These; insensitive attributes have a column each behind them.
    Given(Vec<Vec<AttributeIndex>>),
    /// The engine finds this many clusters of attributes that go together.
    Found {
        /// Number of clusters of quasi-identifiers and sensitive attributes.
        clusters: u32,
    },
}

/// How a table is to be sliced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slicing {
    /// Which kind of slicing.
    pub variant: SliceVariant,
    /// Attributes that stay linked.
    pub columns: ColumnRule,
    /// Quasi-identifiers that are generalized over each bucket, in schema order.
    pub generalize: Vec<AttributeIndex>,
    /// Quasi-identifiers that are not published, in schema order.
    pub drop: Vec<AttributeIndex>,
}
