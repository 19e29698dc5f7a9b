//! Decodes one column chunk to the texts of its cells.
//!
//! The library decodes a thousand values at a time into slices of the page
//! at hand; each is written out at once. A cell in the room is the length of
//! its text plus one (LEB128), then the text; 0 stands for an empty cell.
//! What decoding gives is counted: a file may not become more than so many
//! times its size, however little its pages say.

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType, DoubleType, FixedLenByteArray, FixedLenByteArrayType,
    FloatType, Int32Type, Int64Type, Int96Type,
};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::form::Form;
use super::pages::Refusal;
use super::source::Source;
use crate::microdata::cell::trimmed;
use crate::microdata::error::TableError;
use crate::microdata::spill::Spill;

/// What is done with each cell; nothing stands for an empty one.
type TakeCell<'t, T> = dyn FnMut(Option<&T>) -> Result<(), TableError> + 't;

/// Values decoded at a time.
const BATCH_VALUES: usize = 1024;
/// Bytes written to the room at a time.
const WRITE_BYTES: usize = 256 << 10;

/// Where the cells of a column chunk go.
pub(super) struct CellWriter<'r> {
    room: &'r mut dyn Spill,
    buffer: Vec<u8>,
    /// Bytes written so far, those in the buffer too.
    written: u64,
    /// Bytes that may still be decoded.
    growth_left: &'r mut u64,
    cell_bytes_max: usize,
}

impl<'r> CellWriter<'r> {
    /// Writes behind what stands in `room`; decodes at most `growth_left`
    /// bytes, and keeps no more of a cell than tells that it is longer than
    /// `cell_bytes_max`.
    pub fn new(room: &'r mut dyn Spill, growth_left: &'r mut u64, cell_bytes_max: usize) -> Self {
        Self {
            room,
            buffer: Vec::with_capacity(WRITE_BYTES),
            written: 0,
            growth_left,
            cell_bytes_max,
        }
    }

    /// Writes a cell, or an empty one.
    fn push(&mut self, cell: Option<&[u8]>) -> Result<(), TableError> {
        let decoded = cell.map_or(1, |cell| cell.len() as u64 + 1);
        *self.growth_left = self
            .growth_left
            .checked_sub(decoded)
            .ok_or(TableError::Limit(
                "the file grows to too many times its size when it is decoded",
            ))?;
        let Some(cell) = cell.map(trimmed) else {
            self.buffer.push(0);
            return self.flush_full();
        };
        let length = cell.len().min(self.cell_bytes_max + 1);
        let mut head = length + 1;
        while head >= 0x80 {
            self.buffer.push(0x80 | (head & 0x7F) as u8);
            head >>= 7;
        }
        self.buffer.push(head as u8);
        if length < cell.len() {
            // Too long, whatever it says: a part of it might not be.
            self.buffer.resize(self.buffer.len() + length, b'x');
        } else {
            self.buffer.extend_from_slice(cell);
        }
        self.flush_full()
    }

