//! What a whole input looks like where its cells are at fault.
//!
//! Exports are wrong in few ways, each of which makes thousands of errors: a
//! hint names the way, once. It is drawn from the form of cells that were
//! refused, and never repeats one; it may name attributes.

use std::collections::BTreeSet;

use super::error::CellErrorCode;

/// Attributes that a hint names.
const NAMES_MAX: usize = 3;
/// Words that programs write where there is no value, in lower case.
///
/// A list of its own: of cells that were refused anyway it only says what may be
/// wrong. What changes a table is in `normalize`, what is proposed in `inspect`.
const MISSING_WORDS: [&[u8]; 9] = [
    b"null", b"na", b"n/a", b"nan", b"none", b"nil", b"-", b".", b"?",
];

/// One way in which inputs are wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Hint {
    /// A header of one cell that holds a comma, in a dialect of other signs.
    Commas,
    /// A header of one cell that holds a semicolon.
    Semicolons,
    /// The same with a tab.
    Tabs,
    /// The same with a bar.
    Bars,
    /// A first line that names few attributes.
    NoHeader,
    /// A byte order mark behind the first.
    Mark,
    /// UTF-16.
    Utf16,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// Numbers like `1,5`.
    DecimalComma,
    /// Numbers like `90+` and `<5`.
    OpenEnded,
    /// Days like `17.03.2026`.
    DayFirst,
    /// Days like `17/03/2026`.
    Slashes,
    /// Days with a time behind them.
    TimeBehind,
    /// Words such as `NULL`.
    MissingWord,
}

impl Hint {
    /// What the bytes of a header, which is one cell or begins with `first`,
    /// look like.
    pub fn of_header(first: &[u8], cells: usize) -> Option<Self> {
        let holds = |byte: u8| first.contains(&byte);
        match first {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => Some(Self::Utf16),
            [0xEF, 0xBB, 0xBF, ..] => Some(Self::Mark),
            _ if cells != 1 => None,
            _ if holds(b',') => Some(Self::Commas),
            _ if holds(b';') => Some(Self::Semicolons),
            _ if holds(b'\t') => Some(Self::Tabs),
            _ if holds(b'|') => Some(Self::Bars),
            _ => None,
        }
    }

    /// What a trimmed cell looks like that was refused by `code`.
    pub fn of_cell(cell: &[u8], code: CellErrorCode) -> Option<Self> {
        let is_missing = || {
            MISSING_WORDS
                .iter()
                .any(|word| cell.eq_ignore_ascii_case(word))
        };
        match code {
            CellErrorCode::NotAnInteger | CellErrorCode::NotADecimal => match () {
                () if has_decimal_comma(cell) => Some(Self::DecimalComma),
                () if is_open_ended(cell) => Some(Self::OpenEnded),
                () => is_missing().then_some(Self::MissingWord),
            },
            CellErrorCode::NotADate => match shape(cell).as_slice() {
                b"9.9.9" => Some(Self::DayFirst),
                b"9/9/9" => Some(Self::Slashes),
                [b'9', b'-', b'9', b'-', b'9', b' ' | b'T', ..] => Some(Self::TimeBehind),
                _ => is_missing().then_some(Self::MissingWord),
            },
            CellErrorCode::NotInHierarchy => is_missing().then_some(Self::MissingWord),
            _ => None,
        }
    }

    /// The hint for people, about these attributes.
    pub fn sentence(self, attributes: &BTreeSet<String>) -> String {
        let said = match self {
            Self::Commas => {
                "the file's separator seems to be `,`: the schema's format names another delimiter"
            }
            Self::Semicolons => {
                "the file's separator seems to be `;`: put commas between cells, or name it in the \
                 schema, \"format\": {\"delimiter\": \";\"}"
            }
            Self::Tabs => {
                "the file's separator seems to be a tab: put commas between cells, or name it in \
                 the schema, \"format\": {\"delimiter\": \"\\t\"}"
            }
            Self::Bars => {
                "the file's separator seems to be `|`: put commas between cells, or name it in the \
                 schema, \"format\": {\"delimiter\": \"|\"}"
            }
            Self::NoHeader => {
                "the first line names less than half of the attributes: it must be a header that \
                 names all of them as the schema does"
            }
            Self::Mark => "there is a second byte order mark before the first name: leave it out",
            Self::Utf16 => {
                "the file seems to be UTF-16: name it in the schema, \"format\": {\"encoding\": \
                 \"utf-16\"}"
            }
            Self::NotUtf8 => {
                "the file is not UTF-8, and may be Windows-1252: name it in the schema, \"format\": \
                 {\"encoding\": \"windows-1252\"}"
            }
            Self::DecimalComma => {
                "decimal commas: write numbers with a point, as in 1.5, or name the sign in the \
                 schema, \"format\": {\"decimal\": \",\"}"
            }
            Self::OpenEnded => {
                "open-ended numbers such as `90+` or `<5`: declare in the attribute that they stand \
                 for their bound, \"format\": {\"open_ended\": true}; or declare it categorical"
            }
            Self::DayFirst => {
                "days seem to be DD.MM.YYYY: write YYYY-MM-DD, as in 2026-03-17, or name the form \
                 in the schema, \"format\": {\"dates\": [\"DD.MM.YYYY\"]}"
            }
            Self::Slashes => {
                "days are written with `/`: name the form in the schema, \"format\": {\"dates\": \
                 [\"DD/MM/YYYY\"]} or [\"MM/DD/YYYY\"]"
            }
            Self::TimeBehind => {
                "a time stands behind the day: write the day alone, or name the form in the schema, \
                 \"format\": {\"dates\": [\"YYYY-MM-DD hh:mm:ss\"]}"
            }
            Self::MissingWord => {
                "words such as `NULL` or `NA` stand for missing values: leave the cell empty, or \
                 name the words in missing_values, of the attribute or of the schema's format"
            }
        };
        match named(attributes) {
            None => said.into(),
            Some(names) => format!("{names}: {said}"),
        }
    }
}

