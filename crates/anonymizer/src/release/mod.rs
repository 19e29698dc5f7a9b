//! What is published: tables of generalized cells, a manifest of claims, and
//! the private lineage from published rows to subjects.
//!
//! Engines make a [`Release`]; the wire forms (CSV, NDJSON, Parquet, Arrow)
//! carry its tables, and [`PublishedTable`]s read back from those bytes are
//! all that the verifier and the queries ever see.

mod arrow;
mod bundle;
pub mod candidates;
mod canonical;
mod cell;
mod columnar;
mod csv;
mod describe;
mod distinct;
mod error;
pub mod exact;
mod format;
mod guarantee_words;
mod guarantees;
mod hierarchies;
mod history;
pub mod joined;
mod kept_groups;
pub mod layout;
mod lineage;
mod made;
mod manifest;
mod ndjson;
mod order;
mod packed;
mod parquet;
mod people;
pub mod statement;
mod table;
mod transcode;

#[cfg(test)]
mod tests;

pub use self::csv::{
    CsvDecoder, CsvEncoder, CsvSummary, PIECE_BYTES_MAX, PieceText, decode_csv, encode_csv,
};
pub use self::describe::Describing;
pub use self::parquet::decode_parquet;
pub use bundle::{AttributeNote, AttributeNotes, data_dictionary, hierarchy_file_name, howto};
pub use canonical::cell_text;
pub use cell::{Cell, Item};
pub use distinct::DistinctCells;
pub use error::{WireError, WireFault};
pub use exact::{AcceptedExact, Exposure, PublishedExactly, published_exactly};
pub use format::Format;
pub use guarantees::guarantees;
pub use hierarchies::{HierarchyDescription, HierarchyList, HierarchyUse, ReleaseHierarchy, trees};
pub use history::{Unkept, also_shown, check_transforms, codes_by_class, history};
pub use joined::{Buckets, JoinError, JoinedAttribute, JoinedTable, Link, Signatures};
pub use kept_groups::kept_groups;
pub use lineage::{
    BehindRow, Lineage, LineageReader, LineageRow, TableLineage, subject_of_row, without_subject,
};
pub use made::{Kept, KeptAttribute, MadeInParts, Release};
pub use manifest::{
    ColumnDescription, Guarantee, InputDescription, MadeBy, Manifest, Normalized, SeriesMode,
    TableDescription, Transformed, rounded_to_tens, up_to_tens,
};
pub use order::merge::{Alike, Chunks, OrderedParts, PartGroup, PartNumber, Rooms};
pub use order::{compare_cells, order, tie_draw};
pub use packed::{Packed, Unpacker, pack};
pub use people::{ShownAttribute, fitting};
pub use table::{Cells, Content, PublishedColumn, PublishedTable};
pub use transcode::Transcoder;
