//! The content of groups, blocks and buckets, and their rank by it.

use std::cmp::Ordering;

use rayon::prelude::*;

use crate::microdata::SubjectIndex;
use crate::privacy::Seed;
use crate::release::table::{Cells, Content, PublishedColumn, PublishedTable};

use super::keys::Keys;
use super::spaces::{Space, Spaces, attribute_codes, is_number};
use super::tie_draw;

/// Items of each number, 0 included.
struct Grouped<T> {
    starts: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default + Send + Sync> Grouped<T> {
    /// Groups items by their number, which is at most `largest`.
    fn of(largest: usize, items: impl Iterator<Item = (usize, T)> + Clone) -> Self {
        let mut starts = vec![0_u32; largest + 2];
        let mut length = 0;
        for (number, _) in items.clone() {
            starts[number + 1] += 1;
            length += 1;
        }
        for number in 0..=largest {
            starts[number + 1] += starts[number];
        }
        let mut next = starts.clone();
        let mut grouped = vec![T::default(); length];
        for (number, item) in items {
            grouped[next[number] as usize] = item;
            next[number] += 1;
        }
        Self {
            starts,
            items: grouped,
        }
    }

    fn get(&self, number: u32) -> &[T] {
        let number = number as usize;
        &self.items[self.starts[number] as usize..self.starts[number + 1] as usize]
    }

    fn sort_each(&mut self, compare: impl Fn(&T, &T) -> Ordering + Sync) {
        let mut rest = self.items.as_mut_slice();
        let mut parts = Vec::with_capacity(self.starts.len());
        for pair in self.starts.windows(2) {
            let (part, after) = rest.split_at_mut((pair[1] - pair[0]) as usize);
            parts.push(part);
            rest = after;
        }
        let parts = parts.into_par_iter().with_min_len(256);
        parts.for_each(|part| part.sort_unstable_by(&compare));
    }
}

/// A value or group that a list names, and how often.
type Entry = (u64, u64);

/// Everything that a number stands for.
struct Contents {
    /// Values that lists give, by rank.
    values: Grouped<Entry>,
    /// New numbers of groups that lists link.
    links: Grouped<Entry>,
    /// Rows, sorted by what they show.
    rows: Grouped<u32>,
}

/// The ranks of all numbers.
pub(super) struct Ranked {
    /// For each space the new number of each old one; 0 stays.
    pub numbers: Vec<Vec<u64>>,
    keys: Keys,
    /// Rows of each old number of the first space, and the old numbers in
    /// their new order.
    first: Option<(Grouped<u32>, Vec<u32>)>,
}

impl Ranked {
    /// Ranks the numbers of all spaces; `subjects` are those of the rows.
    pub fn of(
        tables: &[PublishedTable],
        spaces: &Spaces,
        (subjects, seed): (&[SubjectIndex], &Seed),
    ) -> Self {
        let table = &tables[spaces.table];
        let shown: Vec<&PublishedColumn> =
            table.columns.iter().filter(|one| !is_number(one)).collect();
        let keys = Keys::of(&shown, table.rows());
        let ranking = Ranking {
            tables,
            spaces,
            keys: &keys,
            subjects,
            seed,
        };
        let all: Vec<usize> = (0..spaces.spaces.len()).collect();
        let (of_rows, of_lists): (Vec<usize>, Vec<usize>) = all
            .into_iter()
            .partition(|&space| spaces.spaces[space].column.is_some());
        let ranked: Vec<(Contents, Vec<u32>)> = of_rows
            .par_iter()
            .map(|&space| ranking.rank(space, &[]))
            .collect();
        let mut numbers: Vec<Vec<u64>> = ranked
            .iter()
            .zip(&of_rows)
            .map(|((_, order), &space)| inverse(order, spaces.spaces[space].largest))
            .collect();
        let linked: Vec<Vec<u64>> = of_lists
            .par_iter()
            .map(|&space| {
                let (_, order) = ranking.rank(space, &numbers);
                inverse(&order, spaces.spaces[space].largest)
            })
            .collect();
        numbers.extend(linked);
        let first = ranked.into_iter().next();
        Self {
            numbers,
            first: first.map(|(contents, order)| (contents.rows, order)),
            keys,
        }
    }

    /// The rows of the table, renumbered already, in their new order.
    pub fn rows_in_order(self, table: &PublishedTable) -> Vec<u32> {
        let Some((mut rows, order)) = self.first else {
            let mut rows: Vec<u32> = (0..table.rows() as u32).collect();
            rows.par_sort_unstable_by(|&one, &other| self.keys.row(one).cmp(self.keys.row(other)));
            return rows;
        };
        let numbers = table.columns.iter().filter(|column| is_number(column));
        let others: Vec<&[u64]> = numbers
            .skip(1)
            .filter_map(|column| match &column.cells {
                Cells::Numbers(numbers) => Some(numbers.as_slice()),
                Cells::Dictionary { .. } => None,
            })
            .collect();
        if !others.is_empty() {
            let number = |row: u32| others.iter().map(move |numbers| numbers[row as usize]);
            rows.sort_each(|&one, &other| {
                let shown = self.keys.row(one).cmp(self.keys.row(other));
                shown.then_with(|| number(one).cmp(number(other)))
            });
        }
        let numbered = order.iter().flat_map(|&number| rows.get(number));
        rows.get(0).iter().chain(numbered).copied().collect()
    }
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
    tables: &'a [PublishedTable],
    spaces: &'a Spaces,
    keys: &'a Keys,
    subjects: &'a [SubjectIndex],
    seed: &'a Seed,
}

impl Ranking<'_> {
    /// The content of a space's numbers, and the numbers by its rank;
    /// `known` are the new numbers of the spaces before.
    fn rank(&self, space: usize, known: &[Vec<u64>]) -> (Contents, Vec<u32>) {
        let described = &self.spaces.spaces[space];
        let contents = Contents {
            values: self.values(space),
            links: self.links(space, known),
            rows: self.rows(described),
        };
        let mut order: Vec<(Entry, u32)> = (1..=described.largest as u32)
            .filter(|&number| contents.is_used(number))
            .map(|number| (self.head(&contents, number), number))
            .collect();
        order.par_sort_unstable_by(|(head, one), (other_head, other)| {
            let heads = head.cmp(other_head);
            heads.then_with(|| self.compare(&contents, space, (*one, *other)))
        });
        let order = order.into_iter().map(|(_, number)| number).collect();
        (contents, order)
    }

