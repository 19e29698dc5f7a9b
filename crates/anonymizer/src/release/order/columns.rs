//! Rows that are sorted and moved.

use rayon::prelude::*;

use crate::microdata::{Codes, SubjectIndex, of_width};
use crate::release::layout::SlicedLayout;
use crate::release::table::{Cells, PublishedColumn, PublishedTable};

use super::keys::Keys;

/// Moves the rows of a table: row `rows[i]` becomes row i.
pub(super) fn permute(table: &mut PublishedTable, rows: &[u32]) {
    let columns = table.columns.par_iter_mut();
    columns.for_each(|column| permute_column(column, rows));
}

fn permute_column(column: &mut PublishedColumn, rows: &[u32]) {
    match &mut column.cells {
        Cells::Numbers(numbers) => {
            let moved = rows.iter().map(|&row| numbers[row as usize]);
            *numbers = moved.collect();
        }
        Cells::Dictionary { codes, cells } => {
            let moved = of_width!(&*codes, codes => moved(codes, rows, cells.len()));
            *codes = moved;
        }
    }
}

fn moved<C: Copy + Into<u32>>(codes: &[C], rows: &[u32], cells: usize) -> Codes {
    Codes::below(cells, rows.iter().map(|&row| codes[row as usize].into()))
}

/// Sorts the rows of a table by its columns from the left.
pub(super) fn sort_by_columns(table: &mut PublishedTable) {
    let columns: Vec<&PublishedColumn> = table.columns.iter().collect();
    let keys = Keys::of(&columns, table.rows());
    let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
    rows.par_sort_unstable_by(|&one, &other| keys.row(one).cmp(keys.row(other)));
    permute(table, &rows);
}

/// Sorts each column of the sliced table called `name` inside its buckets;
/// the subjects of its rows, which are those of the first column, with it.
/// Does nothing where no table says which attributes form a column.
pub(super) fn sort_inside_buckets(
    tables: &mut [PublishedTable],
    name: &str,
    subjects: &mut [SubjectIndex],
) {
    let Ok(layout) = SlicedLayout::read(tables) else {
        return;
    };
    let owned = |headers: Vec<&str>| headers.into_iter().map(str::to_owned).collect();
    let members: Vec<Vec<String>> = layout.headers().into_iter().map(owned).collect();
    let in_buckets = layout.rows_by_bucket();
    let Some(table) = tables.iter_mut().find(|table| table.name == name) else {
        return;
    };
    for (position, headers) in members.iter().enumerate() {
        let is_linked = |column: &&PublishedColumn| headers.contains(&column.name);
        let linked: Vec<&PublishedColumn> = table.columns.iter().filter(is_linked).collect();
        let keys = Keys::of(&linked, table.rows());
        let mut from = in_buckets.clone();
        let parts = from.par_iter_mut().with_min_len(64);
        parts.for_each(|rows| {
            rows.sort_unstable_by(|&one, &other| keys.row(one).cmp(keys.row(other)));
        });
        let mut source = vec![0_u32; table.rows()];
        for (places, rows) in in_buckets.iter().zip(&from) {
            for (&place, &row) in places.iter().zip(rows) {
                source[place as usize] = row;
            }
        }
        let columns = table.columns.par_iter_mut();
        let columns = columns.filter(|column| headers.contains(&column.name));
        columns.for_each(|column| permute_column(column, &source));
        if position == 0 {
            let before = subjects.to_vec();
            for (subject, &row) in subjects.iter_mut().zip(&source) {
                *subject = before[row as usize];
            }
        }
    }
}
