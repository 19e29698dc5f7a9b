//! From lines to combinations: each once, with its people.

use std::io::Read;

use rustc_hash::FxHashMap;

use super::{COUNT, PEOPLE_MAX, PopulationAttribute, PopulationColumn, PopulationTable};
use crate::microdata::attribute::AttributeType;
use crate::microdata::cell::{integer, trimmed};
use crate::microdata::csv::{ScannedRow, scan_rows};
use crate::microdata::dialect::{CellValue, FileFormat};
use crate::microdata::domain::Values;
use crate::microdata::error::{CellErrorCode, TableError};
use crate::microdata::faults::Faults;

/// Says what a cell of an attribute is, by its place in the source.
type ReadCell<'s> = &'s dyn Fn(usize, &[u8]) -> Result<CellValue, CellErrorCode>;

/// What lines are read by.
pub(super) struct Source<'s> {
    /// The attributes that the header may name.
    pub attributes: Vec<PopulationAttribute>,
    pub cell: ReadCell<'s>,
    /// Combinations that are taken, and values of all attributes together.
    pub combinations_max: u64,
}

/// Combinations in the order of their first lines.
#[derive(Default)]
pub(super) struct Gathered {
    attributes: Vec<PopulationAttribute>,
    /// The values of each attribute, by their numbers.
    values: Vec<Numbered>,
    /// The place of each combination of numbers.
    places: FxHashMap<Box<[u32]>, u32>,
    /// Its numbers, one combination behind the other.
    numbers: Vec<u32>,
    counts: Vec<u64>,
    people: u64,
    /// Distinct values of all attributes together.
    distinct: u64,
}

/// Values, numbered in the order in which they came.
#[derive(Default)]
struct Numbered {
    numbers: FxHashMap<CellValue, u32>,
    values: Vec<CellValue>,
}

/// Where the header names what.
struct Header {
    /// Place in the source, and cell of a line.
    attributes: Vec<(usize, usize)>,
    count: Option<usize>,
    cells: usize,
}

/// Reads lines in a format, none longer than so many bytes.
///
/// # Errors
/// All that is wrong with lines; a header without attributes of the source; too
/// many combinations or values; nobody at all.
pub(super) fn gather(
    input: impl Read,
    (format, record_bytes_max): (&FileFormat, usize),
    source: &Source<'_>,
) -> Result<Gathered, TableError> {
    let mut faults = Faults::default();
    let mut header: Option<Header> = None;
    let mut gathered = Gathered::default();
    let mut cells: Vec<Vec<u8>> = Vec::new();
    let mut each = |row: ScannedRow<'_>| {
        let (line, row) = match row {
            ScannedRow::Cells(line, row) => (line, row),
            ScannedRow::Malformed(line) => {
                faults.add(line, None, CellErrorCode::Malformed);
                return header.is_some();
            }
            ScannedRow::TooLong(line) => {
                faults.add(line, None, CellErrorCode::RecordTooLong);
                return false;
            }
        };
        match &header {
            None => {
                let found = Header::of(line, row, (source, &mut faults));
                gathered.begin(source, &found);
                let goes_on = faults.is_empty() && !found.attributes.is_empty();
                header = Some(found);
                goes_on
            }
            Some(header) => {
                let mut width = 0;
                for (at, cell) in row.enumerate() {
                    width = at + 1;
                    if cells.len() < width {
                        cells.push(Vec::new());
                    }
                    cells[at].clear();
                    cells[at].extend_from_slice(cell);
                }
                let line = (line, &cells[..width]);
                gathered.take(line, header, (source, &mut faults));
                gathered.past(source.combinations_max).is_none()
            }
        }
    };
    scan_rows(input, format, record_bytes_max, &mut each)?;
    if let Some(unit) = gathered.past(source.combinations_max) {
        return Err(TableError::PastLimit {
            name: "population_combinations_max",
            value: source.combinations_max,
            unit,
        });
    }
    faults.into_result()?;
    if gathered.attributes.is_empty() {
        return Err(TableError::File(
            "names no quasi-identifier of the schema: the header of a population table has their \
             names, and `count` where a line stands for several people",
        ));
    }
    if gathered.people == 0 {
        return Err(TableError::File(
            "counts nobody: a population table has a line behind its header that stands for one \
             person or more",
        ));
    }
    Ok(gathered)
}

