//! Tables about people as they come in: schema, typed columns of ordered
//! codes, hierarchies, preferences, and the readers that make them.
//!
//! Everything here is pure: readers take `Read`, writers take `Write`, and no
//! file, socket or clock is touched. A dataset version becomes a [`Table`]
//! whose published attributes are columns of [`Code`]s into an ordered
//! [`Domain`]; engines, verifier and measures work on codes alone.

pub mod attribute;
pub mod batch;
mod builder;
pub mod chunk;
pub mod chunk_codec;
pub mod codes;
pub mod column;
pub mod coverage;
pub mod dialect;
pub mod domain;
pub mod error;
pub mod hierarchy;
pub mod index;
pub mod limits;
pub mod normalize;
pub mod packing;
pub mod parts;
pub mod population_table;
pub mod preference;
pub mod preference_read;
pub mod records;
mod row;
mod row_classes;
pub mod schema;
pub mod sha256;
mod spelling;
mod spill;
pub mod subject_key;
pub mod subject_records;
pub mod subjects;
pub mod table;
pub mod text;
pub mod text_cache;
pub mod value_text;

mod cell;
mod csv;
mod dictionary;
mod digest;
mod direct_identifier;
mod expectation;
mod faults;
mod hex;
mod hint;
mod intake;
mod intake_column;
mod json_shape;
mod json_text;
mod lines;
mod ndjson;
mod number;
mod parquet;
mod preference_document;
mod record_values;
mod schema_change;
mod schema_transform;
mod transform;
mod window;
mod wording;

pub use attribute::{Attribute, AttributeType, Doubt, Role};
pub use builder::TableBuilder;
pub use chunk::{Chunk, ChunkColumn, Sink, TextSize};
pub use chunk_codec::{decode_chunk, encode_chunk};
pub(crate) use codes::of_width;
pub use codes::{Codes, CodesIter};
pub use column::CodedColumn;
pub use coverage::{AttributeCoverage, Coverage, Lacking, LackingValue};
pub use csv::{ScannedRow, scan_rows};
pub use dialect::{
    CellFormat, CellReader, CellValue, DateFormat, DatePattern, DecimalSign, Encoding, FileFormat,
    Quote, Thousands,
};
pub use direct_identifier::{DirectIdentifier, direct_identifier, identifying_form};
pub use domain::{Domain, Values};
pub use error::{CellError, CellErrorCode, FaultCount, Reason, TableError};
pub use expectation::expectation;
pub use hex::{from_hex, to_hex};
pub use hierarchy::{
    Gap, Hierarchy, HierarchyFormat, HierarchyReview, HierarchyRule, HierarchySet, HierarchySource,
    Intervals, Labels, LargestNode, Level, Node, NodeIndex, RuleNumber, csv_of_rule,
};
pub use index::{AttributeIndex, Code, RecordIndex, SubjectIndex};
pub use json_shape::{json_shape, repeated_member};
pub use limits::{HierarchyLimits, ReadLimits, Target};
pub use ndjson::{JsonKind, Member, ScannedObject, scan_objects};
pub use normalize::{Merged, Spellings};
pub use parquet::{ColumnKind, ParquetScan, ScannedColumn, read_parquet_records};
pub use parts::{Mapping, Part, Parts, PartsSummary, TableCount, read_parts};
pub use population_table::{
    COMBINATIONS_MAX, PopulationAttribute, PopulationColumn, PopulationTable,
};
pub use preference::{GivenTerms, MaxLeakageTerms, Preference, Probability, Terms};
pub use preference_read::{check_terms, each_preference, read_preferences};
pub use records::{RecordFormat, read_records};
pub use row::{DoubtfulValues, MissingCount, ReadSummary};
pub use row_classes::{RowClasses, refine_by_code};
pub use schema::{ExtraColumns, MissingPolicy, Multiplicity, Schema};
pub use schema_change::{
    BoundTerms, MisfitCode, SchemaMisfit, StoredValues, column_misfits, key_rule_misfit,
    other_hierarchies,
};
pub use sha256::Sha256;
pub use spelling::{DEFAULT_FORMS, Form};
pub use spill::Spill;
pub use subject_key::{DEFAULT_KEY_RULES, KeyRule, near_key};
pub use subject_records::SubjectRecords;
pub use subjects::{Replaced, SubjectKeys, UpsertCounts};
pub use table::{Table, TableColumn};
pub use text::TextColumn;
pub use text_cache::TextCache;
pub use transform::Transform;
pub use wording::{DatasetWording, Wording, is_language_tag};
