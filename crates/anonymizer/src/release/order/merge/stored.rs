//! Parts in room: the tables of a part in its own order, column after column.

use std::io;

use crate::microdata::{Codes, SubjectIndex};
use crate::release::cell::Cell;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

use super::dictionary::Dictionary;
use super::part::unfit;
use super::room::{Column, Room};

/// What the tables of all parts have in common.
pub(super) struct Shape {
    /// The tables without rows.
    pub tables: Vec<PublishedTable>,
    /// Position of the table with a row a subject.
    pub main: usize,
    /// Position of its column of groups.
    pub group: usize,
    /// The cells of each column of each table; none for numbers.
    pub dictionaries: Vec<Vec<Dictionary>>,
    /// The largest number of each column of numbers.
    pub largest: Vec<Vec<u64>>,
}

/// A table of a part.
pub(super) struct StoredTable {
    pub rows: u32,
    /// Numbers, or those of cells in the dictionary. Groups of the table with a row a
    /// subject are all 0 here: they follow from the sizes of groups.
    pub columns: Vec<Column>,
}

/// A part, in its own order.
pub(super) struct StoredPart {
    pub tables: Vec<StoredTable>,
    /// Subject of each row.
    pub subjects: Column,
    /// Which row each was in the part before it was put into order.
    pub before: Column,
    /// Rows of each group, from number 1 on, and how many groups there are.
    pub sizes: Column,
    pub groups: u32,
}

impl Shape {
    /// The form of these tables; the one called `main` has a row a subject.
    pub fn of(tables: &[PublishedTable], main: &str) -> io::Result<Self> {
        let mut contents = tables.iter().flat_map(|table| &table.columns);
        if contents.any(|column| column.content == Content::Column) {
            return Err(unfit("a sliced table is in no parts"));
        }
        let at = tables.iter().position(|table| table.name == main);
        let columns = at.map_or(&[][..], |at| &tables[at].columns);
        let mut columns = columns.iter();
        let group = columns.position(|column| {
            column.content.is_number() && matches!(column.cells, Cells::Numbers(_))
        });
        let (Some(main), Some(group)) = (at, group) else {
            return Err(unfit(
                "a table with a row a subject needs numbers of groups",
            ));
        };
        let counts = tables.iter().map(|table| table.columns.len());
        Ok(Self {
            main,
            group,
            dictionaries: counts
                .clone()
                .map(|count| (0..count).map(|_| Dictionary::default()).collect())
                .collect(),
            largest: counts.map(|count| vec![0; count]).collect(),
            tables: tables.iter().map(without_rows).collect(),
        })
    }

    fn fits(&self, tables: &[PublishedTable]) -> bool {
        let same_column = |(one, other): (&PublishedColumn, &PublishedColumn)| {
            let same_cells =
                std::mem::discriminant(&one.cells) == std::mem::discriminant(&other.cells);
            same_cells
                && one.name == other.name
                && one.content == other.content
                && one.kind == other.kind
        };
        let same_table = |(one, other): (&PublishedTable, &PublishedTable)| {
            one.name == other.name
                && one.columns.len() == other.columns.len()
                && one.columns.iter().zip(&other.columns).all(same_column)
        };
        self.tables.len() == tables.len() && self.tables.iter().zip(tables).all(same_table)
    }

    /// The columns of the table with a row a subject whose cells are looked at.
    pub fn shown_columns(&self, is_looked_at: &dyn Fn(&PublishedColumn) -> bool) -> Vec<usize> {
        let columns = self.tables[self.main].columns.iter().enumerate();
        let shown = columns.filter(|(_, column)| {
            matches!(column.cells, Cells::Dictionary { .. }) && is_looked_at(column)
        });
        shown.map(|(at, _)| at).collect()
    }

