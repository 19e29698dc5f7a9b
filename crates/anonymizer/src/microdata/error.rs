//! What can be wrong with data that comes in.
//!
//! An error names the line, the attribute and a stable code, never the value:
//! these texts reach logs and HTTP answers.

use std::fmt;

/// One thing wrong with one cell or line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellError {
    /// Where the records come in parts, the part that the line stands in, from 1.
    pub part: Option<u32>,
    /// Line of the input, from 1 (a CSV header is line 1).
    pub line: u64,
    /// Where in the line, from 1: the cell of CSV, the byte of NDJSON.
    pub column: Option<u64>,
    /// Attribute concerned, where one is.
    pub attribute: Option<String>,
    /// What is wrong.
    pub code: CellErrorCode,
    /// How the form of the line is wrong.
    pub reason: Option<Reason>,
}

/// How the form of a line is wrong; never what stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// One of a closed list of sentences.
    Said(&'static str),
    /// More or fewer cells than the header has.
    Cells {
        /// Cells of the line.
        found: usize,
        /// Cells of the header.
        expected: usize,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(text) => formatter.write_str(text),
            Self::Cells { found, expected } => {
                let cells = if *found == 1 { "cell" } else { "cells" };
                write!(formatter, "{found} {cells} where the header has {expected}")
            }
        }
    }
}

/// How often one thing is wrong with one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultCount {
    /// Attribute concerned, where one is.
    pub attribute: Option<String>,
    /// What is wrong.
    pub code: CellErrorCode,
    /// How often.
    pub count: u64,
    /// Where the records come in parts, the part that the first lines stand in,
    /// from 1.
    pub part: Option<u32>,
    /// The first lines, at most three.
    pub first_lines: Vec<u64>,
    /// How such cells are written, where the schema says it.
    pub expected: Option<String>,
}

macro_rules! cell_error_codes {
    ($($(#[$doc:meta])* $name:ident = $word:literal;)*) => {
        /// The closed list of what can be wrong with a cell or a line.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum CellErrorCode {
            $($(#[$doc])* $name,)*
        }

        impl CellErrorCode {
            /// All codes, in the order of docs/PROBLEMS.md.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code as it is told: stable, and never a value.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }
        }
    };
}

cell_error_codes! {
    /// Not an integer of 64 bits.
    NotAnInteger = "not_an_integer";
    /// Not a finite decimal number.
    NotADecimal = "not_a_decimal";
    /// Not a day in ISO 8601 form.
    NotADate = "not_a_date";
    /// Not valid UTF-8.
    NotUtf8 = "not_utf8";
    /// Holds a control character.
    ControlCharacter = "control_character";
    /// Longer than a cell may be.
    CellTooLong = "cell_too_long";
    /// Longer than a record may be.
    RecordTooLong = "record_too_long";
    /// JSON that nests deeper than the service reads.
    NestsTooDeep = "nests_too_deep";
    /// Empty where the dataset rejects missing values.
    Missing = "missing";
    /// Not a leaf of the attribute's hierarchy.
    NotInHierarchy = "not_in_hierarchy";
    /// A second record of one subject where a subject has one record.
    DuplicateSubject = "duplicate_subject";
    /// A subject of whom no table of one row a subject knows.
    SubjectUnknown = "subject_unknown";
    /// More or fewer cells than the header names.
    WrongCellCount = "wrong_cell_count";
    /// A header that lacks an attribute of the schema.
    AttributeMissing = "attribute_missing";
    /// A name that the schema does not know.
    AttributeUnknown = "attribute_unknown";
    /// A name given twice.
    AttributeRepeated = "attribute_repeated";
    /// Text that the format does not allow.
    Malformed = "malformed";
    /// A number out of its bounds.
    OutOfBounds = "out_of_bounds";
    /// A preference that names an attribute that is not semi-sensitive.
    NotSemiSensitive = "not_semi_sensitive";
    /// A guard that names no node of the attribute's hierarchy.
    NotANode = "not_a_node";
    /// Truth that is neither `true` nor `false`.
    NotATruthValue = "not_a_truth_value";
    /// More distinct values in one attribute than the service takes.
    TooManyValues = "too_many_values";
    /// More records than the service takes.
    TooManyRecords = "too_many_records";
    /// A column of a file that is nested, or of a type or an encoding that is
    /// not read for the attribute.
    ColumnUnfit = "column_unfit";
}

/// Why a table, schema, hierarchy or preference was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TableError {
    /// Lines of the input are wrong; the first are listed, and all are counted.
    #[error("{total} {} in the input", if *.total == 1 { "error" } else { "errors" })]
    Cells {
        /// The first errors, at most [`TableError::LISTED_MAX`], by line; at
        /// most ten of one code of one attribute.
        errors: Vec<CellError>,
        /// Number of errors in the whole input.
        total: u64,
        /// How often each thing is wrong, the most frequent first; at most
        /// [`TableError::KINDS_MAX`].
        summary: Vec<FaultCount>,
        /// What the whole input looks like, and how to mend it.
        hints: Vec<String>,
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
    /// The parts of the records do not fit each other, the schema or what maps
    /// them to it.
    #[error("parts: {0}")]
    Parts(String),
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
    /// Kinds of errors (one code of one attribute) that are counted apart.
    pub const KINDS_MAX: usize = 1_000;
}
