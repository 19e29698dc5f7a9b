//! Cells to Arrow arrays. Each distinct cell is looked at once; a row is a
//! look-up of its code.

use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::SchemaRef;

use super::schema::{Axis, Shape, item_field};
use crate::microdata::Codes;
use crate::release::cell::Cell;
use crate::release::error::{WireError, WireFault};
use crate::release::manifest::ColumnDescription;
use crate::release::table::{Cells, PublishedColumn, PublishedTable};

/// The rows of `table`, whose dictionaries are canonical, as one batch.
///
/// # Errors
/// `ColumnsDiffer` if the table does not have these columns, `CellUnfit` for
/// a cell that its column cannot hold.
pub(in crate::release) fn record_batch(
    table: &PublishedTable,
    columns: &[ColumnDescription],
    schema: &SchemaRef,
) -> Result<RecordBatch, WireError> {
    let mut arrays = Vec::with_capacity(schema.fields().len());
    for (description, column) in columns.iter().zip(&table.columns) {
        let shape = Shape::of(description);
        let unfit = |fault| WireError::column(fault, &description.name);
        column_arrays(shape, column, &mut arrays).map_err(unfit)?;
        let masked = rows_of(column, |cell| *cell == Cell::Masked);
        if shape.has_mask(description) {
            arrays.push(Arc::new(BooleanArray::from(masked)));
        } else if shape != Shape::Text && masked.contains(&true) {
            return Err(unfit(WireFault::CellUnfit));
        }
        let missing = rows_of(column, |cell| {
            cell.is_missing() || matches!(cell, Cell::OrMissing(_))
        });
        if shape.tells_missing(description) {
            arrays.push(Arc::new(BooleanArray::from(missing)));
        } else if matches!(shape, Shape::Interval(_) | Shape::Point(_)) && missing.contains(&true) {
            return Err(unfit(WireFault::CellUnfit));
        }
    }
    RecordBatch::try_new(Arc::clone(schema), arrays).map_err(|_| WireFault::ColumnsDiffer.into())
}

fn column_arrays(
    shape: Shape,
    column: &PublishedColumn,
    arrays: &mut Vec<ArrayRef>,
) -> Result<(), WireFault> {
    let (codes, cells) = match (&column.cells, shape) {
        (Cells::Numbers(numbers), Shape::Number) => {
            arrays.push(number_array(numbers)?);
            return Ok(());
        }
        (Cells::Dictionary { codes, cells }, _) if shape != Shape::Number => (codes, cells),
        _ => return Err(WireFault::CellUnfit),
    };
    match shape {
        Shape::Number => {}
        Shape::Interval(axis) => {
            let ends = cells.iter().map(ends).collect::<Result<Vec<_>, _>>()?;
            arrays.push(axis_array(axis, codes, &ends, |ends| ends.0)?);
            arrays.push(axis_array(axis, codes, &ends, |ends| ends.1)?);
        }
        Shape::Point(axis) => {
            if cells.iter().any(|cell| matches!(cell, Cell::OrMissing(_))) {
                return Err(WireFault::CellUnfit);
            }
            let ends = cells.iter().map(ends).collect::<Result<Vec<_>, _>>()?;
            if ends.iter().flatten().any(|(lo, hi)| lo != hi) {
                return Err(WireFault::CellUnfit);
            }
            arrays.push(axis_array(axis, codes, &ends, |ends| ends.0)?);
        }
        Shape::Text => arrays.push(text_array(codes, cells)?),
        Shape::List => arrays.push(list_array(codes, cells)?),
    }
    Ok(())
}

fn number_array(numbers: &[u64]) -> Result<ArrayRef, WireFault> {
    let number = |&number: &u64| match number {
        0 => Ok(None),
        _ => i64::try_from(number).map(Some),
    };
    let numbers = numbers.iter().map(number).collect::<Result<Vec<_>, _>>();
    let numbers = numbers.map_err(|_| WireFault::CellUnfit)?;
    Ok(Arc::new(Int64Array::from(numbers)))
}

/// One end of a numeric cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Integer(i64),
    Decimal(f64),
    Date(i32),
}

