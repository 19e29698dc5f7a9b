//! The columns of an index: what classes and rows say of each attribute.
//!
//! An attribute *varies by row* where it is published exactly or its cell is in
//! a bucket: then each row has a state, the position of its cell, or behind all
//! cells the position of its pool (its bucket, or its group's buckets).

use crate::microdata::Codes;
use crate::release::{Cell, Content, JoinedAttribute};

/// One attribute of the index.
#[derive(Debug)]
pub(super) struct IndexedColumn {
    /// Per class: position of its cell; the number of cells where its rows
    /// have states of their own.
    pub(super) of_class: Codes,
    /// Whether rows of every class have states of their own.
    pub(super) is_of_rows_alone: bool,
    /// Per row in order of classes, where any row needs it.
    pub(super) of_row: Vec<u32>,
    /// The cells of an attribute that is published exactly, without buckets.
    pub(super) exact: Option<RankedCells>,
    /// Number of cells.
    cells: u32,
}

/// The cells of rows, numbered in ascending order of what they publish, so
/// that those between two values have numbers between two.
#[derive(Debug)]
pub(super) struct RankedCells {
    /// Positions of the cells in ascending order.
    pub(super) order: Vec<u32>,
    /// Per row in order of classes: place of its cell in `order`.
    pub(super) ranks: Codes,
}

impl IndexedColumn {
    pub(super) fn new(attribute: &JoinedAttribute<'_>, starts: &[u32], rows: &[u32]) -> Self {
        let cells = attribute.cells.len() as u32;
        let in_bucket = |code: u32| attribute.cells[code as usize] == Cell::Empty;
        let classes = starts[..starts.len() - 1].iter();
        let of_class = classes.map(|&first| {
            let code = attribute.codes.at(rows[first as usize] as usize);
            match attribute.content {
                Content::Generalized if !in_bucket(code) => code,
                _ => cells,
            }
        });
        let mut column = Self {
            of_class: Codes::below(cells as usize + 1, of_class),
            is_of_rows_alone: false,
            of_row: Vec::new(),
            exact: None,
            cells,
        };
        if !column.of_class.iter().any(|code| code == cells) {
            return column;
        }
        column.is_of_rows_alone = column.of_class.iter().all(|code| code == cells);
        let buckets = attribute.buckets.as_ref();
        let of_row = rows.iter().map(|&row| {
            let code = attribute.codes.at(row as usize);
            let pool = buckets
                .filter(|_| in_bucket(code))
                .and_then(|buckets| buckets.pool_of(row as usize));
            pool.map_or(code, |pool| cells + pool)
        });
        column.of_row = of_row.collect();
        if buckets.is_none() && attribute.content == Content::Exact {
            column.exact = Some(RankedCells::new(attribute.cells, &column.of_row));
        }
        column
    }

    /// Memory that it takes, about.
    pub(super) fn bytes(&self) -> u64 {
        let ranked = self.exact.as_ref();
        let ranked = ranked.map_or(0, |exact| exact.order.len() + exact.ranks.len());
        4 * (self.of_class.len() + self.of_row.len() + ranked) as u64
    }

    /// Whether rows of a class have states of their own.
    #[inline]
    pub(super) fn is_by_row(&self, class: usize) -> bool {
        self.of_class.at(class) == self.cells
    }

    /// State of a row of a class.
    #[inline]
    pub(super) fn state(&self, class: usize, row: usize) -> usize {
        match self.of_class.at(class) {
            code if code == self.cells => self.of_row[row] as usize,
            code => code as usize,
        }
    }
}

impl RankedCells {
    fn new(cells: &[Cell], of_row: &[u32]) -> Self {
        let mut order: Vec<u32> = (0..cells.len() as u32).collect();
        order.sort_by(|&one, &other| {
            let [one, other] = [one, other].map(|at| &cells[at as usize]);
            // Cells hold finite numbers only: all of a column can be compared.
            one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut rank_of = vec![0; cells.len()];
        for (rank, &at) in (0..).zip(&order) {
            rank_of[at as usize] = rank;
        }
        let ranks = of_row.iter().map(|&at| rank_of[at as usize]);
        Self {
            ranks: Codes::below(cells.len(), ranks),
            order,
        }
    }
}