impl Header {
    fn of(
        line: u64,
        row: &mut dyn Iterator<Item = &[u8]>,
        (source, faults): (&Source<'_>, &mut Faults),
    ) -> Self {
        let mut header = Self {
            attributes: Vec::new(),
            count: None,
            cells: 0,
        };
        for (at, name) in row.enumerate() {
            header.cells = at + 1;
            let name = trimmed(name);
            let mut names = source.attributes.iter();
            if name == COUNT.as_bytes() {
                if header.count.replace(at).is_some() {
                    faults.add(line, Some(COUNT), CellErrorCode::AttributeRepeated);
                }
            } else if let Some(known) = names.position(|one| one.name.as_bytes() == name) {
                if header.attributes.iter().any(|(other, _)| *other == known) {
                    let name = source.attributes[known].name.as_str();
                    faults.add(line, Some(name), CellErrorCode::AttributeRepeated);
                }
                header.attributes.push((known, at));
            }
        }
        header.attributes.sort_unstable();
        header
    }
}

impl Gathered {
    /// Takes the attributes that a header names.
    fn begin(&mut self, source: &Source<'_>, header: &Header) {
        let named = header.attributes.iter();
        self.attributes = named
            .map(|&(known, _)| source.attributes[known].clone())
            .collect();
        self.values
            .resize_with(self.attributes.len(), Numbered::default);
    }

    /// What there is more of than so many, if anything.
    fn past(&self, most: u64) -> Option<&'static str> {
        if self.counts.len() as u64 > most {
            Some("combinations")
        } else {
            (self.distinct > most).then_some("distinct values")
        }
    }

    /// Takes one line behind the header. Its values are numbered once it is known
    /// to stand for somebody: others would fill the memory and leave nothing.
    fn take(
        &mut self,
        (line, cells): (u64, &[Vec<u8>]),
        header: &Header,
        (source, faults): (&Source<'_>, &mut Faults),
    ) {
        if cells.len() != header.cells {
            faults.add(line, None, CellErrorCode::WrongCellCount);
            return;
        }
        let mut values = Vec::with_capacity(header.attributes.len());
        let mut is_whole = true;
        for &(known, at) in &header.attributes {
            match (source.cell)(known, &cells[at]) {
                Ok(value) => values.push(value),
                Err(code) => {
                    let name = source.attributes[known].name.as_str();
                    faults.add(line, Some(name), code);
                    is_whole = false;
                }
            }
        }
        let count = header.count.map_or(Ok(1), |at| people_of(&cells[at]));
        let count = count.and_then(|count| match self.people.checked_add(count) {
            Some(people) if people <= PEOPLE_MAX => Ok(count),
            _ => Err(CellErrorCode::OutOfBounds),
        });
        match count {
            Err(code) => faults.add(line, Some(COUNT), code),
            // Nobody is no combination.
            Ok(0) => {}
            Ok(count) if is_whole => self.add(values, count),
            Ok(_) => {}
        }
    }

    fn add(&mut self, values: Vec<CellValue>, count: u64) {
        self.people += count;
        let mut key = Vec::with_capacity(values.len());
        for (value, numbered) in values.into_iter().zip(&mut self.values) {
            let before = numbered.values.len();
            key.push(numbered.number(value));
            self.distinct += (numbered.values.len() - before) as u64;
        }
        let next = self.counts.len() as u32;
        match self.places.get(key.as_slice()) {
            Some(&place) => self.counts[place as usize] += count,
            None => {
                self.numbers.extend_from_slice(&key);
                self.counts.push(count);
                self.places.insert(key.into_boxed_slice(), next);
            }
        }
    }

    /// The table, its values and combinations in order; the digest is the caller's.
    pub(super) fn into_table(self) -> PopulationTable {
        let width = self.attributes.len();
        let mut columns = Vec::with_capacity(width);
        for (at, (attribute, numbered)) in self.attributes.iter().zip(self.values).enumerate() {
            let own = self.numbers.iter().skip(at).step_by(width);
            columns.push(numbered.into_column(attribute.kind, own));
        }
        let mut order: Vec<u32> = (0..self.counts.len() as u32).collect();
        let key = |&row: &u32| columns.iter().map(move |column| column.codes[row as usize]);
        order.sort_unstable_by(|one, other| key(one).cmp(key(other)));
        for column in &mut columns {
            let codes = order.iter().map(|&row| column.codes[row as usize]);
            column.codes = codes.collect();
        }
        let counts = order.iter().map(|&row| self.counts[row as usize]);
        PopulationTable {
            attributes: self.attributes,
            columns,
            counts: counts.collect(),
            people: self.people,
            sha256: String::new(),
        }
    }
}

impl Numbered {
    fn number(&mut self, value: CellValue) -> u32 {
        if let Some(&known) = self.numbers.get(&value) {
            return known;
        }
        let next = self.values.len() as u32;
        self.values.push(value.clone());
        self.numbers.insert(value, next);
        next
    }

