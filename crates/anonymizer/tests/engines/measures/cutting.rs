//! Releases cut into random portions.
//!
//! A release is cut here by its published numbers and cells, with nothing of how
//! the verifier cuts: rows of a group, of a bucket or of equal quasi-identifiers
//! stay together, and what stays together goes to a random portion. A portion
//! numbers its groups and buckets anew, and has the dictionaries of the whole or
//! its own.

use std::collections::{BTreeMap, BTreeSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use vizard_anonymizer::microdata::{Role, SubjectIndex, Table};
use vizard_anonymizer::privacy::{CancelFlag, Requirements};
use vizard_anonymizer::query::error::Published;
use vizard_anonymizer::release::{Cells, Content, Lineage, PublishedTable, TableLineage};
use vizard_anonymizer::utility::Evidence;

use super::cells::dictionary;

/// A portion of a release.
pub struct Portion {
    pub table: Table,
    pub requirements: Requirements,
    pub tables: Vec<PublishedTable>,
    pub lineage: Lineage,
}

/// A number of a group, or of a bucket of an attribute.
type Number = (String, u64);

impl Portion {
    /// The same evidence about the portion alone.
    pub fn evidence<'a>(&'a self, of: &Evidence<'a>) -> Evidence<'a> {
        Evidence {
            table: &self.table,
            requirements: &self.requirements,
            tables: &self.tables,
            lineage: &self.lineage,
            ..*of
        }
    }

    pub fn published(&self) -> Published<'_> {
        Published {
            tables: &self.tables,
            lineage: &self.lineage,
            cancel: CancelFlag::never(),
        }
    }

    fn of(evidence: &Evidence<'_>, rows: &[Vec<usize>], has_own_cells: bool) -> Self {
        let subjects = &evidence.lineage.tables[0].subjects;
        let records: BTreeSet<u32> = rows[0].iter().map(|&row| subjects[row].0).collect();
        let records: Vec<u32> = records.into_iter().collect();
        let anew = |&row: &usize| {
            let found = records.binary_search(&subjects[row].0);
            SubjectIndex::from_usize(found.expect("it is one of the records"))
        };
        let mut numbers: BTreeMap<String, BTreeSet<u64>> = BTreeMap::new();
        for (table, rows) in evidence.tables.iter().zip(rows) {
            for (space, number) in rows.iter().flat_map(|&row| numbers_of(table, row)) {
                numbers.entry(space).or_default().insert(number);
            }
        }
        let tables = evidence.tables.iter().zip(rows);
        let tables = tables.map(|(table, rows)| some_rows(table, rows, (&numbers, has_own_cells)));
        Self {
            tables: tables.collect(),
            lineage: Lineage {
                tables: vec![TableLineage {
                    table: evidence.lineage.tables[0].table.clone(),
                    subjects: rows[0].iter().map(anew).collect(),
                }],
            },
            table: evidence.table.part(&records),
            requirements: evidence.requirements.part(&records),
        }
    }
}

/// The numbers that a row of a table names, each in its space.
fn numbers_of(table: &PublishedTable, row: usize) -> Vec<Number> {
    let columns = table.columns.iter();
    let numbered =
        columns.filter_map(|column| Some((space_of(table, column.content, row)?, column)));
    let numbers = numbered.filter_map(|(space, column)| {
        let Cells::Numbers(numbers) = &column.cells else {
            return None;
        };
        let space = if space.is_empty() {
            column.name.clone()
        } else {
            space
        };
        Some((space, numbers[row])).filter(|(_, number)| *number > 0)
    });
    numbers.collect()
}

/// The space that numbers of a column are of; empty where it is the column's name.
fn space_of(table: &PublishedTable, content: Content, row: usize) -> Option<String> {
    let mut columns = table.columns.iter();
    let attribute = columns.find(|column| column.content == Content::Attribute);
    match (content, attribute.map(|column| &column.cells)) {
        (Content::Group, _) => Some("group".into()),
        (Content::Bucket, Some(Cells::Dictionary { codes, cells })) => {
            let mut name = String::new();
            cells[codes.at(row) as usize].text(&mut name);
            Some(name + "_bucket")
        }
        (Content::Bucket, _) => Some(String::new()),
        _ => None,
    }
}

