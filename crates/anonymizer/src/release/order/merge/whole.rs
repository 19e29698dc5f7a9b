//! What holds for the rows of all parts: the order of cells, numbers that belong
//! together, and where a value stands in the key of a row.

use std::io;

use crate::privacy::Seed;
use crate::release::order::keys::Place;
use crate::release::order::spaces::Spaces;
use crate::release::table::{Cells, Content, PublishedTable};

use super::part::{Blocks, unfit};
use super::room::Room;
use super::stored::{Shape, StoredPart};

/// The whole release, whose parts stand in room.
pub(super) struct Whole {
    pub seed: Seed,
    pub blocks: Blocks,
    pub room: Room,
    /// In the order of the union.
    pub parts: Vec<StoredPart>,
    /// The tables without rows; dictionaries have the cells of all parts, in order.
    pub tables: Vec<PublishedTable>,
    /// Position of the table with a row a subject, and of its column of groups.
    pub main: usize,
    pub group: usize,
    /// The rank of the cell with each number of a dictionary, column after column of
    /// each table; none for numbers.
    ranks: Vec<Vec<Vec<u32>>>,
    /// The largest number of each column of numbers, in its part.
    largest: Vec<Vec<u64>>,
    pub spaces: Spaces,
    /// The columns that show what a row is compared by, and their places in its key.
    pub shown: Vec<(usize, Place)>,
    /// Numbers of 64 bits of such a key.
    pub words: usize,
    /// The other columns of numbers, whose spaces are those from 1 on.
    pub others: Vec<usize>,
}

impl Whole {
    /// Puts the cells of all parts into order.
    pub fn of(
        shape: Shape,
        (room, parts): (Room, Vec<StoredPart>),
        (seed, blocks): (Seed, Blocks),
    ) -> io::Result<Self> {
        let mut tables = shape.tables;
        let of_tables = tables.iter_mut().zip(shape.dictionaries);
        let ranks = of_tables.map(|(table, dictionaries)| {
            let columns = table.columns.iter_mut().zip(dictionaries);
            let ranks = columns.map(|(column, dictionary)| match &mut column.cells {
                Cells::Numbers(_) => Vec::new(),
                Cells::Dictionary { cells, .. } => {
                    let (in_order, ranks) = dictionary.into_ranks();
                    *cells = in_order;
                    ranks
                }
            });
            ranks.collect()
        });
        let ranks = ranks.collect();
        let columns = tables[shape.main].columns.iter().enumerate();
        let (numbers, shown): (Vec<_>, Vec<_>) =
            columns.partition(|(_, column)| column.content.is_number());
        let numbers: Vec<usize> = numbers.into_iter().map(|(at, _)| at).collect();
        let shown: Vec<usize> = shown.into_iter().map(|(at, _)| at).collect();
        let spaces = Spaces::of(&tables, shape.main);
        let mut whole = Self {
            seed,
            blocks,
            room,
            parts,
            main: shape.main,
            group: shape.group,
            ranks,
            largest: shape.largest,
            spaces,
            shown: Vec::new(),
            words: 0,
            others: numbers.into_iter().skip(1).collect(),
            tables,
        };
        let bits = shown.iter().map(|&column| whole.bits(whole.main, column));
        let (places, words) = Place::of(bits);
        whole.shown = shown.into_iter().zip(places).collect();
        whole.words = words;
        if whole.lists_values_of_groups() {
            return Err(unfit("groups of parts have no listed values"));
        }
        Ok(whole)
    }

    /// Whether a list gives values by group: groups would have to be merged by them.
    fn lists_values_of_groups(&self) -> bool {
        self.spaces.lists.iter().any(|list| {
            let table = &self.tables[list.table];
            let mut columns = table.columns.iter();
            let has_values = columns.any(|column| column.content == Content::Value);
            has_values && table.columns[list.column].name == self.spaces.spaces[0].name
        })
    }

    /// Bits of the largest value that rows have in a column that numbers nothing.
    pub fn bits(&self, table: usize, column: usize) -> u32 {
        let largest = match &self.tables[table].columns[column].cells {
            Cells::Numbers(_) => self.largest[table][column],
            Cells::Dictionary { cells, .. } => (cells.len() as u64).saturating_sub(1),
        };
        u64::BITS - largest.leading_zeros()
    }

    /// A column's value by which rows are compared: the rank of a cell, or the number
    /// that stands there.
    #[inline]
    pub fn value(&self, (table, column): (usize, usize), number: u64) -> u64 {
        match self.ranks[table][column].get(number as usize) {
            Some(&rank) => rank.into(),
            None => number,
        }
    }

    /// The value of each row of a part's list in a column.
    pub fn values_of_list(
        &self,
        part: &StoredPart,
        (table, column): (usize, usize),
    ) -> io::Result<Vec<u64>> {
        let stored = &part.tables[table];
        let numbers = stored.columns[column].numbers(&self.room, 0..stored.rows)?;
        let values = numbers.into_iter();
        Ok(values
            .map(|number| self.value((table, column), number))
            .collect())
    }
}
