//! Arrow arrays back to cells, by way of the cells' text: whatever a batch
//! holds is judged by the same rules as CSV.

use arrow_array::cast::AsArray;
use arrow_array::types::{Date32Type, Float64Type, Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch};
use arrow_schema::SchemaRef;

use super::schema::{Axis, Shape, arrow_schema};
use crate::microdata::value_text::{date_text, decimal_text};
use crate::release::cell::{Cell, Item, OR_MISSING};
use crate::release::csv::ColumnReader;
use crate::release::error::{WireError, WireFault};
use crate::release::manifest::ColumnDescription;
use crate::release::table::PublishedTable;

/// Puts batches together to a published table.
pub(in crate::release) struct BatchReader<'a> {
    columns: &'a [ColumnDescription],
    schema: SchemaRef,
    readers: Vec<ColumnReader>,
    rows: u64,
}

impl<'a> BatchReader<'a> {
    /// A reader of a table with these columns.
    pub(in crate::release) fn new(columns: &'a [ColumnDescription]) -> Self {
        Self {
            columns,
            schema: arrow_schema(columns),
            readers: ColumnReader::all(columns),
            rows: 0,
        }
    }

    /// Takes the rows of a batch.
    ///
    /// # Errors
    /// `ColumnsDiffer` if the batch has other fields than the columns become;
    /// otherwise the first cell at fault, with its row.
    pub(in crate::release) fn batch(&mut self, batch: &RecordBatch) -> Result<(), WireError> {
        let expected = self.schema.fields().iter();
        let found = batch.schema_ref().fields().iter();
        let expected = expected.map(|field| (field.name(), field.data_type()));
        if !expected.eq(found.map(|field| (field.name(), field.data_type()))) {
            return Err(WireFault::ColumnsDiffer.into());
        }
        let mut arrays = batch.columns();
        let mut text = String::new();
        for (position, description) in self.columns.iter().enumerate() {
            let (texts, rest) = Texts::take(description, arrays);
            arrays = rest;
            let (before, readers) = self.readers.split_at_mut(position);
            for row in 0..batch.num_rows() {
                text.clear();
                let pushed = texts.write(row, &mut text);
                let pushed = pushed.and_then(|()| readers[0].push(text.as_bytes(), before));
                pushed.map_err(|fault| {
                    WireError::at(fault, self.rows + row as u64 + 1, &description.name)
                })?;
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The table called `name` of all rows.
    pub(in crate::release) fn finish(mut self, name: &str) -> PublishedTable {
        PublishedTable {
            name: name.into(),
            columns: self.readers.iter_mut().map(ColumnReader::take).collect(),
        }
    }
}

/// The arrays of one published column.
struct Texts<'a> {
    shape: Shape,
    values: &'a [ArrayRef],
    masked: Option<&'a BooleanArray>,
    missing: Option<&'a BooleanArray>,
}

impl<'a> Texts<'a> {
    /// Takes the column's arrays, which have the column's types, off the front.
    fn take(column: &ColumnDescription, arrays: &'a [ArrayRef]) -> (Self, &'a [ArrayRef]) {
        let shape = Shape::of(column);
        let (values, mut rest) = arrays.split_at(shape.width());
        let mut flags = |is_told: bool| {
            let (flags, behind) = rest.split_at_checked(usize::from(is_told))?;
            rest = behind;
            flags.first().map(|flags| flags.as_boolean())
        };
        let texts = Self {
            shape,
            values,
            masked: flags(shape.has_mask(column)),
            missing: flags(shape.tells_missing(column)),
        };
        (texts, rest)
    }

    /// Appends the text of a row's cell.
    fn write(&self, row: usize, out: &mut String) -> Result<(), WireFault> {
        let flag = |flags: Option<&BooleanArray>| match flags {
            None => Ok(false),
            Some(flags) if flags.is_valid(row) => Ok(flags.value(row)),
            Some(_) => Err(WireFault::Malformed),
        };
        let (masked, missing) = (flag(self.masked)?, flag(self.missing)?);
        let nulls = self.values.iter().filter(|array| array.is_null(row));
        let nulls = nulls.count();
        match (masked, nulls == self.values.len(), nulls) {
            (true, true, _) if !missing => out.push('*'),
            (false, true, _) if missing => Cell::missing().text(out),
            (false, true, _) => {}
            (false, false, 0) if missing && !matches!(self.shape, Shape::Values(_)) => {
                // Such a cell is written as the set of both.
                out.push_str(OR_MISSING);
                self.write_value(row, out)?;
                out.push('}');
            }
            (false, false, _) if missing => return Err(WireFault::Malformed),
            (false, false, nulls) if nulls + self.shape.filled() == self.values.len() => {
                self.write_value(row, out)?;
            }
            _ => return Err(WireFault::Malformed),
        }
        Ok(())
    }

    fn write_value(&self, row: usize, out: &mut String) -> Result<(), WireFault> {
        let first = &self.values[0];
        match self.shape {
            Shape::Number => {
                out.push_str(&first.as_primitive::<Int64Type>().value(row).to_string())
            }
            Shape::Point(axis) => out.push_str(&end_text(axis, first, row)),
            Shape::Interval(axis) => {
                let lo = end_text(axis, first, row);
                let hi = end_text(axis, &self.values[1], row);
                out.push_str(&lo);
                if lo != hi {
                    out.push_str("..");
                    out.push_str(&hi);
                }
            }
            Shape::Text => write_text(first, row, out)?,
            Shape::Values(kinds) => {
                for (axis, array) in kinds.axes().zip(self.values) {
                    match axis {
                        _ if array.is_null(row) => {}
                        Some(axis) => out.push_str(&end_text(axis, array, row)),
                        None => write_text(array, row, out)?,
                    }
                }
            }
            Shape::Set => {
                let list = first.as_list::<i32>().value(row);
                let labels = list.as_string::<i32>().iter();
                let labels: Option<Vec<String>> =
                    labels.map(|label| Some(label?.to_owned())).collect();
                let mut labels = labels.ok_or(WireFault::Malformed)?;
                match labels.len() {
                    0 => return Err(WireFault::Malformed),
                    1 => Cell::Label(labels.remove(0)).text(out),
                    _ => Cell::Set(labels).text(out),
                }
            }
            Shape::List => {
                let list = first.as_list::<i32>().value(row);
                let items = list.as_string::<i32>();
                let members: Option<Vec<Item>> =
                    items.iter().map(|text| Item::parse(text?)).collect();
                let members = members.filter(|members| !members.is_empty());
                Cell::Items(members.ok_or(WireFault::NotAFingerprint)?).text(out);
            }
        }
        Ok(())
    }
}

/// Appends a text of a dictionary.
fn write_text(array: &ArrayRef, row: usize, out: &mut String) -> Result<(), WireFault> {
    let dictionary = array.as_dictionary::<Int32Type>();
    let texts = dictionary.values().as_string::<i32>();
    let key = usize::try_from(dictionary.keys().value(row));
    let key = key.map_err(|_| WireFault::Malformed)?;
    // A null is how an empty cell is written.
    if key >= texts.len() || texts.is_null(key) || texts.value(key).is_empty() {
        return Err(WireFault::Malformed);
    }
    out.push_str(texts.value(key));
    Ok(())
}

fn end_text(axis: Axis, array: &ArrayRef, row: usize) -> String {
    match axis {
        Axis::Integer => array.as_primitive::<Int64Type>().value(row).to_string(),
        Axis::Decimal => decimal_text(array.as_primitive::<Float64Type>().value(row)),
        Axis::Date => date_text(array.as_primitive::<Date32Type>().value(row)),
    }
}
