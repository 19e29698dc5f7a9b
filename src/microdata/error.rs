//! What can be wrong with data that comes in.
//!
//! An error names the line, the attribute and a stable code, never the value:
//! these texts reach logs and HTTP answers.

use serde::Serialize;

/// One thing wrong with one cell or line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CellError {
    /// Line of the input, from 1 (a CSV header is line 1).
    pub line: u64,
    /// Attribute concerned, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// What is wrong.
    pub code: CellErrorCode,
}

/// The closed list of what can be wrong with a cell or a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CellErrorCode {
    /// Not an integer of 64 bits.
    NotAnInteger,
    /// Not a finite decimal number.
    NotADecimal,
    /// Not a day in ISO 8601 form.
    NotADate,
    /// Not valid UTF-8.
    NotUtf8,
    /// Holds a control character.
    ControlCharacter,
    /// Longer than a cell may be.
    CellTooLong,
    /// Longer than a record may be.
    RecordTooLong,
    /// JSON that nests deeper than the service reads.
    NestsTooDeep,
    /// Empty where the dataset rejects missing values.
    Missing,
    /// Not a leaf of the attribute's hierarchy.
    NotInHierarchy,
    /// A second record of one subject where a subject has one record.
    DuplicateSubject,
    /// More or fewer cells than the header names.
    WrongCellCount,
    /// A header that lacks an attribute of the schema.
    AttributeMissing,
    /// A name that the schema does not know.
    AttributeUnknown,
    /// A name given twice.
    AttributeRepeated,
    /// Text that the format does not allow.
    Malformed,
    /// A number out of its bounds.
    OutOfBounds,
    /// A preference that names an attribute that is not semi-sensitive.
    NotSemiSensitive,
    /// A guard that names no node of the attribute's hierarchy.
    NotANode,
    /// Truth that is neither `true` nor `false`.
    NotATruthValue,
    /// More distinct values in one attribute than the service takes.
    TooManyValues,
    /// More records than the service takes.
    TooManyRecords,
    /// A column of a file that is nested, or of a type or an encoding that is
    /// not read for the attribute.
    ColumnUnfit,
}

/// Why a table, schema, hierarchy or preference was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// Lines of the input are wrong; the first 100 are listed.
    #[error("{total} {} in the input", if *.total == 1 { "error" } else { "errors" })]
    Cells {
        /// The first errors, at most [`TableError::LISTED_MAX`], by line.
        errors: Vec<CellError>,
        /// Number of errors in the whole input.
        total: u64,
    },
    /// The schema contradicts itself.
    #[error("schema: {0}")]
    Schema(String),
    /// The hierarchy contradicts itself.
    #[error("hierarchy: {0}")]
    Hierarchy(String),
    /// Larger than what is read here.
    #[error("more than {name}, {value} {unit}")]
    PastLimit {
        /// Name of the limit.
        name: &'static str,
        /// Its value.
        value: u64,
        /// What it counts.
        unit: &'static str,
    },
    /// A hierarchy that the schema names was not given.
    #[error("hierarchy `{0}` is not known")]
    HierarchyUnknown(String),
    /// The input could not be read to its end.
    #[error("input could not be read: {0}")]
    Read(String),
    /// The input is no file of its format; the text says what it is instead.
    #[error("the file {0}")]
    File(&'static str),
    /// The input would take more than an upload may.
    #[error("{0}")]
    Limit(&'static str),
    /// A stored chunk is not what was written.
    #[error("stored chunk: {0}")]
    Chunk(String),
}

impl TableError {
    /// Number of line errors that an answer lists.
    pub const LISTED_MAX: usize = 100;
}
