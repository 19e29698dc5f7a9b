//! The footer of a Parquet file: held against the file before it is believed.
//!
//! It is read twice. The first reading ([`Outline`]) is our own and allocates
//! nothing by what the footer claims; it finds the columns' names and whether
//! all are flat, and counts what the second reading would keep. The second is
//! the library's. Behind it every position and size is held against the file:
//! column chunks lie inside it, and not more often than it has bytes, so that
//! no small file says the same bytes a million times.

use std::io::{Read, Seek};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parquet::basic::Compression;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::ColumnDescPtr;

use super::source::Source;
use super::structures::FILE_METADATA;
use super::thrift::{Broken, Walk, Wire};
use crate::microdata::error::TableError;

/// Bytes of a footer.
const FOOTER_BYTES_MAX: u64 = 4 << 20;
/// Column chunks of a file: row groups times columns. Each costs the library
/// about half a kilobyte.
pub(super) const COLUMN_CHUNKS_MAX: usize = 16_384;
/// Elements of all lists in a footer.
const ELEMENTS_MAX: usize = 1 << 18;
const MAGIC: &[u8] = b"PAR1";

const NOT_A_FILE: TableError = TableError::File("is no Parquet file");
const BROKEN: TableError = TableError::File("has a footer that cannot be read");

impl From<Broken> for TableError {
    fn from(_: Broken) -> Self {
        BROKEN
    }
}

/// What can be known of a footer without believing it.
pub(super) struct Outline {
    /// The columns in the file's order.
    pub columns: Vec<OutlinedColumn>,
    bytes: Vec<u8>,
}

/// A column as the footer's schema names it.
pub(super) struct OutlinedColumn {
    /// Its name.
    pub name: Vec<u8>,
    /// Whether it is a group or repeated, and no column of cells.
    pub is_nested: bool,
}

impl Outline {
    /// Reads the footer's outline; nothing where the file has more than
    /// `columns_max` columns.
    pub fn read<F: Read + Seek>(
        source: &Source<F>,
        columns_max: usize,
    ) -> Result<Option<Self>, TableError> {
        let length = source.length();
        if length < 12 || source.bytes(0, 4)? != MAGIC {
            return Err(NOT_A_FILE);
        }
        let tail = source.bytes(length - 8, 8)?;
        let Some((size, MAGIC)) = tail.split_first_chunk::<4>() else {
            return Err(NOT_A_FILE);
        };
        let size = u64::from(u32::from_le_bytes(*size));
        if size > length - 12 {
            return Err(BROKEN);
        }
        if size > FOOTER_BYTES_MAX {
            return Err(TableError::Limit("the file's footer has more than 4 MiB"));
        }
        let bytes = source.bytes(length - 8 - size, size as usize)?;
        let columns = outline(&bytes, columns_max)?;
        Ok(columns.map(|columns| Self { columns, bytes }))
    }
}

/// Walks a footer: its columns, if there are at most `columns_max`.
fn outline(footer: &[u8], columns_max: usize) -> Result<Option<Vec<OutlinedColumn>>, TableError> {
    let mut walk = Walk::new(footer, ELEMENTS_MAX);
    let mut columns = Vec::new();
    let mut last = 0;
    while let Some((id, wire)) = walk.field(&mut last)? {
        match (id, wire) {
            (2, Wire::List) => match outlined_columns(&mut walk, columns_max)? {
                Some(named) => columns = named,
                None => return Ok(None),
            },
            (4, Wire::List) => count_column_chunks(&mut walk)?,
            (_, wire) => walk.skip(wire)?,
        }
    }
    Walk::new(footer, ELEMENTS_MAX).structure(FILE_METADATA)?;
    Ok(Some(columns))
}

/// Walks the schema, a tree in depth-first order whose root comes first.
fn outlined_columns(
    walk: &mut Walk<'_>,
    columns_max: usize,
) -> Result<Option<Vec<OutlinedColumn>>, Broken> {
    let (count, element) = walk.list()?;
    if count == 0 || element != Wire::Struct {
        return Err(Broken);
    }
    if count > columns_max + 1 {
        return Ok(None);
    }
    let mut columns = Vec::with_capacity(count);
    // Elements that stand inside the last column, which is a group.
    let mut inner = 0;
    for at in 0..count {
        let (column, children) = outlined_column(walk)?;
        match (at, inner) {
            (0, _) => {}
            (_, 0) => {
                inner = children;
                columns.push(column);
            }
            _ => inner = (inner - 1).checked_add(children).ok_or(Broken)?,
        }
    }
    Ok(Some(columns))
}

/// Walks an element of the schema; how many of the next ones stand in it.
fn outlined_column(walk: &mut Walk<'_>) -> Result<(OutlinedColumn, usize), Broken> {
    let mut column = OutlinedColumn {
        name: Vec::new(),
        is_nested: false,
    };
    let (mut children, mut last) = (0, 0);
    while let Some((id, wire)) = walk.field(&mut last)? {
        match (id, wire) {
            // `repetition_type`: 2 is `repeated`.
            (3, Wire::Whole) => column.is_nested |= walk.whole()? == 2,
            (4, Wire::Binary) => column.name = walk.binary()?.to_vec(),
            (5, Wire::Whole) => {
                children = usize::try_from(walk.whole()?).map_err(|_| Broken)?;
                column.is_nested |= children > 0;
            }
            (_, wire) => walk.skip(wire)?,
        }
    }
    Ok((column, children))
}

