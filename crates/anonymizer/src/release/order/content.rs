//! The content of groups, blocks and buckets, and their rank by it.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::microdata::SubjectIndex;
use crate::privacy::Seed;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

use super::grouped::Grouped;
use super::keys::{Keys, ranks_of_rows};
use super::spaces::{NumberedTables, Spaces, attribute_codes};
use super::tie_draw;

/// The ranks of all numbers.
pub(super) struct Ranked {
    /// For each space the new number of each old one; 0 stays.
    pub numbers: Vec<Vec<u64>>,
    keys: Keys,
    /// Rows of each old number of the first space, and the old numbers in
    /// their new order.
    rows: Grouped<u32>,
    order: Vec<u32>,
}

impl Ranked {
    /// Ranks the numbers of all spaces, of which there is at least one;
    /// `subjects` are those of the rows.
    pub fn of(
        tables: &[PublishedTable],
        spaces: &Spaces,
        (subjects, seed): (&[SubjectIndex], &Seed),
    ) -> Self {
        let table = &tables[spaces.table];
        let shown: Vec<&PublishedColumn> = table
            .columns
            .iter()
            .filter(|one| !one.content.is_number())
            .collect();
        let (keys, mut values) = rayon::join(
            || Keys::of(&shown, table.rows()),
            || entries(tables, spaces, value_ranks),
        );
        let ranking = Ranking {
            table,
            spaces: &spaces.spaces,
            keys: &keys,
            subjects,
            seed,
        };
        let (rows, order) = ranking.first(values.remove(0));
        let first = inverse(&order, spaces.spaces[0].largest);
        let links = entries(tables, spaces, |list| groups(list, &first));
        let in_order = in_order(&rows, &order);
        let others = values.into_par_iter().zip(links.into_par_iter().skip(1));
        let others = others.enumerate().map(|(at, (values, links))| {
            let space = at + 1;
            let links = match ranking.numbers(space) {
                Some(of_rows) => {
                    let linked = in_order.iter().map(|&row| row as usize);
                    let group = |row| first[ranking.first_number(row)] << u32::BITS;
                    let linked = linked.map(|row| (of_rows[row] as usize, group(row)));
                    // Rows stand by their first numbers: nothing is to be sorted.
                    Grouped::of(spaces.spaces[space].largest, linked)
                }
                None => links,
            };
            inverse(
                &ranking.later(space, &values, &links),
                spaces.spaces[space].largest,
            )
        });
        let others: Vec<Vec<u64>> = others.collect();
        Self {
            numbers: std::iter::once(first).chain(others).collect(),
            keys,
            rows,
            order,
        }
    }

    /// The rows of the table, renumbered already, in their new order.
    pub fn rows_in_order(mut self, table: &PublishedTable) -> Vec<u32> {
        let numbers = table
            .columns
            .iter()
            .filter(|column| column.content.is_number());
        let others: Vec<&[u64]> = numbers
            .skip(1)
            .filter_map(|column| match &column.cells {
                Cells::Numbers(numbers) => Some(numbers.as_slice()),
                Cells::Dictionary { .. } => None,
            })
            .collect();
        if !others.is_empty() {
            let number = |row: u32| others.iter().map(move |numbers| numbers[row as usize]);
            // Rows that nothing tells apart stay as they are, also in a release of parts.
            let compare =
                |one: u32, other: u32| number(one).cmp(number(other)).then(one.cmp(&other));
            let keys = &self.keys;
            self.rows.each_part(|rows| {
                let same = |one: &u32, other: &u32| keys.row(*one) == keys.row(*other);
                for alike in rows.chunk_by_mut(same) {
                    alike.sort_unstable_by(|&one, &other| compare(one, other));
                }
            });
        }
        in_order(&self.rows, &self.order)
    }
}

/// The rows of all old numbers, in the new order of these.
fn in_order(rows: &Grouped<u32>, order: &[u32]) -> Vec<u32> {
    let mut all = Vec::with_capacity(rows.len());
    all.extend_from_slice(rows.get(0));
    for &number in order {
        all.extend_from_slice(rows.get(number));
    }
    all
}

/// The new number of each old one.
fn inverse(order: &[u32], largest: usize) -> Vec<u64> {
    let mut numbers = vec![0_u64; largest + 1];
    for (new, &old) in (1..).zip(order) {
        numbers[old as usize] = new;
    }
    numbers
}

struct Ranking<'a> {
    table: &'a PublishedTable,
    spaces: &'a [NumberedTables],
    keys: &'a Keys,
    subjects: &'a [SubjectIndex],
    seed: &'a Seed,
}

