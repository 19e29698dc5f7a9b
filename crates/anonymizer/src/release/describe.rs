//! The manifest's description of a published table: all that is needed to
//! read the table back from its bytes.

use std::collections::BTreeMap;

use crate::microdata::{AttributeType, to_hex};

use super::cell::Cell;
use super::csv::CsvSummary;
use super::manifest::{ColumnDescription, TableDescription};
use super::table::{Cells, Content, PublishedColumn, PublishedTable};

impl TableDescription {
    /// The description of `table`, whose CSV form is `summary`.
    pub fn of(table: &PublishedTable, summary: &CsvSummary) -> Self {
        Self {
            name: table.name.clone(),
            rows: table.rows() as u64,
            sha256: to_hex(&summary.sha256),
            columns: ColumnDescription::all(table),
        }
    }
}

impl ColumnDescription {
    /// Descriptions of the columns of `table`, in order. Reads every code once.
    pub fn all(table: &PublishedTable) -> Vec<Self> {
        let columns = table.columns.iter().enumerate();
        let describe = |(position, column): (usize, &PublishedColumn)| {
            let types = match column.content {
                Content::Value => value_types(&table.columns[..position], column),
                _ => BTreeMap::new(),
            };
            let has_numbers =
                is_number(column.kind) || types.values().any(|&kind| is_number(Some(kind)));
            Self {
                name: column.name.clone(),
                content: column.content,
                kind: column.kind,
                types,
                masked: has_rows_of(column, |cell| *cell == Cell::Masked),
                missing: has_numbers
                    && has_rows_of(column, |cell| {
                        cell.is_missing() || matches!(cell, Cell::OrMissing(_))
                    }),
                sets: column.content == Content::Generalized
                    && has_rows_of(column, |cell| matches!(cell, Cell::Set(_))),
            }
        };
        columns.map(describe).collect()
    }
}

/// Whether some row has a cell that is sought; one of the dictionary alone does
/// not count.
fn has_rows_of(column: &PublishedColumn, sought: impl Fn(&Cell) -> bool) -> bool {
    match &column.cells {
        Cells::Numbers(_) => false,
        Cells::Dictionary { codes, cells } => {
            let sought: Vec<bool> = cells.iter().map(sought).collect();
            sought.contains(&true) && codes.iter().any(|code| sought[code as usize])
        }
    }
}

/// Whether values of this type are numbers or days.
fn is_number(kind: Option<AttributeType>) -> bool {
    !matches!(kind, None | Some(AttributeType::Categorical))
}

/// Type of each attribute that the rows of a column of values name in the
/// attribute column before it.
fn value_types(
    before: &[PublishedColumn],
    column: &PublishedColumn,
) -> BTreeMap<String, AttributeType> {
    let mut types = BTreeMap::new();
    let attribute = before
        .iter()
        .rfind(|column| column.content == Content::Attribute);
    let (Some(attribute), Cells::Dictionary { codes, cells }) = (attribute, &column.cells) else {
        return types;
    };
    let Cells::Dictionary {
        codes: names,
        cells: labels,
    } = &attribute.cells
    else {
        return types;
    };
    let mut known = vec![false; labels.len()];
    let mut missing = vec![false; labels.len()];
    for (name, code) in names.iter().zip(codes) {
        if known[name as usize] {
            continue;
        }
        let cell = &cells[code as usize];
        missing[name as usize] |= cell.is_missing();
        if let (Cell::Label(label), Some(kind)) = (&labels[name as usize], kind_of(cell)) {
            types.insert(label.clone(), kind);
            known[name as usize] = true;
        }
    }
    // Values that are all missing read the same under every type.
    for (at, label) in labels.iter().enumerate() {
        if let (Cell::Label(label), true) = (label, missing[at] && !known[at]) {
            types.insert(label.clone(), AttributeType::Categorical);
        }
    }
    types
}

/// What type of attribute a cell is of; none where any would do.
fn kind_of(cell: &Cell) -> Option<AttributeType> {
    match cell {
        Cell::OrMissing(interval) => kind_of(interval),
        Cell::Label(_) if cell.is_missing() => None,
        Cell::Empty | Cell::Masked => None,
        Cell::Integer(..) => Some(AttributeType::Integer),
        Cell::Decimal(..) => Some(AttributeType::Decimal),
        Cell::Date(..) => Some(AttributeType::Date),
        Cell::Label(_) | Cell::Set(_) | Cell::Items(_) => Some(AttributeType::Categorical),
    }
}
