//! What the form of a file says of its cells, whatever their texts are.
//!
//! A number of JSON or of Parquet is no code with leading zeros, and its point
//! is no sign between thousands. A day of Parquet is a day. What an upload takes
//! such cells for has bounds as well: a number with a fraction names nobody.

use crate::microdata::ColumnKind;

pub(super) const NESTED: &str =
    "objects and lists are no cells: read past; a mapping takes values out of them";
const TRUTHS: &str = "truth values of JSON are no cells: read past; write them as texts";
const UNREAD: &str = "values of this type are no cells: read past; write them as texts";

/// What the form of a file says of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// Texts, which can be anything.
    Text,
    /// Texts, and between them numbers with a fraction.
    Mixed,
    /// Whole numbers.
    Whole,
    /// Numbers with digits behind the point.
    Decimal,
    /// Numbers that may have a fraction.
    Real,
    /// Days.
    Day,
    /// Times.
    Moment,
    /// No cells, and why.
    Unread(&'static str),
}

/// What JSON said of the values of one member, each kind counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JsonCounts {
    pub texts: u64,
    pub wholes: u64,
    pub fractions: u64,
    pub truths: u64,
    pub nested: u64,
    pub nulls: u64,
}

impl JsonCounts {
    /// Records that have the member.
    pub fn all(&self) -> u64 {
        self.texts + self.wholes + self.fractions + self.truths + self.nested + self.nulls
    }

    pub fn given(&self) -> Given {
        match *self {
            Self { nested: 1.., .. } => Given::Unread(NESTED),
            Self { truths: 1.., .. } => Given::Unread(TRUTHS),
            Self {
                texts: 1..,
                fractions: 1..,
                ..
            } => Given::Mixed,
            Self { texts: 1.., .. } => Given::Text,
            Self { fractions: 1.., .. } => Given::Real,
            Self { wholes: 1.., .. } => Given::Whole,
            _ => Given::Text,
        }
    }
}

impl From<ColumnKind> for Given {
    fn from(kind: ColumnKind) -> Self {
        match kind {
            ColumnKind::Text => Self::Text,
            ColumnKind::Whole => Self::Whole,
            ColumnKind::Decimal => Self::Decimal,
            ColumnKind::Real => Self::Real,
            ColumnKind::Day => Self::Day,
            ColumnKind::Moment => Self::Moment,
            ColumnKind::Unread => Self::Unread(UNREAD),
        }
    }
}

impl Given {
    /// Whether an upload takes the cells for texts: names and categories.
    pub fn can_be_text(self) -> bool {
        matches!(self, Self::Text | Self::Whole)
    }

    /// Whether the texts of the cells say what they are.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Text | Self::Mixed)
    }

    /// Why an upload reads past the column, if it does.
    pub fn unread(self) -> Option<&'static str> {
        match self {
            Self::Unread(why) => Some(why),
            _ => None,
        }
    }
}
