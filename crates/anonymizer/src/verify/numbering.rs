//! Groups, blocks and buckets numbered by their content (`order` says by which
//! rule): of each two neighbours the content of the first is the lesser one,
//! and where both are the same the first has the lesser draw.

use std::cmp::Ordering;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::SubjectIndex;
use crate::release::{Cell, Content, PublishedColumn, PublishedTable, tie_draw};

use super::evidence::Evidence;
use super::meaning::{dictionary, numbers};
use super::order::{Ordered, compare_rows, is_number};
use super::verdict::{Failures, Place};

/// The check of a table with a row a subject, and of the lists beside it.
pub(super) fn numbers_by_content(evidence: &Evidence, table: &PublishedTable) -> Failures {
    let shown = table.columns.iter().filter(|column| !is_number(column));
    let Some(shown) = shown.map(Ordered::of).collect::<Option<Vec<_>>>() else {
        return Failures::none();
    };
    let mut spaces = Spaces::default();
    for column in table.columns.iter().filter(|column| is_number(column)) {
        let of_rows = numbers(column).unwrap_or_default();
        let items = (0..).zip(of_rows).map(|(row, &number)| (number, row));
        let at = spaces.named(&column.name);
        spaces.all[at].rows = Some(items.collect());
    }
    let lists = evidence.tables.iter();
    lists
        .filter(|list| list.name != table.name)
        .for_each(|list| spaces.read(list));
    let subjects = evidence.lineage.of(&table.name).unwrap_or_default();
    let mut columns = table.columns.iter();
    let first = columns.find(|column| is_number(column)).and_then(numbers);
    let first = first.unwrap_or_default();
    let misplaced = spaces.all.par_iter().enumerate().map(|(at, space)| {
        let numbered = Numbered {
            evidence,
            subjects,
            // Of other spaces than the first only the first numbers count.
            shown: if at == 0 { &shown } else { &[] },
            space: at,
            rows: ByNumber::of(space.rows.as_deref().unwrap_or_default()),
            values: ByNumber::of(&space.values),
            links: match &space.rows {
                Some(rows) if at > 0 => ByNumber::of(&first_numbers(first, rows)),
                Some(_) => ByNumber::of(&[]),
                None => ByNumber::of(&space.links),
            },
        };
        numbered.misplaced()
    });
    let mut failures = Failures::none();
    for (space, misplaced) in spaces.all.iter().zip(misplaced.collect::<Vec<_>>()) {
        for number in misplaced {
            failures.add_at(&space.name, Place::Bucket(number));
        }
    }
    failures
}

/// The first number of each row that has a number of another space.
fn first_numbers(first: &[u64], rows: &[Item<u32>]) -> Vec<Item<(u64, u64)>> {
    let linked = rows.iter().map(|&(number, row)| {
        let first = first.get(row as usize).copied().unwrap_or(0);
        (number, (first, 1))
    });
    linked.collect()
}

/// An item of a number.
type Item<T> = (u64, T);

/// Numbers that belong together, and what there is of each.
#[derive(Default)]
struct NumberedTables {
    name: String,
    /// Rows that name a number, where rows do.
    rows: Option<Vec<Item<u32>>>,
    /// Rank of a value and its count.
    values: Vec<Item<(u64, u64)>>,
    /// Number of a linked group and its count.
    links: Vec<Item<(u64, u64)>>,
}

#[derive(Default)]
struct Spaces {
    all: Vec<NumberedTables>,
}

impl Spaces {
    /// Position of the space with this name, which is new if none has it.
    fn named(&mut self, name: &str) -> usize {
        let known = self.all.iter().position(|space| space.name == name);
        known.unwrap_or_else(|| {
            self.all.push(NumberedTables {
                name: name.to_owned(),
                ..NumberedTables::default()
            });
            self.all.len() - 1
        })
    }

    /// Adds what a list says of numbers. Lists that lack a column of numbers
    /// or counts are named by other checks.
    fn read(&mut self, list: &PublishedTable) {
        let of = |content| list.columns.iter().find(|one| one.content == content);
        let counts = of(Content::Count).and_then(numbers).unwrap_or_default();
        let values = of(Content::Value).and_then(Ordered::of);
        let groups = of(Content::Group).and_then(numbers);
        let number = of(Content::Bucket).or(of(Content::Block));
        let Some((column, of_rows)) = number.and_then(|one| Some((one, numbers(one)?))) else {
            return;
        };
        let spaces = self.of_attributes(column, of(Content::Attribute));
        for (row, (&number, &count)) in of_rows.iter().zip(counts).enumerate() {
            let Some(&space) = spaces.get(row) else {
                return;
            };
            let space = &mut self.all[space];
            if let Some(values) = &values {
                space.values.push((number, (values.at(row), count)));
            }
            if let Some(&group) = groups.and_then(|groups| groups.get(row)) {
                space.links.push((number, (group, count)));
            }
        }
    }

