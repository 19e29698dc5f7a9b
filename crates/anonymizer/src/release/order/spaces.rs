//! Which numbers of a release belong together: a space is a column of numbers
//! of the table with a row a record, or the buckets of one attribute that only
//! lists name.

use rayon::prelude::*;

use crate::release::cell::Cell;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

/// Numbers that belong together.
pub(super) struct NumberedTables {
    /// Name of its column; `<attribute>_bucket` where only lists have one.
    pub name: String,
    /// The column of the table with a row a record.
    pub column: Option<usize>,
    /// The largest number.
    pub largest: usize,
}

/// All spaces of a release.
pub(super) struct Spaces {
    /// Position of the table with a row a record.
    pub table: usize,
    pub spaces: Vec<NumberedTables>,
    /// Space of each row of each other table that names numbers: per table
    /// its position, the column, and the space of each row.
    pub lists: Vec<ListColumn>,
}

/// A column of numbers of a table without a row a record.
pub(super) struct ListColumn {
    pub table: usize,
    pub column: usize,
    /// Space of each value of the table's column of attributes; the only one
    /// stands alone where all rows are of one space.
    of_attribute: Vec<usize>,
}

impl ListColumn {
    /// The space of a row whose attribute has this code.
    pub fn space(&self, attribute: u32) -> usize {
        match self.of_attribute.as_slice() {
            [only] => *only,
            all => all[attribute as usize],
        }
    }
}

/// The column of a list that says which attribute a row is of.
pub(super) fn attribute_column(table: &PublishedTable) -> Option<&PublishedColumn> {
    let mut columns = table.columns.iter();
    columns.find(|column| column.content == Content::Attribute)
}

impl Spaces {
    /// The spaces of the table at `table` and of the lists beside it.
    pub fn of(tables: &[PublishedTable], table: usize) -> Self {
        let columns = tables[table].columns.iter().enumerate();
        let spaces = columns.filter(|(_, column)| column.content.is_number());
        let spaces = spaces.map(|(at, column)| NumberedTables {
            name: column.name.clone(),
            column: Some(at),
            largest: column.cells.largest_number() as usize,
        });
        let mut found = Self {
            table,
            spaces: spaces.collect(),
            lists: Vec::new(),
        };
        for (at, list) in tables.iter().enumerate().filter(|&(at, _)| at != table) {
            for (column, numbers) in list.columns.iter().enumerate() {
                if numbers.content.is_number() {
                    let of_attribute = found.of_list(list, numbers);
                    found.lists.push(ListColumn {
                        table: at,
                        column,
                        of_attribute,
                    });
                }
            }
        }
        found
    }

    /// The space of each attribute of a list for one of its columns.
    fn of_list(&mut self, list: &PublishedTable, numbers: &PublishedColumn) -> Vec<usize> {
        let labels = match attribute_column(list).map(|column| &column.cells) {
            Some(Cells::Dictionary { cells, .. }) => cells.as_slice(),
            _ => &[],
        };
        if let Some(shared) = self.position(&numbers.name) {
            return vec![shared];
        }
        let spaces = labels.iter().map(|label| {
            let Cell::Label(label) = label else {
                return 0;
            };
            let name = format!("{label}_{}", numbers.name);
            self.position(&name).unwrap_or_else(|| {
                self.spaces.push(NumberedTables {
                    name,
                    column: None,
                    largest: numbers.cells.largest_number() as usize,
                });
                self.spaces.len() - 1
            })
        });
        spaces.collect::<Vec<_>>()
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.spaces.iter().position(|space| space.name == name)
    }

    /// Gives every number its new one: `numbers` has, for each space, the new
    /// number of each old one; 0 stays.
    pub fn renumber(&self, tables: &mut [PublishedTable], numbers: &[Vec<u64>]) {
        for (space, numbers) in self.spaces.iter().zip(numbers) {
            if let Some(column) = space.column {
                let column = &mut tables[self.table].columns[column];
                if let Cells::Numbers(old) = &mut column.cells {
                    let all = old.par_iter_mut();
                    all.for_each(|number| *number = numbers[*number as usize]);
                }
            }
        }
        for list in &self.lists {
            let attributes = attribute_codes(&tables[list.table]);
            let column = &mut tables[list.table].columns[list.column];
            if let Cells::Numbers(old) = &mut column.cells {
                for (row, number) in old.iter_mut().enumerate() {
                    let attribute = attributes.get(row).copied().unwrap_or(0);
                    *number = numbers[list.space(attribute)][*number as usize];
                }
            }
        }
    }
}

/// The code of each row's attribute in a list.
pub(super) fn attribute_codes(list: &PublishedTable) -> Vec<u32> {
    match attribute_column(list).map(|column| &column.cells) {
        Some(Cells::Dictionary { codes, .. }) => codes.iter().collect(),
        _ => Vec::new(),
    }
}
