//! A population table: among whom the people of a dataset could be.
//!
//! It counts people by some of the quasi-identifiers of a schema: a register, a
//! census table, the members of a fund. Nobody's records are in it, and it says
//! nothing of who is in the dataset. A journalist's risk is measured against it.
//!
//! A table has one canonical text, whatever form it came in: CSV with the
//! attributes in the order of the schema and `count` behind them, each
//! combination once, in the order of its values, a missing one last. Its SHA-256
//! names the table. [`read`](PopulationTable::read) takes what a person wrote,
//! in the dialect of the schema; [`unpack`](PopulationTable::unpack) takes what
//! [`pack`](PopulationTable::pack) made of the canonical text.

mod gather;
#[cfg(test)]
mod tests;

use std::io::Read;

use serde::{Deserialize, Serialize};

use super::attribute::{Attribute, AttributeType, Role};
use super::cell::{decimal, integer, text};
use super::dialect::{CellReader, CellValue, FileFormat};
use super::domain::Values;
use super::error::{CellErrorCode, TableError};
use super::hex::to_hex;
use super::index::AttributeIndex;
use super::limits::ReadLimits;
use super::schema::Schema;
use super::sha256::Sha256;
use super::transform::Transform;
use super::value_text::{MISSING_LABEL, date_days, date_text, decimal_text};

use gather::{Gathered, Source};

/// The name of the column that says for how many people a line stands.
pub const COUNT: &str = "count";

/// Combinations of a table that are taken unless somebody says otherwise.
pub const COMBINATIONS_MAX: u64 = 2_000_000;

/// People of a population table, at most: what the store counts with.
const PEOPLE_MAX: u64 = i64::MAX as u64;

/// How hard a table is packed: a register of a million lines in a second.
const PACKING_LEVEL: i32 = 3;

/// People by their values of some attributes.
#[derive(Clone, Debug, PartialEq)]
pub struct PopulationTable {
    attributes: Vec<PopulationAttribute>,
    columns: Vec<PopulationColumn>,
    counts: Vec<u64>,
    people: u64,
    sha256: String,
}

/// An attribute of a population table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PopulationAttribute {
    /// Its name in the schema.
    pub name: String,
    /// What its values are.
    #[serde(rename = "type")]
    pub kind: AttributeType,
}

/// One attribute of all combinations.
#[derive(Clone, Debug, PartialEq)]
pub struct PopulationColumn {
    /// The values that occur, ascending; categories by their bytes.
    pub values: Values,
    /// Whether some have no value; its code is the number of values.
    pub lacks: bool,
    /// Position of each combination's value.
    pub codes: Vec<u32>,
}

impl PopulationColumn {
    /// Number of codes, the missing value's among them.
    pub fn len(&self) -> usize {
        self.known_len() + usize::from(self.lacks)
    }

    /// Whether there is no value at all.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of values that are not missing: the codes below it.
    pub fn known_len(&self) -> usize {
        self.values.count()
    }

    /// The value of a code, as an upload's cell of it is read.
    pub fn value(&self, code: u32) -> CellValue {
        let at = code as usize;
        let found = match &self.values {
            Values::Integer(values) => values.get(at).map(|&one| CellValue::Bits(one as u64)),
            Values::Decimal(values) => values.get(at).map(|one| CellValue::Bits(one.to_bits())),
            Values::Date(values) => values
                .get(at)
                .map(|&one| CellValue::Bits(i64::from(one) as u64)),
            Values::Category(values) => values.get(at).map(|one| CellValue::Text(one.clone())),
        };
        found.unwrap_or(CellValue::Missing)
    }

    /// Takes numbers beyond top and bottom for these; values stay ascending.
    fn bound(&mut self, transform: &Transform) {
        let known = self.known_len();
        let places = match &mut self.values {
            Values::Integer(values) => taken_together(values, |one| transform.whole(one)),
            Values::Decimal(values) => taken_together(values, |one| transform.fraction(one)),
            Values::Date(_) | Values::Category(_) => return,
        };
        let missing = self.known_len() as u32;
        let codes = self.codes.iter_mut();
        codes.for_each(|code| {
            let at = *code as usize;
            *code = if at < known { places[at] } else { missing };
        });
    }

