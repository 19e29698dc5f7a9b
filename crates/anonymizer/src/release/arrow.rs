//! Published tables as an Arrow IPC stream: the schema, then one batch with
//! its dictionaries for each run of rows.

use arrow_buffer::Buffer;
use arrow_ipc::writer::StreamEncoder;
use arrow_schema::ArrowError;
use arrow_schema::SchemaRef;

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
