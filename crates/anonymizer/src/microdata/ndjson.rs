//! Records as NDJSON: one flat object a line.
//!
//! Every attribute of the schema must be there, in any order, and no other
//! name but those that the schema reads past, whatever their values. Null is an
//! empty cell. A number stands for itself where a number is due, and as a
//! whole number for a category or an identifier too; its digits are taken as
//! they are written, so that no binary fraction comes between.
//! Arrays, objects and truth values are not cells.

use std::io::Read;

use serde::de::IgnoredAny;

use super::attribute::{AttributeType, Role};
use super::error::{CellErrorCode, Reason, TableError};
use super::hint::Hint;
use super::index::AttributeIndex;
use super::intake::told_name;
use super::json_shape::json_shape;
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
        if self.schema.has_row_keys() {
            // No member has it.
            self.spans[self.schema.subject_key().at()] = Some(Cell {
                start: 0,
                end: 0,
                is_string: false,
            });
        }
        self.spans.resize(self.schema.attributes().len(), None);
        let mut object = Object {
            rest: self.lines.bytes(),
            schema: self.schema,
            text: &mut self.text,
            spans: &mut self.spans,
            order: &mut self.order,
            named: 0,
            unknown: None,
            json_depth_max: self.json_depth_max,
        };
        let read = object.read();
        let (left, unknown) = (object.rest.len(), object.unknown);
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

/// Why an object is no record.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    attribute: Option<AttributeIndex>,
    code: CellErrorCode,
    reason: Option<&'static str>,
}

impl Refusal {
    fn of(attribute: Option<AttributeIndex>, code: CellErrorCode) -> Self {
        Self {
            attribute,
            code,
            reason: None,
        }
    }
}

const fn malformed(reason: &'static str) -> Refusal {
    Refusal {
        attribute: None,
        code: CellErrorCode::Malformed,
        reason: Some(reason),
    }
}

const OPEN_STRING: Refusal = malformed("a string that is never closed");
const ESCAPE: Refusal = malformed("an escape that JSON does not know");
const NUMBER: Refusal = malformed("a number that JSON does not know");
const NO_CELL: Refusal = malformed("neither a string nor a number nor null");

