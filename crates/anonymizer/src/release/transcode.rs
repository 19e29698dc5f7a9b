//! From the canonical CSV of a release to the format that was asked for,
//! piece by piece, so that a download never holds a whole table.

use super::arrow::{ArrowFileWriter, ArrowWriter};
use super::csv::{CsvDecoder, write_spreadsheet_safe};
use super::error::{WireError, WireFault};
use super::format::Format;
use super::manifest::{ColumnDescription, TableDescription};
use super::ndjson;
use super::parquet::ParquetWriter;
use super::table::PublishedTable;

/// Turns the pieces of one stored table into another format.
///
/// Canonical CSV needs no transcoder: the pieces one behind the other are the
/// table. With `Format::Csv` it writes CSV that spreadsheets do not run.
pub struct Transcoder {
    name: String,
    columns: Vec<ColumnDescription>,
    decoder: CsvDecoder,
    writer: Writer,
}

enum Writer {
    SpreadsheetCsv { with_header: bool },
    Ndjson,
    Parquet(Box<ParquetWriter>),
    Arrow(Box<ArrowWriter>),
    ArrowFile(Box<ArrowFileWriter>),
}

impl Transcoder {
    /// A transcoder of the table described into `format`.
    ///
    /// # Errors
    /// None for columns that [`ColumnDescription::all`] gives.
    pub fn new(table: &TableDescription, format: Format) -> Result<Self, WireError> {
        let writer = match format {
            Format::Csv => Writer::SpreadsheetCsv { with_header: true },
            Format::Ndjson => Writer::Ndjson,
            Format::Parquet => Writer::Parquet(Box::new(ParquetWriter::new(&table.columns)?)),
            Format::Arrow => Writer::Arrow(Box::new(ArrowWriter::new(&table.columns)?)),
            Format::ArrowFile => Writer::ArrowFile(Box::new(ArrowFileWriter::new(&table.columns)?)),
        };
        Ok(Self {
            name: table.name.clone(),
            columns: table.columns.clone(),
            decoder: CsvDecoder::new(&table.columns),
            writer,
        })
    }

    /// Takes the next piece of canonical CSV (inflated) and appends to `out`
    /// what of the new format is ready, which may be nothing.
    ///
    /// # Errors
    /// The first text that is not canonical, with its line and column.
    pub fn piece(&mut self, csv: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        self.decoder.piece(csv)?;
        let table = self.decoder.take(&self.name);
        self.write(&table, out)
    }

    /// Takes the next rows from memory instead, as a table with the columns
    /// described; of all rows at once or part by part.
    ///
    /// # Errors
    /// `ColumnsDiffer` for a table with other columns, `CellUnfit` for cells
    /// that their column cannot hold in a columnar format.
    pub fn rows(&mut self, table: &PublishedTable, out: &mut Vec<u8>) -> Result<(), WireError> {
        let described = self.columns.iter();
        let described = described.map(|column| (&column.name, column.content, column.kind));
        let columns = table.columns.iter();
        if !described.eq(columns.map(|column| (&column.name, column.content, column.kind))) {
            return Err(WireFault::ColumnsDiffer.into());
        }
        self.write(&table.canonical(), out)
    }

    /// Appends what is left of the new format behind the last rows.
    ///
    /// # Errors
    /// As for [`Self::piece`].
    pub fn finish(self, out: &mut Vec<u8>) -> Result<(), WireError> {
        match self.writer {
            Writer::SpreadsheetCsv { .. } | Writer::Ndjson => Ok(()),
            Writer::Parquet(writer) => writer.finish(out),
            Writer::Arrow(writer) => writer.finish(out),
            Writer::ArrowFile(writer) => writer.finish(out),
        }
    }

    fn write(&mut self, table: &PublishedTable, out: &mut Vec<u8>) -> Result<(), WireError> {
        match &mut self.writer {
            Writer::SpreadsheetCsv { with_header } => {
                write_spreadsheet_safe(table, std::mem::take(with_header), out);
                Ok(())
            }
            Writer::Ndjson => {
                ndjson::write_rows(table, out);
                Ok(())
            }
            Writer::Parquet(writer) => writer.rows(table, &self.columns, out),
            Writer::Arrow(writer) => writer.rows(table, &self.columns, out),
            Writer::ArrowFile(writer) => writer.rows(table, &self.columns, out),
        }
    }
}
