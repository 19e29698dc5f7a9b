//! A part of CSV: one table, whose columns its header names.

use super::Gather;
use crate::microdata::cell::trimmed;
use crate::microdata::csv::CsvRows;
use crate::microdata::error::{CellErrorCode, TableError};
use crate::microdata::hint::Hint;
use crate::microdata::index::AttributeIndex;
use crate::microdata::intake::Intake;
use crate::microdata::parts::Part;
use crate::microdata::row::{Fault, LinePosition, Row, Rows};

/// A table, and the columns of its subject key and its attributes.
type Placed = (usize, Vec<usize>);

impl Gather<'_, '_> {
    pub(super) fn take_csv(
        &mut self,
        part: Part<'_>,
        intake: &mut Intake<'_, '_>,
    ) -> Result<(), TableError> {
        let format = self.schema().format();
        let bytes_max = self.target.limits.record_bytes_max;
        let mut rows = CsvRows::in_dialect(part.input, format, bytes_max)?;
        let Some((table, columns)) = self.read_header(&mut rows, part.name, intake)? else {
            self.lost.parts = true;
            return Ok(());
        };
        let width = rows.width();
        loop {
            let fault = match rows.next_row()? {
                Row::Cells(line) if rows.width() != width => {
                    Fault::cell_count(line, rows.width(), width)
                }
                Row::Cells(line) => {
                    let cells = columns.iter().map(|&column| (rows.cell(column), true));
                    if !self.keep((table, line), cells, intake)? {
                        return Ok(());
                    }
                    continue;
                }
                Row::Fault(fault) => self.placed(fault, (table, &columns)),
                Row::Stop(fault) => {
                    self.lose(table);
                    self.fault(fault, intake);
                    return Ok(());
                }
                Row::End => return Ok(()),
            };
            self.lose(table);
            self.fault(fault, intake);
        }
    }

    /// The fault with the attribute whose cell it stands in.
    fn placed(&self, mut fault: Fault, (table, columns): (usize, &[usize])) -> Fault {
        if let Some(LinePosition::Cell(cell)) = fault.place {
            let nth = columns.iter().position(|&column| column + 1 == cell);
            fault.attribute = nth.and_then(|nth| self.attribute(table, nth));
        }
        fault
    }

    /// The attribute of the nth cell of a table's rows.
    fn attribute(&self, table: usize, nth: usize) -> Option<AttributeIndex> {
        match nth.checked_sub(1) {
            None => Some(self.schema().subject_key()),
            Some(nth) => Some(self.plan.tables[table].attributes.get(nth)?.0),
        }
    }

    /// Reads the header: the table and its columns, or nothing if the header is
    /// at fault.
    fn read_header(
        &mut self,
        rows: &mut impl Rows,
        name: Option<&str>,
        intake: &mut Intake<'_, '_>,
    ) -> Result<Option<Placed>, TableError> {
        let line = match rows.next_row()? {
            Row::Cells(line) => line,
            Row::Fault(fault) | Row::Stop(fault) => {
                self.fault(fault, intake);
                return Ok(None);
            }
            Row::End => 1,
        };
        let names: Vec<&[u8]> = (0..rows.width()).map(|at| rows.cell(at)).collect();
        if let Some(first) = names.first()
            && let Some(hint) = Hint::of_header(first, names.len())
        {
            intake.hint(hint);
        }
        if self.plan.is_mapped {
            let Some(table) = name.and_then(|name| self.plan.find(name)) else {
                return Err(TableError::Parts(format!(
                    "part {} is CSV, and is called as no table of the mapping",
                    self.part
                )));
            };
            self.plan.tables[table].is_brought = true;
            let columns = self.mapped_columns(line, (table, &names), intake);
            return Ok(columns.map(|columns| (table, columns)));
        }
        self.own_columns(line, &names, intake)
    }

    /// The columns that the mapping names; others are read past.
    fn mapped_columns(
        &mut self,
        line: u64,
        (table, names): (usize, &[&[u8]]),
        intake: &mut Intake<'_, '_>,
    ) -> Option<Vec<usize>> {
        let places: Vec<_> = {
            let places = self.plan.tables[table].places();
            places
                .map(|(index, place)| (index, place.column.clone()))
                .collect()
        };
        let mut columns = Vec::with_capacity(places.len());
        for (index, column) in &places {
            let is_it = |name: &&[u8]| trimmed(name) == column.as_bytes();
            let code = match names.iter().filter(|name| is_it(name)).count() {
                1 => {
                    columns.extend(names.iter().position(is_it));
                    continue;
                }
                0 => CellErrorCode::AttributeMissing,
                _ => CellErrorCode::AttributeRepeated,
            };
            let index = index.unwrap_or(self.schema().subject_key());
            self.fault(Fault::of_attribute(line, index, code), intake);
        }
        if columns.is_empty() && !intake.has_hint() {
            intake.hint(Hint::NoHeader);
        }
        (columns.len() == places.len()).then_some(columns)
    }

    /// The columns of a part without a mapping: the subject key and attributes
    /// of the schema, each of which stands in one part alone.
    fn own_columns(
        &mut self,
        line: u64,
        names: &[&[u8]],
        intake: &mut Intake<'_, '_>,
    ) -> Result<Option<Placed>, TableError> {
        let schema = self.schema();
        let elsewhere = self.plan.places(schema);
        let mut key = None;
        let mut attributes = Vec::new();
        let mut columns = Vec::new();
        let mut is_sound = true;
        for (column, name) in names.iter().enumerate() {
            let text = std::str::from_utf8(name).ok();
            // Space around a name is no part of it, unless the schema says so.
            let find = |name: &str| schema.find(name).or_else(|| schema.find(name.trim()));
            let fault = match text.and_then(find) {
                Some(index) if index == schema.subject_key() && key.is_none() => {
                    key = Some(column);
                    continue;
                }
                Some(index)
                    if index != schema.subject_key()
                        && elsewhere[index.at()].is_none()
                        && !attributes.contains(&index) =>
                {
                    attributes.push(index);
                    columns.push(column);
                    continue;
                }
                Some(index) => Fault::of_attribute(line, index, CellErrorCode::AttributeRepeated),
                None if schema.reads_past(name) || schema.reads_past(trimmed(name)) => continue,
                // No text of the header: it may be a record.
                None => Fault {
                    place: Some(LinePosition::Cell(column + 1)),
                    ..Fault::of_line(line, CellErrorCode::AttributeUnknown)
                },
            };
            is_sound = false;
            self.fault(fault, intake);
        }
        let Some(key) = key else {
            let code = CellErrorCode::AttributeMissing;
            self.fault(
                Fault::of_attribute(line, schema.subject_key(), code),
                intake,
            );
            if attributes.is_empty() && !intake.has_hint() {
                intake.hint(Hint::NoHeader);
            }
            return Ok(None);
        };
        if !is_sound && attributes.is_empty() {
            return Ok(None);
        }
        let table = self.plan.add_of_header(self.part, &attributes, schema)?;
        self.plan.refuse_two_of_many()?;
        columns.insert(0, key);
        Ok(is_sound.then_some((table, columns)))
    }
}
