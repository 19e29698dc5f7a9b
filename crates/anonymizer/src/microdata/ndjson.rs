//! Records as NDJSON: one flat object a line.
//!
//! Every attribute of the schema must be there, in any order, and no other
//! name but those that the schema reads past, whatever their values. Null is an
//! empty cell. A number stands for itself where a number is due, and as a
//! whole number for a category or an identifier too; its digits are taken as
//! they are written, so that no binary fraction comes between.
//! Arrays, objects and truth values are not cells.

use std::io::Read;

use super::attribute::{AttributeType, Role};
use super::error::{CellErrorCode, Reason, TableError};
use super::hint::Hint;
use super::index::AttributeIndex;
use super::intake::told_name;
use super::json_shape::json_shape;
use super::json_text::{JsonText, NO_CELL, Refusal, malformed};
use super::limits::Target;
use super::lines::{Line, Lines};
use super::row::{Fault, LinePosition, Row, Rows};
use super::schema::Schema;

/// One cell of the row at hand, in bytes of its text.
#[derive(Clone, Copy)]
struct Cell {
    start: usize,
    end: usize,
    /// Whether it stands in quotes; numbers and null are what they are.
    is_string: bool,
}

/// The rows of an NDJSON stream; columns are attributes in schema order.
pub(super) struct NdjsonRows<'t, R> {
    lines: Lines<R>,
    schema: &'t Schema,
    json_depth_max: usize,
    /// Cells of the row at hand, one behind the other.
    text: Vec<u8>,
    /// Where each attribute's cell stands in `text`.
    spans: Vec<Option<Cell>>,
    /// The attributes in the order in which the last line named them: the
    /// next line most likely does the same, and no name is searched for.
    order: Vec<AttributeIndex>,
}

impl<'t, R: Read> NdjsonRows<'t, R> {
    /// Rows of `input`; the first is not yet read.
    pub fn new(input: R, target: &Target<'t>) -> Result<Self, TableError> {
        Ok(Self {
            lines: Lines::new(input, target.limits.record_bytes_max)?,
            schema: target.schema,
            json_depth_max: target.limits.json_depth_max,
            text: Vec::new(),
            spans: Vec::new(),
            order: Vec::new(),
        })
    }
}

impl<R: Read> Rows for NdjsonRows<'_, R> {
    fn next_row(&mut self) -> Result<Row, TableError> {
        let line = match self.lines.next_line()? {
            Line::Here(line) => line,
            Line::TooLong(line) => {
                return Ok(Row::Stop(Fault::of_line(
                    line,
                    CellErrorCode::RecordTooLong,
                )));
            }
            Line::End => return Ok(Row::End),
        };
        self.text.clear();
        self.spans.clear();
        self.spans.resize(self.schema.attributes().len(), None);
        if self.schema.has_row_keys() {
            // No member has it.
            self.spans[self.schema.subject_key().at()] = Some(Cell {
                start: 0,
                end: 0,
                is_string: false,
            });
        }
        let mut object = Object {
            json: JsonText {
                rest: self.lines.bytes(),
                text: &mut self.text,
            },
            schema: self.schema,
            spans: &mut self.spans,
            order: &mut self.order,
            named: 0,
            unknown: None,
            json_depth_max: self.json_depth_max,
        };
        let read = object.read();
        let (left, unknown) = (object.json.rest.len(), object.unknown);
        Ok(match read {
            Ok(()) => Row::Cells(line),
            // No cell is an array or an object, so no record that can be read
            // nests at all; the code says why this one was not looked into.
            Err(_) if json_shape(self.lines.bytes()).levels > self.json_depth_max => {
                Row::Fault(Fault::of_line(line, CellErrorCode::NestsTooDeep))
            }
            Err(refusal) => {
                let bytes = self.lines.bytes();
                let place = LinePosition::Byte(bytes.len() - left + 1);
                Row::Fault(Fault {
                    attribute: refusal.attribute,
                    name: unknown.filter(|_| refusal.code == CellErrorCode::AttributeUnknown),
                    place: refusal.reason.map(|_| place),
                    reason: refusal.reason.map(Reason::Said),
                    // One byte order mark was passed already.
                    hint: Hint::of_header(bytes, 0).filter(|_| line == 1),
                    ..Fault::of_line(line, refusal.code)
                })
            }
        })
    }

    fn width(&self) -> usize {
        self.spans.len()
    }

    fn cell(&self, column: usize) -> &[u8] {
        match self.spans[column] {
            Some(cell) => &self.text[cell.start..cell.end],
            None => &[],
        }
    }

    fn is_written(&self, column: usize) -> bool {
        self.spans[column].is_some_and(|cell| cell.is_string)
    }
}

