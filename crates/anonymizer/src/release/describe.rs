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
        let mut describing = Describing::default();
        describing.rows(table);
        describing.finish(summary)
    }
}

impl ColumnDescription {
    /// Descriptions of the columns of `table`, in order. Reads every code once.
    pub fn all(table: &PublishedTable) -> Vec<Self> {
        let mut describing = Describing::default();
        describing.rows(table);
        describing.columns()
    }
}

/// Describes one table that comes in chunks of rows.
#[derive(Default)]
pub struct Describing {
    name: String,
    columns: Vec<Seen>,
}

/// What was seen of a column.
struct Seen {
    name: String,
    content: Content,
    kind: Option<AttributeType>,
    masked: bool,
    missing: bool,
    sets: bool,
    /// Type of each attribute that is named beside a value; none where all of its
    /// values so far are missing, which read the same under every type.
    types: BTreeMap<String, Option<AttributeType>>,
}

impl Describing {
    /// Looks at the next rows.
    pub fn rows(&mut self, table: &PublishedTable) {
        if self.columns.is_empty() {
            self.name.clone_from(&table.name);
            self.columns = table.columns.iter().map(Seen::of).collect();
        }
        let seen = self.columns.iter_mut().zip(&table.columns).enumerate();
        for (position, (seen, column)) in seen {
            seen.masked |= has_rows_of(column, |cell| *cell == Cell::Masked);
            seen.missing |= has_rows_of(column, |cell| {
                cell.is_missing() || matches!(cell, Cell::OrMissing(_))
            });
            seen.sets |= column.content == Content::Generalized
                && has_rows_of(column, |cell| matches!(cell, Cell::Set(_)));
            if column.content == Content::Value {
                add_value_types(&mut seen.types, &table.columns[..position], column);
            }
        }
    }

    /// Descriptions of the columns, in order.
    pub fn columns(&self) -> Vec<ColumnDescription> {
        self.columns.iter().map(Seen::description).collect()
    }

    /// The description of the table, whose CSV form is `summary`.
    pub fn finish(&self, summary: &CsvSummary) -> TableDescription {
        TableDescription {
            name: self.name.clone(),
            rows: summary.rows,
            sha256: to_hex(&summary.sha256),
            columns: self.columns(),
        }
    }
}

impl Seen {
    fn of(column: &PublishedColumn) -> Self {
        Self {
            name: column.name.clone(),
            content: column.content,
            kind: column.kind,
            masked: false,
            missing: false,
            sets: false,
            types: BTreeMap::new(),
        }
    }

    fn description(&self) -> ColumnDescription {
        let types = self.types.iter().map(|(label, kind)| {
            let kind = kind.unwrap_or(AttributeType::Categorical);
            (label.clone(), kind)
        });
        let types: BTreeMap<String, AttributeType> = types.collect();
        let has_numbers = is_number(self.kind) || types.values().any(|&kind| is_number(Some(kind)));
        ColumnDescription {
            name: self.name.clone(),
            content: self.content,
            kind: self.kind,
            types,
            masked: self.masked,
            missing: has_numbers && self.missing,
            sets: self.sets,
        }
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

/// Adds the type of each attribute that the rows of a column of values name in the
/// attribute column before it.
fn add_value_types(
    types: &mut BTreeMap<String, Option<AttributeType>>,
    before: &[PublishedColumn],
    column: &PublishedColumn,
) {
    let attribute = before
        .iter()
        .rfind(|column| column.content == Content::Attribute);
    let (Some(attribute), Cells::Dictionary { codes, cells }) = (attribute, &column.cells) else {
        return;
    };
    let Cells::Dictionary {
        codes: names,
        cells: labels,
    } = &attribute.cells
    else {
        return;
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
            types.insert(label.clone(), Some(kind));
            known[name as usize] = true;
        }
    }
    for (at, label) in labels.iter().enumerate() {
        if let (Cell::Label(label), true) = (label, missing[at] && !known[at]) {
            types.entry(label.clone()).or_default();
        }
    }
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