fn count_column_chunks(walk: &mut Walk<'_>) -> Result<(), TableError> {
    let too_many = TableError::Limit("the file has more than 16,384 column chunks");
    let (groups, element) = walk.list()?;
    if groups > COLUMN_CHUNKS_MAX {
        return Err(too_many);
    }
    if groups > 0 && element != Wire::Struct {
        return Err(BROKEN);
    }
    let mut chunks = 0;
    for _ in 0..groups {
        let mut last = 0;
        while let Some((id, wire)) = walk.field(&mut last)? {
            if (id, wire) != (1, Wire::List) {
                walk.skip(wire)?;
                continue;
            }
            let (columns, element) = walk.list()?;
            chunks += columns;
            if chunks > COLUMN_CHUNKS_MAX {
                return Err(too_many);
            }
            for _ in 0..columns {
                walk.skip(element)?;
            }
        }
    }
    Ok(())
}

/// A footer whose positions and sizes fit the file.
pub(super) struct Footer(ParquetMetaData);

impl Footer {
    /// Reads the footer whose outline is known and has flat columns only.
    pub fn read<F: Read + Seek>(
        source: &Source<F>,
        outline: &Outline,
        records_max: u64,
    ) -> Result<Self, TableError> {
        let decode = AssertUnwindSafe(|| ParquetMetaDataReader::decode_metadata(&outline.bytes));
        let Ok(Ok(metadata)) = catch_unwind(decode) else {
            return Err(BROKEN);
        };
        let columns = metadata.file_metadata().schema_descr().num_columns();
        // The library may see fewer: a column without a type is none to it.
        if columns != outline.columns.len() {
            return Err(BROKEN);
        }
        let data_end = source.length() - 8 - outline.bytes.len() as u64;
        let (mut rows, mut bytes) = (0_u64, 0_u64);
        for group in metadata.row_groups() {
            let group_rows = u64::try_from(group.num_rows()).map_err(|_| BROKEN)?;
            rows = rows.saturating_add(group_rows);
            if group.columns().len() != columns {
                return Err(BROKEN);
            }
            for column in group.columns() {
                let (start, length) = chunk_range(column)?;
                let end = start.checked_add(length).ok_or(BROKEN)?;
                bytes = bytes.saturating_add(length);
                let is_inside = start >= MAGIC.len() as u64 && end <= data_end;
                let has_all_rows = u64::try_from(column.num_values()) == Ok(group_rows);
                if !is_inside || !has_all_rows || bytes > source.length() {
                    return Err(BROKEN);
                }
                check_form(column)?;
            }
        }
        if rows > records_max {
            return Err(TableError::Limit(
                "the file has more records than an upload may",
            ));
        }
        Ok(Self(metadata))
    }

    /// A column, by its place in the file.
    pub fn column(&self, place: usize) -> ColumnDescPtr {
        self.0.file_metadata().schema_descr().column(place)
    }

    /// Row groups of the file.
    pub fn row_groups(&self) -> usize {
        self.0.num_row_groups()
    }

    /// Records of a row group.
    pub fn rows(&self, group: usize) -> u64 {
        self.0.row_group(group).num_rows() as u64
    }

    /// One column of a row group.
    pub fn chunk(&self, group: usize, place: usize) -> &ColumnChunkMetaData {
        self.0.row_group(group).column(place)
    }
}

/// First byte and length of a column chunk, neither below zero.
pub(super) fn chunk_range(column: &ColumnChunkMetaData) -> Result<(u64, u64), TableError> {
    let first = column.dictionary_page_offset();
    let start = u64::try_from(first.unwrap_or_else(|| column.data_page_offset()));
    let length = u64::try_from(column.compressed_size());
    match (start, length) {
        (Ok(start), Ok(length)) => Ok((start, length)),
        _ => Err(BROKEN),
    }
}

/// Whether a column chunk stands in this file, packed in a way read here.
fn check_form(column: &ColumnChunkMetaData) -> Result<(), TableError> {
    if column.file_path().is_some() {
        return Err(TableError::File("has columns that stand in another file"));
    }
    match column.compression() {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => Ok(()),
        _ => Err(TableError::File(
            "has columns packed otherwise than by Snappy or Zstandard",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of one row group without columns, whose total size (2) and
    /// maker (6) have these headers and values.
    fn columns(size: &[u8], maker: &[u8]) -> Option<usize> {
        let schema = [0x15, 2, 0x19, 0x1C, 0x48, 0, 0, 0x16, 0];
        let group = [&[0x19, 0x1C, 0x19, 0x0C], size, &[0x16, 0, 0]].concat();
        let footer = [&schema[..], &group, maker, &[0]].concat();
        outline(&footer, 10).ok().flatten().map(|named| named.len())
    }

    /// The library does not look at the types of fields that it knows.
    #[test]
    fn a_known_field_of_another_type_is_broken() {
        let (size, maker) = ([0x16, 0], [0x28, 1, b'v']);
        assert_eq!(columns(&size, &maker), Some(0));
        assert_eq!(columns(&[0x18, 0], &maker), None);
        assert_eq!(columns(&size, &[0x26, 1]), None);
        // A list of truths in a field that nobody knows.
        assert_eq!(columns(&size, &[0x79, 0x11, 1]), None);
        assert_eq!(columns(&size, &[0x79, 0x13, 1]), Some(0));
    }
}
