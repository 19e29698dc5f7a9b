//! Chunks as Parquet, in memory.
//!
//! One row group, zstd, no statistics; integers and decimals are INT64 and
//! DOUBLE, days are DATE, identifiers and categories are UTF8, categories
//! with a dictionary page that holds each label once. A column of numbers or
//! days is optional where one is missing, which is stored as null. Columns are named
//! after their position, so that no attribute name is stored twice.
//!
//! Bytes come back from a store that checks their digest. They are checked
//! here all the same: whatever they are, reading them is a chunk that keeps
//! the promises of [`Chunk`] or [`TableError::Chunk`]. How long that takes is
//! not bounded: forged page headers can have the library skip long lists.

use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_buffer::{Buffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder,
};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::attribute::{Attribute, AttributeType, Role};
use super::chunk::{CHUNK_RECORDS_MAX, CHUNK_STORED_BYTES_MAX, Chunk, ChunkColumn};
use super::error::TableError;
use super::schema::Schema;
use super::text::TextColumn;

/// Bytes that a chunk may have in memory once read; stored ones have less.
const READ_BYTES_MAX: i64 = 64 << 20;

/// A chunk as Parquet; at most [`CHUNK_STORED_BYTES_MAX`] bytes.
pub fn encode_chunk(chunk: &Chunk) -> Result<Vec<u8>, TableError> {
    let arrays: Vec<ArrayRef> = chunk.columns.iter().map(array).collect::<Result<_, _>>()?;
    let fields: Vec<Field> = (0..)
        .zip(&arrays)
        .map(|(at, array)| {
            let is_optional = array.null_count() > 0;
            Field::new(column_name(at), array.data_type().clone(), is_optional)
        })
        .collect();
    let schema = Arc::new(ArrowSchema::new(fields));
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_statistics_enabled(EnabledStatistics::None)
        .set_dictionary_page_size_limit(CHUNK_STORED_BYTES_MAX)
        .set_max_row_group_row_count(Some(CHUNK_RECORDS_MAX))
        .build();
    let written = || -> parquet::errors::Result<Vec<u8>> {
        let batch = RecordBatch::try_new(schema.clone(), arrays.clone())?;
        let mut writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties))?;
        writer.write(&batch)?;
        writer.into_inner()
    };
    let bytes = written().map_err(|_| TableError::Chunk("could not be written".into()))?;
    if bytes.len() > CHUNK_STORED_BYTES_MAX {
        return Err(TableError::Chunk("is larger than 8 MiB".into()));
    }
    Ok(bytes)
}

/// The chunk that was stored as `bytes` for a dataset with `schema`.
pub fn decode_chunk(bytes: Vec<u8>, schema: &Schema) -> Result<Chunk, TableError> {
    // Parquet's reader promises no answer to hostile bytes but a panic.
    match catch_unwind(AssertUnwindSafe(|| read(bytes.into(), schema))) {
        Ok(chunk) => chunk,
        Err(_) => Err(broken("cannot be read")),
    }
}

fn read(bytes: Bytes, schema: &Schema) -> Result<Chunk, TableError> {
    let unreadable = |_| broken("cannot be read");
    let found = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new());
    let found = found.map_err(unreadable)?;
    let fields: Vec<Field> = (0..)
        .zip(schema.attributes())
        .map(|(at, attribute)| {
            let data_type = data_type(attribute);
            let is_optional = may_be_missing(&data_type)
                && found
                    .schema()
                    .fields()
                    .get(at)
                    .is_some_and(|field| field.is_nullable());
            Field::new(column_name(at), data_type, is_optional)
        })
        .collect();
    let options = ArrowReaderOptions::new().with_schema(Arc::new(ArrowSchema::new(fields)));
    let typed = ArrowReaderMetadata::try_new(Arc::clone(found.metadata()), options);
    let typed = typed.map_err(unreadable)?;
    let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(bytes, typed);
    let metadata = builder.metadata();
    let records = usize::try_from(metadata.file_metadata().num_rows()).unwrap_or(usize::MAX);
    let is_small = metadata.row_groups().iter().all(|group| {
        group.num_rows() as usize == records
            && group.columns().iter().all(|column| {
                column.num_values() as usize == records
                    && (0..=READ_BYTES_MAX).contains(&column.uncompressed_size())
            })
    });
    if records > CHUNK_RECORDS_MAX || metadata.num_row_groups() > 1 || !is_small {
        return Err(broken("is larger than a chunk"));
    }
    let mut batches = builder
        .with_batch_size(records.max(1))
        .build()
        .map_err(unreadable)?;
    let batch = match batches.next() {
        None if records == 0 => return Ok(empty(schema)),
        None => return Err(broken("has too few records")),
        Some(batch) => batch.map_err(|_| broken("cannot be read"))?,
    };
    if batch.num_rows() != records || batch.num_columns() != schema.attributes().len() {
        return Err(broken("has too few cells"));
    }
    let columns = batch.columns().iter().map(column);
    Ok(Chunk {
        records,
        columns: columns.collect::<Result<_, _>>()?,
    })
}

fn column_name(at: usize) -> String {
    format!("c{at}")
}

fn broken(what: &str) -> TableError {
    TableError::Chunk(what.into())
}

fn data_type(attribute: &Attribute) -> DataType {
    match attribute.kind {
        _ if attribute.role == Role::Identifier => DataType::Utf8,
        None => DataType::Utf8,
        Some(AttributeType::Integer) => DataType::Int64,
        Some(AttributeType::Decimal) => DataType::Float64,
        Some(AttributeType::Date) => DataType::Date32,
        Some(AttributeType::Categorical) => {
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
        }
    }
}

