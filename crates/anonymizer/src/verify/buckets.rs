//! The buckets of a release: what each holds, and which rows are in it. Blocks
//! are buckets by another name, listed in the table `sensitive`.
//!
//! Contents come from the published table `buckets` alone. Each row must name
//! a semi-sensitive or sensitive attribute, a bucket numbered from 1 without
//! gaps, one value of the attribute and how often it occurs, each value once
//! a bucket. Rows that do not are counted as failures and left out, so that
//! what remains is sound to compute with: no attribute's buckets hold more
//! cells than the table has records.

use rustc_hash::FxHashMap;

use crate::microdata::Domain;
use crate::privacy::ProtectedIndex;
use crate::release::{Cell, PublishedTable};

use super::evidence::Evidence;
use super::meaning::{Meaning, dictionary, numbers};
use super::shape::BUCKETS;
use super::signature::Signatures;
use super::verdict::{Check, Failures, Place};
use super::view::View;

/// The buckets of one attribute; bucket b is at position b − 1.
#[derive(Debug, Default)]
pub(super) struct Buckets {
    /// Contents of bucket at position p: `contents[starts[p]..starts[p + 1]]`.
    starts: Vec<u32>,
    /// Codes with how often they occur, ascending in each bucket.
    contents: Vec<(u32, u64)>,
    /// Cells of each bucket.
    pub(super) sizes: Vec<u64>,
    /// How often the most frequent value of each bucket occurs in it.
    largest: Vec<u64>,
    /// How often each code occurs in all of the buckets.
    pub(super) totals: Vec<u64>,
}

impl Buckets {
    /// One bucket that holds each code so often.
    #[cfg(test)]
    pub(super) fn of_totals(totals: Vec<u64>) -> Self {
        let contents: Vec<_> = (0_u32..).zip(totals.iter().copied()).collect();
        Self {
            starts: vec![0, contents.len() as u32],
            contents,
            sizes: vec![totals.iter().sum()],
            largest: vec![totals.iter().copied().max().unwrap_or(0)],
            totals,
        }
    }

    /// One bucket a class of rows, with the codes that its rows show; rows
    /// that show none are left out.
    pub(super) fn of_classes(
        domain: usize,
        classes: &Signatures,
        code: impl Fn(u32) -> Option<u32>,
    ) -> Self {
        let mut buckets = Self {
            starts: vec![0],
            totals: vec![0; domain],
            ..Self::default()
        };
        let mut codes: Vec<u32> = Vec::new();
        for class in 0..classes.len() {
            codes.clear();
            codes.extend(classes.rows(class).iter().filter_map(|&row| code(row)));
            codes.sort_unstable();
            let runs = codes.chunk_by(|one, other| one == other);
            let runs = runs.map(|run| (run[0], run.len() as u64));
            buckets.contents.extend(runs);
            buckets.sizes.push(codes.len() as u64);
            let contents = &buckets.contents[buckets.starts[class] as usize..];
            let largest = contents.iter().map(|&(_, count)| count).max();
            buckets.largest.push(largest.unwrap_or(0));
            for &(code, count) in contents {
                buckets.totals[code as usize] += count;
            }
            buckets.starts.push(buckets.contents.len() as u32);
        }
        buckets
    }

    /// Number of buckets.
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Codes of a bucket with their counts, ascending, each once.
    pub(super) fn contents(&self, at: usize) -> &[(u32, u64)] {
        &self.contents[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// How often the most frequent value of a bucket occurs in it.
    pub(super) fn largest_count(&self, at: usize) -> u64 {
        self.largest[at]
    }

    /// The most frequent known value of a bucket and all of its known values;
    /// a missing one is neither.
    pub(super) fn known(&self, at: usize, domain: &Domain) -> (u64, u64) {
        let missing = domain.missing().map(|code| code.0);
        let known = self.contents(at).iter();
        let known = known.filter(|&&(code, _)| Some(code) != missing);
        known.fold((0, 0), |(most, size), &(_, count)| {
            (most.max(count), size + count)
        })
    }

    /// How often a code occurs in a bucket.
    pub(super) fn count(&self, at: usize, code: u32) -> u64 {
        let contents = self.contents(at);
        let found = contents.binary_search_by_key(&code, |&(code, _)| code);
        found.map_or(0, |found| contents[found].1)
    }

    /// Position of the bucket numbered `number`, if there is one.
    pub(super) fn position(&self, number: u64) -> Option<u32> {
        (1..=self.len() as u64)
            .contains(&number)
            .then(|| (number - 1) as u32)
    }
}

/// One sound row of the table `buckets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    bucket: u32,
    code: u32,
    count: u64,
    row: u32,
}

/// An attribute that can be in buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner<'a> {
    pub(super) index: ProtectedIndex,
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
}

/// Reads the table `buckets`: the buckets of each protectable attribute, and
/// the check `buckets_well_formed`. `None` if the table cannot be read.
pub(super) fn read(evidence: &Evidence, view: &View) -> Option<(Vec<Buckets>, Check)> {
    let owners = owners(view);
    let published = evidence.published(BUCKETS)?;
    let limit = view.table.records() as u64;
    let (buckets, failures) = read_table(published, "bucket", &owners, limit)?;
    Some((buckets, Check::structure("buckets_well_formed", &failures)))
}

/// The protectable attributes of a view.
pub(super) fn owners<'a>(view: &'a View<'a>) -> Vec<Owner<'a>> {
    let protected = view.protected();
    let owners = protected.map(|(index, attribute)| Owner {
        index,
        name: attribute.name,
        domain: attribute.domain,
    });
    owners.collect()
}

