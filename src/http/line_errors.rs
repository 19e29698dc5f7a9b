//! What is wrong with the lines of a body, as a problem tells it.
//!
//! All errors are counted by attribute and code, the first are listed, and
//! hints say what the whole body looks like. docs/PROBLEMS.md lists the codes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use vizard_anonymizer::microdata::{CellError, FaultCount, TableError};

/// One thing wrong with one line of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineError {
    /// The part that the line stands in, from 1; only of a body of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// Line of the body, from 1 (a CSV header is line 1).
    #[schema(examples(17))]
    pub line: u64,
    /// Where in the line, from 1: the number of the cell in CSV, of the byte in
    /// NDJSON. Only where the form of the line is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// Attribute concerned, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("age"))]
    pub attribute: Option<String>,
    /// What is wrong, one word of a closed list (docs/PROBLEMS.md).
    #[schema(examples("not_an_integer"))]
    pub code: String,
    /// How the form of the line is wrong, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("a quote that is never closed"))]
    pub reason: Option<String>,
}

/// How often one thing is wrong with one attribute.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LineErrorCount {
    /// Attribute concerned, where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("age"))]
    pub attribute: Option<String>,
    /// What is wrong, one word of a closed list (docs/PROBLEMS.md).
    #[schema(examples("not_an_integer"))]
    pub code: String,
    /// How often.
    #[schema(examples(5_200))]
    pub count: u64,
    /// The part that the first lines stand in, from 1; only of a body of parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// The first lines, at most three.
    pub first_lines: Vec<u64>,
    /// How such cells are written, as the schema says it; of numbers and dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(examples("a whole number, as in 1234"))]
    pub expected: Option<String>,
}

/// What is wrong with the lines of a body.
#[derive(Clone, Debug, Default)]
pub struct LineErrors {
    /// Counts by attribute and code.
    pub summary: Vec<LineErrorCount>,
    /// What the whole body looks like.
    pub hints: Vec<String>,
    /// The first errors.
    pub errors: Vec<LineError>,
    /// Number of all.
    pub total: u64,
}

impl LineErrors {
    /// Those of an error that is about lines.
    pub fn of(error: &TableError) -> Option<Self> {
        let TableError::Cells {
            errors,
            total,
            summary,
            hints,
        } = error
        else {
            return None;
        };
        Some(Self {
            summary: summary.iter().map(LineErrorCount::from).collect(),
            hints: hints.clone(),
            errors: errors.iter().map(LineError::from).collect(),
            total: *total,
        })
    }
}

impl From<&CellError> for LineError {
    fn from(error: &CellError) -> Self {
        Self {
            part: error.part,
            line: error.line,
            column: error.column,
            attribute: error.attribute.clone(),
            code: error.code.word().into(),
            reason: error.reason.map(|reason| reason.to_string()),
        }
    }
}

impl From<&FaultCount> for LineErrorCount {
    fn from(kind: &FaultCount) -> Self {
        Self {
            attribute: kind.attribute.clone(),
            code: kind.code.word().into(),
            count: kind.count,
            part: kind.part,
            first_lines: kind.first_lines.clone(),
            expected: kind.expected.clone(),
        }
    }
}
