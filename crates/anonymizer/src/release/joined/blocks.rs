//! Listed blocks read as buckets: `quasi` has the rows, `sensitive` what the
//! blocks hold.

use std::borrow::Cow;

use crate::microdata::{AttributeType, Codes};
use crate::release::cell::Cell;
use crate::release::layout::{BLOCK_SUFFIX, QUASI, SENSITIVE};
use crate::release::table::{Cells, Content, PublishedTable};

use super::buckets::{content, numbers};
use super::{Buckets, JoinError, JoinedAttribute, JoinedTable, attribute_of, row_table};

/// What `quasi` shows of every sensitive attribute.
static IN_A_BLOCK: [Cell; 1] = [Cell::Empty];

/// Joins `quasi` and `sensitive`: non-sensitive attributes in order of
/// columns, then the attributes that `sensitive` names, each in blocks.
pub(super) fn join(tables: &[PublishedTable]) -> Result<JoinedTable<'_>, JoinError> {
    let (quasi, rows) = row_table(tables, QUASI)?;
    let mut attributes = Vec::new();
    for column in &quasi.columns {
        attributes.extend(attribute_of(QUASI, column)?);
    }
    let Some(sensitive) = tables.iter().find(|table| table.name == SENSITIVE) else {
        return Err(JoinError::new(SENSITIVE, "is not in the release"));
    };
    for name in names(sensitive)? {
        let buckets = Buckets::read(name, sensitive, SENSITIVE, Content::Block)?;
        let Some(numbers_of) = numbers_of(quasi, name) else {
            return Err(JoinError::new(QUASI, "has no blocks of an attribute"));
        };
        let buckets = buckets.linked(numbers(QUASI, numbers_of)?)?;
        attributes.push(JoinedAttribute {
            name,
            kind: kind(&buckets),
            content: Content::Generalized,
            codes: Cow::Owned(Codes::below(1, std::iter::repeat_n(0, rows))),
            cells: &IN_A_BLOCK,
            buckets: Some(buckets),
        });
    }
    Ok(JoinedTable {
        name: QUASI,
        rows,
        groups: None,
        attributes,
    })
}

/// The attributes that a table names.
fn names<'a>(sensitive: &'a PublishedTable) -> Result<Vec<&'a str>, JoinError> {
    let Cells::Dictionary { cells, .. } = content(SENSITIVE, sensitive, Content::Attribute)? else {
        return Err(JoinError::new(SENSITIVE, "a column is of numbers"));
    };
    let name = |cell: &'a Cell| match cell {
        Cell::Label(name) => Ok(name.as_str()),
        _ => Err(JoinError::new(SENSITIVE, "an attribute has no name")),
    };
    cells.iter().map(name).collect()
}

/// The block of each row: the column of the attribute, or the only one.
fn numbers_of<'a>(quasi: &'a PublishedTable, attribute: &str) -> Option<&'a Cells> {
    let mut blocks = quasi.columns.iter();
    let own = blocks.find(|column| {
        column.content == Content::Block
            && column
                .name
                .strip_suffix(BLOCK_SUFFIX)
                .map_or(column.name == "block", |name| name == attribute)
    });
    own.map(|column| &column.cells)
}

/// The type of an attribute whose values are listed.
fn kind(buckets: &Buckets<'_>) -> AttributeType {
    let runs = (0..buckets.len()).flat_map(|bucket| buckets.run(bucket));
    match runs.map(|(cell, _)| cell).find(|cell| !cell.is_missing()) {
        Some(Cell::Integer(..)) => AttributeType::Integer,
        Some(Cell::Decimal(..)) => AttributeType::Decimal,
        Some(Cell::Date(..)) => AttributeType::Date,
        _ => AttributeType::Categorical,
    }
}