    /// Puts the tables of a part, which are in order, into room, with the subjects of
    /// its rows and which row each was before.
    pub fn store(
        &mut self,
        room: &mut Room,
        tables: &[PublishedTable],
        (subjects, before): (&[SubjectIndex], &[u32]),
    ) -> io::Result<StoredPart> {
        if !self.fits(tables) {
            return Err(unfit("tables of parts differ in their form"));
        }
        let main = &tables[self.main];
        let Cells::Numbers(groups) = &main.columns[self.group].cells else {
            return Err(unfit("groups have numbers"));
        };
        if groups.first() == Some(&0) || subjects.len() != groups.len() {
            return Err(unfit("a row needs a group and a subject"));
        }
        let mut stored = Vec::with_capacity(tables.len());
        for (at, table) in tables.iter().enumerate() {
            stored.push(self.store_table(room, table, at)?);
        }
        let all = subjects.iter().map(|subject| u64::from(subject.0));
        let largest = subjects.iter().map(|subject| u64::from(subject.0)).max();
        let subjects = Column::write(room, all, largest.unwrap_or(0))?;
        let rows = u64::from(stored[self.main].rows);
        let before = Column::write(room, before.iter().map(|&row| row.into()), rows)?;
        let groups = groups.chunk_by(|one, other| one == other);
        let sizes: Vec<u64> = groups.map(|group| group.len() as u64).collect();
        Ok(StoredPart {
            tables: stored,
            subjects,
            before,
            sizes: Column::write(room, sizes.iter().copied(), rows)?,
            groups: sizes.len() as u32,
        })
    }

    fn store_table(
        &mut self,
        room: &mut Room,
        table: &PublishedTable,
        at: usize,
    ) -> io::Result<StoredTable> {
        let rows = u32::try_from(table.rows()).map_err(|_| unfit("a part has too many rows"))?;
        let mut columns = Vec::with_capacity(table.columns.len());
        for (position, column) in table.columns.iter().enumerate() {
            if column.cells.len() != rows as usize {
                return Err(unfit("the columns of a table differ in length"));
            }
            let is_group = at == self.main && position == self.group;
            columns.push(match &column.cells {
                Cells::Numbers(_) if is_group => Column::default(),
                Cells::Numbers(numbers) => {
                    let largest = numbers.iter().copied().max().unwrap_or(0);
                    let known = &mut self.largest[at][position];
                    *known = largest.max(*known);
                    Column::write(room, numbers.iter().copied(), largest)?
                }
                Cells::Dictionary { codes, cells } => {
                    let dictionary = &mut self.dictionaries[at][position];
                    let number = dictionary.numbers(codes, cells);
                    let numbers = codes.iter().map(|code| number[code as usize].into());
                    Column::write(room, numbers, dictionary.largest())?
                }
            });
        }
        Ok(StoredTable { rows, columns })
    }

    /// The table at a position as the part has it.
    pub fn read_list(
        &self,
        room: &Room,
        part: &StoredPart,
        at: usize,
    ) -> io::Result<PublishedTable> {
        let stored = &part.tables[at];
        let mut table = without_rows(&self.tables[at]);
        for (position, column) in table.columns.iter_mut().enumerate() {
            let numbers = stored.columns[position].numbers(room, 0..stored.rows)?;
            column.cells = match column.cells {
                Cells::Numbers(_) => Cells::Numbers(numbers),
                Cells::Dictionary { .. } => {
                    let all = self.dictionaries[at][position].by_number();
                    let mut places = vec![UNUSED; all.len()];
                    dictionary(&numbers, &mut places, |number| all[number].clone())
                }
            };
        }
        Ok(table)
    }
}

/// What has no place in a dictionary.
pub(super) const UNUSED: u32 = u32::MAX;

/// Cells by their numbers, with those that occur in order of first appearance. No
/// number has a place in `places`, and none has one afterwards.
pub(super) fn dictionary(
    numbers: &[u64],
    places: &mut [u32],
    cell: impl Fn(usize) -> Cell,
) -> Cells {
    let mut used = Vec::new();
    let mut codes = Codes::default();
    for &number in numbers {
        let place = &mut places[number as usize];
        if *place == UNUSED {
            *place = used.len() as u32;
            used.push(number as usize);
        }
        codes.push(*place);
    }
    used.iter().for_each(|&number| places[number] = UNUSED);
    Cells::Dictionary {
        codes,
        cells: used.into_iter().map(cell).collect(),
    }
}

/// The columns of a table.
fn without_rows(table: &PublishedTable) -> PublishedTable {
    let columns = table.columns.iter().map(|column| PublishedColumn {
        name: column.name.clone(),
        content: column.content,
        kind: column.kind,
        cells: match column.cells {
            Cells::Numbers(_) => Cells::Numbers(Vec::new()),
            Cells::Dictionary { .. } => Cells::Dictionary {
                codes: Codes::default(),
                cells: Vec::new(),
            },
        },
    });
    PublishedTable {
        name: table.name.clone(),
        columns: columns.collect(),
    }
}
