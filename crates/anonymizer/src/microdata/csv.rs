//! Records as CSV (RFC 4180): a header row, then one record a row.
//!
//! Quotes stand around a whole cell and are doubled inside it; anything else
//! with a quote is malformed, not guessed. Lines end in LF or CRLF, a byte
//! order mark may stand first, and empty lines say nothing. Every record
//! knows the line that it begins on, also behind cells with line breaks.

use std::io::Read;

use super::dialect::FileFormat;
use super::dialect::decode::Decoded;
use super::error::{CellErrorCode, TableError};
use super::row::{Fault, LinePosition, Row, Rows};
use super::window::{More, Window};

/// One cell of the row at hand, in bytes of the window.
#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
}

/// How the row that begins at the window's first byte ends.
enum Scan {
    /// Its length with the line end, and the line breaks in it.
    Row(usize, u64),
    /// Where it broke the rules, and the line breaks up to there; the number
    /// of the cell and how.
    Malformed(usize, u64, (usize, &'static str)),
    /// The window holds only a part of it.
    Cut,
}

/// The rows of a CSV stream, the header among them.
pub(super) struct CsvRows<R> {
    window: Window<R>,
    /// Cells of the row at hand.
    spans: Vec<Span>,
    /// Cells in which doubled quotes are to be undone.
    doubled: Vec<usize>,
    /// Bytes of the row at hand, consumed when the next one is asked for.
    taken: usize,
    /// Line of the next row.
    line: u64,
    record_bytes_max: usize,
    signs: Signs,
}

/// The bytes that part cells.
#[derive(Clone, Copy)]
struct Signs {
    delimiter: u8,
    quote: Option<u8>,
}

impl<R: Read> CsvRows<Decoded<R>> {
    /// Rows of `input` in the dialect of a schema; the first is not yet read.
    pub fn in_dialect(
        input: R,
        format: &FileFormat,
        record_bytes_max: usize,
    ) -> Result<Self, TableError> {
        let input = Decoded::new(input, format.encoding);
        let mut rows = Self::new(input, record_bytes_max)?;
        rows.signs = Signs {
            delimiter: format.delimiter_byte(),
            quote: format.quote.byte(),
        };
        Ok(rows)
    }
}

impl<R: Read> CsvRows<R> {
    /// Rows of `input` with commas and double quotes; the first is not yet
    /// read.
    pub fn new(input: R, record_bytes_max: usize) -> Result<Self, TableError> {
        Ok(Self {
            signs: Signs {
                delimiter: b',',
                quote: Some(b'"'),
            },
            // One byte more tells the longest row from a longer one.
            window: Window::behind_mark(input, record_bytes_max.saturating_add(1))?,
            spans: Vec::new(),
            doubled: Vec::new(),
            taken: 0,
            line: 1,
            record_bytes_max,
        })
    }

    /// Takes for the delimiter the first sign of those that CSV is written with
    /// in the first line: for headers whose names hold none.
    pub fn take_delimiter_of_header(&mut self) -> Result<(), TableError> {
        if self.find_row()? {
            let line = self.window.bytes().iter();
            let mut line = line.take_while(|byte| **byte != b'\n');
            if let Some(&sign) = line.find(|byte| matches!(byte, b',' | b';' | b'\t' | b'|')) {
                self.signs.delimiter = sign;
            }
        }
        Ok(())
    }

    /// Passes empty lines; whether there is a row behind them.
    fn find_row(&mut self) -> Result<bool, TableError> {
        loop {
            match self.window.bytes() {
                [b'\n', ..] => self.window.consume(1),
                [b'\r', b'\n', ..] => self.window.consume(2),
                [] | [b'\r'] => match self.window.more()? {
                    More::Grown => continue,
                    _ => return Ok(!self.window.bytes().is_empty()),
                },
                _ => return Ok(true),
            }
            self.line += 1;
        }
    }

    /// Passes what is left of a malformed line.
    fn skip_line(&mut self) -> Result<(), TableError> {
        loop {
            let bytes = self.window.bytes();
            match bytes.iter().position(|&byte| byte == b'\n') {
                Some(at) => {
                    self.window.consume(at + 1);
                    self.line += 1;
                    return Ok(());
                }
                None => {
                    let all = bytes.len();
                    self.window.consume(all);
                }
            }
            if self.window.more()? != More::Grown {
                return Ok(());
            }
        }
    }

    /// Undoes doubled quotes in place; cells only get shorter.
    fn undouble(&mut self) {
        let Some(quote) = self.signs.quote else {
            return;
        };
        for &column in &self.doubled {
            let span = &mut self.spans[column];
            let cell = &mut self.window.bytes_mut()[span.start..span.end];
            let (mut from, mut to) = (0, 0);
            while from < cell.len() {
                cell[to] = cell[from];
                from += if cell[from] == quote { 2 } else { 1 };
                to += 1;
            }
            span.end = span.start + to;
        }
    }
}

impl<R: Read> Rows for CsvRows<R> {
    fn next_row(&mut self) -> Result<Row, TableError> {
        self.window.consume(std::mem::take(&mut self.taken));
        if !self.find_row()? {
            return Ok(Row::End);
        }
        let line = self.line;
        let mut ended = false;
        let too_long = || Row::Stop(Fault::of_line(line, CellErrorCode::RecordTooLong));
        loop {
            let found = (&mut self.spans, &mut self.doubled);
            match scan(self.window.bytes(), ended, self.signs, found) {
                Scan::Row(length, _) if length > self.record_bytes_max => return Ok(too_long()),
                Scan::Row(length, breaks) => {
                    self.taken = length;
                    self.line += breaks;
                    self.undouble();
                    return Ok(Row::Cells(line));
                }
                Scan::Malformed(at, breaks, (cell, reason)) => {
                    self.window.consume(at);
                    self.line += breaks;
                    self.skip_line()?;
                    let place = LinePosition::Cell(cell);
                    return Ok(Row::Fault(Fault::malformed(line, place, reason)));
                }
                Scan::Cut => match self.window.more()? {
                    More::Grown => {}
                    More::Ended => ended = true,
                    More::Full => return Ok(too_long()),
                },
            }
        }
    }

    #[inline]
    fn width(&self) -> usize {
        self.spans.len()
    }

    #[inline]
    fn cell(&self, column: usize) -> &[u8] {
        let span = self.spans[column];
        &self.window.bytes()[span.start..span.end]
    }
}

/// One row of a file that no schema describes yet.
pub enum ScannedRow<'r> {
    /// Its line and its cells, not trimmed.
    Cells(u64, &'r mut dyn Iterator<Item = &'r [u8]>),
    /// A line whose quotes are wrong.
    Malformed(u64),
    /// A row longer than a record may be; nothing behind it is read.
    TooLong(u64),
}

/// Hands the rows of a CSV file in a dialect to `each`, the header first, as
/// long as that asks for more.
///
/// # Errors
/// What `input` answers.
pub fn scan_rows(
    input: impl Read,
    format: &FileFormat,
    record_bytes_max: usize,
    each: &mut dyn FnMut(ScannedRow<'_>) -> bool,
) -> Result<(), TableError> {
    let mut rows = CsvRows::in_dialect(input, format, record_bytes_max)?;
    loop {
        let goes_on = match rows.next_row()? {
            Row::Cells(line) => {
                let mut cells = (0..rows.width()).map(|column| rows.cell(column));
                each(ScannedRow::Cells(line, &mut cells))
            }
            Row::Fault(fault) => each(ScannedRow::Malformed(fault.line)),
            Row::Stop(fault) => {
                each(ScannedRow::TooLong(fault.line));
                return Ok(());
            }
            Row::End => return Ok(()),
        };
        if !goes_on {
            return Ok(());
        }
    }
}

/// Finds the cells of the row that begins at the first of `bytes`; `ended`
/// says that nothing comes behind them.
fn scan(
    bytes: &[u8],
    ended: bool,
    Signs { delimiter, quote }: Signs,
    (spans, doubled): (&mut Vec<Span>, &mut Vec<usize>),
) -> Scan {
    spans.clear();
    doubled.clear();
    let is_quote = |byte: &u8| Some(*byte) == quote;
    let (mut at, mut breaks) = (0, 0);
    loop {
        let start = at;
        if bytes.get(at).is_some_and(is_quote) {
            let mut has_doubled = false;
            at += 1;
            loop {
                match (bytes.get(at), bytes.get(at + 1)) {
                    (Some(one), Some(next)) if is_quote(one) && is_quote(next) => {
                        has_doubled = true;
                        at += 2;
                    }
                    (None, _) if !ended => return Scan::Cut,
                    (Some(one), None) if is_quote(one) && !ended => return Scan::Cut,
                    (Some(one), _) if is_quote(one) => break,
                    (None, _) => {
                        let how = "a quote that is never closed";
                        return Scan::Malformed(at, breaks, (spans.len() + 1, how));
                    }
                    (Some(byte), _) => {
                        breaks += u64::from(*byte == b'\n');
                        at += 1;
                    }
                }
            }
            if has_doubled {
                doubled.push(spans.len());
            }
            spans.push(Span {
                start: start + 1,
                end: at,
            });
            at += 1;
        } else {
            let rest = &bytes[at..];
            let stop = |byte: &u8| *byte == delimiter || *byte == b'\n' || is_quote(byte);
            at += rest.iter().position(stop).unwrap_or(rest.len());
            let is_crlf = at > start && bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n');
            spans.push(Span {
                start,
                end: at - usize::from(is_crlf),
            });
        }
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(&byte), _) if byte == delimiter => at += 1,
            (Some(b'\n'), _) => return Scan::Row(at + 1, breaks + 1),
            (Some(b'\r'), Some(b'\n')) => return Scan::Row(at + 2, breaks + 1),
            (Some(b'\r'), None) | (None, _) if !ended => return Scan::Cut,
            (Some(b'\r'), None) => return Scan::Row(at + 1, breaks),
            (None, _) => return Scan::Row(at, breaks),
            _ => {
                let how = if is_quote(&bytes[start]) {
                    "text behind the closing quote of a cell"
                } else {
                    "a quote inside a cell that does not begin with one"
                };
                return Scan::Malformed(at, breaks, (spans.len(), how));
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Yields the text in pieces of at most `piece` bytes.
    pub struct Pieces<'a>(pub &'a [u8], pub usize);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = self.1.min(self.0.len()).min(buffer.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    /// The cells of a row, or line and code of its fault.
    type Parsed = Result<Vec<Vec<u8>>, (u64, CellErrorCode)>;

    fn rows(text: &[u8], piece: usize) -> Vec<Parsed> {
        let mut csv = CsvRows::new(Pieces(text, piece), 1 << 20).unwrap();
        let mut rows = Vec::new();
        loop {
            rows.push(match csv.next_row().unwrap() {
                Row::Cells(_) => Ok((0..csv.width()).map(|at| csv.cell(at).to_vec()).collect()),
                Row::Fault(fault) | Row::Stop(fault) => Err((fault.line, fault.code)),
                Row::End => return rows,
            });
        }
    }

    fn texts(text: &str) -> Vec<Vec<String>> {
        let rows = rows(text.as_bytes(), usize::MAX).into_iter();
        rows.map(|row| {
            let cells = row.unwrap().into_iter();
            cells.map(|cell| String::from_utf8(cell).unwrap()).collect()
        })
        .collect()
    }

    #[test]
    fn quotes_line_ends_and_empty_cells_are_read_as_rfc_4180_says() {
        assert_eq!(
            texts("a,\"b,\"\"c\"\"\nd\",\r\n\n,\n\"\"\r\nlast,\r"),
            [
                vec!["a", "b,\"c\"\nd", ""],
                vec!["", ""],
                vec![""],
                vec!["last", "\r"]
            ]
        );
        assert_eq!(texts("\u{feff}a\n"), [["a"]]);
        assert_eq!(texts("\"a\"\r"), [["a"]]);
        assert_eq!(texts("\n\r\n"), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_quote_in_the_wrong_place_spoils_its_line_only() {
        for wrong in ["a\"b", "\"a\"b", "\"a\" ", " \"a\""] {
            let text = format!("x\n\"1\n2\",{wrong},9\nc\n");
            assert_eq!(
                rows(text.as_bytes(), usize::MAX),
                [
                    Ok(vec![b"x".to_vec()]),
                    Err((2, CellErrorCode::Malformed)),
                    Ok(vec![b"c".to_vec()])
                ],
                "{wrong}"
            );
        }
        assert_eq!(
            rows(b"x\n\"1\n2,3\n", usize::MAX)[1],
            Err((2, CellErrorCode::Malformed))
        );
    }

    proptest! {
        #[test]
        fn whatever_the_csv_crate_writes_is_read_back(
            table in prop::collection::vec(prop::collection::vec("[ab,\"\r\n é]{0,6}", 3), 0..12),
            crlf: bool,
            always: bool,
            piece in 1_usize..40,
        ) {
            let mut writer = ::csv::WriterBuilder::new();
            if crlf {
                writer.terminator(::csv::Terminator::CRLF);
            }
            if always {
                writer.quote_style(::csv::QuoteStyle::Always);
            }
            let mut writer = writer.from_writer(Vec::new());
            for row in &table {
                writer.write_record(row).unwrap();
            }
            let text = writer.into_inner().unwrap();
            let read: Vec<Vec<Vec<u8>>> = rows(&text, piece).into_iter().map(Result::unwrap).collect();
            let written: Vec<Vec<Vec<u8>>> = table
                .iter()
                .map(|row| row.iter().map(|cell| cell.clone().into_bytes()).collect())
                .collect();
            prop_assert_eq!(read, written);
        }

        #[test]
        fn any_bytes_are_rows_or_faults(text in "[a,\"\r\n]{0,60}", piece in 1_usize..9) {
            let whole = rows(text.as_bytes(), usize::MAX);
            prop_assert_eq!(whole, rows(text.as_bytes(), piece));
        }
    }
}
