//! Single cells as values, read as an upload reads them.

use super::cell_rules::CellRules;
use crate::microdata::attribute::AttributeType;
use crate::microdata::cell::{decimal, integer, trimmed};
use crate::microdata::index::AttributeIndex;
use crate::microdata::schema::Schema;
use crate::microdata::value_text::{MISSING_LABEL, date_days};

/// Reads single cells in the dialect of a schema, as an upload would.
pub struct CellReader<'s> {
    schema: &'s Schema,
    rules: CellRules,
}

/// What a cell is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CellValue {
    /// Nothing.
    Missing,
    /// A number or a day: its bits as a chunk's column holds them, whole numbers
    /// and days as those of 64 bits.
    Bits(u64),
    /// A category or an identifier.
    Text(String),
}

impl<'s> CellReader<'s> {
    /// A reader for the attributes of a schema.
    pub fn of(schema: &'s Schema) -> Self {
        Self {
            schema,
            rules: CellRules::of(schema),
        }
    }

    /// What a cell of an attribute is; nothing where it is not of its type.
    pub fn read(&self, attribute: AttributeIndex, cell: &[u8]) -> Option<CellValue> {
        let mut room = Vec::new();
        let read = (true, &mut room);
        let cell = self.rules.canonical(attribute.at(), trimmed(cell), read);
        if cell.is_empty() || cell == MISSING_LABEL.as_bytes() {
            return Some(CellValue::Missing);
        }
        match self.schema.attribute(attribute).kind {
            Some(AttributeType::Integer) => {
                integer(cell).map(|whole| CellValue::Bits(whole as u64))
            }
            Some(AttributeType::Decimal) => {
                decimal(cell).map(|number| CellValue::Bits(number.to_bits()))
            }
            Some(AttributeType::Date) => {
                let day = date_days(std::str::from_utf8(cell).ok()?)?;
                Some(CellValue::Bits(i64::from(day) as u64))
            }
            Some(AttributeType::Categorical) | None => {
                let text = std::str::from_utf8(cell).ok()?;
                Some(CellValue::Text(text.to_owned()))
            }
        }
    }
}
