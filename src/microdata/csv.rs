//! Records as CSV (RFC 4180): a header row, then one record a row.
//!
//! Quotes stand around a whole cell and are doubled inside it; anything else
//! with a quote is malformed, not guessed. Lines end in LF or CRLF, a byte
//! order mark may stand first, and empty lines say nothing. Every record
//! knows the line that it begins on, also behind cells with line breaks.

use std::io::Read;

use super::error::{CellErrorCode, TableError};
use super::records::{Fault, Row, Rows};
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
    /// Where it broke the rules, and the line breaks up to there.
    Malformed(usize, u64),
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
}

impl<R: Read> CsvRows<R> {
    /// Rows of `input`; the first is not yet read.
    pub fn new(input: R, record_bytes_max: usize) -> Result<Self, TableError> {
        Ok(Self {
            window: Window::behind_mark(input, record_bytes_max)?,
            spans: Vec::new(),
            doubled: Vec::new(),
            taken: 0,
            line: 1,
        })
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
        for &column in &self.doubled {
            let span = &mut self.spans[column];
            let cell = &mut self.window.bytes_mut()[span.start..span.end];
            let (mut from, mut to) = (0, 0);
            while from < cell.len() {
                cell[to] = cell[from];
                from += if cell[from] == b'"' { 2 } else { 1 };
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
        loop {
            match scan(
                self.window.bytes(),
                ended,
                &mut self.spans,
                &mut self.doubled,
            ) {
                Scan::Row(length, breaks) => {
                    self.taken = length;
                    self.line += breaks;
                    self.undouble();
                    return Ok(Row::Cells(line));
                }
                Scan::Malformed(at, breaks) => {
                    self.window.consume(at);
                    self.line += breaks;
                    self.skip_line()?;
                    return Ok(Row::Fault(Fault::of_line(line, CellErrorCode::Malformed)));
                }
                Scan::Cut => match self.window.more()? {
                    More::Grown => {}
                    More::Ended => ended = true,
                    More::Full => {
                        let fault = Fault::of_line(line, CellErrorCode::CellTooLong);
                        return Ok(Row::Stop(fault));
                    }
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

/// Finds the cells of the row that begins at the first of `bytes`; `ended`
/// says that nothing comes behind them.
fn scan(bytes: &[u8], ended: bool, spans: &mut Vec<Span>, doubled: &mut Vec<usize>) -> Scan {
    spans.clear();
    doubled.clear();
    let (mut at, mut breaks) = (0, 0);
    loop {
        let start = at;
        if bytes.get(at) == Some(&b'"') {
            let mut has_doubled = false;
            at += 1;
            loop {
                match (bytes.get(at), bytes.get(at + 1)) {
                    (Some(b'"'), Some(b'"')) => {
                        has_doubled = true;
                        at += 2;
                    }
                    (Some(b'"'), None) | (None, _) if !ended => return Scan::Cut,
                    (Some(b'"'), _) => break,
                    (None, _) => return Scan::Malformed(at, breaks),
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
            let stop = |&byte: &u8| matches!(byte, b',' | b'\n' | b'"');
            at += rest.iter().position(stop).unwrap_or(rest.len());
            let is_crlf = at > start && bytes[at - 1] == b'\r' && bytes.get(at) == Some(&b'\n');
            spans.push(Span {
                start,
                end: at - usize::from(is_crlf),
            });
        }
        match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b','), _) => at += 1,
            (Some(b'\n'), _) => return Scan::Row(at + 1, breaks + 1),
            (Some(b'\r'), Some(b'\n')) => return Scan::Row(at + 2, breaks + 1),
            (Some(b'\r'), None) | (None, _) if !ended => return Scan::Cut,
            (Some(b'\r'), None) => return Scan::Row(at + 1, breaks),
            (None, _) => return Scan::Row(at, breaks),
            _ => return Scan::Malformed(at, breaks),
        }
    }
}
