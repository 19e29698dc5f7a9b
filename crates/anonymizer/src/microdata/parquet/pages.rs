//! The pages of one column chunk: what they claim, before they are unpacked.
//!
//! A page header says how large its page becomes, and how many values a
//! dictionary has; the library allocates both before it looks at a byte of
//! the page. Headers alone are walked here, the pages between them passed
//! over. What a column chunk needs in memory at most is its largest page
//! twice (the one at hand and the one before, which values still point into),
//! the packed page, and the dictionary with a value for each entry.

use std::io::{Read, Seek};

use parquet::basic::Type;
use parquet::file::metadata::ColumnChunkMetaData;

use super::footer::chunk_range;
use super::source::Source;
use super::structures::PAGE_HEADER;
use super::thrift::{Broken, Walk, Wire};
use crate::microdata::error::TableError;

/// Bytes in memory that the pages of one column may take.
pub(super) const COLUMN_BYTES_MAX: u64 = 40 << 20;
/// Bytes that a page header mostly has, and has at most: writers put the
/// page's smallest and largest value into it.
const HEADER_BYTES: u64 = 256;
const HEADER_BYTES_MAX: u64 = 64 << 10;
/// Bytes of one decoded value: a slice of a page costs more than a number.
const VALUE_BYTES: u64 = 40;

/// Why the pages of a column chunk are not read.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    /// They are not what the footer says, or contradict themselves.
    Malformed,
    /// They are encoded in a way that is not read here.
    Unfit,
    /// More than memory, or the limits of an upload, allow.
    Table(TableError),
}

impl From<Broken> for Refusal {
    fn from(_: Broken) -> Self {
        Self::Malformed
    }
}

impl From<TableError> for Refusal {
    fn from(error: TableError) -> Self {
        match error {
            TableError::File(_) => Self::Malformed,
            error => Self::Table(error),
        }
    }
}

/// What a page header claims.
#[derive(Clone, Copy, Debug, Default)]
struct Claim {
    kind: i64,
    unpacked: u64,
    packed: u64,
    values: u64,
    encoding: i64,
}

const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;

/// Holds the pages of a column chunk of `rows` records against what may be;
/// the bytes that all of them become.
pub(super) fn check_pages<F: Read + Seek>(
    source: &Source<F>,
    column: &ColumnChunkMetaData,
    rows: u64,
) -> Result<u64, Refusal> {
    let (start, length) = chunk_range(column)?;
    let (mut at, end) = (start, start + length);
    let physical = column.column_type();
    let (mut values, mut unpacked) = (0_u64, 0_u64);
    let (mut page, mut packed, mut dictionary) = (0_u64, 0_u64, None);
    while at < end {
        let (claim, header) = read_header(source, at, end)?;
        at += header;
        if claim.packed > end - at {
            return Err(Refusal::Malformed);
        }
        at += claim.packed;
        unpacked = unpacked.saturating_add(claim.unpacked);
        packed = packed.max(claim.packed);
        match claim.kind {
            DICTIONARY_PAGE => {
                let is_first = dictionary.is_none() && values == 0;
                let width = width_min(physical, column);
                if !is_first || claim.values > claim.unpacked / width {
                    return Err(Refusal::Malformed);
                }
                dictionary = Some(claim.unpacked + claim.values * VALUE_BYTES);
            }
            DATA_PAGE | DATA_PAGE_V2 => {
                if !is_read(claim.encoding, physical, dictionary.is_some())? {
                    return Err(Refusal::Unfit);
                }
                page = page.max(claim.unpacked);
                values += claim.values;
            }
            _ => return Err(Refusal::Malformed),
        }
    }
    let memory = 2 * page + packed + dictionary.unwrap_or(0);
    if memory > COLUMN_BYTES_MAX {
        let limit =
            "the pages of one column of the file take more than 40 MiB: write smaller pages";
        return Err(TableError::Limit(limit).into());
    }
    if values == rows {
        Ok(unpacked)
    } else {
        Err(Refusal::Malformed)
    }
}

/// The page header at byte `at`, and its length.
fn read_header<F: Read + Seek>(
    source: &Source<F>,
    at: u64,
    end: u64,
) -> Result<(Claim, u64), Refusal> {
    for length_max in [HEADER_BYTES, HEADER_BYTES_MAX] {
        let length = length_max.min(end - at);
        let bytes = source.bytes(at, length as usize)?;
        let mut walk = Walk::new(&bytes, 0);
        if let Ok(claim) = walk_header(&mut walk) {
            Walk::new(&bytes, 0).structure(PAGE_HEADER)?;
            return Ok((claim, length - walk.left() as u64));
        }
    }
    Err(Refusal::Malformed)
}

