//! Writes a published table as canonical CSV in pieces.
//!
//! The text of every distinct cell is made once, quoted and with its
//! separator behind it; a row is then a few copies. Lengths of rows are known
//! before any row is written, so pieces are cut first and written in parallel
//! afterwards: the bytes are the same with any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::scan::needs_quotes;
use crate::microdata::{Codes, Sha256};
use crate::release::cell::Cell;
use crate::release::table::{Cells, PublishedColumn, PublishedTable};

/// What [`encode_csv`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CsvSummary {
    /// SHA-256 of the whole text.
    pub sha256: [u8; 32],
    /// Bytes of the whole text.
    pub bytes: u64,
    /// Rows, the header not counted.
    pub rows: u64,
    /// Pieces handed to the sink.
    pub pieces: u32,
}

/// Writes `table` as canonical CSV and hands it to `sink` in pieces of at
/// most `piece_bytes` bytes (more only where one row alone is longer), each
/// with the number of its rows, in order.
///
/// The first piece starts with the header and is there even without rows.
/// All columns have the same length. Uses rayon's current pool.
pub fn encode_csv(
    table: &PublishedTable,
    piece_bytes: usize,
    sink: &mut (dyn FnMut(Vec<u8>, u64) + Send),
) -> CsvSummary {
    let mut encoder = CsvEncoder::default();
    encoder.rows(table, piece_bytes, sink);
    encoder.finish()
}

/// Writes one table that comes in chunks of rows, as [`encode_csv`] does.
pub struct CsvEncoder {
    digest: Sha256,
    bytes: u64,
    rows: u64,
    pieces: u32,
}

impl Default for CsvEncoder {
    fn default() -> Self {
        Self {
            digest: Sha256::new(),
            bytes: 0,
            rows: 0,
            pieces: 0,
        }
    }
}

impl CsvEncoder {
    /// Writes the next rows; the header before the first. The text does not depend
    /// on how rows come, where it is cut does.
    pub fn rows(
        &mut self,
        table: &PublishedTable,
        piece_bytes: usize,
        sink: &mut (dyn FnMut(Vec<u8>, u64) + Send),
    ) {
        let header = match self.pieces {
            0 => header(&table.columns, false),
            _ if table.rows() == 0 => return,
            _ => Vec::new(),
        };
        let columns = ColumnText::of(table, false);
        let length = |row| columns.iter().map(|column| column.length(row)).sum();
        let cuts = cut(table.rows(), length, (header.len(), piece_bytes));
        // Only two times as many pieces as there are threads are in memory: while
        // one batch is digested and handed on, which goes in order, the next is
        // written.
        let mut batches = cuts.chunks(rayon::current_num_threads()).enumerate();
        let write = |(batch, cuts): (usize, &[Cut])| -> Vec<(Vec<u8>, u64)> {
            let write = |(position, cut): (usize, &Cut)| {
                let head: &[u8] = match (batch, position) {
                    (0, 0) => &header,
                    _ => &[],
                };
                let mut out = Vec::with_capacity(cut.bytes);
                out.extend_from_slice(head);
                write_rows(&columns, cut.rows.clone(), &mut out);
                (out, cut.rows.len() as u64)
            };
            cuts.par_iter().enumerate().map(write).collect()
        };
        let mut written = batches.next().map(write);
        while let Some(pieces) = written {
            let next = batches.next();
            let hand_on = || {
                for (piece, rows) in pieces {
                    self.digest.update(&piece);
                    self.bytes += piece.len() as u64;
                    sink(piece, rows);
                }
            };
            ((), written) = rayon::join(hand_on, || next.map(write));
        }
        self.rows += table.rows() as u64;
        self.pieces += cuts.len() as u32;
    }

    /// What was written.
    pub fn finish(self) -> CsvSummary {
        CsvSummary {
            sha256: self.digest.finish(),
            bytes: self.bytes,
            rows: self.rows,
            pieces: self.pieces,
        }
    }
}

/// Appends the rows of `table` as CSV in which no cell is run by a
/// spreadsheet: text that starts with `= + - @` and is no number gets a `'`
/// before it. Not canonical: it cannot be read back.
pub(in crate::release) fn write_spreadsheet_safe(
    table: &PublishedTable,
    with_header: bool,
    out: &mut Vec<u8>,
) {
    if with_header {
        out.extend_from_slice(&header(&table.columns, true));
    }
    write_rows(&ColumnText::of(table, true), 0..table.rows(), out);
}

