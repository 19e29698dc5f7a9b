//! Records as Parquet: flat columns, read row group by row group at constant
//! memory.
//!
//! Parquet needs random access and says in front how large everything is to
//! become; nothing of that is believed. In this order:
//!
//! 1. `footer` walks the footer's bytes (`thrift`) before the format's
//!    library allocates anything by them: sizes, counts, flat columns, and
//!    that every field has its type (`structures`).
//! 2. Columns are placed by their names, and their types held against the
//!    attributes (`form`). Where an attribute's days are written with a time,
//!    which is left out, so is that of a timestamp.
//! 3. For each row group and column, `pages` walks the page headers: what a
//!    page claims to become is bounded before it is unpacked.
//! 4. `cells` decodes one column at a time, kept from unwinding, and writes
//!    the cells' texts into room beside the memory; `transposed` reads all
//!    columns back side by side, as rows.
//!
//! From there the rows go the way of every format: a number or a day is
//! handed over as its text, so that the same table has the same digest, and
//! the same errors, in whatever form it comes. The line of an error is the
//! number of the record, from 1; 0 stands for the columns themselves.

mod cells;
mod footer;
mod form;
mod pages;
mod scanned;
mod source;
mod structures;
mod thrift;
mod transposed;

use std::io::{Read, Seek};

use super::chunk::Sink;
use super::error::{CellErrorCode, TableError};
use super::index::AttributeIndex;
use super::intake::Intake;
use super::limits::Target;
use super::records::{place_columns, take_rows};
use super::row::{Fault, ReadSummary};
use super::schema::ExtraColumns;
use super::spill::Spill;
use super::subjects::SubjectKeys;
pub use scanned::{ColumnKind, ParquetScan, ScannedColumn};

use footer::{COLUMN_CHUNKS_MAX, Footer, Outline};
use form::Form;
use source::Source;
use transposed::{ParquetRows, PlacedColumn};

/// Line of what is wrong with the columns themselves.
const COLUMNS_LINE: u64 = 0;

/// Reads the records of a Parquet file to their end and yields them in chunks
/// to `sink`.
///
/// `room` takes the cells of one row group at a time; `subjects` and `sink`
/// are those of [`read_records`](super::read_records). Memory: what that one
/// takes, a footer of at most 4 MiB, and 40 MiB for the pages of one column.
///
/// # Errors
/// [`TableError::Cells`] lists what is wrong with columns and cells,
/// [`TableError::File`] says that it is no such file, [`TableError::Limit`]
/// that it would take more than an upload may.
pub fn read_parquet_records<F: Read + Seek + Send + 'static>(
    file: F,
    target: &Target<'_>,
    room: &mut dyn Spill,
    subjects: &mut SubjectKeys<'_>,
    sink: &mut Sink<'_>,
) -> Result<ReadSummary, TableError> {
    let mut intake = Intake::new(target, subjects)?;
    let source = Source::new(file)?;
    if let Some((footer, columns)) = open(&source, target, &mut intake)? {
        let width = columns.len();
        let mut order: Vec<usize> = (0..width).collect();
        // An attribute without a column stands behind all others.
        order.resize(target.schema.attributes().len(), 0);
        let mut rows = ParquetRows::new(source, footer, columns, (target.limits, room));
        let order = (order.as_slice(), width);
        take_rows(&mut rows, order, (target, sink), &mut intake)?;
    }
    intake.finish(sink)
}

/// The footer, and the column of each attribute in schema order; nothing
/// where the columns are at fault, which `intake` then knows.
fn open<F: Read + Seek + Send>(
    source: &Source<F>,
    target: &Target<'_>,
    intake: &mut Intake<'_, '_>,
) -> Result<Option<(Footer, Vec<PlacedColumn>)>, TableError> {
    let schema = target.schema;
    // Some more than the schema has, so that the answer can say how many.
    let columns_max = match schema.extra_columns() {
        ExtraColumns::Refuse => {
            schema.attributes().len() + schema.ignored() + TableError::LISTED_MAX
        }
        ExtraColumns::Ignore => COLUMN_CHUNKS_MAX,
    };
    let Some(outline) = Outline::read(source, columns_max)? else {
        let fault = Fault::of_line(COLUMNS_LINE, CellErrorCode::WrongCellCount);
        intake.fault(&fault);
        return Ok(None);
    };
    let names = outline.columns.iter().map(|column| column.name.as_slice());
    let Some(places) = place_columns(COLUMNS_LINE, names, schema, intake) else {
        return Ok(None);
    };
    let columns = outline.columns.iter().enumerate();
    let nested: Vec<usize> = columns
        .filter(|(_, column)| column.is_nested)
        .map(|(place, _)| place)
        .collect();
    if !nested.is_empty() {
        // The library's reading of a schema calls itself for each level of
        // nesting: what is not flat never gets there, no matter who needs it.
        let code = CellErrorCode::ColumnUnfit;
        for place in nested {
            let name = std::str::from_utf8(&outline.columns[place].name);
            intake.fault_of_column(COLUMNS_LINE, name.ok(), code);
        }
        return Ok(None);
    }
    let footer = Footer::read(source, &outline, target.limits.records_max)?;
    let mut columns = Vec::new();
    let mut unfit = Vec::new();
    for (at, (attribute, &place)) in schema.attributes().iter().zip(&places).enumerate() {
        if schema.has_no_column(AttributeIndex::from_usize(at)) {
            continue;
        }
        match Form::of(&footer.column(place)) {
            Some(form) if form.fits(attribute) => {
                let form = if attribute.format.leaves_out_time(schema.format()) {
                    form.of_days()
                } else {
                    form
                };
                columns.push(PlacedColumn { place, form });
            }
            _ => unfit.push(at),
        }
    }
    note_unfit(&unfit, intake);
    Ok(unfit.is_empty().then_some((footer, columns)))
}

/// Notes attributes whose columns cannot be theirs.
fn note_unfit(attributes: &[usize], intake: &mut Intake<'_, '_>) {
    for &at in attributes {
        let index = AttributeIndex::from_usize(at);
        let code = CellErrorCode::ColumnUnfit;
        intake.fault(&Fault::of_attribute(COLUMNS_LINE, index, code));
    }
}
