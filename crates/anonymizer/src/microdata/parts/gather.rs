//! Reads the parts, whatever their order, and keeps their rows.
//!
//! A part of CSV is one table; a line of NDJSON is a resource, whose type says
//! of which table it is. Nothing is joined here: a row is looked at for its form
//! and its subject alone, and kept as it is written. A resource that nobody
//! mapped is counted by its type.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Part;
use super::key::Keys;
use super::mapping::Plan;
use super::resources::counted_as;
use super::room::{Room, Sealed, SubjectRows};
use crate::microdata::attribute::{AttributeType, Role};
use crate::microdata::error::{CellErrorCode, Reason, TableError};
use crate::microdata::index::AttributeIndex;
use crate::microdata::intake::Intake;
use crate::microdata::json_shape::{json_shape, repeated_member};
use crate::microdata::limits::Target;
use crate::microdata::lines::{Line, Lines};
use crate::microdata::records::RecordFormat;
use crate::microdata::row::{Fault, LinePosition, line_in_part};
use crate::microdata::schema::Schema;
use crate::microdata::spill::Spill;

mod csv;

/// The rows of all parts.
pub(super) struct Gathered<'t, 'r> {
    pub plan: Plan,
    pub keys: Keys<'t>,
    /// For each table of one row a subject, its rows.
    pub subjects: Vec<SubjectRows>,
    pub room: Sealed<'r>,
    /// Resources that nobody mapped.
    pub others: BTreeMap<&'static str, u64>,
    /// What could not be read.
    pub lost: Lost,
}

/// What could not be read: what then seems wrong may be a consequence.
#[derive(Clone, Copy, Default)]
pub(super) struct Lost {
    /// Rows of tables of one row a subject: who is unknown may stand there.
    pub subjects: bool,
    /// Any rows: who has no other may have had them.
    pub rows: bool,
    /// Whole parts, whose header is at fault.
    pub parts: bool,
}

/// Reads parts.
pub(super) struct Gather<'t, 'r> {
    target: Target<'t>,
    plan: Plan,
    keys: Keys<'t>,
    subjects: Vec<SubjectRows>,
    room: Room<'r>,
    others: BTreeMap<&'static str, u64>,
    lost: Lost,
    /// Number of the part at hand, from 1.
    part: u32,
}

impl<'t, 'r> Gather<'t, 'r> {
    /// No row yet.
    pub fn new(
        (plan, keys): (Plan, Keys<'t>),
        target: &Target<'t>,
        spill: &'r mut dyn Spill,
    ) -> Self {
        Self {
            target: *target,
            plan,
            keys,
            subjects: Vec::new(),
            room: Room::new(spill),
            others: BTreeMap::new(),
            lost: Lost::default(),
            part: 0,
        }
    }

    fn schema(&self) -> &'t Schema {
        self.target.schema
    }

    /// Reads a part to its end, or to where nothing behind can be read.
    pub fn take(
        &mut self,
        number: u32,
        part: Part<'_>,
        intake: &mut Intake<'_, '_>,
    ) -> Result<(), TableError> {
        self.part = number;
        match part.format {
            RecordFormat::Csv => self.take_csv(part, intake),
            RecordFormat::Ndjson => self.take_ndjson(part, intake),
        }
    }

    /// The rows; nothing where it is known of no table what it is.
    pub fn finish(
        mut self,
        intake: &mut Intake<'_, '_>,
    ) -> Result<Option<Gathered<'t, 'r>>, TableError> {
        if !self.is_whole(intake)? {
            return Ok(None);
        }
        let room = self.room.sealed()?;
        self.subjects
            .resize_with(self.plan.tables.len(), SubjectRows::default);
        let mut repeated = Vec::new();
        for rows in &mut self.subjects {
            rows.close(&mut |offset| repeated.push(offset));
        }
        repeated.sort_unstable();
        let mut pages = super::room::Pages::anywhere();
        let mut row = super::room::PackedRow::default();
        for offset in repeated {
            pages.read(&room, offset, (None, &mut row))?;
            let key = self.target.schema.subject_key();
            let code = CellErrorCode::DuplicateSubject;
            intake.fault(&Fault::of_attribute(row.line, key, code));
        }
        Ok(Some(Gathered {
            plan: self.plan,
            keys: self.keys,
            subjects: self.subjects,
            room,
            others: self.others,
            lost: self.lost,
        }))
    }