/// One object on its way into cells.
struct Object<'a> {
    rest: &'a [u8],
    schema: &'a Schema,
    text: &'a mut Vec<u8>,
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
        self.demand(b'{', "no object: `{` is due")?;
        if self.peek() == Some(b'}') {
            self.rest = &self.rest[1..];
        } else {
            loop {
                self.member()?;
                match self.peek() {
                    Some(b',') => self.rest = &self.rest[1..],
                    _ => break,
                }
            }
            self.demand(b'}', "`,` or `}` is due")?;
        }
        if self.peek().is_some() {
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

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while let [b' ' | b'\t' | b'\r', rest @ ..] = self.rest {
            self.rest = rest;
        }
        self.rest.first().copied()
    }

    fn demand(&mut self, byte: u8, reason: &'static str) -> Result<(), Refusal> {
        if self.peek() != Some(byte) {
            return Err(malformed(reason));
        }
        self.rest = &self.rest[1..];
        Ok(())
    }

    fn member(&mut self) -> Result<(), Refusal> {
        if self.peek() != Some(b'"') {
            return Err(malformed("a name in quotes is due"));
        }
        let start = self.text.len();
        self.string()?;
        let name = std::str::from_utf8(&self.text[start..]);
        let name = name.map_err(|_| Refusal::of(None, CellErrorCode::NotUtf8))?;
        let expected = self.order.get(self.named).copied();
        let index = match expected {
            Some(index) if self.schema.attribute(index).name == name => index,
            _ => {
                let Some(index) = self.schema.find(name) else {
                    if !self.schema.reads_past(name.as_bytes()) && self.unknown.is_none() {
                        self.unknown = Some(told_name(name).into());
                    }
                    self.text.truncate(start);
                    return self.pass_value();
                };
                self.order.truncate(self.named);
                self.order.push(index);
                index
            }
        };
        self.named += 1;
        self.text.truncate(start);
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
            end: self.text.len(),
            is_string,
        });
        Ok(())
    }

    /// Appends the value of an attribute, behind the colon before it; whether it
    /// is a string.
    fn value(&mut self, index: AttributeIndex) -> Result<bool, Refusal> {
        self.demand(b':', "`:` is due")?;
        match self.peek() {
            Some(b'"') => {
                self.string()?;
                return Ok(true);
            }
            Some(b'-' | b'0'..=b'9') => {
                let is_whole = self.number()?;
                if !is_whole && !self.is_numeric(index) {
                    let reason = "a number with a fraction where text is due: put it in quotes";
                    return Err(malformed(reason));
                }
            }
            _ => self.rest = self.rest.strip_prefix(b"null").ok_or(NO_CELL)?,
        }
        Ok(false)
    }

    /// Passes the value of a name that no attribute has, and the colon before it.
    fn pass_value(&mut self) -> Result<(), Refusal> {
        self.demand(b':', "`:` is due")?;
        let first = self.peek();
        let value = self.rest;
        let mut values = serde_json::Deserializer::from_slice(value).into_iter::<IgnoredAny>();
        if !matches!(values.next(), Some(Ok(_))) {
            return Err(malformed("a value that is no JSON"));
        }
        let (value, rest) = value.split_at(values.byte_offset());
        self.rest = rest;
        // The record is a level too.
        let is_nested = matches!(first, Some(b'{' | b'['));
        if is_nested && json_shape(value).levels >= self.json_depth_max {
            Err(Refusal::of(None, CellErrorCode::NestsTooDeep))
        } else {
            Ok(())
        }
    }

    fn is_numeric(&self, index: AttributeIndex) -> bool {
        let attribute = self.schema.attribute(index);
        attribute.role != Role::Identifier && attribute.kind != Some(AttributeType::Categorical)
    }

    /// Appends a string, whose opening quote is next, to the text. Where it is
    /// none, what is left begins behind what is wrong.
    fn string(&mut self) -> Result<(), Refusal> {
        let quoted = self.rest;
        self.rest = &quoted[1..];
        let (mut at, mut is_escaped) = (1, false);
        let stop = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
        loop {
            let behind = quoted.get(at..).ok_or(OPEN_STRING)?;
            at += behind.iter().position(stop).ok_or(OPEN_STRING)?;
            match quoted[at] {
                b'"' => break,
                b'\\' => (is_escaped, at) = (true, at + 2),
                _ => {
                    self.rest = &quoted[at + 1..];
                    return Err(malformed("a control character in a string"));
                }
            }
        }
        let (quoted, rest) = quoted.split_at(at + 1);
        let written = &quoted[1..at];
        // Bytes that are no text are refused with the cell that they are in.
        if is_escaped && std::str::from_utf8(written).is_ok() {
            let text: Result<String, _> = serde_json::from_slice(quoted);
            let text = text.map_err(|error| {
                self.rest = self
                    .rest
                    .get(error.column().saturating_sub(1)..)
                    .unwrap_or_default();
                ESCAPE
            })?;
            self.text.extend_from_slice(text.as_bytes());
        } else {
            self.text.extend_from_slice(written);
        }
        self.rest = rest;
        Ok(())
    }

    /// Appends a number as it is written to the text; whether it is whole.
    fn number(&mut self) -> Result<bool, Refusal> {
        let start = self.rest;
        self.rest = self.rest.strip_prefix(b"-").unwrap_or(self.rest);
        let starts_with_zero = self.rest.first() == Some(&b'0');
        if self.digits()? > 1 && starts_with_zero {
            return Err(NUMBER);
        }
        let whole = self.rest;
        if let Some(rest) = self.rest.strip_prefix(b".") {
            self.rest = rest;
            self.digits()?;
        }
        if let [b'e' | b'E', rest @ ..] = self.rest {
            self.rest = match rest {
                [b'+' | b'-', rest @ ..] => rest,
                rest => rest,
            };
            self.digits()?;
        }
        let length = start.len() - self.rest.len();
        self.text.extend_from_slice(&start[..length]);
        Ok(whole.len() == self.rest.len())
    }

    fn digits(&mut self) -> Result<usize, Refusal> {
        let is_digit = |byte: &&u8| byte.is_ascii_digit();
        let count = self.rest.iter().take_while(is_digit).count();
        self.rest = &self.rest[count..];
        if count == 0 { Err(NUMBER) } else { Ok(count) }
    }
}

#[cfg(test)]
mod tests;