/// Both ends of a numeric cell; none where it is empty, masked or missing.
fn ends(cell: &Cell) -> Result<Option<(Number, Number)>, WireFault> {
    match *cell {
        Cell::Empty | Cell::Masked => Ok(None),
        Cell::Label(_) if cell.is_missing() => Ok(None),
        Cell::OrMissing(ref interval) => ends(interval),
        Cell::Integer(lo, hi) => Ok(Some((Number::Integer(lo), Number::Integer(hi)))),
        Cell::Decimal(lo, hi) => Ok(Some((Number::Decimal(lo), Number::Decimal(hi)))),
        Cell::Date(lo, hi) => Ok(Some((Number::Date(lo), Number::Date(hi)))),
        Cell::Label(_) | Cell::Set(_) | Cell::Items(_) => Err(WireFault::CellUnfit),
    }
}

type Ends = Option<(Number, Number)>;

fn axis_array(
    axis: Axis,
    codes: &Codes,
    ends: &[Ends],
    pick: impl Fn((Number, Number)) -> Number,
) -> Result<ArrayRef, WireFault> {
    /// One native value per row, from one per distinct cell.
    fn gather<T: Copy>(
        codes: &Codes,
        ends: &[Ends],
        native: impl Fn((Number, Number)) -> Option<T>,
    ) -> Result<Vec<Option<T>>, WireFault> {
        let distinct = |ends: &Ends| match *ends {
            None => Ok(None),
            Some(ends) => native(ends).map(Some).ok_or(WireFault::CellUnfit),
        };
        let distinct = ends.iter().map(distinct).collect::<Result<Vec<_>, _>>()?;
        Ok(codes.iter().map(|code| distinct[code as usize]).collect())
    }
    Ok(match axis {
        Axis::Integer => Arc::new(Int64Array::from(gather(codes, ends, |both| {
            match pick(both) {
                Number::Integer(value) => Some(value),
                _ => None,
            }
        })?)),
        Axis::Decimal => Arc::new(Float64Array::from(gather(
            codes,
            ends,
            |both| match pick(both) {
                Number::Decimal(value) => Some(value),
                _ => None,
            },
        )?)),
        Axis::Date => Arc::new(Date32Array::from(gather(codes, ends, |both| {
            match pick(both) {
                Number::Date(value) => Some(value),
                _ => None,
            }
        })?)),
    })
}

fn text_array(codes: &Codes, cells: &[Cell]) -> Result<ArrayRef, WireFault> {
    let mut keys = Vec::with_capacity(cells.len());
    let mut texts = Vec::with_capacity(cells.len());
    for cell in cells {
        let mut text = String::new();
        cell.text(&mut text);
        if text.is_empty() {
            keys.push(None);
        } else {
            let key = i32::try_from(texts.len()).map_err(|_| WireFault::CellUnfit)?;
            keys.push(Some(key));
            texts.push(text);
        }
    }
    let keys: Int32Array = codes.iter().map(|code| keys[code as usize]).collect();
    let texts = StringArray::from_iter_values(texts);
    let array = DictionaryArray::try_new(keys, Arc::new(texts));
    Ok(Arc::new(array.map_err(|_| WireFault::CellUnfit)?))
}

fn list_array(codes: &Codes, cells: &[Cell]) -> Result<ArrayRef, WireFault> {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item_field());
    for code in codes {
        match &cells[code as usize] {
            Cell::Empty | Cell::Masked => lists.append_null(),
            Cell::Items(items) => {
                for item in items {
                    lists.values().append_value(item.text());
                }
                lists.append(true);
            }
            _ => return Err(WireFault::CellUnfit),
        }
    }
    Ok(Arc::new(lists.finish()))
}

/// For each row whether its cell is one of those sought.
fn rows_of(column: &PublishedColumn, sought: impl Fn(&Cell) -> bool) -> Vec<bool> {
    match &column.cells {
        Cells::Numbers(_) => Vec::new(),
        Cells::Dictionary { codes, cells } => {
            let sought: Vec<bool> = cells.iter().map(sought).collect();
            codes.iter().map(|code| sought[code as usize]).collect()
        }
    }
}