    /// The space of each row of a list: the one with the column's own name, or
    /// that of the row's attribute.
    fn of_attributes(
        &mut self,
        column: &PublishedColumn,
        attributes: Option<&PublishedColumn>,
    ) -> Vec<usize> {
        if let Some(shared) = self.all.iter().position(|space| space.name == column.name) {
            return vec![shared; column.cells.len()];
        }
        let Some((codes, cells)) = attributes.and_then(dictionary) else {
            return Vec::new();
        };
        let mut of_code = FxHashMap::default();
        let spaces = codes.iter().map(|code| {
            *of_code.entry(code).or_insert_with(|| {
                let name = match &cells[code as usize] {
                    Cell::Label(label) => format!("{label}_{}", column.name),
                    _ => column.name.clone(),
                };
                self.named(&name)
            })
        });
        spaces.collect()
    }
}

/// Items by number; number n has `items[starts[n]..starts[n + 1]]`.
struct ByNumber<T> {
    starts: Vec<usize>,
    items: Vec<T>,
}

impl<T: Copy + Default> ByNumber<T> {
    /// Sorts items by their numbers. Numbers beyond the number of items leave
    /// a gap below them, which other checks name: they are left out.
    fn of(items: &[Item<T>]) -> Self {
        let known = || {
            items
                .iter()
                .filter(|(number, _)| *number as usize <= items.len())
        };
        let mut starts = vec![0; items.len() + 2];
        for (number, _) in known() {
            starts[*number as usize + 1] += 1;
        }
        for number in 1..starts.len() {
            starts[number] += starts[number - 1];
        }
        let mut next = starts.clone();
        let mut sorted = vec![T::default(); starts[starts.len() - 1]];
        for (number, item) in known() {
            let place = &mut next[*number as usize];
            sorted[*place] = *item;
            *place += 1;
        }
        Self {
            starts,
            items: sorted,
        }
    }

    fn get(&self, number: usize) -> &[T] {
        match self.starts.get(number..number + 2) {
            Some(&[from, to]) => &self.items[from..to],
            _ => &[],
        }
    }
}

/// One space of numbers with everything that ranks them.
struct Numbered<'a> {
    evidence: &'a Evidence<'a>,
    subjects: &'a [SubjectIndex],
    /// What rows show that decides.
    shown: &'a [Ordered<'a>],
    /// Position of the space.
    space: usize,
    rows: ByNumber<u32>,
    values: ByNumber<(u64, u64)>,
    links: ByNumber<(u64, u64)>,
}

impl Numbered<'_> {
    /// Numbers whose content is less than that of the one before.
    fn misplaced(&self) -> Vec<u64> {
        let largest = self.rows.starts.len().max(self.values.starts.len());
        let numbers = 1..largest.saturating_sub(1);
        let wrong = numbers
            .into_par_iter()
            .filter(|&number| self.is_used(number + 1) && self.compare(number, number + 1).is_gt());
        wrong.map(|number| number as u64 + 1).collect()
    }

    fn is_used(&self, number: usize) -> bool {
        !self.rows.get(number).is_empty() || !self.values.get(number).is_empty()
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        sorted(&self.values, (one, other))
            .then_with(|| match self.shown {
                [] => Ordering::Equal,
                _ => self.compare_shown(self.rows.get(one), self.rows.get(other)),
            })
            .then_with(|| sorted(&self.links, (one, other)))
            .then_with(|| self.draw(one).cmp(&self.draw(other)))
    }

    /// Compares what two sets of rows show, both sorted.
    fn compare_shown(&self, one: &[u32], other: &[u32]) -> Ordering {
        let compare = |one: u32, other: u32| compare_rows(self.shown, one as usize, other as usize);
        let sorted = |rows: &[u32]| {
            let mut rows = rows.to_vec();
            // Mostly sorted already, which takes one look.
            rows.sort_by(|&one, &other| compare(one, other));
            rows
        };
        let (one, other) = (sorted(one), sorted(other));
        let differing = one
            .iter()
            .zip(&other)
            .map(|(&one, &other)| compare(one, other));
        let mut differing = differing.filter(|order| order.is_ne());
        differing.next().unwrap_or(one.len().cmp(&other.len()))
    }

    /// What the seed draws for the first subject of a number.
    fn draw(&self, number: usize) -> Option<u64> {
        let rows = self.rows.get(number).iter();
        let subjects = rows.filter_map(|&row| self.subjects.get(row as usize));
        let first = subjects.min_by_key(|subject| subject.0)?;
        Some(tie_draw(self.evidence.seed, self.space, *first))
    }
}

fn sorted(items: &ByNumber<(u64, u64)>, (one, other): (usize, usize)) -> Ordering {
    let sorted = |number| {
        let mut items = items.get(number).to_vec();
        items.sort_unstable();
        items
    };
    sorted(one).cmp(&sorted(other))
}