    /// The beginning of a number's content, which decides nearly always.
    fn head(&self, contents: &Contents, number: u32) -> Entry {
        let values = contents.values.get(number);
        if let Some(first) = values.first() {
            return *first;
        }
        let row = contents.rows.get(number).first();
        let key = row.map_or(&[][..], |&row| self.keys.row(row));
        let word = |at: usize| key.get(at).copied().unwrap_or(0);
        (word(0), word(1))
    }

    fn compare(&self, contents: &Contents, space: usize, (one, other): (u32, u32)) -> Ordering {
        let shown = |number| {
            contents
                .rows
                .get(number)
                .iter()
                .map(|&row| self.keys.row(row))
        };
        let first = |number| {
            let rows = contents.rows.get(number).iter();
            let subjects = rows.map(|&row| self.subjects[row as usize]);
            subjects.min_by_key(|subject| subject.0)
        };
        let draw = |number| first(number).map(|subject| tie_draw(self.seed, space, subject));
        contents
            .values
            .get(one)
            .cmp(contents.values.get(other))
            .then_with(|| shown(one).cmp(shown(other)))
            .then_with(|| contents.links.get(one).cmp(contents.links.get(other)))
            .then_with(|| draw(one).cmp(&draw(other)))
    }

    fn rows(&self, space: &Space) -> Grouped<u32> {
        let table = &self.tables[self.spaces.table];
        let column = space.column.map(|column| &table.columns[column].cells);
        let numbers = match column {
            Some(Cells::Numbers(numbers)) => numbers.as_slice(),
            _ => &[],
        };
        let rows = numbers.iter().zip(0_u32..);
        let rows = rows.map(|(&number, row)| (number as usize, row));
        let mut rows = Grouped::of(space.largest, rows);
        rows.sort_each(|&one, &other| self.keys.row(one).cmp(self.keys.row(other)));
        rows
    }

    /// What lists with values say of each number of a space.
    fn values(&self, space: usize) -> Grouped<Entry> {
        let of = |list: &PublishedTable| {
            let values = list.columns.iter();
            let mut values = values.filter(|column| column.content == Content::Value);
            values.next().map(|column| {
                let keys = Keys::of(&[column], list.rows());
                (0..list.rows() as u32)
                    .map(|row| keys.row(row)[0])
                    .collect()
            })
        };
        self.listed(space, of)
    }

    /// The new numbers of the groups that lists link with each number of a
    /// space.
    fn links(&self, space: usize, known: &[Vec<u64>]) -> Grouped<Entry> {
        let of = |list: &PublishedTable| {
            let groups = list.columns.iter();
            let mut groups = groups.filter(|column| column.content == Content::Group);
            match &groups.next()?.cells {
                Cells::Numbers(groups) => {
                    // Groups are the first space.
                    let new = known.first()?;
                    let new = groups.iter().map(|&group| new[group as usize]);
                    Some(new.collect())
                }
                Cells::Dictionary { .. } => None,
            }
        };
        match self.spaces.spaces[space].column {
            Some(_) => Grouped::of(self.spaces.spaces[space].largest, std::iter::empty()),
            None => self.listed(space, of),
        }
    }

    /// The entries of lists about a space: what `of` gives for their rows,
    /// with the counts beside it.
    fn listed(
        &self,
        space: usize,
        of: impl Fn(&PublishedTable) -> Option<Vec<u64>>,
    ) -> Grouped<Entry> {
        let mut entries: Vec<(usize, Entry)> = Vec::new();
        for column in &self.spaces.lists {
            let list = &self.tables[column.table];
            let numbers = &list.columns[column.column];
            let counts = list.columns.iter();
            let counts = counts.filter(|column| column.content == Content::Count);
            let (Some(items), Cells::Numbers(numbers), Some(Cells::Numbers(counts))) = (
                of(list),
                &numbers.cells,
                counts.map(|one| &one.cells).next(),
            ) else {
                continue;
            };
            let attributes = attribute_codes(list);
            for (row, (&number, &count)) in numbers.iter().zip(counts).enumerate() {
                let attribute = attributes.get(row).copied().unwrap_or(0);
                if column.space(attribute) == space {
                    entries.push((number as usize, (items[row], count)));
                }
            }
        }
        let largest = self.spaces.spaces[space].largest;
        let mut grouped = Grouped::of(largest, entries.iter().copied());
        grouped.sort_each(Ord::cmp);
        grouped
    }
}

impl Contents {
    fn is_used(&self, number: u32) -> bool {
        !self.rows.get(number).is_empty() || !self.values.get(number).is_empty()
    }
}