    /// Whether there is a table for each attribute. What a mapping names and
    /// nobody brought is an error: all of its values would be missing.
    fn is_whole(&self, intake: &mut Intake<'_, '_>) -> Result<bool, TableError> {
        if self.plan.is_mapped {
            let absent = self.plan.tables.iter().find(|table| !table.is_brought);
            return match absent {
                None => Ok(!self.lost.parts),
                Some(_) if !intake.is_sound() => Ok(false),
                Some(table) => Err(TableError::Parts(format!(
                    "table `{}` of the mapping came in no part: send it, or use a mapping without it",
                    table.name
                ))),
            };
        }
        let mut is_whole = !self.plan.tables.is_empty() && !self.lost.parts;
        let places = self.plan.places(self.schema());
        for (at, place) in places.iter().enumerate() {
            let index = AttributeIndex::from_usize(at);
            if place.is_none() && index != self.schema().subject_key() {
                let code = CellErrorCode::AttributeMissing;
                intake.fault(&Fault::of_attribute(0, index, code));
                is_whole = false;
            }
        }
        Ok(is_whole)
    }

    /// Notes what is wrong with a line of the part at hand.
    fn fault(&mut self, mut fault: Fault, intake: &mut Intake<'_, '_>) {
        fault.line = line_in_part(self.part, fault.line);
        intake.fault(&fault);
    }

    /// A row of a table is lost.
    fn lose(&mut self, table: usize) {
        self.lost.rows = true;
        self.lost.subjects |= !self.plan.tables[table].has_many();
    }

    /// A row of a table that nobody knows is lost.
    fn lose_any(&mut self) {
        self.lost.rows = true;
        self.lost.subjects = true;
    }

    /// Keeps a row, whose first cell is the subject's key; whether another one
    /// may come.
    fn keep<'c>(
        &mut self,
        (table, line): (usize, u64),
        cells: impl Iterator<Item = (&'c [u8], bool)> + Clone,
        intake: &mut Intake<'_, '_>,
    ) -> Result<bool, TableError> {
        // Longer ones are refused when they are joined, and take no room until then.
        let most = self.target.limits.cell_bytes_max;
        let cells = cells.map(move |(cell, is_written)| (shortened(cell, most), is_written));
        let has_many = self.plan.tables[table].has_many();
        self.plan.tables[table].read += 1;
        let at = (table, line_in_part(self.part, line));
        if has_many {
            self.room.push(at, cells)?;
            return Ok(true);
        }
        if self.subjects.len() <= table {
            self.subjects.resize_with(table + 1, SubjectRows::default);
        }
        let kept: usize = self.subjects.iter().map(SubjectRows::len).sum();
        if kept as u64 >= self.target.limits.records_max {
            self.lose(table);
            let code = CellErrorCode::TooManyRecords;
            self.fault(Fault::of_line(line, code), intake);
            return Ok(false);
        }
        let key = cells.clone().next();
        match key.and_then(|(cell, is_written)| self.keys.hash(cell, is_written)) {
            Some(hash) => {
                let offset = self.room.push(at, cells)?;
                self.subjects[table].add(hash, offset);
            }
            None => {
                self.lose(table);
                let key = self.schema().subject_key();
                let fault = Fault::of_attribute(line, key, CellErrorCode::Missing);
                self.fault(fault, intake);
            }
        }
        Ok(true)
    }

    fn take_ndjson(
        &mut self,
        part: Part<'_>,
        intake: &mut Intake<'_, '_>,
    ) -> Result<(), TableError> {
        if !self.plan.is_mapped {
            return Err(TableError::Parts(format!(
                "part {} is NDJSON: a mapping has to say where attributes stand in it",
                self.part
            )));
        }
        let named = part.name.and_then(|name| self.plan.find(name));
        let limits = self.target.limits;
        let mut lines = Lines::new(part.input, limits.record_bytes_max)?;
        loop {
            let line = match lines.next_line()? {
                Line::Here(line) => line,
                Line::TooLong(line) => {
                    self.lose_any();
                    let code = CellErrorCode::RecordTooLong;
                    self.fault(Fault::of_line(line, code), intake);
                    return Ok(());
                }
                Line::End => return Ok(()),
            };
            let resource = match parsed(line, lines.bytes(), limits.json_depth_max) {
                Ok(resource) => resource,
                Err(fault) => {
                    self.lose_any();
                    self.fault(fault, intake);
                    continue;
                }
            };
            let table = match resource.get("resourceType") {
                Some(Value::String(kind)) => match self
                    .plan
                    .tables
                    .iter()
                    .position(|table| table.name == *kind)
                {
                    Some(table) => table,
                    None => {
                        *self.others.entry(counted_as(kind)).or_default() += 1;
                        continue;
                    }
                },
                None if named.is_some() => named.unwrap_or_default(),
                _ => {
                    let how = "no resourceType, in a part that is called as no table";
                    self.lose_any();
                    self.fault(Fault::malformed(line, LinePosition::Byte(1), how), intake);
                    continue;
                }
            };
            if !self.take_resource((table, line), &resource, intake)? {
                return Ok(());
            }
        }
    }