impl Ranking<'_> {
    /// The number of each row in a space, where rows have one.
    fn numbers(&self, space: usize) -> Option<&[u64]> {
        match &self.table.columns[self.spaces[space].column?].cells {
            Cells::Numbers(numbers) => Some(numbers),
            Cells::Dictionary { .. } => None,
        }
    }

    fn first_number(&self, row: usize) -> usize {
        self.numbers(0).map_or(0, |numbers| numbers[row] as usize)
    }

    /// The rows of each number of the first space, sorted by what they show,
    /// and its numbers by rank.
    fn first(&self, values: Grouped<u64>) -> (Grouped<u32>, Vec<u32>) {
        let numbers = self.numbers(0).unwrap_or_default();
        let mut rows = Grouped::of_rows(self.spaces[0].largest, numbers);
        rows.each_part(|rows| self.keys.sort(rows));
        let shown = |number| rows.get(number).iter().map(|&row| self.keys.row(row));
        let head = |number| {
            let row = rows.get(number).first();
            let key = row.map_or(&[][..], |&row| self.keys.row(row));
            let word = |at: usize| key.get(at).copied().unwrap_or(0);
            match values.get(number).first() {
                Some(&value) => (value, 0),
                None => (word(0), word(1)),
            }
        };
        let used = |number: &u32| !rows.get(*number).is_empty();
        let order = self.ranked(0, (used, head), |one, other| {
            let values = values.get(one).cmp(values.get(other));
            values.then_with(|| shown(one).cmp(shown(other)))
        });
        (rows, order)
    }

    /// The numbers of a later space by rank: by their values, then by the
    /// first numbers that they are linked to.
    fn later(&self, space: usize, values: &Grouped<u64>, links: &Grouped<u64>) -> Vec<u32> {
        let first = |of: &Grouped<u64>, number| of.get(number).first().copied().unwrap_or(0);
        let head = |number| (first(values, number), first(links, number));
        let used = |number: &u32| !links.get(*number).is_empty() || !values.get(*number).is_empty();
        self.ranked(space, (used, head), |one, other| {
            let values = values.get(one).cmp(values.get(other));
            values.then_with(|| links.get(one).cmp(links.get(other)))
        })
    }

    /// The used numbers of a space in the order of `compare`, then of their
    /// draws; `head` is where their content begins, and decides most.
    fn ranked(
        &self,
        space: usize,
        (used, head): (impl Fn(&u32) -> bool, impl Fn(u32) -> (u64, u64) + Sync),
        compare: impl Fn(u32, u32) -> Ordering + Sync,
    ) -> Vec<u32> {
        type Headed = ((u64, u64), u32);
        let numbers: Vec<u32> = (1..=self.spaces[space].largest as u32)
            .filter(used)
            .collect();
        let numbers = numbers.into_par_iter().map(|number| (head(number), number));
        let mut numbers: Vec<Headed> = numbers.collect();
        let first = self.first_subjects(space);
        let draw = |number: u32| {
            let subject = first.get(number as usize).copied().flatten();
            subject.map(|subject| tie_draw(self.seed, space, subject))
        };
        let by_content = |(head, one): &Headed, (other_head, other): &Headed| {
            // A head is no more than the beginning: where values are listed it
            // is the first of them, and the rest comes first.
            let contents = || compare(*one, *other);
            let heads = head.0.cmp(&other_head.0);
            heads.then_with(contents).then(head.cmp(other_head))
        };
        numbers.par_sort_unstable_by(by_content);
        // A draw costs more than many comparisons: each number has one, and
        // only where its content does not decide.
        for alike in numbers.chunk_by_mut(|one, other| by_content(one, other).is_eq()) {
            if alike.len() > 1 {
                alike.sort_by_cached_key(|&(_, number)| draw(number));
            }
        }
        numbers.into_iter().map(|(_, number)| number).collect()
    }

    /// The first subject of each number that rows have.
    fn first_subjects(&self, space: usize) -> Vec<Option<SubjectIndex>> {
        let mut first: Vec<Option<SubjectIndex>> = vec![None; self.spaces[space].largest + 1];
        let numbers = self.numbers(space).unwrap_or_default();
        for (&number, &subject) in numbers.iter().zip(self.subjects) {
            let known = &mut first[number as usize];
            if known.is_none_or(|known| subject.0 < known.0) {
                *known = Some(subject);
            }
        }
        first
    }
}

/// The rank of the value in each row of a list that gives values.
fn value_ranks(list: &PublishedTable) -> Option<Vec<u64>> {
    let mut columns = list.columns.iter();
    let values = columns.find(|column| column.content == Content::Value)?;
    Some(ranks_of_rows(values))
}

/// The new number of the group in each row of a list that links groups.
fn groups(list: &PublishedTable, new: &[u64]) -> Option<Vec<u64>> {
    let mut columns = list.columns.iter();
    match &columns
        .find(|column| column.content == Content::Group)?
        .cells
    {
        Cells::Numbers(groups) => Some(groups.iter().map(|&group| new[group as usize]).collect()),
        Cells::Dictionary { .. } => None,
    }
}

/// What lists say of the numbers of each space: what `of` gives for their
/// rows, with the counts behind it, ascending. Items and counts are below 2³².
fn entries(
    tables: &[PublishedTable],
    spaces: &Spaces,
    of: impl Fn(&PublishedTable) -> Option<Vec<u64>> + Sync,
) -> Vec<Grouped<u64>> {
    let mut all: Vec<Vec<(usize, u64)>> = vec![Vec::new(); spaces.spaces.len()];
    for column in &spaces.lists {
        let list = &tables[column.table];
        let counts = list.columns.iter();
        let mut counts = counts.filter(|column| column.content == Content::Count);
        let (Some(items), Cells::Numbers(numbers), Some(Cells::Numbers(counts))) = (
            of(list),
            &list.columns[column.column].cells,
            counts.next().map(|column| &column.cells),
        ) else {
            continue;
        };
        let attributes = attribute_codes(list);
        for (row, (&number, &count)) in numbers.iter().zip(counts).enumerate() {
            let attribute = attributes.get(row).copied().unwrap_or(0);
            let entry = items[row] << u32::BITS | count;
            all[column.space(attribute)].push((number as usize, entry));
        }
    }
    let grouped = all.into_par_iter().zip(&spaces.spaces);
    let grouped = grouped.map(|(entries, space)| {
        let mut grouped = Grouped::of(space.largest, entries.iter().copied());
        grouped.each_part(|entries| entries.sort_unstable());
        grouped
    });
    grouped.collect()
}
