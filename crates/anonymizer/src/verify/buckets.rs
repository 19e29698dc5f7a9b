//! The tables that list what each bucket holds: `buckets`, and `sensitive`,
//! where blocks are buckets by another name.
//!
//! Contents come from these tables alone. Each row must name
//! a semi-sensitive or sensitive attribute, a bucket numbered from 1 without
//! gaps, one value of the attribute and how often it occurs, each value once
//! a bucket. Rows that do not are counted as failures and left out, so that
//! what remains is sound to compute with: no attribute's buckets hold more
//! cells than the table has records.

use rustc_hash::FxHashMap;

use crate::microdata::Domain;
use crate::privacy::ProtectedIndex;
use crate::release::{Cell, PublishedTable};

use super::classes::Counts;
use super::evidence::Evidence;
use super::meaning::{Meaning, dictionary, numbers};
use super::shape::BUCKETS;
use super::verdict::{Check, Failures, Place};
use super::view::View;

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
pub(super) fn read(evidence: &Evidence, view: &View) -> Option<(Vec<Counts>, Check)> {
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
) -> Option<(Vec<Counts>, Failures)> {
    let mut failures = Failures::none();
    let entries = entries(published, number, owners, &mut failures)?;
    let mut all = Vec::with_capacity(owners.len());
    for (owner, entries) in owners.iter().zip(entries) {
        all.push(gather(owner, entries, limit, &mut failures));
    }
    Some((all, failures))
}

/// How often each code occurs in all buckets of each owner; sound of a sound table.
/// `None` if the table cannot be read.
pub(super) fn totals(published: &PublishedTable, owners: &[Owner]) -> Option<Vec<Vec<u64>>> {
    let (attribute_codes, attribute_cells) = dictionary(published.column("attribute")?)?;
    let (value_codes, value_cells) = dictionary(published.column("value")?)?;
    let count = numbers(published.column("count")?)?;
    let mut values = ValueCodes::new(owners, value_cells);
    let named = owners_named(owners, attribute_cells);
    let codes = owners.iter().map(|owner| vec![0_u64; owner.domain.len()]);
    let mut totals: Vec<Vec<u64>> = codes.collect();
    for (row, &count) in count.iter().enumerate() {
        let owner = named[attribute_codes.at(row) as usize];
        let code = owner.and_then(|owner| values.code(owner, value_codes.at(row)));
        if let Some((owner, code)) = owner.zip(code) {
            let total = &mut totals[owner][code as usize];
            *total = total.saturating_add(count);
        }
    }
    Some(totals)
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
) -> Counts {
    entries.sort_unstable();
    let mut buckets = Counts::none(attribute.domain.len());
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
            buckets.open();
        }
        cells += entry.count;
        buckets.add(entry.code, entry.count);
        previous = Some(entry);
    }
    buckets
}