    /// Keeps the row that a resource gives; whether another one may come.
    fn take_resource(
        &mut self,
        (table, line): (usize, u64),
        resource: &Value,
        intake: &mut Intake<'_, '_>,
    ) -> Result<bool, TableError> {
        self.plan.tables[table].is_brought = true;
        let plan = &self.plan.tables[table];
        let key = self.target.schema.subject_key();
        let mut cells = Vec::with_capacity(plan.attributes.len() + 1);
        let mut faults = Vec::new();
        let mut is_unknown = false;
        for (nth, (index, place)) in plan.places().enumerate() {
            let index = index.unwrap_or(key);
            let found = match plan.path_of(place, nth)?.find(resource) {
                Ok(Some(found)) if found.is_inexact && is_text(self.target.schema, index) => {
                    Err("a number with a fraction or of many digits where text is due")
                }
                found => found,
            };
            match found {
                Ok(Some(found)) => {
                    let kind = found.refers_to.as_deref();
                    is_unknown |=
                        nth == 0 && kind.is_some_and(|kind| !self.plan.is_subject_type(kind));
                    let most = self.target.limits.cell_bytes_max;
                    let text = match shortened(found.text.as_bytes(), most) {
                        all if all.len() == found.text.len() => found.text,
                        cut => String::from_utf8_lossy(cut).into_owned(),
                    };
                    cells.push((text, found.is_string));
                }
                Ok(None) => cells.push((String::new(), false)),
                Err(how) => faults.push(Fault {
                    reason: Some(Reason::Said(how)),
                    ..Fault::of_attribute(line, index, CellErrorCode::Malformed)
                }),
            }
        }
        if is_unknown && faults.is_empty() {
            self.plan.tables[table].read += 1;
            self.plan.tables[table].unknown += 1;
            if !self.plan.drops_unknown {
                faults.push(Fault::of_attribute(
                    line,
                    key,
                    CellErrorCode::SubjectUnknown,
                ));
            }
        } else if faults.is_empty() {
            let cells = cells.iter();
            let cells = cells.map(|(text, is_string)| (text.as_bytes(), *is_string));
            return self.keep((table, line), cells, intake);
        } else {
            self.lose(table);
        }
        for fault in faults {
            self.fault(fault, intake);
        }
        Ok(true)
    }
}

/// A cell, or of one that is too long as much as shows that.
fn shortened(cell: &[u8], most: usize) -> &[u8] {
    if cell.len() <= most {
        return cell;
    }
    let cell = cell.trim_ascii();
    &cell[..cell.len().min(most + 1)]
}

/// Whether the values of an attribute are texts, of which every digit counts.
fn is_text(schema: &Schema, index: AttributeIndex) -> bool {
    let attribute = schema.attribute(index);
    attribute.role == Role::Identifier || attribute.kind == Some(AttributeType::Categorical)
}

/// The object on a line.
fn parsed(line: u64, bytes: &[u8], json_depth_max: usize) -> Result<Value, Fault> {
    if json_shape(bytes).levels > json_depth_max {
        return Err(Fault::of_line(line, CellErrorCode::NestsTooDeep));
    }
    if std::str::from_utf8(bytes).is_err() {
        return Err(Fault::of_line(line, CellErrorCode::NotUtf8));
    }
    let malformed = |at: usize, how| Fault::malformed(line, LinePosition::Byte(at.max(1)), how);
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| malformed(error.column(), "no JSON from here on"))?;
    if !value.is_object() {
        return Err(malformed(1, "no object: `{` is due"));
    }
    if repeated_member(bytes).is_some() {
        return Err(malformed(1, "a member stands twice in one object"));
    }
    Ok(value)
}