    /// The canonical text of a code.
    fn text(&self, code: u32) -> String {
        let at = code as usize;
        let found = match &self.values {
            Values::Integer(values) => values.get(at).map(i64::to_string),
            Values::Decimal(values) => values.get(at).map(|&one| decimal_text(one)),
            Values::Date(values) => values.get(at).map(|&one| date_text(one)),
            Values::Category(values) => values.get(at).cloned(),
        };
        found.unwrap_or_else(|| MISSING_LABEL.into())
    }
}

impl PopulationTable {
    /// Reads a population table in the dialect of `schema`: its header names some
    /// of the quasi-identifiers and semi-sensitive attributes, and perhaps `count`;
    /// other columns are read past. Holds each combination once in memory.
    ///
    /// # Errors
    /// All that is wrong, by line and attribute; more than `combinations_max`
    /// combinations, or distinct values of all attributes together; a header that
    /// names nothing of the schema; nobody at all. No value is repeated.
    pub fn read(
        input: impl Read,
        schema: &Schema,
        limits: &ReadLimits,
        combinations_max: u64,
    ) -> Result<Self, TableError> {
        // As jobs see the records that it is compared with.
        let schema = &schema.transformed();
        let known = schema.select(|attribute| {
            attribute.name != COUNT && is_known(attribute) && attribute.kind.is_some()
        });
        let attributes = known
            .iter()
            .filter_map(|&index| attribute_of(schema, index));
        let cells = CellReader::of(schema);
        let cell = |at: usize, cell: &[u8]| {
            let index = known[at];
            let value = cells.read(index, cell);
            let value = value.ok_or_else(|| code_of(schema.attribute(index).kind))?;
            if let CellValue::Text(label) = &value {
                text(label.as_bytes(), limits.cell_bytes_max)?;
            }
            Ok(value)
        };
        let source = Source {
            attributes: attributes.collect(),
            cell: &cell,
            combinations_max,
        };
        let rows = (schema.format(), limits.record_bytes_max);
        Ok(Self::of(gather::gather(input, rows, &source)?))
    }

    /// Reads what [`pack`](Self::pack) made of a table with these attributes.
    ///
    /// # Errors
    /// Bytes that it did not make.
    pub fn unpack(packed: &[u8], attributes: Vec<PopulationAttribute>) -> Result<Self, TableError> {
        let damaged = || TableError::Chunk("a population table cannot be read".into());
        let canonical = zstd::decode_all(packed).map_err(|_| damaged())?;
        let kinds: Vec<AttributeType> = attributes.iter().map(|one| one.kind).collect();
        let cell = |at: usize, cell: &[u8]| {
            canonical_value(kinds[at], cell).ok_or_else(|| code_of(Some(kinds[at])))
        };
        let source = Source {
            attributes,
            cell: &cell,
            combinations_max: u64::MAX,
        };
        let rows = (&FileFormat::default(), canonical.len());
        let gathered = gather::gather(canonical.as_slice(), rows, &source);
        let table = Self::of(gathered.map_err(|_| damaged())?);
        let is_whole = table.attributes.len() == source.attributes.len();
        // The canonical text of what was read is the one that was packed, or it
        // was none.
        (is_whole && table.sha256 == to_hex(&Sha256::of(&canonical)))
            .then_some(table)
            .ok_or_else(damaged)
    }

    fn of(gathered: Gathered) -> Self {
        let mut table = gathered.into_table();
        table.sha256 = to_hex(&Sha256::of(table.canonical()));
        table
    }

    /// The canonical text, packed.
    ///
    /// # Errors
    /// What the packer says, which has no reason to.
    pub fn pack(&self) -> Result<Vec<u8>, std::io::Error> {
        zstd::encode_all(self.canonical().as_bytes(), PACKING_LEVEL)
    }