/// The cells of one column as they stand in a row, separator included.
pub(super) enum ColumnText<'a> {
    /// Numbers are written as they come.
    Numbers {
        numbers: &'a [u64],
        /// What is written for 0.
        empty: &'static [u8],
        separator: u8,
    },
    /// The text of distinct cell `c` is `bytes[ends[c]..ends[c + 1]]`.
    Dictionary {
        codes: &'a Codes,
        bytes: Vec<u8>,
        ends: Vec<usize>,
    },
}

impl<'a> ColumnText<'a> {
    /// The texts of all columns. With `spreadsheet_safe`, cells that a
    /// spreadsheet would run start with `'`.
    pub(super) fn of(table: &'a PublishedTable, spreadsheet_safe: bool) -> Vec<Self> {
        let last = table.columns.len().saturating_sub(1);
        let quote_empty = last == 0;
        let column_text = |(position, column): (usize, &'a PublishedColumn)| {
            let separator = if position == last { b'\n' } else { b',' };
            match &column.cells {
                Cells::Numbers(numbers) => Self::Numbers {
                    numbers,
                    empty: if quote_empty { b"\"\"" } else { b"" },
                    separator,
                },
                Cells::Dictionary { codes, cells } => {
                    let (bytes, ends) = dictionary(cells, separator, |out, text| {
                        write_field(out, text, quote_empty, spreadsheet_safe);
                    });
                    Self::Dictionary { codes, bytes, ends }
                }
            }
        };
        table.columns.iter().enumerate().map(column_text).collect()
    }

    fn length(&self, row: usize) -> usize {
        match self {
            Self::Numbers { numbers, empty, .. } => match numbers[row] {
                0 => empty.len() + 1,
                number => number.ilog10() as usize + 2,
            },
            Self::Dictionary { codes, ends, .. } => {
                let code = codes.at(row) as usize;
                ends[code + 1] - ends[code]
            }
        }
    }

    fn write(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Numbers {
                numbers,
                empty,
                separator,
            } => {
                match numbers[row] {
                    0 => out.extend_from_slice(empty),
                    number => write_number(out, number),
                }
                out.push(*separator);
            }
            Self::Dictionary { codes, bytes, ends } => {
                let code = codes.at(row) as usize;
                out.extend_from_slice(&bytes[ends[code]..ends[code + 1]]);
            }
        }
    }
}

/// The header row.
pub(super) fn header(columns: &[PublishedColumn], spreadsheet_safe: bool) -> Vec<u8> {
    let mut out = Vec::new();
    for (position, column) in columns.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write_field(&mut out, &column.name, columns.len() == 1, spreadsheet_safe);
    }
    out.push(b'\n');
    out
}