/// Some rows of a table, with groups and buckets numbered in their order.
fn some_rows(
    table: &PublishedTable,
    rows: &[usize],
    (numbers, has_own_cells): (&BTreeMap<String, BTreeSet<u64>>, bool),
) -> PublishedTable {
    let mut some = table.clone();
    for (column, of) in some.columns.iter_mut().zip(&table.columns) {
        column.cells = match &of.cells {
            Cells::Dictionary { codes, cells } if has_own_cells => dictionary(
                rows.iter()
                    .map(|&row| cells[codes.at(row) as usize].clone()),
            ),
            Cells::Dictionary { codes, cells } => Cells::Dictionary {
                codes: rows.iter().map(|&row| codes.at(row)).collect(),
                cells: cells.clone(),
            },
            Cells::Numbers(all) => {
                let anew = |&row: &usize| match space_of(table, of.content, row) {
                    None => all[row],
                    Some(_) if all[row] == 0 => 0,
                    Some(space) => {
                        let space = if space.is_empty() { &of.name } else { &space };
                        1 + numbers[space].range(..all[row]).count() as u64
                    }
                };
                Cells::Numbers(rows.iter().map(anew).collect())
            }
        };
    }
    some
}

/// Which numbers of a release stay together: each with another one, or itself.
fn connected(evidence: &Evidence<'_>) -> BTreeMap<Number, Number> {
    fn root(above: &BTreeMap<Number, Number>, mut of: Number) -> Number {
        while above[&of] != of {
            of = above[&of].clone();
        }
        of
    }
    let mut above: BTreeMap<Number, Number> = BTreeMap::new();
    let mut looks: BTreeMap<String, Number> = BTreeMap::new();
    let schema = evidence.table.schema();
    for table in evidence.tables {
        for row in 0..table.rows() {
            let mut together = numbers_of(table, row);
            if table.name == evidence.tables[0].name {
                let mut look = String::new();
                for column in &table.columns {
                    let index = schema.find(&column.name);
                    let role = index.map(|index| schema.attribute(index).role);
                    if let (Some(Role::QuasiIdentifier), Cells::Dictionary { codes, cells }) =
                        (role, &column.cells)
                    {
                        look += &format!("{:?};", cells[codes.at(row) as usize]);
                    }
                }
                let first = together[0].clone();
                together.push(looks.entry(look).or_insert(first).clone());
            }
            for number in &together {
                above.entry(number.clone()).or_insert(number.clone());
            }
            let first = root(&above, together[0].clone());
            for number in &together[1..] {
                let other = root(&above, number.clone());
                above.insert(other, first.clone());
            }
        }
    }
    let numbers: Vec<Number> = above.keys().cloned().collect();
    numbers
        .into_iter()
        .map(|number| (number.clone(), root(&above, number)))
        .collect()
}

/// Cuts a release into at most so many random portions.
pub fn cut(evidence: &Evidence<'_>, number: usize, seed: u64) -> Vec<Portion> {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let connected = connected(evidence);
    let mut portion_of: BTreeMap<Number, usize> = BTreeMap::new();
    for root in connected.values() {
        let drawn = random.random_range(0..number);
        portion_of.entry(root.clone()).or_insert(drawn);
    }
    let has_own_cells = random.random_bool(0.5);
    let mut rows = vec![vec![Vec::new(); evidence.tables.len()]; number];
    for (at, table) in evidence.tables.iter().enumerate() {
        for row in 0..table.rows() {
            let first = numbers_of(table, row).remove(0);
            rows[portion_of[&connected[&first]]][at].push(row);
        }
    }
    let is_empty = |rows: &Vec<Vec<usize>>| rows[0].is_empty();
    if rows.iter().all(is_empty) {
        rows.truncate(1);
    } else {
        rows.retain(|rows| !is_empty(rows));
    }
    let portions = rows.iter();
    portions
        .map(|rows| Portion::of(evidence, rows, has_own_cells))
        .collect()
}