/// Walks a `PageHeader` (parquet.thrift).
fn walk_header(walk: &mut Walk<'_>) -> Result<Claim, Broken> {
    let mut claim = Claim::default();
    let mut sizes = (None, None, None);
    let mut last = 0;
    while let Some((id, wire)) = walk.field(&mut last)? {
        match (id, wire) {
            (1, Wire::Whole) => sizes.0 = Some(walk.whole()?),
            (2, Wire::Whole) => sizes.1 = Some(natural(walk.whole()?)?),
            (3, Wire::Whole) => sizes.2 = Some(natural(walk.whole()?)?),
            // Headers of a data page, a dictionary, and a data page of the
            // second version, which has its encoding elsewhere.
            (5 | 7, Wire::Struct) => walk_part(walk, &mut claim, 2)?,
            (8, Wire::Struct) => walk_part(walk, &mut claim, 4)?,
            (_, wire) => walk.skip(wire)?,
        }
    }
    let (Some(kind), Some(unpacked), Some(packed)) = sizes else {
        return Err(Broken);
    };
    Ok(Claim {
        kind,
        unpacked,
        packed,
        ..claim
    })
}

/// Walks the part of a header that is the page's own: its number of values,
/// and its encoding in the field `encoding`.
fn walk_part(walk: &mut Walk<'_>, claim: &mut Claim, encoding: i64) -> Result<(), Broken> {
    let mut last = 0;
    while let Some((id, wire)) = walk.field(&mut last)? {
        match (id, wire) {
            (1, Wire::Whole) => claim.values = natural(walk.whole()?)?,
            (id, Wire::Whole) if id == encoding => claim.encoding = walk.whole()?,
            (_, wire) => walk.skip(wire)?,
        }
    }
    Ok(())
}

/// A size of 32 bits that is not below zero.
fn natural(value: i64) -> Result<u64, Broken> {
    i32::try_from(value)
        .ok()
        .and_then(|value| u64::try_from(value).ok())
        .ok_or(Broken)
}

/// Bytes that a value in a dictionary has at least.
fn width_min(physical: Type, column: &ColumnChunkMetaData) -> u64 {
    match physical {
        Type::INT64 | Type::DOUBLE => 8,
        Type::INT96 => 12,
        Type::FIXED_LEN_BYTE_ARRAY => column.column_descr().type_length().max(1) as u64,
        _ => 4,
    }
}

/// Whether an encoding is read. The delta encodings of texts are not: the
/// library allocates by what the page itself claims.
fn is_read(encoding: i64, physical: Type, has_dictionary: bool) -> Result<bool, Refusal> {
    const PLAIN: i64 = 0;
    const PLAIN_DICTIONARY: i64 = 2;
    const DELTA_BINARY_PACKED: i64 = 5;
    const RLE_DICTIONARY: i64 = 8;
    const BYTE_STREAM_SPLIT: i64 = 9;
    match encoding {
        PLAIN => Ok(true),
        PLAIN_DICTIONARY | RLE_DICTIONARY if !has_dictionary => Err(Refusal::Malformed),
        PLAIN_DICTIONARY | RLE_DICTIONARY => Ok(true),
        DELTA_BINARY_PACKED => Ok(matches!(physical, Type::INT32 | Type::INT64)),
        BYTE_STREAM_SPLIT => Ok(physical != Type::BYTE_ARRAY && physical != Type::INT96),
        _ => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A header of a page of 3 values, with these bytes where its checksum is.
    fn header(checksum: &[u8]) -> Result<(u64, u64), Refusal> {
        let before = [0x15, 0, 0x15, 48, 0x15, 48];
        let page = [0x1C, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        let bytes = [&before, checksum, &page].concat();
        let length = bytes.len() as u64;
        let source = Source::new(Cursor::new(bytes)).expect("bytes");
        read_header(&source, 0, length).map(|(claim, read)| (claim.values, length - read))
    }

    /// The library takes the value of a field that it knows without a look at
    /// its type: the length of the text would be the checksum, and the text a
    /// list of two billion truths, each without a byte.
    #[test]
    fn a_known_field_of_another_type_is_malformed() {
        assert_eq!(header(&[0x15, 2]), Ok((3, 0)));
        let list = [0x59, 0xF1, 0xFF, 0xFF, 0xFF, 0xFF, 0x07];
        let text = [&[0x18, list.len() as u8], &list[..]].concat();
        assert_eq!(header(&text), Err(Refusal::Malformed));
    }
}