    /// The canonical text.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        for attribute in &self.attributes {
            push_cell(&mut out, &attribute.name);
            out.push(',');
        }
        out.push_str(COUNT);
        out.push('\n');
        let texts: Vec<Vec<String>> = self.columns.iter().map(texts_of).collect();
        for (row, count) in self.counts.iter().enumerate() {
            for (column, texts) in self.columns.iter().zip(&texts) {
                out.push_str(&texts[column.codes[row] as usize]);
                out.push(',');
            }
            out.push_str(&count.to_string());
            out.push('\n');
        }
        out
    }

    /// Its attributes, in the order of the schema that it was read by.
    pub fn attributes(&self) -> &[PopulationAttribute] {
        &self.attributes
    }

    /// Its columns, in the same order.
    pub fn columns(&self) -> &[PopulationColumn] {
        &self.columns
    }

    /// People of each combination; none is 0.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// All people.
    pub fn people(&self) -> u64 {
        self.people
    }

    /// SHA-256 of the canonical text, in hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The same people with their numbers between the top and the bottom that a
    /// schema declares, as records have them.
    #[must_use]
    pub fn transformed(mut self, schema: &Schema) -> Self {
        for (attribute, column) in self.attributes.iter().zip(&mut self.columns) {
            if let Some(index) = schema.find(&attribute.name) {
                column.bound(&schema.attribute(index).transform);
            }
        }
        self
    }

    /// Its attributes that `schema` does not have any more as quasi-identifiers or
    /// semi-sensitive attributes of the same type. While there are any, nothing is
    /// compared with the table.
    pub fn unfit(&self, schema: &Schema) -> Vec<String> {
        unfit(&self.attributes, schema)
    }
}

/// Which of some attributes a schema does not have any more as quasi-identifiers
/// or semi-sensitive attributes of the same type.
pub fn unfit(attributes: &[PopulationAttribute], schema: &Schema) -> Vec<String> {
    let schema = schema.transformed();
    let fits = |one: &&PopulationAttribute| {
        let found = schema.find(&one.name).map(|index| schema.attribute(index));
        found.is_some_and(|found| is_known(found) && found.kind == Some(one.kind))
    };
    let unfit = attributes.iter().filter(|one| !fits(one));
    unfit.map(|one| one.name.clone()).collect()
}

/// Makes values of ascending ones, which stay so; the new place of each.
fn taken_together<N: PartialEq + Copy>(values: &mut Vec<N>, make: impl Fn(N) -> N) -> Vec<u32> {
    let mut made: Vec<N> = Vec::with_capacity(values.len());
    let places = values.iter().map(|&value| {
        let value = make(value);
        if made.last() != Some(&value) {
            made.push(value);
        }
        made.len() as u32 - 1
    });
    let places = places.collect();
    *values = made;
    places
}

/// Whether somebody may know an attribute of people who are in no release, as
/// records show it: dates that are moved are known to nobody.
fn is_known(attribute: &Attribute) -> bool {
    let is_moved = attribute.transform.shift_days.is_some();
    matches!(attribute.role, Role::QuasiIdentifier | Role::SemiSensitive) && !is_moved
}

fn attribute_of(schema: &Schema, index: AttributeIndex) -> Option<PopulationAttribute> {
    let attribute = schema.attribute(index);
    Some(PopulationAttribute {
        name: attribute.name.clone(),
        kind: attribute.kind?,
    })
}

/// The code of a cell that is not of its attribute's type.
fn code_of(kind: Option<AttributeType>) -> CellErrorCode {
    match kind {
        Some(AttributeType::Integer) => CellErrorCode::NotAnInteger,
        Some(AttributeType::Decimal) => CellErrorCode::NotADecimal,
        Some(AttributeType::Date) => CellErrorCode::NotADate,
        Some(AttributeType::Categorical) | None => CellErrorCode::NotUtf8,
    }
}

/// The value of a cell of the canonical text.
fn canonical_value(kind: AttributeType, cell: &[u8]) -> Option<CellValue> {
    if cell == MISSING_LABEL.as_bytes() {
        return Some(CellValue::Missing);
    }
    let text = std::str::from_utf8(cell).ok()?;
    Some(match kind {
        AttributeType::Integer => CellValue::Bits(integer(cell)? as u64),
        AttributeType::Decimal => CellValue::Bits(decimal(cell)?.to_bits()),
        AttributeType::Date => CellValue::Bits(i64::from(date_days(text)?) as u64),
        AttributeType::Categorical => CellValue::Text(text.to_owned()),
    })
}

/// The cells of the canonical text by code.
fn texts_of(column: &PopulationColumn) -> Vec<String> {
    let cell = |code: u32| {
        let mut cell = String::new();
        push_cell(&mut cell, &column.text(code));
        cell
    };
    (0..column.len() as u32).map(cell).collect()
}

/// Writes a cell; in quotes unless it is so plain that no reader could differ.
fn push_cell(out: &mut String, cell: &str) {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-()+:".contains(&byte);
    if cell.bytes().all(is_plain) {
        out.push_str(cell);
    } else {
        out.push('"');
        out.push_str(&cell.replace('"', "\"\""));
        out.push('"');
    }
}
