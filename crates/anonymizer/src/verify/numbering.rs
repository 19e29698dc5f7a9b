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
///
/// Spaces are looked at one after the other: each takes memory for all rows.
pub(super) fn numbers_by_content(evidence: &Evidence, table: &PublishedTable) -> Failures {
    let shown = table.columns.iter().filter(|column| !is_number(column));
    let Some(shown) = shown.map(Ordered::of).collect::<Option<Vec<_>>>() else {
        return Failures::none();
    };
    let mut spaces = Spaces::default();
    for column in table.columns.iter().filter(|column| is_number(column)) {
        let at = spaces.named(&column.name);
        spaces.all[at].rows = Some(numbers(column).unwrap_or_default());
    }
    let lists = evidence.tables.iter();
    lists
        .filter(|list| list.name != table.name)
        .for_each(|list| spaces.read(list));
    let subjects = evidence.lineage.of(&table.name).unwrap_or_default();
    let mut columns = table.columns.iter();
    let first = columns.find(|column| is_number(column)).and_then(numbers);
    let mut failures = Failures::none();
    for (at, space) in spaces.all.iter().enumerate() {
        let numbered = Numbered {
            evidence,
            subjects,
            // Of other spaces than the first only the first numbers count.
            shown: if at == 0 { &shown } else { &[] },
            space: at,
            lists: &spaces.lists,
            rows: {
                let of_rows = space.rows.unwrap_or_default().iter().enumerate();
                ByNumber::of(of_rows.map(|(row, number)| (row as u32, number)))
            },
            values: spaces.by_number(&space.values),
            links: match space.rows {
                Some(_) if at > 0 => Links::First(first.unwrap_or_default()),
                Some(_) => Links::None,
                None => Links::Listed(spaces.by_number(&space.links)),
            },
        };
        for number in numbered.misplaced() {
            failures.add_at(&space.name, Place::Bucket(number));
        }
    }
    failures
}

/// A row of a list.
#[derive(Clone, Copy, Default)]
struct Listed {
    list: u32,
    row: u32,
}

/// What a list says of numbers.
struct List<'a> {
    numbers: &'a [u64],
    counts: &'a [u64],
    values: Option<Ordered<'a>>,
    groups: Option<&'a [u64]>,
}

/// Numbers that belong together, and what there is of each.
#[derive(Default)]
struct Space<'a> {
    name: String,
    /// The number of each row, where rows name one.
    rows: Option<&'a [u64]>,
    /// Rows that list a value with its count.
    values: Vec<Listed>,
    /// Rows that list a linked group with its count.
    links: Vec<Listed>,
}

#[derive(Default)]
struct Spaces<'a> {
    all: Vec<Space<'a>>,
    lists: Vec<List<'a>>,
}

impl<'a> Spaces<'a> {
    /// Position of the space with this name, which is new if none has it.
    fn named(&mut self, name: &str) -> usize {
        let known = self.all.iter().position(|space| space.name == name);
        known.unwrap_or_else(|| {
            self.all.push(Space {
                name: name.to_owned(),
                ..Space::default()
            });
            self.all.len() - 1
        })
    }

    /// Adds what a list says of numbers. Lists that lack a column of numbers
    /// or counts are named by other checks.
    fn read(&mut self, list: &'a PublishedTable) {
        let of = |content| list.columns.iter().find(|one| one.content == content);
        let number = of(Content::Bucket).or(of(Content::Block));
        let Some((column, numbered)) = number.and_then(|one| Some((one, numbers(one)?))) else {
            return;
        };
        let list = List {
            numbers: numbered,
            counts: of(Content::Count).and_then(numbers).unwrap_or_default(),
            values: of(Content::Value).and_then(Ordered::of),
            groups: of(Content::Group).and_then(numbers),
        };
        let spaces = self.of_attributes(column, of(Content::Attribute));
        let rows = numbered.len().min(list.counts.len()).min(spaces.len());
        let at = self.lists.len() as u32;
        for (row, space) in (0_u32..).zip(spaces.into_iter().take(rows)) {
            let space = &mut self.all[space as usize];
            if list.values.is_some() {
                space.values.push(Listed { list: at, row });
            }
            if list
                .groups
                .is_some_and(|groups| groups.len() > row as usize)
            {
                space.links.push(Listed { list: at, row });
            }
        }
        self.lists.push(list);
    }

    /// Rows of lists by their number.
    fn by_number(&self, listed: &[Listed]) -> ByNumber<Listed> {
        let number = |one: &Listed| &self.lists[one.list as usize].numbers[one.row as usize];
        ByNumber::of(listed.iter().map(|one| (*one, number(one))))
    }

