//! What can be wrong with the wire form of a published table or a lineage.
//!
//! A [`WireError`] names a line and a column and one of a closed list of
//! faults. It never quotes a cell: these texts reach logs and answers.

use std::fmt;

/// Why published bytes could not be read, or a table could not be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireError {
    /// Line of the text form, from 1 (the header); row of other forms, from 1.
    pub line: Option<u64>,
    /// Name of the column, as the manifest has it.
    pub column: Option<String>,
    /// What is wrong.
    pub fault: WireFault,
}

/// The closed list of what can be wrong with published bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum WireFault {
    /// A byte run that is not text.
    #[error("not valid UTF-8")]
    NotUtf8,
    /// Text that the format does not allow, or not in its one canonical form.
    #[error("not in the canonical form")]
    Malformed,
    /// More or fewer cells than columns.
    #[error("wrong number of cells")]
    WrongCellCount,
    /// Columns other than the manifest describes.
    #[error("columns are not those of the manifest")]
    ColumnsDiffer,
    /// Not the number of a group, block or bucket, nor a count.
    #[error("not a number from 1")]
    NotANumber,
    /// Neither a whole number nor an interval of them.
    #[error("not a whole number or interval")]
    NotAnInteger,
    /// Neither a finite number nor an interval of them.
    #[error("not a decimal number or interval")]
    NotADecimal,
    /// Neither a day nor an interval of days.
    #[error("not a day or interval of days")]
    NotADate,
    /// A label with a backslash that escapes nothing.
    #[error("not a label")]
    NotALabel,
    /// Not a set of two or more labels in ascending order.
    #[error("not a set of labels")]
    NotASet,
    /// Not a fingerprint with its items in ascending order.
    #[error("not a fingerprint")]
    NotAFingerprint,
    /// A value of an attribute whose type the manifest does not give.
    #[error("type of the attribute is not described")]
    TypeUnknown,
    /// A cell that its column cannot hold.
    #[error("cell does not fit its column")]
    CellUnfit,
    /// More or fewer rows than the manifest says.
    #[error("number of rows is not that of the manifest")]
    RowsDiffer,
    /// Bytes whose digest is not the manifest's.
    #[error("digest is not that of the manifest")]
    DigestDiffers,
    /// Bytes that are no file of the format.
    #[error("file could not be read")]
    Unreadable,
    /// A table whose rows are not numbered one by one from 1.
    #[error("rows are not numbered from 1")]
    RowGap,
    /// A subject that the dataset does not have.
    #[error("subject is not in the dataset")]
    SubjectUnknown,
}

impl WireError {
    /// The error at a line of a column.
    pub fn at(fault: WireFault, line: u64, column: &str) -> Self {
        Self {
            line: Some(line),
            column: Some(column.into()),
            fault,
        }
    }

    /// The error of a whole line.
    pub fn line(fault: WireFault, line: u64) -> Self {
        Self {
            line: Some(line),
            column: None,
            fault,
        }
    }

    /// The error of a whole column.
    pub fn column(fault: WireFault, column: &str) -> Self {
        Self {
            line: None,
            column: Some(column.into()),
            fault,
        }
    }
}

impl From<WireFault> for WireError {
    fn from(fault: WireFault) -> Self {
        Self {
            line: None,
            column: None,
            fault,
        }
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.column) {
            (Some(line), Some(column)) => write!(out, "line {line}, column `{column}`: ")?,
            (Some(line), None) => write!(out, "line {line}: ")?,
            (None, Some(column)) => write!(out, "column `{column}`: ")?,
            (None, None) => {}
        }
        self.fault.fmt(out)
    }
}

impl std::error::Error for WireError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_says_where_and_what() {
        let error = WireError::at(WireFault::NotADate, 7, "admitted");
        assert_eq!(
            error.to_string(),
            "line 7, column `admitted`: not a day or interval of days"
        );
        let bare = WireError::from(WireFault::DigestDiffers);
        assert_eq!(bare.to_string(), "digest is not that of the manifest");
        let line = WireError::line(WireFault::RowGap, 3);
        assert_eq!(line.to_string(), "line 3: rows are not numbered from 1");
    }
}
