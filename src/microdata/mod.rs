//! Tables about people as they come in: schema, typed columns of ordered
//! codes, hierarchies, preferences, and the readers that make them.
//!
//! Everything here is pure: readers take `Read`, writers take `Write`, and no
//! file, socket or clock is touched. A dataset version becomes a [`Table`]
//! whose published attributes are columns of [`Code`]s into an ordered
//! [`Domain`]; engines, verifier and measures work on codes alone.

pub mod chunk;
pub mod column;
pub mod domain;
pub mod error;
pub mod hierarchy;
pub mod index;
pub mod preference;
pub mod schema;
pub mod table;
pub mod text;

pub use chunk::{Chunk, ChunkColumn};
pub use column::CodedColumn;
pub use domain::{Domain, Values};
pub use error::{CellError, CellErrorCode, TableError};
pub use hierarchy::{
    Hierarchy, HierarchyFormat, HierarchySet, HierarchySource, Intervals, Node, NodeIndex,
};
pub use index::{AttributeIndex, Code, RecordIndex, SubjectIndex};
pub use preference::{MaxLeakageTerms, Preference, Probability, Terms};
pub use schema::{Attribute, AttributeType, MissingPolicy, Multiplicity, Role, Schema};
pub use table::{Table, TableColumn};
pub use text::TextColumn;
