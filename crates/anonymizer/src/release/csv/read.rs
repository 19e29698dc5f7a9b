//! Reads canonical CSV back into a published table.
//!
//! Each distinct text of a column is parsed once. The dictionaries of the
//! result are in order of first appearance, without repeats or unused cells:
//! the order that [`PublishedTable::canonical`] gives.

use rayon::prelude::*;

use super::column::ColumnReader;
use super::scan::{End, Scanner};
use crate::microdata::{Sha256, to_hex};
use crate::release::error::{WireError, WireFault};
use crate::release::manifest::{ColumnDescription, TableDescription};
use crate::release::table::PublishedTable;

/// Runs of pieces that each thread reads.
const RUNS_PER_THREAD: usize = 4;

/// A piece of a table's text, wherever it stands.
pub trait PieceText: Sync {
    /// The text; `buffer` may hold it.
    ///
    /// # Errors
    /// `Unreadable` where it stands on something that fails.
    fn text<'a>(&'a self, buffer: &'a mut Vec<u8>) -> Result<&'a [u8], WireError>;
}

impl<T: AsRef<[u8]> + Sync> PieceText for T {
    fn text<'a>(&'a self, _buffer: &'a mut Vec<u8>) -> Result<&'a [u8], WireError> {
        Ok(self.as_ref())
    }
}

/// Reads a whole table from its pieces, in order, the header in the first.
/// Pieces are read side by side in rayon's current pool; the result does not
/// depend on how the text is cut.
///
/// # Errors
/// The first text that is not canonical, with line and column; or
/// `RowsDiffer`, `DigestDiffers` where the bytes are not those that the
/// manifest describes.
pub fn decode_csv<P: PieceText>(
    description: &TableDescription,
    pieces: impl IntoIterator<Item = P>,
) -> Result<PublishedTable, WireError> {
    let pieces: Vec<P> = pieces.into_iter().collect();
    let read = || side_by_side(description, &pieces);
    let (table, digest) = rayon::join(read, || digest(&pieces));
    // Only a reader of all pieces before knows the line of a fault.
    let table = match table {
        Ok(table) => table,
        Err(_) => one_by_one(description, &pieces)?,
    };
    if table.rows() as u64 != description.rows {
        return Err(WireFault::RowsDiffer.into());
    }
    if digest? != description.sha256 {
        return Err(WireFault::DigestDiffers.into());
    }
    Ok(table)
}

fn digest<P: PieceText>(pieces: &[P]) -> Result<String, WireError> {
    let (mut digest, mut buffer) = (Sha256::new(), Vec::new());
    for piece in pieces {
        digest.update(piece.text(&mut buffer)?);
    }
    Ok(to_hex(&digest.finish()))
}

fn side_by_side<P: PieceText>(
    description: &TableDescription,
    pieces: &[P],
) -> Result<PublishedTable, WireError> {
    // One decoder reads several pieces in a row, so that texts of an earlier
    // piece are not parsed again; runs are short enough that no thread waits
    // long for the last.
    let run = pieces
        .len()
        .div_ceil(RUNS_PER_THREAD * rayon::current_num_threads());
    let read = |(position, pieces): (usize, &[P])| {
        let mut decoder = CsvDecoder::new(&description.columns);
        decoder.header_read = position > 0;
        decoder.whole(pieces, &description.name)
    };
    let parts = pieces.par_chunks(run.max(1)).enumerate().map(read);
    let mut parts = parts.collect::<Result<Vec<_>, _>>()?;
    match parts.len() {
        0 => Err(WireFault::ColumnsDiffer.into()),
        1 => Ok(parts.remove(0)),
        _ => Ok(PublishedTable::join(&description.name, &parts)),
    }
}

fn one_by_one<P: PieceText>(
    description: &TableDescription,
    pieces: &[P],
) -> Result<PublishedTable, WireError> {
    CsvDecoder::new(&description.columns).whole(pieces, &description.name)
}

/// Reads a table from pieces that come one by one.
pub struct CsvDecoder {
    columns: Vec<ColumnReader>,
    /// Line feeds of the pieces so far.
    line_feeds: u64,
    header_read: bool,
    scratch: Vec<u8>,
}

impl CsvDecoder {
    /// A decoder of a table with these columns.
    pub fn new(columns: &[ColumnDescription]) -> Self {
        Self {
            columns: ColumnReader::all(columns),
            line_feeds: 0,
            header_read: false,
            scratch: Vec::new(),
        }
    }

    /// Reads the next piece: whole rows, in the first piece the header before
    /// them.
    ///
    /// # Errors
    /// The first text that is not canonical; the decoder is of no use then.
    pub fn piece(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        if self.columns.is_empty() {
            return Err(WireFault::ColumnsDiffer.into());
        }
        let mut scanner = Scanner::new(bytes, self.columns.len());
        let mut scratch = std::mem::take(&mut self.scratch);
        if !self.header_read {
            self.header(&mut scanner, &mut scratch)?;
            self.header_read = true;
        }
        while !scanner.is_done() {
            let line = self.line_feeds + scanner.line_feeds() + 1;
            self.row(&mut scanner, &mut scratch, line)?;
        }
        self.line_feeds += scanner.line_feeds();
        self.scratch = scratch;
        Ok(())
    }

    /// The rows read since the last call, as a table called `name`.
    ///
    /// Its dictionaries hold the cells of these rows alone, so a table can be
    /// taken piece by piece without growing memory.
    pub fn take(&mut self, name: &str) -> PublishedTable {
        PublishedTable {
            name: name.into(),
            columns: self.columns.iter_mut().map(ColumnReader::take).collect(),
        }
    }

    /// The table called `name` of all rows (since the last [`Self::take`]).
    ///
    /// # Errors
    /// `ColumnsDiffer` if not even a header was read.
    pub fn finish(mut self, name: &str) -> Result<PublishedTable, WireError> {
        if self.header_read {
            Ok(self.take(name))
        } else {
            Err(WireFault::ColumnsDiffer.into())
        }
    }

    /// The table called `name` of all `pieces`.
    fn whole<P: PieceText>(
        mut self,
        pieces: &[P],
        name: &str,
    ) -> Result<PublishedTable, WireError> {
        let mut buffer = Vec::new();
        for piece in pieces {
            self.piece(piece.text(&mut buffer)?)?;
        }
        self.finish(name)
    }

    fn header(
        &mut self,
        scanner: &mut Scanner<'_>,
        scratch: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let last = self.columns.len() - 1;
        for (position, column) in self.columns.iter().enumerate() {
            let differs = || WireError::at(WireFault::ColumnsDiffer, 1, column.name());
            let (field, end) = scanner.field(scratch).map_err(|_| differs())?;
            let is_last = end == End::Line;
            if field != column.name().as_bytes() || is_last != (position == last) {
                return Err(differs());
            }
        }
        Ok(())
    }

    fn row(
        &mut self,
        scanner: &mut Scanner<'_>,
        scratch: &mut Vec<u8>,
        line: u64,
    ) -> Result<(), WireError> {
        let last = self.columns.len() - 1;
        for position in 0..=last {
            let (before, rest) = self.columns.split_at_mut(position);
            let column = &mut rest[0];
            let pushed = scanner.field(scratch).and_then(|(field, end)| {
                if (end == End::Line) != (position == last) {
                    return Err(WireFault::WrongCellCount);
                }
                column.push(field, before)
            });
            pushed.map_err(|fault| WireError::at(fault, line, column.name()))?;
        }
        Ok(())
    }
}
