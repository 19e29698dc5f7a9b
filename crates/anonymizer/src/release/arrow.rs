//! Published tables as Arrow IPC. A stream is the schema, then one batch with
//! its dictionaries for each run of rows. A file has a footer behind them, by
//! which readers map it into memory and take any batch first; it may have one
//! dictionary a column, which no run of rows knows, so its texts are plain.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_buffer::Buffer;
use arrow_ipc::writer::{FileWriter, StreamEncoder};
use arrow_schema::{ArrowError, DataType, Schema, SchemaRef};
use arrow_select::take::take;

use super::columnar::{arrow_schema, record_batch};
use super::error::{WireError, WireFault};
use super::manifest::ColumnDescription;
use super::table::PublishedTable;

/// Writes one stream.
pub(super) struct ArrowWriter {
    schema: SchemaRef,
    encoder: StreamEncoder,
}

impl ArrowWriter {
    pub(super) fn new(columns: &[ColumnDescription]) -> Result<Self, WireError> {
        let schema = arrow_schema(columns);
        let encoder = StreamEncoder::try_new(&schema).map_err(unfit)?;
        Ok(Self { schema, encoder })
    }

    /// Appends the next rows; dictionaries of `table` are canonical.
    pub(super) fn rows(
        &mut self,
        table: &PublishedTable,
        columns: &[ColumnDescription],
        out: &mut Vec<u8>,
    ) -> Result<(), WireError> {
        let batch = record_batch(table, columns, &self.schema)?;
        append(self.encoder.encode(&batch).map_err(unfit)?, out);
        Ok(())
    }

    /// Appends the end of the stream.
    pub(super) fn finish(self, out: &mut Vec<u8>) -> Result<(), WireError> {
        append(self.encoder.finish().map_err(unfit)?, out);
        Ok(())
    }
}

/// Writes one file, handing out its bytes as they come.
pub(super) struct ArrowFileWriter {
    schema: SchemaRef,
    plain: SchemaRef,
    writer: FileWriter<Vec<u8>>,
}

impl ArrowFileWriter {
    pub(super) fn new(columns: &[ColumnDescription]) -> Result<Self, WireError> {
        let schema = arrow_schema(columns);
        let fields = schema.fields().iter().map(|field| match field.data_type() {
            DataType::Dictionary(..) => field.as_ref().clone().with_data_type(DataType::Utf8),
            _ => field.as_ref().clone(),
        });
        let plain = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let writer = FileWriter::try_new(Vec::new(), &plain).map_err(unfit)?;
        Ok(Self {
            schema,
            plain,
            writer,
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
        let arrays = batch.columns().iter().map(plain);
        let arrays = arrays.collect::<Result<Vec<_>, _>>().map_err(unfit)?;
        let batch = RecordBatch::try_new(Arc::clone(&self.plain), arrays).map_err(unfit)?;
        self.writer.write(&batch).map_err(unfit)?;
        // The writer counts the bytes itself: it does not miss them.
        out.append(self.writer.get_mut());
        Ok(())
    }

    /// Appends the end of the file.
    pub(super) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), WireError> {
        self.writer.finish().map_err(unfit)?;
        out.append(self.writer.get_mut());
        Ok(())
    }
}

/// An array without a dictionary.
fn plain(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.as_dictionary_opt::<Int32Type>() {
        Some(texts) => take(texts.values(), texts.keys(), None),
        None => Ok(Arc::clone(array)),
    }
}

fn append(buffers: Vec<Buffer>, out: &mut Vec<u8>) {
    for buffer in buffers {
        out.extend_from_slice(&buffer);
    }
}

/// What Arrow says may quote cells; what it means is that a batch is not what
/// its schema says.
fn unfit(_: ArrowError) -> WireError {
    WireFault::CellUnfit.into()
}
