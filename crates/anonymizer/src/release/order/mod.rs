//! The one order in which a release is published.
//!
//! Order and numbers are room in which an engine can say something, by intent
//! or by accident. Here they follow what is published, so that they say
//! nothing that the cells do not say:
//!
//! - In a sliced table each column is sorted inside its bucket.
//! - Groups, blocks and buckets are numbered from 1 by the rank of their
//!   content. Those of the first column of numbers: by the values that are
//!   listed for them with their counts, then by what their rows show, sorted.
//!   Those of every other: by their values, then by the first numbers that
//!   their rows have, or that lists link them to. Numbers whose content is the
//!   same are ranked by a draw of the run's seed for the first of their
//!   subjects, which tells only the holder of the seed anything; where rows do
//!   not name them they cannot be told apart.
//! - The rows of a table with a row a record are sorted by their first number,
//!   then by what they show, then by their other numbers; the rows of all
//!   other tables by their columns from the left. (The table that says which
//!   attributes form a column has the order of these columns.)
//!
//! Cells are compared by what they are (nothing, masked, numbers, labels),
//! then by value: numbers by their lower end, labels by their bytes. The
//! verifier checks all of this with code of its own.
//!
//! `keys` packs what rows show, `spaces` finds what numbers belong together,
//! `grouped` what belongs to a number, `content` ranks them, `columns` sorts and
//! moves rows. `merge` does the same for a release whose parts are never in memory
//! together.

mod columns;
mod content;
mod grouped;
mod keys;
pub(super) mod merge;
mod spaces;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use crate::microdata::SubjectIndex;
use crate::privacy::Seed;

use super::cell::Cell;
use super::lineage::Lineage;
use super::table::{Content, PublishedColumn, PublishedTable};

use columns::{permute, sort_by_columns, sort_inside_buckets};
use content::Ranked;
use spaces::Spaces;

/// Puts the tables of a release into the order in which it is published, its
/// lineage with them.
pub fn order(tables: &mut [PublishedTable], lineage: &mut Lineage, seed: &Seed) {
    order_rows(tables, lineage, seed);
}

/// The same; gives for each table of the lineage which row each was before, none where
/// its rows stand as they did.
fn order_rows(
    tables: &mut [PublishedTable],
    lineage: &mut Lineage,
    seed: &Seed,
) -> Vec<Option<Vec<u32>>> {
    let entries = lineage.tables.iter_mut();
    let rows = entries.map(|entry| {
        sort_inside_buckets(tables, &entry.table, &mut entry.subjects);
        by_content(tables, &entry.table, (&mut entry.subjects, seed))
    });
    let rows = rows.collect();
    let is_list = |table: &PublishedTable| {
        let is_declaration = |column: &PublishedColumn| column.content == Content::Column;
        lineage.of(&table.name).is_none() && !table.columns.iter().any(is_declaration)
    };
    for table in tables.iter_mut().filter(|table| is_list(table)) {
        sort_by_columns(table);
    }
    rows
}

/// Numbers and sorts the table called `name`, which has a row a subject; gives its
/// rows in their new order, none where it has no numbers.
fn by_content(
    tables: &mut [PublishedTable],
    name: &str,
    (subjects, seed): (&mut Vec<SubjectIndex>, &Seed),
) -> Option<Vec<u32>> {
    let at = tables.iter().position(|table| table.name == name)?;
    let spaces = Spaces::of(tables, at);
    if spaces.spaces.is_empty() {
        return None;
    }
    let ranked = Ranked::of(tables, &spaces, (subjects, seed));
    spaces.renumber(tables, &ranked.numbers);
    let rows = ranked.rows_in_order(&tables[at]);
    let (_, moved) = rayon::join(
        || permute(&mut tables[at], &rows),
        || rows.iter().map(|&row| subjects[row as usize]).collect(),
    );
    *subjects = moved;
    Some(rows)
}

/// The order of cells of one column.
pub fn compare_cells(one: &Cell, other: &Cell) -> Ordering {
    // No published number is without an order.
    one.partial_cmp(other).unwrap_or(Ordering::Equal)
}

/// What decides between numbers with the same content: `space` is the position
/// of the column of numbers, `subject` the first with the number.
pub fn tie_draw(seed: &Seed, space: usize, subject: SubjectIndex) -> u64 {
    use rand_chacha::rand_core::Rng;
    let index = (space as u64) << 32 | u64::from(subject.0);
    seed.stream(Seed::TIES_OF_NUMBERS, index).next_u64()
}
