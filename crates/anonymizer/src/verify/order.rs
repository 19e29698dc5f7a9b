//! Order and numbers say nothing that the cells do not say.
//!
//! - `rows_in_order`: rows of a table with a row a subject are sorted by their
//!   first number, then by what they show, then by their other numbers; rows
//!   of every other table by its columns from the left, none twice. (The table
//!   `columns` of a sliced release is held by `columns_as_declared`.)
//! - `numbered_by_content`: groups, blocks and buckets are numbered from 1 by
//!   the rank of their content: the values that are listed for them with their
//!   counts, then, for the first column of numbers, what their rows show,
//!   sorted, for others the first numbers that are linked to them. Where all of
//!   that is the same the draw of the run's seed for the first subject decides.
//!
//! Both compare neighbours only, so they take linear time. Columns that cannot
//! be read are left to the checks that name them.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::microdata::Codes;
use crate::release::{Cell, Content, PublishedColumn, PublishedTable, compare_cells};

use super::evidence::Evidence;
use super::meaning::{dictionary, numbers};
use super::numbering::numbers_by_content;
use super::shape::{MICRODATA, PERSONS, QUASI, SLICED};
use super::verdict::{Check, Failures, Place};

/// Tables with a row a subject.
const TABLES_OF_SUBJECTS: [&str; 4] = [MICRODATA, PERSONS, QUASI, SLICED];

/// Both checks, of all tables.
pub(super) fn canonical_order(evidence: &Evidence) -> [Check; 2] {
    let (mut rows, mut numbered) = (Failures::none(), Failures::none());
    for table in evidence.tables {
        let is_declaration = |column: &PublishedColumn| column.content == Content::Column;
        if table.columns.iter().any(is_declaration) {
            continue;
        }
        if TABLES_OF_SUBJECTS.contains(&table.name.as_str()) {
            rows = rows.and(of_subjects(table));
            numbered = numbered.and(numbers_by_content(evidence, table));
        } else {
            rows = rows.and(of_list(table))
        }
    }
    [
        Check::structure("rows_in_order", &rows),
        Check::structure("numbered_by_content", &numbered),
    ]
}

/// One column as its rows compare.
pub(super) enum Ordered<'a> {
    Numbers(&'a [u64]),
    /// Codes, and the rank of each.
    Cells(&'a Codes, Vec<u32>),
}

impl<'a> Ordered<'a> {
    pub(super) fn of(column: &'a PublishedColumn) -> Option<Self> {
        if let Some(numbers) = numbers(column) {
            return Some(Self::Numbers(numbers));
        }
        let (codes, cells) = dictionary(column)?;
        Some(Self::Cells(codes, ranks(cells)))
    }

    #[inline]
    pub(super) fn at(&self, row: usize) -> u64 {
        match self {
            Self::Numbers(numbers) => numbers.get(row).copied().unwrap_or(0),
            Self::Cells(codes, ranks) => {
                let code = codes.get(row).unwrap_or(0);
                u64::from(ranks.get(code as usize).copied().unwrap_or(0))
            }
        }
    }
}

/// The rank of each cell; equal cells have one.
fn ranks(cells: &[Cell]) -> Vec<u32> {
    let mut sorted: Vec<(&Cell, usize)> = cells.iter().zip(0..).collect();
    sorted.sort_by(|one, other| compare_cells(one.0, other.0));
    let mut ranks = vec![0; cells.len()];
    let equal = sorted.chunk_by(|one, other| compare_cells(one.0, other.0).is_eq());
    for (rank, run) in (0..).zip(equal) {
        run.iter().for_each(|&(_, at)| ranks[at] = rank);
    }
    ranks
}

/// Whether a column numbers groups, blocks or buckets.
pub(super) fn is_number(column: &PublishedColumn) -> bool {
    matches!(
        column.content,
        Content::Group | Content::Block | Content::Bucket
    )
}

/// Compares from the left and stops where rows differ.
pub(super) fn compare_rows(columns: &[Ordered], one: usize, other: usize) -> Ordering {
    for column in columns {
        let order = column.at(one).cmp(&column.at(other));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Rows that stand after their next one.
fn out_of_order(table: &PublishedTable, columns: &[Ordered], strictly: bool) -> Failures {
    let rows = 1..table.rows();
    let wrong: Vec<usize> = rows
        .into_par_iter()
        .filter(|&row| {
            let order = compare_rows(columns, row - 1, row);
            order.is_gt() || (strictly && order.is_eq())
        })
        .collect();
    let mut failures = Failures::none();
    for row in wrong {
        failures.add_at(&table.name, Place::Row(row as u64 + 1));
    }
    failures
}

fn of_subjects(table: &PublishedTable) -> Failures {
    let numbers = table.columns.iter().filter(|column| is_number(column));
    let shown = table.columns.iter().filter(|column| !is_number(column));
    let first = numbers.clone().take(1);
    // Columns of a sliced table are sorted one by one (`columns_sorted`).
    let shown = shown.filter(|_| table.name != SLICED);
    let columns = first.chain(shown).chain(numbers.skip(1));
    let columns: Option<Vec<Ordered>> = columns.map(Ordered::of).collect();
    columns.map_or_else(Failures::none, |columns| {
        out_of_order(table, &columns, false)
    })
}

fn of_list(table: &PublishedTable) -> Failures {
    let columns: Option<Vec<Ordered>> = table.columns.iter().map(Ordered::of).collect();
    columns.map_or_else(Failures::none, |columns| {
        out_of_order(table, &columns, true)
    })
}