    /// The column in which combinations have these numbers.
    fn into_column<'n>(
        self,
        kind: AttributeType,
        numbers: impl Iterator<Item = &'n u32>,
    ) -> PopulationColumn {
        let mut known: Vec<(u32, CellValue)> = (0..).zip(self.values).collect();
        known.sort_by(|(_, one), (_, other)| compare(kind, one, other));
        let mut code_of = vec![0; known.len()];
        for (code, (number, _)) in (0..).zip(&known) {
            code_of[*number as usize] = code;
        }
        let lacks = matches!(known.last(), Some((_, CellValue::Missing)));
        let known = known.into_iter().map(|(_, value)| value);
        PopulationColumn {
            values: values_of(kind, known),
            lacks,
            codes: numbers.map(|&number| code_of[number as usize]).collect(),
        }
    }
}

/// The order of values of a type, the missing one last.
fn compare(kind: AttributeType, one: &CellValue, other: &CellValue) -> std::cmp::Ordering {
    match (one, other) {
        (CellValue::Bits(one), CellValue::Bits(other)) if kind == AttributeType::Decimal => {
            f64::from_bits(*one).total_cmp(&f64::from_bits(*other))
        }
        (CellValue::Bits(one), CellValue::Bits(other)) => (*one as i64).cmp(&(*other as i64)),
        (CellValue::Text(one), CellValue::Text(other)) => one.cmp(other),
        (one, other) => {
            let is_missing = |value: &CellValue| *value == CellValue::Missing;
            is_missing(one).cmp(&is_missing(other))
        }
    }
}

/// Values of a type, in their order; the missing one is left out.
fn values_of(kind: AttributeType, values: impl Iterator<Item = CellValue>) -> Values {
    let bits = |value: CellValue| match value {
        CellValue::Bits(bits) => Some(bits),
        _ => None,
    };
    match kind {
        AttributeType::Integer => {
            Values::Integer(values.filter_map(bits).map(|bits| bits as i64).collect())
        }
        AttributeType::Decimal => {
            Values::Decimal(values.filter_map(bits).map(f64::from_bits).collect())
        }
        AttributeType::Date => Values::Date(
            values
                .filter_map(bits)
                .map(|bits| bits as i64 as i32)
                .collect(),
        ),
        AttributeType::Categorical => {
            let text = |value| match value {
                CellValue::Text(text) => Some(text),
                _ => None,
            };
            Values::Category(values.filter_map(text).collect())
        }
    }
}

/// For how many people a line stands.
fn people_of(cell: &[u8]) -> Result<u64, CellErrorCode> {
    let count = integer(trimmed(cell)).ok_or(CellErrorCode::NotAnInteger)?;
    u64::try_from(count).map_err(|_| CellErrorCode::OutOfBounds)
}
