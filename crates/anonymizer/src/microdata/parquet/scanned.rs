//! The columns of a Parquet file as they are, before there is a schema.
//!
//! The same order of distrust as with a schema: the footer, the pages, one
//! column of one row group at a time. What has no cells of ours is told and
//! read as empty.

use std::io::{Read, Seek};

use super::footer::{Footer, Outline};
use super::form::Form;
use super::source::Source;
use super::transposed::{ParquetRows, PlacedColumn};
use crate::microdata::csv::ScannedRow;
use crate::microdata::error::TableError;
use crate::microdata::limits::ReadLimits;
use crate::microdata::row::{Row, Rows};
use crate::microdata::spill::Spill;

/// What the cells of a column are by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Texts.
    Text,
    /// Whole numbers.
    Whole,
    /// Numbers with digits behind the point.
    Decimal,
    /// Floats.
    Real,
    /// Days.
    Day,
    /// Times, which stand for their days.
    Moment,
    /// No cells: truth values, times of day, bytes.
    Unread,
}

/// A column of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScannedColumn {
    /// Its name; empty where it is no text.
    pub name: String,
    /// What its cells are.
    pub kind: ColumnKind,
}

/// A Parquet file whose footer was read.
pub struct ParquetScan<F> {
    source: Source<F>,
    footer: Footer,
    limits: ReadLimits,
    /// The columns in the order of the file.
    pub columns: Vec<ScannedColumn>,
    /// The columns that have cells.
    placed: Vec<PlacedColumn>,
}

impl<F: Read + Seek + Send + 'static> ParquetScan<F> {
    /// Reads the footer of a file of at most `columns_max` columns.
    ///
    /// # Errors
    /// [`TableError::File`] where it is no such file or has nested columns,
    /// [`TableError::Limit`] where it is too large.
    pub fn open(file: F, limits: ReadLimits, columns_max: usize) -> Result<Self, TableError> {
        let source = Source::new(file)?;
        let Some(outline) = Outline::read(&source, columns_max)? else {
            return Err(TableError::Limit("the file has too many columns"));
        };
        if outline.columns.iter().any(|column| column.is_nested) {
            return Err(TableError::File(
                "has columns of lists or groups, which are no cells: write it without them",
            ));
        }
        let footer = Footer::read(&source, &outline, limits.records_max)?;
        let (mut columns, mut placed) = (Vec::new(), Vec::new());
        for (place, column) in outline.columns.into_iter().enumerate() {
            let form = Form::of(&footer.column(place)).map(Form::of_days);
            columns.push(ScannedColumn {
                name: String::from_utf8(column.name).unwrap_or_default(),
                kind: form.map_or(ColumnKind::Unread, Form::kind),
            });
            placed.extend(form.map(|form| PlacedColumn { place, form }));
        }
        Ok(Self {
            source,
            footer,
            limits,
            columns,
            placed,
        })
    }

    /// Parts that the records are written in.
    pub fn row_groups(&self) -> usize {
        self.footer.row_groups()
    }

    /// Hands the records to `each` until it says false, with a cell for each
    /// column; `room` takes the cells of one row group at a time.
    ///
    /// # Errors
    /// [`TableError::File`] where pages cannot be read, [`TableError::Limit`]
    /// where they take too much.
    pub fn rows(
        self,
        room: &mut dyn Spill,
        each: &mut dyn FnMut(ScannedRow<'_>) -> bool,
    ) -> Result<(), TableError> {
        let places: Vec<usize> = self.placed.iter().map(|column| column.place).collect();
        let at_of = |place| places.binary_search(&place).ok();
        let cells: Vec<Option<usize>> = (0..self.columns.len()).map(at_of).collect();
        let mut rows = ParquetRows::new(self.source, self.footer, self.placed, (self.limits, room));
        loop {
            match rows.next_row()? {
                Row::Cells(line) => {
                    let empty: &[u8] = &[];
                    let cells = cells.iter();
                    let mut cells = cells.map(|at| at.map_or(empty, |at| rows.cell(at)));
                    if !each(ScannedRow::Cells(line, &mut cells)) {
                        return Ok(());
                    }
                }
                Row::Fault(_) | Row::Stop(_) => {
                    return Err(TableError::File(
                        "has pages that cannot be read, or are written in a way that is not read here",
                    ));
                }
                Row::End => return Ok(()),
            }
        }
    }
}
