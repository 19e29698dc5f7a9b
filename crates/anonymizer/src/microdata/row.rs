//! A row of an upload as a format yields it, what is wrong with it, and what
//! an upload brought.

use super::attribute::Doubt;
use super::error::{CellErrorCode, Reason, TableError};
use super::faults::Form;
use super::hex::to_hex;
use super::hint::Hint;
use super::index::AttributeIndex;

/// Of so many records read, one may be left out: 5 %. More is rather a column
/// that nobody filled than a few gaps.
const READ_PER_DROPPED_MIN: u64 = 20;

/// The missing values of one attribute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingCount {
    /// Name of the attribute.
    pub attribute: String,
    /// Cells without a value.
    pub missing: u64,
    /// Records left out that have none; one that lacks several values counts
    /// for each of them.
    pub dropped: u64,
}

/// Values of one attribute that are probably not what they seem. They were
/// taken: a question is no error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoubtfulValues {
    /// Name of the attribute.
    pub attribute: String,
    /// What was seen.
    pub doubt: Doubt,
    /// In so many cells.
    pub count: u64,
}

impl DoubtfulValues {
    /// How to answer it in the schema.
    pub fn answers(&self) -> [&'static str; 2] {
        match self.doubt {
            Doubt::LastDay => [
                "\"missing_values\": [\"9999-12-31\"] in the attribute: it stands for a missing day",
                "\"meant\": [\"day_9999_12_31\"] in the attribute: it is a day as any other",
            ],
            Doubt::FirstDay => [
                "\"missing_values\": [\"1900-01-01\"] in the attribute: it stands for a missing day",
                "\"meant\": [\"day_1900_01_01\"] in the attribute: it is a day as any other",
            ],
            Doubt::LeadingZeros => [
                "\"type\": \"categorical\" in a new dataset: they are codes, and keep their leading zeros",
                "\"meant\": [\"leading_zeros\"] in the attribute: they are numbers",
            ],
        }
    }
}

/// What an upload brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadSummary {
    /// Records accepted.
    pub records: u64,
    /// Records that the missing-value policy left out.
    pub dropped: u64,
    /// Missing values of each attribute, in the schema's order.
    pub attributes: Vec<MissingCount>,
    /// What is asked about the values, in the schema's order.
    pub questions: Vec<DoubtfulValues>,
    /// SHA-256 of the content, whatever form it came in.
    pub sha256: [u8; 32],
}

impl ReadSummary {
    /// The digest in hexadecimal digits.
    pub fn sha256_hex(&self) -> String {
        to_hex(&self.sha256)
    }

    /// Whether more than 5 % of the records read were left out: somebody has to
    /// say that this is meant.
    pub fn loses_many(&self) -> bool {
        let read = self.records.saturating_add(self.dropped);
        self.dropped.saturating_mul(READ_PER_DROPPED_MIN) > read
    }
}

/// A line of a part holds the part's number above so many bits.
const PART_SHIFT: u32 = 44;

/// A line of a part, as one number: part before line, as they are read. Parts
/// count from 1; 0 is the only part of what has no parts.
pub(super) const fn line_in_part(part: u32, line: u64) -> u64 {
    ((part as u64) << PART_SHIFT) | line
}

/// The part of such a number, and the line.
pub(super) fn part_and_line(line: u64) -> (Option<u32>, u64) {
    let part = (line >> PART_SHIFT) as u32;
    ((part > 0).then_some(part), line & ((1 << PART_SHIFT) - 1))
}

/// Where in a line, from 1, its form is wrong.
#[derive(Clone, Copy, Debug)]
pub(super) enum LinePosition {
    /// In a cell.
    Cell(usize),
    /// At a byte.
    Byte(usize),
}

/// One thing wrong with a line, before it is listed.
#[derive(Clone, Debug)]
pub(super) struct Fault {
    pub line: u64,
    pub attribute: Option<AttributeIndex>,
    /// A name that no attribute has.
    pub name: Option<Box<str>>,
    pub code: CellErrorCode,
    pub place: Option<LinePosition>,
    pub reason: Option<Reason>,
    pub hint: Option<Hint>,
}

impl Fault {
    /// A fault of a whole line.
    pub fn of_line(line: u64, code: CellErrorCode) -> Self {
        Self {
            line,
            attribute: None,
            name: None,
            code,
            place: None,
            reason: None,
            hint: None,
        }
    }

    /// A fault of one attribute.
    pub fn of_attribute(line: u64, attribute: AttributeIndex, code: CellErrorCode) -> Self {
        Self {
            attribute: Some(attribute),
            ..Self::of_line(line, code)
        }
    }

    /// A line whose form is wrong at a place.
    pub fn malformed(line: u64, place: LinePosition, reason: &'static str) -> Self {
        Self {
            place: Some(place),
            reason: Some(Reason::Said(reason)),
            ..Self::of_line(line, CellErrorCode::Malformed)
        }
    }

    /// Where in the line, and how, its form is wrong.
    pub fn form(&self) -> Form {
        let place = self.place.map(|place| match place {
            LinePosition::Cell(at) | LinePosition::Byte(at) => at as u64,
        });
        (place, self.reason)
    }

    /// A line that has other cells than the header.
    pub fn cell_count(line: u64, found: usize, expected: usize) -> Self {
        Self {
            reason: Some(Reason::Cells { found, expected }),
            ..Self::of_line(line, CellErrorCode::WrongCellCount)
        }
    }
}

/// What a format says when asked for its next row.
pub(super) enum Row {
    /// Cells are at hand; the row begins on this line.
    Cells(u64),
    /// The row cannot be read; the next one may.
    Fault(Fault),
    /// The row cannot be read, nor can anything behind it.
    Stop(Fault),
    /// There is no further row.
    End,
}

/// Rows of cells, one at a time.
pub(super) trait Rows {
    /// Goes to the next row.
    fn next_row(&mut self) -> Result<Row, TableError>;

    /// Number of cells of the row at hand.
    fn width(&self) -> usize;

    /// A cell of the row at hand, not trimmed.
    fn cell(&self, column: usize) -> &[u8];

    /// Number of tables that the rows are joined from; 0 where they are of one.
    #[inline]
    fn tables(&self) -> usize {
        0
    }

    /// The line that a table gave the row at hand; 0 where it gave none.
    fn line_in(&self, _table: usize) -> u64 {
        0
    }

    /// Whether the cell is text that somebody wrote in the dialect of the file;
    /// others have their type from the format.
    #[inline]
    fn is_written(&self, _column: usize) -> bool {
        true
    }
}