/// The first names, and how many more there are.
fn named(attributes: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = attributes.iter().map(String::as_str).collect();
    let (told, more) = names.split_at(names.len().min(NAMES_MAX));
    let told = told.join(", ");
    match (told.is_empty(), more.len()) {
        (true, _) => None,
        (false, 0) => Some(told),
        (false, more) => Some(format!("{told} and {more} more")),
    }
}

/// The cell with `9` for each run of digits.
fn shape(cell: &[u8]) -> Vec<u8> {
    let mut shape = Vec::new();
    for byte in cell {
        match (byte.is_ascii_digit(), shape.last()) {
            (true, Some(b'9')) => {}
            (true, _) => shape.push(b'9'),
            (false, _) => shape.push(*byte),
        }
    }
    shape
}

/// Whether a cell is a number with a decimal comma; points may part thousands.
fn has_decimal_comma(cell: &[u8]) -> bool {
    let shape = shape(cell.strip_prefix(b"-").unwrap_or(cell));
    let Some(whole) = shape.strip_suffix(b",9") else {
        return shape == b",9";
    };
    let mut parts = whole.split(|&byte| byte == b'.');
    parts.all(|part| part == b"9")
}

fn is_open_ended(cell: &[u8]) -> bool {
    let shape = String::from_utf8(shape(cell)).unwrap_or_default();
    let bare = shape.replace(' ', "");
    matches!(
        bare.as_str(),
        "9+" | "<9" | ">9" | "<=9" | ">=9" | "≤9" | "≥9"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_cells_show_how_an_export_is_written() {
        use CellErrorCode::{NotADate, NotADecimal, NotAnInteger, NotInHierarchy};
        for (cell, code, hint) in [
            ("4878,80", NotADecimal, Some(Hint::DecimalComma)),
            ("-1.234,5", NotADecimal, Some(Hint::DecimalComma)),
            ("4,0", NotAnInteger, Some(Hint::DecimalComma)),
            ("1,234.5", NotADecimal, None),
            ("a,5", NotADecimal, None),
            ("90+", NotAnInteger, Some(Hint::OpenEnded)),
            ("< 5", NotADecimal, Some(Hint::OpenEnded)),
            ("≥5", NotADecimal, Some(Hint::OpenEnded)),
            ("NULL", NotADecimal, Some(Hint::MissingWord)),
            ("n/a", NotInHierarchy, Some(Hint::MissingWord)),
            ("nobody", NotInHierarchy, None),
            ("16.09.1999", NotADate, Some(Hint::DayFirst)),
            ("1.9.99", NotADate, Some(Hint::DayFirst)),
            ("9/16/1999", NotADate, Some(Hint::Slashes)),
            ("1999-09-16 12:00", NotADate, Some(Hint::TimeBehind)),
            ("1999-09-16T12:00:00Z", NotADate, Some(Hint::TimeBehind)),
            ("1999-09-31", NotADate, None),
            ("NA", NotADate, Some(Hint::MissingWord)),
        ] {
            assert_eq!(Hint::of_cell(cell.as_bytes(), code), hint, "{cell}");
        }
    }

    #[test]
    fn headers_show_separator_and_encoding() {
        for (header, cells, hint) in [
            (&b"id;x"[..], 1, Some(Hint::Semicolons)),
            (b"id\tx", 1, Some(Hint::Tabs)),
            (b"id|x", 1, Some(Hint::Bars)),
            (b"id;x", 2, None),
            (b"id", 1, None),
            (b"\xff\xfei\0d\0", 1, Some(Hint::Utf16)),
            (b"\xef\xbb\xbfid", 2, Some(Hint::Mark)),
        ] {
            assert_eq!(Hint::of_header(header, cells), hint);
        }
    }

    #[test]
    fn a_hint_names_three_attributes_and_counts_the_others() {
        let names = |count| (0..count).map(|at| format!("a{at}")).collect();
        let text = |count| Hint::DecimalComma.sentence(&names(count));
        assert!(text(0).starts_with("decimal commas"));
        assert!(text(3).starts_with("a0, a1, a2: decimal"));
        assert!(text(5).starts_with("a0, a1, a2 and 2 more: decimal"));
    }
}
