//! What is published: tables of generalized cells, a manifest of claims, and
//! the private lineage from published rows to subjects.
//!
//! Engines make a [`Release`]; the wire forms (CSV, NDJSON, Parquet, Arrow)
//! carry its tables, and [`PublishedTable`]s read back from those bytes are
//! all that the verifier and the queries ever see.

mod cell;
mod lineage;
mod manifest;
mod table;

pub use cell::Cell;
pub use lineage::{Lineage, TableLineage};
pub use manifest::{
    ColumnDescription, Guarantee, InputDescription, MadeBy, Manifest, TableDescription,
};
pub use table::{Cells, Content, PublishedColumn, PublishedTable, Release};
