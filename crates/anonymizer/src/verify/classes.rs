//! Classes of rows and the sensitive values that are published with each: what
//! diversity, closeness, leakage and the attacks on values are about.
//!
//! A class is a bucket, a block, or a group of rows that cannot be told apart.
//! A family says which rows are in it and how often it holds each value; the
//! checks of values are written once over that.

use crate::microdata::Domain;
use crate::privacy::ProtectedIndex;

use super::verdict::Place;
use super::view::NONE;

/// The sensitive values of each class, with how often they occur.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Values of the class at position p: `contents[starts[p]..starts[p + 1]]`.
    starts: Vec<u32>,
    /// Codes with how often they occur, ascending in each class.
    contents: Vec<(u32, u64)>,
    /// Cells of each class.
    pub(super) sizes: Vec<u64>,
    /// How often the most frequent value of each class occurs in it.
    largest: Vec<u64>,
    /// How often each code occurs in all classes.
    pub(super) totals: Vec<u64>,
}

impl Counts {
    /// What the rows of each class show; rows that show no code count for
    /// nothing.
    pub(super) fn of_rows(
        codes_of_domain: usize,
        members: &Members,
        code: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let mut counts = Self::none(codes_of_domain);
        let mut codes: Vec<u32> = Vec::new();
        for class in 0..members.len() {
            codes.clear();
            codes.extend(members.rows(class).iter().filter_map(|&row| code(row)));
            codes.sort_unstable();
            counts.open();
            for run in codes.chunk_by(|one, other| one == other) {
                counts.add(run[0], run.len() as u64);
            }
        }
        counts
    }

    /// No class yet, of an attribute with so many codes.
    pub(super) fn none(codes_of_domain: usize) -> Self {
        Self {
            starts: vec![0],
            totals: vec![0; codes_of_domain],
            ..Self::default()
        }
    }

    /// One more class, which holds nothing yet.
    pub(super) fn open(&mut self) {
        self.starts.push(self.contents.len() as u32);
        self.sizes.push(0);
        self.largest.push(0);
    }

    /// Puts a code into the class that was opened last; codes come ascending.
    pub(super) fn add(&mut self, code: u32, count: u64) {
        let Some(at) = self.sizes.len().checked_sub(1) else {
            return;
        };
        self.contents.push((code, count));
        self.starts[at + 1] = self.contents.len() as u32;
        self.sizes[at] += count;
        self.largest[at] = self.largest[at].max(count);
        self.totals[code as usize] += count;
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Codes of a class with their counts, ascending, each once.
    pub(super) fn contents(&self, at: usize) -> &[(u32, u64)] {
        &self.contents[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How often the most frequent value of a class occurs in it.
    pub(super) fn largest_count(&self, at: usize) -> u64 {
        self.largest[at]
    }

    /// The most frequent known value of a class and all of its known values;
    /// a missing one is neither.
    pub(super) fn known(&self, at: usize, domain: &Domain) -> (u64, u64) {
        let missing = domain.missing().map(|code| code.0);
        let known = self.contents(at).iter();
        let known = known.filter(|&&(code, _)| Some(code) != missing);
        known.fold((0, 0), |(most, size), &(_, count)| {
            (most.max(count), size + count)
        })
    }

    /// How often a code occurs in a class.
    pub(super) fn count(&self, at: usize, code: u32) -> u64 {
        let contents = self.contents(at);
        let found = contents.binary_search_by_key(&code, |&(code, _)| code);
        found.map_or(0, |found| contents[found].1)
    }

    /// Position of the class numbered `number` from 1, if there is one.
    pub(super) fn position(&self, number: u64) -> Option<u32> {
        (1..=self.len() as u64)
            .contains(&number)
            .then(|| (number - 1) as u32)
    }
}

/// Rows by class.
#[derive(Debug)]
pub(super) struct Members {
    /// Position of each row's class; [`NONE`] for none.
    pub(super) class_of_row: Vec<u32>,
    /// Those of the class at p are `rows[starts[p]..starts[p + 1]]`.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Members {
    /// The rows of so many classes, sorted by counting.
    pub(super) fn of(class_of_row: Vec<u32>, classes: usize) -> Self {
        let mut starts = vec![0_u32; classes + 1];
        for &class in class_of_row.iter().filter(|&&class| class != NONE) {
            starts[class as usize + 1] += 1;
        }
        for class in 0..classes {
            starts[class + 1] += starts[class];
        }
        let mut next = starts.clone();
        let mut rows = vec![0_u32; starts[classes] as usize];
        for (row, &class) in class_of_row.iter().enumerate() {
            if class != NONE {
                rows[next[class as usize] as usize] = row as u32;
                next[class as usize] += 1;
            }
        }
        Self {
            class_of_row,
            starts,
            rows,
        }
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The rows of the class at a position, ascending.
    pub(super) fn rows(&self, class: usize) -> &[u32] {
        &self.rows[self.starts[class] as usize..self.starts[class + 1] as usize]
    }

    /// Position of a row's class, where it has one.
    pub(super) fn class_of(&self, row: usize) -> Option<usize> {
        let class = self.class_of_row[row];
        (class != NONE).then_some(class as usize)
    }
}

/// The numbers by which a release names its classes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Numbering<'a> {
    /// Buckets, or blocks: the class at a position has the number behind it.
    Buckets,
    /// Groups: a class has the number of its first row.
    Groups(&'a [u64]),
}

/// One sensitive attribute in classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Classes<'a> {
    pub(super) index: ProtectedIndex,
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
    /// Which rows are in each class.
    pub(super) members: &'a Members,
    /// What each class holds.
    pub(super) counts: &'a Counts,
    pub(super) numbering: Numbering<'a>,
    /// How often each code occurs in all classes of the release, where these are those
    /// of a portion.
    pub(super) of_all: Option<&'a [u64]>,
}

impl<'a> Classes<'a> {
    /// How often each code occurs in all classes.
    pub(super) fn totals(&self) -> &'a [u64] {
        self.of_all.unwrap_or(&self.counts.totals)
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.counts.len()
    }

    /// Where a class is.
    pub(super) fn place(&self, class: usize) -> Place {
        match self.numbering {
            Numbering::Buckets => Place::Bucket(class as u64 + 1),
            Numbering::Groups(group) => {
                let first = self.members.rows(class).first();
                Place::Group(first.map_or(0, |&row| group[row as usize]))
            }
        }
    }

    /// Codes of a class with their counts, ascending, each once.
    pub(super) fn contents(&self, class: usize) -> &[(u32, u64)] {
        self.counts.contents(class)
    }

    /// The most frequent value of a class and all of its cells.
    pub(super) fn largest(&self, class: usize) -> (u64, u64) {
        (self.counts.largest_count(class), self.counts.sizes[class])
    }

    /// The most frequent known value of a class and all of its known cells.
    pub(super) fn largest_known(&self, class: usize) -> (u64, u64) {
        self.counts.known(class, self.domain)
    }

    /// The classes of which some value is known.
    pub(super) fn with_known_values(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&class| self.largest_known(class).1 > 0)
    }
}

/// Whether sorted codes are what a class holds.
pub(super) fn same_multiset(sorted: &[u32], contents: &[(u32, u64)]) -> bool {
    let mut runs = sorted.chunk_by(|a, b| a == b);
    let all = contents.iter().all(|&(code, count)| {
        let run = runs.next();
        run.is_some_and(|run| run[0] == code && run.len() as u64 == count)
    });
    all && runs.next().is_none()
}