/// Rows `range` one behind the other.
pub(super) fn write_rows(columns: &[ColumnText<'_>], range: Range<usize>, out: &mut Vec<u8>) {
    for row in range {
        for column in columns {
            column.write(row, out);
        }
    }
}

/// One text as a CSV field.
pub(in crate::release) fn write_field(
    out: &mut Vec<u8>,
    text: &str,
    quote_empty: bool,
    spreadsheet_safe: bool,
) {
    let guard = spreadsheet_safe && would_run(text);
    let quotes = needs_quotes(text.as_bytes()) || (quote_empty && text.is_empty());
    if quotes {
        out.push(b'"');
    }
    if guard {
        out.push(b'\'');
    }
    if quotes {
        for byte in text.bytes() {
            if byte == b'"' {
                out.push(b'"');
            }
            out.push(byte);
        }
        out.push(b'"');
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Whether a spreadsheet would run the text: it starts with `= + - @` and is
/// no plain number.
fn would_run(text: &str) -> bool {
    let Some(rest) = text.strip_prefix(['=', '+', '-', '@']) else {
        return false;
    };
    let signed = text.starts_with(['+', '-']);
    let (whole, part) = rest.split_once('.').unwrap_or((rest, "0"));
    let digits = |run: &str| !run.is_empty() && run.bytes().all(|byte| byte.is_ascii_digit());
    !(signed && digits(whole) && digits(part))
}

fn dictionary(
    cells: &[Cell],
    separator: u8,
    write: impl Fn(&mut Vec<u8>, &str),
) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = Vec::new();
    let mut ends = Vec::with_capacity(cells.len() + 1);
    let mut text = String::new();
    ends.push(0);
    for cell in cells {
        text.clear();
        cell.text(&mut text);
        write(&mut bytes, &text);
        bytes.push(separator);
        ends.push(bytes.len());
    }
    (bytes, ends)
}

fn write_number(out: &mut Vec<u8>, number: u64) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// The rows of a piece.
#[derive(Debug, PartialEq)]
struct Cut {
    rows: Range<usize>,
    /// Length of their text; of the first piece with the header.
    bytes: usize,
}

/// Rows whose lengths are added up at once.
const RUN_ROWS: usize = 1024;

/// Ranges of rows whose text fits a piece; the first also holds the header.
/// The lengths are not kept: those near a cut are reckoned twice.
fn cut(
    rows: usize,
    length: impl Fn(usize) -> usize + Sync,
    (header, piece_bytes): (usize, usize),
) -> Vec<Cut> {
    let run = |start: usize| start..rows.min(start + RUN_ROWS);
    let starts = (0..rows.div_ceil(RUN_ROWS)).into_par_iter();
    let runs = starts.map(|at| run(at * RUN_ROWS).map(&length).sum());
    let runs: Vec<usize> = runs.collect();
    let mut cuts = Vec::new();
    let mut open = Cut {
        rows: 0..0,
        bytes: header,
    };
    for (at, bytes) in runs.into_iter().enumerate() {
        let run = run(at * RUN_ROWS);
        if open.bytes + bytes <= piece_bytes {
            (open.rows.end, open.bytes) = (run.end, open.bytes + bytes);
            continue;
        }
        for row in run {
            let bytes = length(row);
            if !open.rows.is_empty() && open.bytes + bytes > piece_bytes {
                let next = Cut {
                    rows: row..row,
                    bytes: 0,
                };
                cuts.push(std::mem::replace(&mut open, next));
            }
            (open.rows.end, open.bytes) = (row + 1, open.bytes + bytes);
        }
    }
    cuts.push(open);
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_a_spreadsheet_would_run_are_told_from_numbers() {
        for text in ["=1", "+a", "-5..3", "@x", "-", "+1-1", "-1e5", "=", "-1."] {
            assert!(would_run(text), "{text}");
        }
        for text in ["-5", "+5.25", "5", "a=b", "", "{=a|b}", "*"] {
            assert!(!would_run(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_as_long_as_their_lengths_say() {
        for number in [1, 9, 10, 99, 100, 12_345, u64::MAX] {
            let column = ColumnText::Numbers {
                numbers: &[number],
                empty: b"",
                separator: b',',
            };
            let mut out = Vec::new();
            column.write(0, &mut out);
            assert_eq!(out, format!("{number},").into_bytes());
            assert_eq!(column.length(0), out.len());
        }
    }

    fn cuts(lengths: &[usize], header: usize, piece_bytes: usize) -> Vec<Cut> {
        cut(lengths.len(), |row| lengths[row], (header, piece_bytes))
    }

    #[test]
    fn a_row_longer_than_a_piece_has_its_own() {
        let found = cuts(&[5, 50, 5, 5], 3, 10);
        let found: Vec<_> = found.into_iter().map(|cut| (cut.rows, cut.bytes)).collect();
        assert_eq!(found, [(0..1, 8), (1..2, 50), (2..4, 10)]);
        let found = cuts(&[50, 1], 3, 10);
        let found: Vec<_> = found.into_iter().map(|cut| (cut.rows, cut.bytes)).collect();
        assert_eq!(found, [(0..1, 53), (1..2, 1)]);
        let empty = Cut {
            rows: 0..0,
            bytes: 3,
        };
        assert_eq!(cuts(&[], 3, 10), [empty], "the header needs a piece");
    }

    #[test]
    fn cuts_are_where_the_next_row_would_not_fit_also_between_runs() {
        let lengths: Vec<usize> = (0..5000).map(|row| 1 + row * 7919 % 97).collect();
        for piece_bytes in [1, 96, 97, 1000, 49_000, 60_000, 130_000, 1 << 20] {
            let mut wanted = Vec::new();
            let (mut start, mut filled) = (0, 11);
            for (row, &length) in lengths.iter().enumerate() {
                if row > start && filled + length > piece_bytes {
                    wanted.push((start..row, filled));
                    (start, filled) = (row, 0);
                }
                filled += length;
            }
            wanted.push((start..lengths.len(), filled));
            let found = cuts(&lengths, 11, piece_bytes).into_iter();
            let found: Vec<_> = found.map(|cut| (cut.rows, cut.bytes)).collect();
            assert_eq!(found, wanted, "{piece_bytes}");
        }
    }
}