/// One object on its way into cells.
struct Object<'a> {
    json: JsonText<'a>,
    schema: &'a Schema,
    spans: &'a mut [Option<Cell>],
    order: &'a mut Vec<AttributeIndex>,
    /// Members read so far.
    named: usize,
    /// The first name that the schema does not know.
    unknown: Option<Box<str>>,
    json_depth_max: usize,
}

impl Object<'_> {
    fn read(&mut self) -> Result<(), Refusal> {
        self.json.demand(b'{', "no object: `{` is due")?;
        if self.json.peek() == Some(b'}') {
            self.json.rest = &self.json.rest[1..];
        } else {
            loop {
                self.member()?;
                match self.json.peek() {
                    Some(b',') => self.json.rest = &self.json.rest[1..],
                    _ => break,
                }
            }
            self.json.demand(b'}', "`,` or `}` is due")?;
        }
        if self.json.peek().is_some() {
            return Err(malformed("something behind the object"));
        }
        if self.unknown.is_some() {
            // An object of other names may have a person's cells for names.
            let known = self.spans.iter().flatten().count();
            self.unknown = self
                .unknown
                .take()
                .filter(|_| known * 2 >= self.spans.len());
            return Err(Refusal::of(None, CellErrorCode::AttributeUnknown));
        }
        match self.spans.iter().position(Option::is_none) {
            None => Ok(()),
            Some(at) => Err(Refusal::of(
                Some(AttributeIndex::from_usize(at)),
                CellErrorCode::AttributeMissing,
            )),
        }
    }

    fn member(&mut self) -> Result<(), Refusal> {
        if self.json.peek() != Some(b'"') {
            return Err(malformed("a name in quotes is due"));
        }
        let start = self.json.text.len();
        self.json.string()?;
        let name = std::str::from_utf8(&self.json.text[start..]);
        let name = name.map_err(|_| Refusal::of(None, CellErrorCode::NotUtf8))?;
        let expected = self.order.get(self.named).copied();
        let index = match expected {
            Some(index) if self.schema.attribute(index).name == name => index,
            _ => {
                let Some(index) = self.schema.find(name) else {
                    if !self.schema.reads_past(name.as_bytes()) && self.unknown.is_none() {
                        self.unknown = Some(told_name(name).into());
                    }
                    self.json.text.truncate(start);
                    return self.json.pass_value(self.json_depth_max);
                };
                self.order.truncate(self.named);
                self.order.push(index);
                index
            }
        };
        self.named += 1;
        self.json.text.truncate(start);
        if self.spans[index.at()].is_some() {
            let code = CellErrorCode::AttributeRepeated;
            return Err(Refusal::of(Some(index), code));
        }
        let read = self.value(index);
        let is_string = read.map_err(|refusal| Refusal {
            attribute: Some(index),
            ..refusal
        })?;
        self.spans[index.at()] = Some(Cell {
            start,
            end: self.json.text.len(),
            is_string,
        });
        Ok(())
    }

    /// Appends the value of an attribute, behind the colon before it; whether it
    /// is a string.
    fn value(&mut self, index: AttributeIndex) -> Result<bool, Refusal> {
        self.json.demand(b':', "`:` is due")?;
        match self.json.peek() {
            Some(b'"') => {
                self.json.string()?;
                return Ok(true);
            }
            Some(b'-' | b'0'..=b'9') => {
                let is_whole = self.json.number()?;
                if !is_whole && !self.is_numeric(index) {
                    let reason = "a number with a fraction where text is due: put it in quotes";
                    return Err(malformed(reason));
                }
            }
            _ => self.json.rest = self.json.rest.strip_prefix(b"null").ok_or(NO_CELL)?,
        }
        Ok(false)
    }

    fn is_numeric(&self, index: AttributeIndex) -> bool {
        let attribute = self.schema.attribute(index);
        attribute.role != Role::Identifier && attribute.kind != Some(AttributeType::Categorical)
    }
}

mod scanned;
#[cfg(test)]
mod tests;

pub use scanned::{JsonKind, Member, ScannedObject, scan_objects};