    fn flush_full(&mut self) -> Result<(), TableError> {
        if self.buffer.len() >= WRITE_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn flush(&mut self) -> Result<(), TableError> {
        self.room.append(&self.buffer).map_err(room_error)?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Bytes that were written.
    pub fn finish(mut self) -> Result<u64, TableError> {
        self.flush()?;
        Ok(self.written)
    }
}

pub(super) fn room_error(error: std::io::Error) -> TableError {
    TableError::Read(format!("room for cells: {}", error.kind()))
}

/// Decodes the cells of a column chunk of `rows` records, whose pages were
/// checked, to `cells`.
pub(super) fn decode<F: Read + Seek + Send + 'static>(
    source: &Source<F>,
    chunk: &ColumnChunkMetaData,
    rows: u64,
    form: Form,
    cells: &mut CellWriter<'_>,
) -> Result<(), Refusal> {
    let opened = AssertUnwindSafe(|| {
        SerializedPageReader::new(Arc::new(source.clone()), chunk, rows as usize, None)
    });
    let Ok(Ok(pages)) = catch_unwind(opened) else {
        return Err(Refusal::Malformed);
    };
    let column = Column { chunk, rows, pages };
    match chunk.column_type() {
        Type::INT32 => column.copy::<Int32Type>(cells, |&value, text| {
            let value = match form {
                Form::Unsigned => i64::from(value as u32),
                _ => i64::from(value),
            };
            form.write_whole(value, text);
        }),
        Type::INT64 => column.copy::<Int64Type>(cells, |&value, text| {
            form.write_whole(value, text);
        }),
        Type::INT96 => column.copy::<Int96Type>(cells, |value, text| {
            form.write_old_moment(value, text);
        }),
        Type::FLOAT => column.copy::<FloatType>(cells, |&value, text| {
            Form::write_float(value, text);
        }),
        Type::DOUBLE => column.copy::<DoubleType>(cells, |&value, text| {
            Form::write_double(value, text);
        }),
        Type::FIXED_LEN_BYTE_ARRAY => {
            column.copy::<FixedLenByteArrayType>(cells, |value: &FixedLenByteArray, text| {
                form.write_bytes(value.data(), text);
            })
        }
        Type::BYTE_ARRAY if form == Form::Text => column.copy_texts(cells),
        Type::BYTE_ARRAY => column.copy::<ByteArrayType>(cells, |value: &ByteArray, text| {
            form.write_bytes(value.data(), text);
        }),
        Type::BOOLEAN => Err(Refusal::Unfit),
    }
}

/// A column chunk on its way out of its pages.
struct Column<'c, F: Read + Seek + Send> {
    chunk: &'c ColumnChunkMetaData,
    rows: u64,
    pages: SerializedPageReader<Source<F>>,
}

impl<F: Read + Seek + Send + 'static> Column<'_, F> {
    /// Texts as they stand in the page.
    fn copy_texts(self, cells: &mut CellWriter<'_>) -> Result<(), Refusal> {
        self.each::<ByteArrayType>(&mut |value| cells.push(value.map(ByteArray::data)))
    }

    /// Values as `write` writes them.
    fn copy<T: DataType>(
        self,
        cells: &mut CellWriter<'_>,
        write: impl Fn(&T::T, &mut Vec<u8>),
    ) -> Result<(), Refusal> {
        let mut text = Vec::new();
        self.each::<T>(&mut |value| {
            text.clear();
            if let Some(value) = value {
                write(value, &mut text);
            }
            cells.push(value.map(|_| text.as_slice()))
        })
    }

    /// Hands each value to `take`, and nothing for an empty cell.
    fn each<T: DataType>(self, take: &mut TakeCell<'_, T::T>) -> Result<(), Refusal> {
        let descriptor = self.chunk.column_descr_ptr();
        let is_optional = descriptor.max_def_level() > 0;
        let mut reader = ColumnReaderImpl::<T>::new(descriptor, Box::new(self.pages));
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut left = self.rows;
        while left > 0 {
            let most = (BATCH_VALUES as u64).min(left) as usize;
            values.clear();
            levels.clear();
            // The library promises no answer to hostile bytes but a panic.
            let read = AssertUnwindSafe(|| {
                reader.read_records(most, Some(&mut levels), None, &mut values)
            });
            let count = match catch_unwind(read) {
                Ok(Ok((count, _, _))) if count > 0 => count,
                _ => return Err(Refusal::Malformed),
            };
            let present = if is_optional {
                levels.iter().filter(|&&level| level > 0).count()
            } else {
                count
            };
            if present != values.len() || (is_optional && levels.len() != count) {
                return Err(Refusal::Malformed);
            }
            let mut next = values.iter();
            let mut levels = levels.iter();
            for _ in 0..count {
                let is_there = !is_optional || levels.next().is_some_and(|&level| level > 0);
                let value = if is_there { next.next() } else { None };
                take(value)?;
            }
            left = left.saturating_sub(count as u64);
        }
        Ok(())
    }
}
