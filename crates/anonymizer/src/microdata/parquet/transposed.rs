//! Columns to rows: the cells of one row group, through room beside the
//! memory.
//!
//! A row group holds its columns one behind the other, and to read them side
//! by side a page of each would have to be in memory: as much as the writer
//! likes. So each column is decoded by itself to the room, and then all are
//! read back together through small windows.

use std::io::{Read, Seek};

use super::cells::{CellWriter, decode, room_error};
use super::footer::Footer;
use super::form::Form;
use super::pages::{Refusal, check_pages};
use super::source::Source;
use crate::microdata::error::{CellErrorCode, TableError};
use crate::microdata::index::AttributeIndex;
use crate::microdata::limits::ReadLimits;
use crate::microdata::row::{Fault, Row, Rows};
use crate::microdata::spill::Spill;

/// Bytes that the windows over all columns have together, if there are not
/// very many columns.
const WINDOWS_BYTES: usize = 8 << 20;
/// Bytes of one window, where columns are few.
const WINDOW_BYTES_MAX: usize = 256 << 10;
/// Bytes in front of a cell that say how long it is.
const HEAD_BYTES_MAX: usize = 10;
/// Bytes that may be decoded whatever the file's size: small tables with few
/// distinct values pack well.
const GROWTH_FREE_BYTES: u64 = 16 << 20;

/// The column of an attribute.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedColumn {
    /// Its place in the file.
    pub place: usize,
    /// What it holds.
    pub form: Form,
}

/// The rows of a Parquet file; columns are attributes in schema order.
pub(super) struct ParquetRows<'r, F> {
    source: Source<F>,
    footer: Footer,
    columns: Vec<PlacedColumn>,
    room: &'r mut dyn Spill,
    cell_bytes_max: usize,
    /// Bytes that pages may still become, and then cells.
    growth_left: [u64; 2],
    windows: Vec<CellWindow>,
    next_group: usize,
    /// Rows of the row group at hand that were not asked for yet.
    rows_left: u64,
    row: u64,
}

impl<'r, F: Read + Seek + Send + 'static> ParquetRows<'r, F> {
    /// Rows of the file; the first is not yet read. `room` is empty.
    pub fn new(
        source: Source<F>,
        footer: Footer,
        columns: Vec<PlacedColumn>,
        (limits, room): (ReadLimits, &'r mut dyn Spill),
    ) -> Self {
        let growth = source.length().saturating_mul(limits.growth_ratio_max);
        Self {
            growth_left: [growth.max(GROWTH_FREE_BYTES); 2],
            cell_bytes_max: limits.cell_bytes_max,
            source,
            footer,
            columns,
            room,
            windows: Vec::new(),
            next_group: 0,
            rows_left: 0,
            row: 0,
        }
    }

    /// Decodes the next row group; the error names the column at fault.
    fn load_group(&mut self) -> Result<(), (AttributeIndex, Refusal)> {
        let rows = self.footer.rows(self.next_group);
        self.windows.clear();
        let first = AttributeIndex::from_usize(0);
        let cleared = self.room.clear().map_err(room_error);
        cleared.map_err(|error| (first, error.into()))?;
        let mut offset = 0;
        for at in 0..self.columns.len() {
            let length = self.load_column(self.columns[at], rows);
            let length = length.map_err(|refusal| (AttributeIndex::from_usize(at), refusal))?;
            self.windows.push(CellWindow::new(offset, length));
            offset += length;
        }
        self.next_group += 1;
        self.rows_left = rows;
        Ok(())
    }

    /// Decodes one column to the room; the bytes that it takes there.
    fn load_column(&mut self, column: PlacedColumn, rows: u64) -> Result<u64, Refusal> {
        let chunk = self.footer.chunk(self.next_group, column.place);
        let unpacked = check_pages(&self.source, chunk, rows)?;
        let [pages_left, cells_left] = &mut self.growth_left;
        *pages_left = pages_left
            .checked_sub(unpacked)
            .ok_or(Refusal::Table(TableError::Limit(
                "the file grows to too many times its size when it is unpacked",
            )))?;
        let mut cells = CellWriter::new(&mut *self.room, cells_left, self.cell_bytes_max);
        decode(&self.source, chunk, rows, column.form, &mut cells)?;
        Ok(cells.finish()?)
    }
}

impl<F: Read + Seek + Send + 'static> Rows for ParquetRows<'_, F> {
    fn next_row(&mut self) -> Result<Row, TableError> {
        while self.rows_left == 0 {
            if self.next_group == self.footer.row_groups() {
                return Ok(Row::End);
            }
            if let Err((attribute, refusal)) = self.load_group() {
                let code = match refusal {
                    Refusal::Malformed => CellErrorCode::Malformed,
                    Refusal::Unfit => CellErrorCode::ColumnUnfit,
                    Refusal::Table(error) => return Err(error),
                };
                // The first row of the row group stands for all of it.
                let fault = Fault::of_attribute(self.row + 1, attribute, code);
                return Ok(Row::Stop(fault));
            }
        }
        let window_bytes = (WINDOWS_BYTES / self.columns.len().max(1)).min(WINDOW_BYTES_MAX);
        let window_bytes = window_bytes.max(self.cell_bytes_max + 1 + HEAD_BYTES_MAX);
        for window in &mut self.windows {
            window.advance(self.room, window_bytes)?;
        }
        self.rows_left -= 1;
        self.row += 1;
        Ok(Row::Cells(self.row))
    }

    fn width(&self) -> usize {
        self.windows.len()
    }

    fn is_written(&self, column: usize) -> bool {
        self.columns[column].form == Form::Text
    }

    fn cell(&self, column: usize) -> &[u8] {
        self.windows[column].cell()
    }
}

/// A window over the cells of one column in the room.
struct CellWindow {
    /// Byte of the room from which on nothing was read, and bytes left there.
    offset: u64,
    left: u64,
    buffer: Vec<u8>,
    /// Where the cell at hand begins, and where the next one does.
    start: usize,
    end: usize,
}

impl CellWindow {
    /// In front of the first cell of `length` bytes from `offset` on.
    fn new(offset: u64, length: u64) -> Self {
        Self {
            offset,
            left: length,
            buffer: Vec::new(),
            start: 0,
            end: 0,
        }
    }

    /// Goes to the next cell; a whole cell fits into `window_bytes`.
    fn advance(&mut self, room: &mut dyn Spill, window_bytes: usize) -> Result<(), TableError> {
        if !self.step() {
            let kept = self.buffer.len() - self.end;
            self.buffer.copy_within(self.end.., 0);
            let more = (window_bytes - kept.min(window_bytes)) as u64;
            let more = more.min(self.left);
            self.buffer.resize(kept + more as usize, 0);
            room.read_at(self.offset, &mut self.buffer[kept..])
                .map_err(room_error)?;
            self.offset += more;
            self.left -= more;
            self.end = 0;
            if !self.step() {
                return Err(TableError::Read("room for cells: cut off".into()));
            }
        }
        Ok(())
    }

    /// Goes to the next cell if the buffer holds all of it.
    fn step(&mut self) -> bool {
        let (mut length, mut shift, mut at) = (0_usize, 0_u32, self.end);
        loop {
            let Some(&byte) = self.buffer.get(at) else {
                return false;
            };
            at += 1;
            length |= usize::from(byte & 0x7F) << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        // An empty cell is the text without a byte.
        let end = at + length.saturating_sub(1);
        if end > self.buffer.len() {
            return false;
        }
        (self.start, self.end) = (at, end);
        true
    }

    fn cell(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }
}
