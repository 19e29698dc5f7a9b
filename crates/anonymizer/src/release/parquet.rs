//! Published tables as Parquet, and back.
//!
//! Files say nothing about their source: no statistics, no times, and the
//! same `created_by` always. Reading takes only what writing writes, holds
//! the number of rows against the manifest, and survives corrupt files: the
//! format's library is kept from unwinding into the caller.

use std::panic::{AssertUnwindSafe, catch_unwind};

use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use super::columnar::{BatchReader, arrow_schema, record_batch};
use super::error::{WireError, WireFault};
use super::manifest::{ColumnDescription, TableDescription};
use super::table::PublishedTable;

/// Rows of a row group; bounds what a writer holds in memory.
const ROW_GROUP_ROWS_MAX: usize = 131_072;

/// Writes one file, handing out its bytes as they come.
pub(super) struct ParquetWriter {
    schema: SchemaRef,
    writer: ArrowWriter<Vec<u8>>,
}

impl ParquetWriter {
    pub(super) fn new(columns: &[ColumnDescription]) -> Result<Self, WireError> {
        let schema = arrow_schema(columns);
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by("vizard".into())
            .set_max_row_group_row_count(Some(ROW_GROUP_ROWS_MAX))
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let writer = ArrowWriter::try_new(Vec::new(), schema.clone(), Some(properties));
        Ok(Self {
            writer: writer.map_err(unfit)?,
            schema,
        })
    }

    /// Takes the next rows, and appends what of the file is ready.
    pub(super) fn rows(
        &mut self,
        table: &PublishedTable,
        columns: &[ColumnDescription],
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let batch = record_batch(table, columns, &self.schema)?;
        self.writer.write(&batch).map_err(unfit)?;
        out.append(self.writer.inner_mut());
        Ok(())
    }

    /// Appends the rest of the file.
    pub(super) fn finish(self, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut rest = self.writer.into_inner().map_err(unfit)?;
        out.append(&mut rest);
        Ok(())
    }
}

/// Reads a whole table from a Parquet file that Vizard wrote.
///
/// The manifest's digest is of the CSV form: encode the result to check it.
///
/// # Errors
/// `Unreadable` for bytes that are no Parquet file, `ColumnsDiffer` and
/// `RowsDiffer` where it is not the table described, otherwise the first cell
/// at fault with its row and column.
pub fn decode_parquet(
    description: &TableDescription,
    file: Vec<u8>,
) -> Result<PublishedTable, WireError> {
    let read = AssertUnwindSafe(|| read(description, file.into()));
    catch_unwind(read).unwrap_or_else(|_| Err(WireFault::Unreadable.into()))
}

fn read(description: &TableDescription, file: Bytes) -> Result<PublishedTable, WireError> {
    let builder = ParquetRecordBatchReaderBuilder::try_new(file).map_err(unreadable)?;
    let rows = builder.metadata().file_metadata().num_rows();
    if u64::try_from(rows) != Ok(description.rows) {
        return Err(WireFault::RowsDiffer.into());
    }
    let mut reader = BatchReader::new(&description.columns);
    for batch in builder.build().map_err(unreadable)? {
        let batch = batch.map_err(|_| WireFault::Unreadable)?;
        reader.batch(&batch)?;
    }
    let table = reader.finish(&description.name);
    if table.rows() as u64 != description.rows {
        return Err(WireFault::RowsDiffer.into());
    }
    Ok(table)
}

/// What Parquet says may quote bytes of the file.
fn unreadable(_: ParquetError) -> WireError {
    WireFault::Unreadable.into()
}

fn unfit(_: ParquetError) -> WireError {
    WireFault::CellUnfit.into()
}
