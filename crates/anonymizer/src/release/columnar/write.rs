//! Cells to Arrow arrays. Each distinct cell is looked at once; a row is a
//! look-up of its code.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::SchemaRef;

use super::schema::{Axis, Kinds, Shape, item_field};
use crate::microdata::{AttributeType, Codes};
use crate::release::cell::Cell;
use crate::release::error::{WireError, WireFault};
use crate::release::manifest::ColumnDescription;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

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
    for (position, (description, column)) in columns.iter().zip(&table.columns).enumerate() {
        let shape = Shape::of(description);
        let unfit = |fault| WireError::column(fault, &description.name);
        let numbers = match shape {
            Shape::Values(_) => of_numbers(&table.columns[..position], &description.types),
            _ => Vec::new(),
        };
        if let Shape::Values(kinds) = shape {
            value_arrays(kinds, column, &numbers, &mut arrays).map_err(unfit)?;
        } else {
            column_arrays(shape, column, &mut arrays).map_err(unfit)?;
        }
        let masked = rows_of(column, |cell| *cell == Cell::Masked);
        if shape.has_mask(description) {
            arrays.push(Arc::new(BooleanArray::from(masked)));
        } else if shape != Shape::Text && masked.contains(&true) {
            return Err(unfit(WireFault::CellUnfit));
        }
        let mut missing = rows_of(column, |cell| {
            cell.is_missing() || matches!(cell, Cell::OrMissing(_))
        });
        for (missing, is_number) in missing.iter_mut().zip(&numbers) {
            *missing &= is_number;
        }
        if shape.tells_missing(description) {
            arrays.push(Arc::new(BooleanArray::from(missing)));
        } else if shape.has_numbers() && missing.contains(&true) {
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
        Shape::Number | Shape::Values(_) => {}
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
        Shape::Set => arrays.push(set_array(codes, cells)?),
    }
    Ok(())
}

/// For each row whether the attribute that it names, in the column of attributes
/// before its value, has numbers or dates.
fn of_numbers(before: &[PublishedColumn], types: &BTreeMap<String, AttributeType>) -> Vec<bool> {
    let mut columns = before.iter();
    let attribute = columns.rfind(|column| column.content == Content::Attribute);
    let is_number = |cell: &Cell| match cell {
        Cell::Label(name) => types
            .get(name)
            .is_some_and(|&kind| kind != AttributeType::Categorical),
        _ => false,
    };
    attribute.map_or_else(Vec::new, |attribute| rows_of(attribute, is_number))
}

/// Values of attributes of several types; `numbers` tells rows of numbers and
/// dates, whose missing values are no texts.
fn value_arrays(
    kinds: Kinds,
    column: &PublishedColumn,
    numbers: &[bool],
    arrays: &mut Vec<ArrayRef>,
) -> Result<(), WireFault> {
    let Cells::Dictionary { codes, cells } = &column.cells else {
        return Err(WireFault::CellUnfit);
    };
    let is_text = |cell: &Cell| matches!(cell, Cell::Label(_) | Cell::Set(_) | Cell::Items(_));
    let is_told = |row: usize, cell: &Cell| !(cell.is_missing() && numbers.get(row) == Some(&true));
    let is_exact = |cell: &Cell| match cell {
        Cell::Integer(lo, hi) => lo == hi,
        Cell::Decimal(lo, hi) => lo == hi,
        Cell::Date(lo, hi) => lo == hi,
        Cell::OrMissing(_) => false,
        _ => true,
    };
    let has_texts = kinds.axes().any(|axis| axis.is_none());
    if cells.iter().any(|cell| !is_exact(cell)) {
        return Err(WireFault::CellUnfit);
    }
    for axis in kinds.axes() {
        arrays.push(match axis {
            Some(axis) => {
                let of_axis = |cell: &Cell| match (axis, cell) {
                    (Axis::Integer, Cell::Integer(..))
                    | (Axis::Decimal, Cell::Decimal(..))
                    | (Axis::Date, Cell::Date(..)) => ends(cell),
                    _ => Ok(None),
                };
                let ends = cells.iter().map(of_axis).collect::<Result<Vec<_>, _>>()?;
                axis_array(axis, codes, &ends, |ends| ends.0)?
            }
            None => text_array_where(codes, cells, (is_text, is_told))?,
        });
    }
    // A text without a field for it would be lost.
    let mut rows = codes.iter().enumerate();
    let is_lost = |(row, code): (usize, u32)| {
        let cell = &cells[code as usize];
        is_text(cell) && is_told(row, cell)
    };
    if !has_texts && rows.any(is_lost) {
        return Err(WireFault::CellUnfit);
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
    text_array_where(codes, cells, (|_| true, |_, _| true))
}

/// The texts of cells that `is_text`, in rows where `is_told` says so; null
/// elsewhere.
fn text_array_where(
    codes: &Codes,
    cells: &[Cell],
    (is_text, is_told): (impl Fn(&Cell) -> bool, impl Fn(usize, &Cell) -> bool),
) -> Result<ArrayRef, WireFault> {
    let mut keys = Vec::with_capacity(cells.len());
    let mut texts = Vec::with_capacity(cells.len());
    for cell in cells {
        let mut text = String::new();
        cell.text(&mut text);
        if text.is_empty() || !is_text(cell) {
            keys.push(None);
        } else {
            let key = i32::try_from(texts.len()).map_err(|_| WireFault::CellUnfit)?;
            keys.push(Some(key));
            texts.push(text);
        }
    }
    let keys = codes.iter().enumerate().map(|(row, code)| {
        let code = code as usize;
        keys[code].filter(|_| is_told(row, &cells[code]))
    });
    let keys: Int32Array = keys.collect();
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

/// The categories that each row may have.
fn set_array(codes: &Codes, cells: &[Cell]) -> Result<ArrayRef, WireFault> {
    let mut lists = ListBuilder::new(StringBuilder::new()).with_field(item_field());
    for code in codes {
        match &cells[code as usize] {
            Cell::Empty | Cell::Masked => lists.append_null(),
            Cell::Label(label) => {
                lists.values().append_value(label);
                lists.append(true);
            }
            Cell::Set(labels) => {
                labels
                    .iter()
                    .for_each(|label| lists.values().append_value(label));
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
