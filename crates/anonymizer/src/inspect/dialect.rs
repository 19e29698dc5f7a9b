//! Encoding, delimiter and quote of a file of CSV.

use std::io::{Cursor, Read, Seek};

use super::columns::TakeRow;
use super::given::Given;
use super::inspection::{InspectError, InspectLimits};
use crate::microdata::{Encoding, FileFormat, Quote, ScannedRow, TableError, scan_rows};

/// Bytes at the beginning that show the signs.
const HEAD_BYTES: usize = 256 << 10;
/// Bytes that are read at a time.
const PIECE_BYTES: usize = 64 << 10;
/// Rows of the head that are looked at.
const ROWS_LOOKED_AT: usize = 500;
/// Signs that may part cells, the usual ones first.
const DELIMITERS: [char; 7] = [',', ';', '\t', '|', '^', '~', ':'];
/// Beginnings of files that are no text.
const NO_TEXT: [(&[u8], &str); 5] = [
    (
        b"PK\x03\x04",
        "a ZIP archive or a workbook of Excel: save the sheet as CSV",
    ),
    (b"\x1f\x8b", "packed by gzip: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd: unpack it first"),
    (
        b"\xd0\xcf\x11\xe0",
        "an old workbook of Excel: save the sheet as CSV",
    ),
    (b"%PDF", "a PDF: export the table as CSV"),
];

/// How a file is written, as far as its bytes show it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub format: FileFormat,
    pub evidence: Vec<String>,
    /// The columns' names, and what the form of the file says of each.
    pub header: Vec<String>,
    pub givens: Vec<Given>,
    /// What a person must know of the file as a whole.
    pub questions: Vec<String>,
    /// What is said of lines that cannot be read.
    pub malformed: &'static str,
}

/// Finds encoding, delimiter, quote and header; reads the whole input once.
pub(super) fn find(
    input: &mut (impl Read + Seek),
    limits: &InspectLimits,
) -> Result<Found, InspectError> {
    let (encoding, mut evidence, head) = encoding_of(input)?;
    let known = NO_TEXT.iter().find(|(mark, _)| head.starts_with(mark));
    if let Some((_, what)) = known {
        return Err(InspectError::NoTable(format!("the file is {what}")));
    }
    if head.iter().all(u8::is_ascii_whitespace) {
        return Err(InspectError::NoTable("the file is empty".into()));
    }
    let rewound = input.rewind();
    rewound.map_err(|error| TableError::Read(error.to_string()))?;
    if encoding != Encoding::Utf16 && is_no_text(&head) {
        return Err(InspectError::NoTable(
            "the file is no text: it holds control characters; export the table as CSV".into(),
        ));
    }
    let (format, header) = signs_of(&head, encoding, limits)?;
    evidence.push(format!(
        "{} columns parted by {}{}",
        header.len(),
        sign_name(format.delimiter_byte() as char),
        match format.quote {
            Quote::Double => "",
            Quote::Single => ", single quotes around cells",
            Quote::None => ", no quotes around cells",
        }
    ));
    Ok(Found {
        givens: vec![Given::Text; header.len()],
        format,
        evidence,
        header,
        questions: Vec::new(),
        malformed: "have a quote in the wrong place",
    })
}

/// Hands the records behind the header to `each`.
pub(super) fn scan(
    input: impl Read,
    (format, record_bytes_max): (&FileFormat, usize),
    each: &mut TakeRow<'_>,
) -> Result<(), TableError> {
    let mut is_header = true;
    scan_rows(input, format, record_bytes_max, &mut |row| match row {
        ScannedRow::Cells(..) if is_header => {
            is_header = false;
            true
        }
        row => each(row),
    })
}

pub(super) fn sign_name(sign: char) -> String {
    match sign {
        '\t' => "tabs".into(),
        sign => format!("`{sign}`"),
    }
}

/// Whether bytes hold more control characters than a slip would.
fn is_no_text(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| **byte < 0x20 && !b"\t\r\n\x0c".contains(*byte);
    head.iter().filter(is_control).count() * 1000 > head.len()
}

/// The encoding of the whole input, what shows it, and its first bytes.
fn encoding_of(input: &mut impl Read) -> Result<(Encoding, Vec<String>, Vec<u8>), InspectError> {
    let mut head = Vec::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut counts = [0_u64; 256];
    let mut utf8 = Utf8Check::default();
    loop {
        let count = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(TableError::Read(error.to_string()).into()),
        };
        let bytes = &piece[..count];
        let room = HEAD_BYTES.saturating_sub(head.len()).min(count);
        head.extend_from_slice(&bytes[..room]);
        // ASCII decides nothing but whether there are zeros.
        if !bytes.is_ascii() || bytes.contains(&0) {
            bytes
                .iter()
                .for_each(|byte| counts[usize::from(*byte)] += 1);
        }
        utf8.add(bytes);
    }
    let is_utf16 = head.starts_with(b"\xff\xfe")
        || head.starts_with(b"\xfe\xff")
        || (counts[0] > 0 && zeros_at_odd_places(&head));
    if is_utf16 {
        let said = vec!["UTF-16, by its mark or its zeros".into()];
        return Ok((Encoding::Utf16, said, head));
    }
    if utf8.is_valid() {
        let said = match head.starts_with(b"\xef\xbb\xbf") {
            true => vec!["UTF-8 behind a byte order mark".into()],
            false if counts[128..].iter().any(|&count| count > 0) => vec!["UTF-8".into()],
            false => vec!["ASCII, which is UTF-8".into()],
        };
        return Ok((Encoding::Utf8, said, head));
    }
    // Signs that only Windows-1252 has stand where the others have controls.
    let of_windows: u64 = counts[0x80..0xA0].iter().sum();
    let of_latin_9 = counts[0xA4];
    let (encoding, said) = if of_windows == 0 && of_latin_9 > 0 {
        (
            Encoding::Latin9,
            "not UTF-8; ISO 8859-15, by its euro signs, which Windows-1252 has elsewhere",
        )
    } else if of_windows > 0 {
        (
            Encoding::Windows1252,
            "not UTF-8; Windows-1252, by signs that ISO 8859 does not have",
        )
    } else {
        (
            Encoding::Windows1252,
            "not UTF-8; Windows-1252, of which ISO 8859-1 is a part: both read it alike",
        )
    };
    Ok((encoding, vec![said.into()], head))
}

