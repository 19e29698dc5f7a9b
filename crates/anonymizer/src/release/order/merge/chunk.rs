//! Rows in order, gathered into chunks.

use std::io;

use crate::microdata::SubjectIndex;
use crate::release::table::{Cells, PublishedColumn, PublishedTable};

use super::part::Chunks;
use super::stored::{UNUSED, dictionary};

/// A chunk of a table that grows.
pub(super) struct Chunk<'a, 'c> {
    /// The table without rows; its dictionaries have all cells.
    table: &'a PublishedTable,
    rows_max: usize,
    /// Numbers, or ranks of cells.
    columns: Vec<Vec<u64>>,
    subjects: Vec<SubjectIndex>,
    /// For each rank of each column its place in the dictionary of a chunk.
    places: Vec<Vec<u32>>,
    take: &'a mut Chunks<'c>,
    is_taken: bool,
}

impl<'a, 'c> Chunk<'a, 'c> {
    /// The first chunk of a table; chunks have `rows_max` rows, the last what is left.
    pub fn of(table: &'a PublishedTable, rows_max: usize, take: &'a mut Chunks<'c>) -> Self {
        let places = table.columns.iter().map(|column| match &column.cells {
            Cells::Numbers(_) => Vec::new(),
            Cells::Dictionary { cells, .. } => vec![UNUSED; cells.len()],
        });
        Self {
            table,
            rows_max,
            columns: vec![Vec::new(); table.columns.len()],
            subjects: Vec::new(),
            places: places.collect(),
            take,
            is_taken: false,
        }
    }

    /// Adds a row, of a number or a rank for each column.
    pub fn push(&mut self, row: &[u64], subject: Option<SubjectIndex>) -> io::Result<()> {
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
        self.subjects.extend(subject);
        match self.columns.first() {
            Some(column) if column.len() >= self.rows_max => self.give(),
            _ => Ok(()),
        }
    }

    /// Gives the last rows; a table without rows is given as well.
    pub fn finish(mut self) -> io::Result<()> {
        let is_empty = self.columns.first().is_none_or(Vec::is_empty);
        if is_empty && self.is_taken {
            return Ok(());
        }
        self.give()
    }

    fn give(&mut self) -> io::Result<()> {
        let shapes = self.table.columns.iter().zip(&mut self.places);
        let columns = shapes
            .zip(&mut self.columns)
            .map(|((shape, places), values)| {
                let cells = match &shape.cells {
                    Cells::Numbers(_) => Cells::Numbers(std::mem::take(values)),
                    Cells::Dictionary { cells, .. } => {
                        let made = dictionary(values, places, |rank| cells[rank].clone());
                        values.clear();
                        made
                    }
                };
                PublishedColumn {
                    name: shape.name.clone(),
                    content: shape.content,
                    kind: shape.kind,
                    cells,
                }
            });
        let table = PublishedTable {
            name: self.table.name.clone(),
            columns: columns.collect(),
        };
        (self.take)(table, &self.subjects)?;
        self.subjects.clear();
        self.is_taken = true;
        Ok(())
    }
}