/// Whether cells of this type are null where the value is missing.
fn may_be_missing(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Int64 | DataType::Float64 | DataType::Date32
    )
}

fn array(column: &ChunkColumn) -> Result<ArrayRef, TableError> {
    Ok(match column {
        ChunkColumn::WithMissing { known, missing } => with_nulls(known, missing)?,
        ChunkColumn::Text(texts) => Arc::new(strings(texts)),
        ChunkColumn::Integer(values) => Arc::new(Int64Array::from(values.clone())),
        ChunkColumn::Decimal(values) => Arc::new(Float64Array::from(values.clone())),
        ChunkColumn::Date(values) => Arc::new(Date32Array::from(values.clone())),
        ChunkColumn::Category { labels, codes } => {
            let codes: Int32Array = codes.iter().map(|&code| Some(code as i32)).collect();
            let array = DictionaryArray::<Int32Type>::try_new(codes, Arc::new(strings(labels)));
            Arc::new(array.map_err(|_| broken("has a code without a label"))?)
        }
    })
}

/// The known values with nulls at the places of the missing ones.
fn with_nulls(known: &ChunkColumn, missing: &[u32]) -> Result<ArrayRef, TableError> {
    Ok(match known {
        ChunkColumn::Integer(values) => Arc::new(Int64Array::from(spread(values, missing))),
        ChunkColumn::Decimal(values) => Arc::new(Float64Array::from(spread(values, missing))),
        ChunkColumn::Date(values) => Arc::new(Date32Array::from(spread(values, missing))),
        _ => return Err(broken("has a type that is never missing")),
    })
}

fn spread<T: Copy>(known: &[T], missing: &[u32]) -> Vec<Option<T>> {
    let (mut known, mut missing) = (known.iter(), missing.iter().peekable());
    let records = 0..(known.len() + missing.len()) as u32;
    let cells = records.map(|record| match missing.next_if(|next| **next == record) {
        Some(_) => None,
        None => known.next().copied(),
    });
    cells.collect()
}

fn strings(texts: &TextColumn) -> StringArray {
    let offsets = OffsetBuffer::from_lengths(texts.iter().map(str::len));
    let bytes = Buffer::from_slice_ref(texts.iter().collect::<String>());
    StringArray::new(offsets, bytes, None)
}

fn column(array: &ArrayRef) -> Result<ChunkColumn, TableError> {
    if array.null_count() > 0 {
        if !may_be_missing(array.data_type()) {
            return Err(broken("has an empty cell"));
        }
        let is_known = (0..array.len()).map(|at| Some(array.is_valid(at)));
        let known = arrow_select::filter::filter(array, &is_known.collect());
        let records = 0..array.len() as u32;
        return Ok(ChunkColumn::WithMissing {
            known: Box::new(column(&known.map_err(|_| broken("cannot be read"))?)?),
            missing: records.filter(|&at| array.is_null(at as usize)).collect(),
        });
    }
    Ok(match array.data_type() {
        DataType::Utf8 => ChunkColumn::Text(texts(array.as_string())),
        DataType::Int64 => {
            ChunkColumn::Integer(array.as_primitive::<Int64Type>().values().to_vec())
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values().to_vec();
            let is_negative_zero = |value: f64| value == 0.0 && value.is_sign_negative();
            if !values
                .iter()
                .all(|&value| value.is_finite() && !is_negative_zero(value))
            {
                return Err(broken(
                    "has a number that is not finite, or a negative zero",
                ));
            }
            ChunkColumn::Decimal(values)
        }
        DataType::Date32 => ChunkColumn::Date(array.as_primitive::<Date32Type>().values().to_vec()),
        DataType::Dictionary(_, _) => category(array.as_dictionary::<Int32Type>())?,
        _ => return Err(broken("has a type that no attribute has")),
    })
}

fn category(array: &DictionaryArray<Int32Type>) -> Result<ChunkColumn, TableError> {
    let labels = array.values().as_string_opt::<i32>();
    let labels = texts(labels.ok_or_else(|| broken("has labels that are no text"))?);
    let mut distinct = HashSet::with_capacity(labels.len());
    if !labels.iter().all(|label| distinct.insert(label)) {
        return Err(broken("has a label twice"));
    }
    let codes: &ScalarBuffer<i32> = array.keys().values();
    if codes
        .iter()
        .any(|&code| code < 0 || code as usize >= labels.len())
    {
        return Err(broken("has a code without a label"));
    }
    let codes = codes.iter().map(|&code| code as u32).collect();
    Ok(ChunkColumn::Category { labels, codes })
}

fn texts(array: &StringArray) -> TextColumn {
    array.iter().map(Option::unwrap_or_default).collect()
}

fn empty(schema: &Schema) -> Chunk {
    let columns = schema
        .attributes()
        .iter()
        .map(|attribute| match data_type(attribute) {
            DataType::Int64 => ChunkColumn::Integer(Vec::new()),
            DataType::Float64 => ChunkColumn::Decimal(Vec::new()),
            DataType::Date32 => ChunkColumn::Date(Vec::new()),
            DataType::Utf8 => ChunkColumn::Text(TextColumn::new()),
            _ => ChunkColumn::Category {
                labels: TextColumn::new(),
                codes: Vec::new(),
            },
        });
    Chunk {
        records: 0,
        columns: columns.collect(),
    }
}

#[cfg(test)]
mod tests;
