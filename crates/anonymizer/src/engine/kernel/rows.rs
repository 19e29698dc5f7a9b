//! Codes of the records of one set, row by row.
//!
//! A split reads all attributes of a record together, so they lie together:
//! one row is one or two cache lines. Rows are numbered from 0 in the order
//! of the records they were gathered from.

use rayon::prelude::*;

use crate::microdata::CodedColumn;

/// Rows gathered by one task; large enough to pay for handing it out.
const ROWS_PER_TASK: usize = 8192;

/// Codes of a set of records, row by row.
#[derive(Clone, Debug)]
pub struct Rows {
    width: usize,
    cells: Vec<u32>,
}

impl Rows {
    /// Copies the codes of `records` in `columns`.
    pub fn gather(columns: &[&CodedColumn], records: &[u32]) -> Self {
        let width = columns.len();
        let mut cells = vec![0_u32; records.len() * width];
        if width > 0 {
            let tasks = cells.par_chunks_mut(ROWS_PER_TASK * width);
            tasks
                .zip(records.par_chunks(ROWS_PER_TASK))
                .for_each(|(cells, records)| {
                    for (row, &record) in cells.chunks_exact_mut(width).zip(records) {
                        for (cell, column) in row.iter_mut().zip(columns) {
                            *cell = column.codes.at(record as usize);
                        }
                    }
                });
        }
        Self { width, cells }
    }

    /// Number of attributes.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The codes of one row.
    #[inline]
    pub fn row(&self, row: u32) -> &[u32] {
        let start = row as usize * self.width;
        &self.cells[start..start + self.width]
    }

    /// One code.
    #[inline]
    pub fn cell(&self, row: u32, column: usize) -> u32 {
        self.cells[row as usize * self.width + column]
    }

    /// Replaces every cell of a column.
    pub fn map_column(&mut self, column: usize, replace: impl Fn(u32) -> u32 + Sync) {
        self.cells
            .par_chunks_mut(self.width * ROWS_PER_TASK)
            .for_each(|cells| {
                for row in cells.chunks_exact_mut(self.width) {
                    row[column] = replace(row[column]);
                }
            });
    }

    /// Lowest and highest code of each column over the given rows. Both
    /// slices have one entry a column; `rows` is not empty.
    pub fn extremes(
        &self,
        rows: impl Iterator<Item = u32>,
        lowest: &mut [u32],
        highest: &mut [u32],
    ) {
        lowest.fill(u32::MAX);
        highest.fill(0);
        for row in rows {
            let row = self.row(row);
            for ((&code, low), high) in row.iter().zip(&mut *lowest).zip(&mut *highest) {
                *low = code.min(*low);
                *high = code.max(*high);
            }
        }
    }
}