    /// The space of each row of a list: the one with the column's own name, or
    /// that of the row's attribute.
    fn of_attributes(
        &mut self,
        column: &PublishedColumn,
        attributes: Option<&PublishedColumn>,
    ) -> Vec<u32> {
        if let Some(shared) = self.all.iter().position(|space| space.name == column.name) {
            return vec![shared as u32; column.cells.len()];
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
                self.named(&name) as u32
            })
        });
        spaces.collect()
    }
}

/// Items by number; those of number n end at `ends[n]`, where those of n + 1 start.
struct ByNumber<T> {
    ends: Vec<u32>,
    items: Vec<T>,
}

impl<T: Copy + Default> ByNumber<T> {
    /// Sorts items by their numbers. Numbers beyond the number of items leave
    /// a gap below them, which other checks name: they are left out.
    fn of<'n>(items: impl ExactSizeIterator<Item = (T, &'n u64)> + Clone) -> Self {
        let most = items.len();
        let known = items.filter(|(_, number)| **number as usize <= most);
        let mut ends = vec![0_u32; most + 2];
        for (_, number) in known.clone() {
            ends[*number as usize + 1] += 1;
        }
        for number in 1..ends.len() {
            ends[number] += ends[number - 1];
        }
        // Where each number starts: each item moves that on by one.
        let mut sorted = vec![T::default(); ends[most + 1] as usize];
        for (item, number) in known {
            let place = &mut ends[*number as usize];
            sorted[*place as usize] = item;
            *place += 1;
        }
        ends.truncate(most + 1);
        Self {
            ends,
            items: sorted,
        }
    }

    fn get(&self, number: usize) -> &[T] {
        let Some(&end) = self.ends.get(number) else {
            return &[];
        };
        let before = number.checked_sub(1);
        let start = before.map_or(0, |before| self.ends[before]);
        &self.items[start as usize..end as usize]
    }
}

/// What is linked to a number.
enum Links<'a> {
    /// What decides already.
    None,
    /// The first number of each row that names it; those of all rows.
    First(&'a [u64]),
    /// Groups, as lists say.
    Listed(ByNumber<Listed>),
}

/// One space of numbers with everything that ranks them.
struct Numbered<'a> {
    evidence: &'a Evidence<'a>,
    subjects: &'a [SubjectIndex],
    /// What rows show that decides.
    shown: &'a [Ordered<'a>],
    /// Position of the space.
    space: usize,
    lists: &'a [List<'a>],
    rows: ByNumber<u32>,
    values: ByNumber<Listed>,
    links: Links<'a>,
}

impl Numbered<'_> {
    /// Numbers whose content is less than that of the one before.
    fn misplaced(&self) -> Vec<u64> {
        let largest = self.rows.ends.len().max(self.values.ends.len());
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
        compare_sorted(|number| self.values(number), (one, other))
            .then_with(|| match self.shown {
                [] => Ordering::Equal,
                _ => self.compare_shown(self.rows.get(one), self.rows.get(other)),
            })
            .then_with(|| compare_sorted(|number| self.links(number), (one, other)))
            .then_with(|| self.draw(one).cmp(&self.draw(other)))
    }

    /// Ranks of the values of a number, with their counts.
    fn values(&self, number: usize) -> Vec<(u64, u64)> {
        let of_rows = self.values.get(number).iter().map(|listed| {
            let (list, row) = (&self.lists[listed.list as usize], listed.row as usize);
            let rank = list.values.as_ref().map_or(0, |values| values.at(row));
            (rank, list.counts[row])
        });
        of_rows.collect()
    }

    /// What is linked to a number, with its count.
    fn links(&self, number: usize) -> Vec<(u64, u64)> {
        match &self.links {
            Links::None => Vec::new(),
            Links::First(first) => {
                let rows = self.rows.get(number).iter();
                let of_row = |&row: &u32| first.get(row as usize).copied().unwrap_or(0);
                rows.map(|row| (of_row(row), 1)).collect()
            }
            Links::Listed(links) => {
                let of_rows = links.get(number).iter().map(|listed| {
                    let (list, row) = (&self.lists[listed.list as usize], listed.row as usize);
                    let group = list.groups.map_or(0, |groups| groups[row]);
                    (group, list.counts[row])
                });
                of_rows.collect()
            }
        }
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

/// Compares what two numbers have, both sorted.
fn compare_sorted(of: impl Fn(usize) -> Vec<(u64, u64)>, (one, other): (usize, usize)) -> Ordering {
    let sorted = |number| {
        let mut items = of(number);
        items.sort_unstable();
        items
    };
    sorted(one).cmp(&sorted(other))
}
