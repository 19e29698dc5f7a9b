//! Reads the records of an upload: streamed, checked, in chunks.
//!
//! A format yields rows of cells ([`Rows`]); the [`Intake`] behind them is
//! the same for every format: it types and checks the cells, follows the
//! missing-value policy, digests the content and closes chunks. Reading goes
//! on behind an error, so that one answer names many; no chunk is yielded
//! behind the first one.

use std::io::Read;

use super::batch::{Batch, Filler};
use super::cell::trimmed;
use super::chunk::Sink;
use super::csv::CsvRows;
use super::error::{CellErrorCode, TableError};
use super::hint::Hint;
use super::intake::Intake;
use super::limits::Target;
use super::ndjson::NdjsonRows;
use super::row::{Fault, ReadSummary, Row, Rows};
use super::schema::Schema;
use super::subjects::SubjectKeys;

/// The form that records or preferences are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordFormat {
    /// `text/csv`.
    Csv,
    /// `application/x-ndjson`.
    Ndjson,
}

/// Reads records to their end and yields them in chunks to `sink`.
///
/// `subjects` holds the subjects of the records that the upload is appended
/// to, and is not looked at where a subject may have many records. The error
/// [`TableError::Cells`] lists what is wrong; `sink` has then seen chunks that
/// must be thrown away. Memory: one chunk, two batches of 4,096 records, one
/// run of subjects.
pub fn read_records(
    input: impl Read,
    format: RecordFormat,
    target: &Target<'_>,
    subjects: &mut SubjectKeys<'_>,
    sink: &mut Sink<'_>,
) -> Result<ReadSummary, TableError> {
    let mut intake = Intake::new(target, subjects)?;
    match format {
        RecordFormat::Csv => {
            let format = target.schema.format();
            let mut rows = CsvRows::in_dialect(input, format, target.limits.record_bytes_max)?;
            if let Some(columns) = read_header(&mut rows, target.schema, &mut intake)? {
                let width = rows.width();
                take_rows(&mut rows, (&columns, width), (target, sink), &mut intake)?;
            }
        }
        RecordFormat::Ndjson => {
            let mut rows = NdjsonRows::new(input, target)?;
            let columns: Vec<usize> = (0..target.schema.attributes().len()).collect();
            let columns = (columns.as_slice(), columns.len());
            take_rows(&mut rows, columns, (target, sink), &mut intake)?;
        }
    }
    intake.finish(sink)
}

/// Takes all rows of `width` cells; `columns` tells where each attribute stands.
///
/// In a pool of rayon's, a batch is taken while this thread reads the next one
/// and hands chunks on. A server reads each upload on one thread: many that
/// allocate would keep memory of their own.
pub(super) fn take_rows(
    rows: &mut impl Rows,
    (columns, width): (&[usize], usize),
    (target, sink): (&Target<'_>, &mut Sink<'_>),
    intake: &mut Intake<'_, '_>,
) -> Result<(), TableError> {
    let mut filler = Filler::new(rows, (columns, width), target);
    let [mut batch, mut next] = [(); 2].map(|()| Batch::new(columns.len()));
    let mut goes_on = filler.fill(&mut batch)?;
    while goes_on {
        let mut taken = Ok(true);
        let closed = intake.closed();
        let go_on = || {
            closed.into_iter().try_for_each(&mut *sink)?;
            filler.fill(&mut next)
        };
        let filled = match rayon::current_thread_index() {
            Some(_) => rayon::in_place_scope(|scope| {
                scope.spawn(|_| taken = intake.take(&batch));
                go_on()
            }),
            None => {
                taken = intake.take(&batch);
                go_on()
            }
        };
        if !taken? {
            return Ok(());
        }
        goes_on = filled?;
        std::mem::swap(&mut batch, &mut next);
    }
    intake.take(&batch).map(|_| ())
}

/// Reads the header: the column of each attribute, or nothing if the header
/// is at fault, for without it no cell means anything.
fn read_header(
    rows: &mut impl Rows,
    schema: &Schema,
    intake: &mut Intake<'_, '_>,
) -> Result<Option<Vec<usize>>, TableError> {
    let line = match rows.next_row()? {
        Row::Cells(line) => line,
        Row::Fault(fault) | Row::Stop(fault) => {
            intake.fault(&fault);
            return Ok(None);
        }
        Row::End => 1,
    };
    if rows.width() > 0
        && let Some(hint) = Hint::of_header(rows.cell(0), rows.width())
    {
        intake.hint(hint);
    }
    let names = (0..rows.width()).map(|column| rows.cell(column));
    Ok(place_columns(line, names, schema, intake))
}

/// The column of each attribute by the columns' names, which stand on `line`;
/// nothing where a name is unknown, given twice or missing. Columns that the
/// schema reads past have no place.
pub(super) fn place_columns<'n>(
    line: u64,
    names: impl Iterator<Item = &'n [u8]>,
    schema: &Schema,
    intake: &mut Intake<'_, '_>,
) -> Option<Vec<usize>> {
    let mut columns: Vec<Option<usize>> = vec![None; schema.attributes().len()];
    for index in schema.select(|_| true) {
        if schema.has_no_column(index) {
            // It is in the file nowhere, and read from no place.
            columns[index.at()] = Some(0);
        }
    }
    let mut unknown = Vec::new();
    let mut is_sound = true;
    for (column, name) in names.enumerate() {
        let text = std::str::from_utf8(name);
        // Space around a name is no part of it, unless the schema says so.
        let find = |name: &str| {
            let found = schema.find(name).or_else(|| schema.find(name.trim()));
            found.filter(|&index| !schema.has_no_column(index))
        };
        match text.ok().and_then(find) {
            Some(index) if columns[index.at()].is_none() => columns[index.at()] = Some(column),
            Some(index) => {
                let code = CellErrorCode::AttributeRepeated;
                intake.fault(&Fault::of_attribute(line, index, code));
                is_sound = false;
            }
            None if schema.reads_past(name) || schema.reads_past(trimmed(name)) => {}
            None => unknown.push(name),
        }
    }
    let known = columns.iter().flatten().count();
    let is_header = known * 2 >= columns.len();
    if !is_header && !intake.has_hint() {
        intake.hint(Hint::NoHeader);
    }
    for name in &unknown {
        let text = std::str::from_utf8(name).ok();
        if text.is_none() && !intake.has_hint() {
            intake.hint(Hint::NotUtf8);
        }
        // Where there is no header, a name is a cell of the first record: it
        // is not told.
        let told = text.filter(|_| is_header);
        intake.fault_of_column(line, told, CellErrorCode::AttributeUnknown);
    }
    for index in schema.select(|_| true) {
        if columns[index.at()].is_none() {
            let code = CellErrorCode::AttributeMissing;
            intake.fault(&Fault::of_attribute(line, index, code));
        }
    }
    columns
        .into_iter()
        .collect::<Option<Vec<usize>>>()
        .filter(|_| is_sound && unknown.is_empty())
}

#[cfg(test)]
mod tests;