/// Whether text of one byte a letter was written in two: nearly every second
/// byte is zero.
fn zeros_at_odd_places(head: &[u8]) -> bool {
    let pairs = head.chunks_exact(2);
    let all = pairs.len();
    let zeros = pairs.filter(|pair| pair[1] == 0 && pair[0] != 0).count();
    all > 0 && zeros * 10 >= all * 8
}

/// Checks UTF-8 piece by piece.
#[derive(Default)]
struct Utf8Check {
    is_broken: bool,
    /// The beginning of a character that the last piece cut.
    left: Vec<u8>,
}

impl Utf8Check {
    fn add(&mut self, bytes: &[u8]) {
        if self.is_broken || (self.left.is_empty() && bytes.is_ascii()) {
            return;
        }
        self.left.extend_from_slice(bytes);
        match std::str::from_utf8(&self.left) {
            Ok(_) => self.left.clear(),
            Err(error) if error.error_len().is_none() => {
                self.left.drain(..error.valid_up_to());
            }
            Err(_) => self.is_broken = true,
        }
    }

    /// A character that the end cuts is left out: the file may be cut.
    fn is_valid(&self) -> bool {
        !self.is_broken
    }
}

/// The signs by which most rows have as many cells as the header, and the
/// header.
fn signs_of(
    head: &[u8],
    encoding: Encoding,
    limits: &InspectLimits,
) -> Result<(FileFormat, Vec<String>), InspectError> {
    let mut best: Option<(u64, FileFormat, Vec<String>)> = None;
    for delimiter in DELIMITERS {
        for quote in [Quote::Double, Quote::Single, Quote::None] {
            let format = FileFormat {
                delimiter: (delimiter != ',').then_some(delimiter),
                quote,
                encoding,
                ..FileFormat::default()
            };
            let (score, header) = score_of(head, &format, limits)?;
            if best.as_ref().is_none_or(|(of_best, ..)| score > *of_best) {
                best = Some((score, format, header));
            }
        }
    }
    let (_, format, header) = best.unwrap_or_default();
    let is_quoted = |name: &String| name.len() > 1 && name.starts_with('"') && name.ends_with('"');
    if format.quote != Quote::Double && header.iter().any(is_quoted) {
        return Err(InspectError::NoTable(
            "a quote in the first line stands in the wrong place: quotes stand around a whole cell, \
             without spaces outside them"
                .into(),
        ));
    }
    if header.len() > limits.columns_max {
        return Err(InspectError::NoTable(format!(
            "the file has more than {} columns",
            limits.columns_max
        )));
    }
    Ok((format, header))
}

/// How well signs fit: cells of the rows that have as many as the header, a
/// malformed row counting against them; and the header.
fn score_of(
    head: &[u8],
    format: &FileFormat,
    limits: &InspectLimits,
) -> Result<(u64, Vec<String>), InspectError> {
    let mut header: Vec<String> = Vec::new();
    let (mut rows, mut fitting, mut quoted) = (0_u64, 0_u64, 0_u64);
    let quote = format.quote.byte();
    let mut each = |row: ScannedRow<'_>| {
        rows += 1;
        if let ScannedRow::Cells(_, cells) = row {
            if rows == 1 {
                header = cells
                    .map(|cell| String::from_utf8_lossy(cell).trim().into())
                    .collect();
            } else {
                let mut width = 0;
                for cell in cells {
                    width += 1;
                    // A quote that is left is a part of the text.
                    let is_quoted = cell.len() > 1
                        && matches!(cell[0], b'"' | b'\'')
                        && cell.last() == cell.first()
                        && quote != Some(cell[0]);
                    quoted += u64::from(is_quoted);
                }
                fitting += u64::from(width == header.len());
            }
        }
        rows < ROWS_LOOKED_AT as u64
    };
    scan_rows(
        Cursor::new(head),
        format,
        limits.read.record_bytes_max,
        &mut each,
    )?;
    // The last row of the head may be cut.
    let behind = rows.saturating_sub(1).max(1);
    let share = (fitting * 1000 / behind).min(1000);
    let width = header.len() as u64;
    let score = match width {
        0 => 0,
        1 => 1,
        _ if share < 700 && rows > 2 => 2,
        width => 1000 * width.min(1000) * share / 1000 + 3,
    };
    Ok((score.saturating_sub(quoted.min(score / 2)), header))
}
