//! One column on its way from text back to cells.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use crate::microdata::{AttributeType, Codes, TextCache};
use crate::release::cell::Cell;
use crate::release::error::WireFault;
use crate::release::manifest::ColumnDescription;
use crate::release::table::{Cells, Content, PublishedColumn};

/// Position of each distinct text among those known. SipHash with fixed keys:
/// the texts come from users, and nothing here may depend on ambient
/// randomness.
type Seen = HashMap<Arc<[u8]>, u32, BuildHasherDefault<DefaultHasher>>;

/// A text that was read as a type.
struct Known {
    text: Arc<[u8]>,
    slot: usize,
    code: u32,
}

/// One column being read.
pub(in crate::release) struct ColumnReader {
    description: ColumnDescription,
    /// For values: position of the column that names their attribute.
    attribute: Option<usize>,
    /// For values: type of the attribute, by code of the attribute's column.
    value_kinds: Vec<Option<AttributeType>>,
    store: Store,
}

enum Store {
    Numbers(Vec<u64>),
    Dictionary(Box<Dictionary>),
}

impl Store {
    fn of(content: Content) -> Self {
        match content {
            Content::Group
            | Content::Block
            | Content::Bucket
            | Content::Count
            | Content::Counterfeits
            | Content::Column => Self::Numbers(Vec::new()),
            _ => Self::Dictionary(Box::default()),
        }
    }
}

/// Cells, each distinct one once.
#[derive(Default)]
struct Dictionary {
    codes: Codes,
    cells: Vec<Cell>,
    known: Vec<Known>,
    /// One per type: `5` as a number is not the category `5`.
    seen: [Seen; 4],
    text_cache: TextCache,
}

impl Dictionary {
    /// The code of a field's cell, which is read if the text is new.
    fn code(
        &mut self,
        field: &[u8],
        content: Content,
        kind: Option<AttributeType>,
    ) -> Result<u32, WireFault> {
        let slot = slot(kind);
        let text_cache = self
            .text_cache
            .find(field, |at| &self.known[at as usize].text)
            .map(|at| &self.known[at as usize]);
        if let Some(known) = text_cache
            && known.slot == slot
        {
            return Ok(known.code);
        }
        let at = match self.seen[slot].get(field) {
            Some(&at) => at,
            None => {
                let text = std::str::from_utf8(field).map_err(|_| WireFault::NotUtf8)?;
                let cell = Cell::parse(text, content, kind).map_err(|error| error.fault)?;
                let (at, text) = (self.known.len() as u32, Arc::<[u8]>::from(field));
                self.seen[slot].insert(Arc::clone(&text), at);
                let code = code_of(&mut self.cells, cell);
                self.known.push(Known { text, slot, code });
                at
            }
        };
        self.text_cache.note(field, at);
        Ok(self.known[at as usize].code)
    }
}

impl ColumnReader {
    /// Readers of all columns of a table.
    pub(in crate::release) fn all(columns: &[ColumnDescription]) -> Vec<Self> {
        let mut readers: Vec<Self> = Vec::with_capacity(columns.len());
        for description in columns {
            let attribute = match description.content {
                Content::Value if !description.types.is_empty() => columns[..readers.len()]
                    .iter()
                    .rposition(|column| column.content == Content::Attribute),
                _ => None,
            };
            readers.push(Self {
                description: description.clone(),
                attribute,
                value_kinds: Vec::new(),
                store: Store::of(description.content),
            });
        }
        readers
    }

    /// Name of the column.
    pub(super) fn name(&self) -> &str {
        &self.description.name
    }

    /// Reads the column's field of its next row; `before` are the columns
    /// before it, which have read that row.
    pub(in crate::release) fn push(
        &mut self,
        field: &[u8],
        before: &[Self],
    ) -> Result<(), WireFault> {
        let kind = match self.attribute {
            None => Ok(self.description.kind),
            Some(at) => match self.value_kind(&before[at]) {
                None => Err(WireFault::TypeUnknown),
                known => Ok(known),
            },
        };
        match &mut self.store {
            Store::Numbers(numbers) => numbers.push(read_number(field)?),
            Store::Dictionary(dictionary) => {
                let kind = match kind {
                    Err(_) if matches!(field, b"" | b"*") => None,
                    kind => kind?,
                };
                let code = dictionary.code(field, self.description.content, kind)?;
                dictionary.codes.push(code);
            }
        }
        Ok(())
    }

    /// The rows read since the last call.
    pub(in crate::release) fn take(&mut self) -> PublishedColumn {
        self.value_kinds.clear();
        let store = std::mem::replace(&mut self.store, Store::of(self.description.content));
        let cells = match store {
            Store::Numbers(numbers) => Cells::Numbers(numbers),
            Store::Dictionary(dictionary) => Cells::Dictionary {
                codes: dictionary.codes,
                cells: dictionary.cells,
            },
        };
        PublishedColumn {
            name: self.description.name.clone(),
            content: self.description.content,
            kind: self.description.kind,
            cells,
        }
    }

    /// Type of the attribute that `named` names in the row to be read next.
    fn value_kind(&mut self, named: &Self) -> Option<AttributeType> {
        let row = match &self.store {
            Store::Numbers(numbers) => numbers.len(),
            Store::Dictionary(dictionary) => dictionary.codes.len(),
        };
        let Store::Dictionary(named) = &named.store else {
            return None;
        };
        let Dictionary { codes, cells, .. } = &**named;
        for cell in &cells[self.value_kinds.len()..] {
            let kind = match cell {
                Cell::Label(name) => self.description.types.get(name).copied(),
                _ => None,
            };
            self.value_kinds.push(kind);
        }
        self.value_kinds[codes.get(row)? as usize]
    }
}

/// Position for a new cell. Only cells that have one text under every type
/// can be there already.
fn code_of(cells: &mut Vec<Cell>, cell: Cell) -> u32 {
    let known = match cell {
        Cell::Empty | Cell::Masked => cells.iter().position(|held| *held == cell),
        Cell::Label(_) if cell.is_missing() => cells.iter().position(Cell::is_missing),
        _ => None,
    };
    let code = known.unwrap_or_else(|| {
        cells.push(cell);
        cells.len() - 1
    });
    code as u32
}

fn slot(kind: Option<AttributeType>) -> usize {
    match kind {
        Some(AttributeType::Integer) => 0,
        Some(AttributeType::Decimal) => 1,
        Some(AttributeType::Date) => 2,
        Some(AttributeType::Categorical) | None => 3,
    }
}

/// A number from 1 without leading zeros; 0 for nothing.
///
/// Bounded by `i64::MAX`, so that every format can hold it.
pub(in crate::release) fn read_number(field: &[u8]) -> Result<u64, WireFault> {
    let mut number = 0_i64;
    for &byte in field {
        if !byte.is_ascii_digit() {
            return Err(WireFault::NotANumber);
        }
        number = number
            .checked_mul(10)
            .and_then(|tens| tens.checked_add(i64::from(byte - b'0')))
            .ok_or(WireFault::NotANumber)?;
    }
    if field.first() == Some(&b'0') {
        return Err(WireFault::NotANumber);
    }
    Ok(number.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_text_each() {
        assert_eq!(read_number(b""), Ok(0));
        assert_eq!(read_number(b"120"), Ok(120));
        assert_eq!(read_number(b"9223372036854775807"), Ok(i64::MAX as u64));
        let refused: [&[u8]; 5] = [b"0", b"07", b"-1", b"1.0", b"9223372036854775808"];
        for text in refused {
            assert_eq!(read_number(text), Err(WireFault::NotANumber));
        }
    }
}