/// Reads a table with the contents of buckets, whose numbers are in the column
/// `number`: the buckets of each owner, none with more than `limit` cells in
/// all. `None` if the table cannot be read.
pub(super) fn read_table(
    published: &PublishedTable,
    number: &str,
    owners: &[Owner],
    limit: u64,
) -> Option<(Vec<Buckets>, Failures)> {
    let mut failures = Failures::none();
    let entries = entries(published, number, owners, &mut failures)?;
    let mut all = Vec::with_capacity(owners.len());
    for (owner, entries) in owners.iter().zip(entries) {
        all.push(gather(owner, entries, limit, &mut failures));
    }
    Some((all, failures))
}

/// The sound rows by owner.
fn entries(
    published: &PublishedTable,
    number: &str,
    owners: &[Owner],
    failures: &mut Failures,
) -> Option<Vec<Vec<Entry>>> {
    let rows = published.rows();
    let column = |name| {
        let column = published.column(name)?;
        (column.cells.len() == rows).then_some(column)
    };
    let (attribute_codes, attribute_cells) = dictionary(column("attribute")?)?;
    let (value_codes, value_cells) = dictionary(column("value")?)?;
    let bucket = numbers(column(number)?)?;
    let count = numbers(column("count")?)?;
    let mut values = ValueCodes::new(owners, value_cells);
    let named = owners_named(owners, attribute_cells);
    let mut entries = vec![Vec::new(); owners.len()];
    for row in 0..rows {
        let place = Place::Row(row as u64 + 1);
        let Some(owner) = named[attribute_codes.at(row) as usize] else {
            failures.add_at("attribute", place);
            failures
                .note
                .get_or_insert("a row names no attribute that can be in buckets");
            continue;
        };
        // A bucket number beyond the rows cannot be one of 1..b without gaps.
        let numbered = (1..=rows as u64).contains(&bucket[row]);
        match values.code(owner, value_codes.at(row)) {
            Some(code) if numbered && count[row] >= 1 => entries[owner].push(Entry {
                bucket: (bucket[row] - 1) as u32,
                code,
                count: count[row],
                row: row as u32,
            }),
            _ => {
                failures.add_at(number, place);
                failures
                    .note
                    .get_or_insert("a row has no bucket, no value of the attribute, or no count");
            }
        }
    }
    Some(entries)
}

/// The attribute that each distinct cell of a column of names stands for.
pub(super) fn attributes_named(view: &View, cells: &[Cell]) -> Vec<Option<ProtectedIndex>> {
    let owners = owners(view);
    let named = owners_named(&owners, cells).into_iter();
    named.map(|at| Some(owners[at?].index)).collect()
}

/// The position of the owner that each distinct cell names.
fn owners_named(owners: &[Owner], cells: &[Cell]) -> Vec<Option<usize>> {
    let named = |cell: &Cell| match cell {
        Cell::Label(name) => owners.iter().position(|owner| owner.name == name),
        _ => None,
    };
    cells.iter().map(named).collect()
}

/// The code that a distinct value cell stands for, owner by owner.
struct ValueCodes<'a> {
    cells: &'a [Cell],
    owners: &'a [Owner<'a>],
    known: FxHashMap<(usize, u32), Option<u32>>,
}

impl<'a> ValueCodes<'a> {
    fn new(owners: &'a [Owner<'a>], cells: &'a [Cell]) -> Self {
        Self {
            cells,
            owners,
            known: FxHashMap::default(),
        }
    }

    fn code(&mut self, owner: usize, cell: u32) -> Option<u32> {
        let domain = self.owners[owner].domain;
        *self.known.entry((owner, cell)).or_insert_with(|| {
            let code = Meaning::of(&self.cells[cell as usize], domain).single()?;
            // A node above a single leaf covers one code without being one.
            let is_value = match &self.cells[cell as usize] {
                Cell::Label(label) => domain.code_of_label(label).is_some(),
                _ => true,
            };
            is_value.then_some(code)
        })
    }
}

/// Buckets out of entries. Repeated values, gaps in the numbering and cells
/// beyond the number of records are failures.
fn gather(
    attribute: &Owner,
    mut entries: Vec<Entry>,
    limit: u64,
    failures: &mut Failures,
) -> Buckets {
    entries.sort_unstable();
    let mut buckets = Buckets {
        starts: vec![0],
        totals: vec![0; attribute.domain.len()],
        ..Buckets::default()
    };
    let mut cells = 0_u64;
    let mut previous: Option<Entry> = None;
    for entry in entries {
        let repeated = previous
            .is_some_and(|previous| (previous.bucket, previous.code) == (entry.bucket, entry.code));
        let fits = cells
            .checked_add(entry.count)
            .is_some_and(|cells| cells <= limit);
        if repeated || !fits {
            failures.add_at(attribute.name, Place::Row(u64::from(entry.row) + 1));
            continue;
        }
        while buckets.len() <= entry.bucket as usize {
            // A number that is skipped leaves an empty bucket behind.
            if buckets.len() < entry.bucket as usize {
                failures.add_at(attribute.name, Place::Bucket(buckets.len() as u64 + 1));
            }
            buckets.starts.push(buckets.contents.len() as u32);
            buckets.sizes.push(0);
            buckets.largest.push(0);
        }
        cells += entry.count;
        buckets.contents.push((entry.code, entry.count));
        let at = entry.bucket as usize;
        buckets.starts[at + 1] = buckets.contents.len() as u32;
        buckets.sizes[at] += entry.count;
        buckets.largest[at] = buckets.largest[at].max(entry.count);
        buckets.totals[entry.code as usize] += entry.count;
        previous = Some(entry);
    }
    buckets
}
