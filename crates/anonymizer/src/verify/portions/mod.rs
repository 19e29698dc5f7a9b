//! A large release looked at portion by portion.
//!
//! What a family of engines checks, it checks of classes of rows: of groups, of rows
//! that look the same, of buckets. A portion is so many of them that none is cut: rows
//! that name the same group or bucket are in one portion, and so are groups that show
//! the same quasi-identifiers. What is found in each portion is put together
//! ([`join`]), so that memory is that of a portion. What classes are held against is
//! counted before, of the whole release ([`whole`]).
//!
//! Portions are found by what is published, never by what an engine says of it. A
//! release in which anything is irregular (numbers with gaps, columns of unequal
//! length, a lineage that does not fit) is looked at as a whole.

mod connected;
mod join;
mod whole;

use rand::RngExt;

use crate::microdata::{Codes, SubjectIndex, Table};
use crate::privacy::{Model, Requirements, Seed};
use crate::release::{Cells, Content, Lineage, PublishedColumn, PublishedTable, TableLineage};

use self::connected::Connected;
use self::join::joined;
use self::whole::of_whole;
use super::evidence::{AtOnce, Evidence};
use super::shape::MICRODATA;
use super::verdict::{Check, Place};
use super::whole::OfWhole;

/// Seed and stream of the draw of a portion.
const SEED: u64 = 20;
const STAGE: u32 = 4;

/// Says of checks that they are about the one portion that was drawn of so many.
pub fn of_one_portion(checks: Vec<Check>, portions: u16) -> Vec<Check> {
    let number = f64::from(portions);
    let checks = checks.into_iter();
    checks
        .map(|check| check.with_figure("one_portion_of", number))
        .collect()
}

/// The portions of a release; none of one that is looked at as a whole.
pub fn portions(evidence: &Evidence) -> Option<Portions> {
    let model = &evidence.requirements.policy().model;
    let is_of_classes = matches!(
        model,
        Model::Generalized { .. } | Model::Bucketized { .. } | Model::Personalized { .. }
    );
    let rows = evidence
        .published(MICRODATA)
        .map_or(0, PublishedTable::rows);
    let is_large = rows > evidence.at_once.rows && evidence.at_once.whole.is_none();
    let connected = (is_of_classes && is_large).then(|| Connected::of(evidence));
    connected.flatten()?.portions(evidence.at_once.rows)
}

/// The own checks of a family: of the whole release, or of its portions.
pub(super) fn checks(evidence: &Evidence, own: &dyn Fn(&Evidence) -> Vec<Check>) -> Vec<Check> {
    let portions = portions(evidence);
    let whole = portions.as_ref().and_then(|_| of_whole(evidence));
    let (Some(portions), Some(whole)) = (portions, whole) else {
        return own(evidence);
    };
    let mut all = None;
    for number in 0..portions.number {
        evidence.cancel.heed();
        let portion = portions.portion(evidence, number);
        let mut found = own(&portion.evidence(evidence, &whole));
        for check in &mut found {
            portion.place(check);
        }
        all = Some(match all {
            None => found,
            Some(all) => joined(all, found),
        });
    }
    all.unwrap_or_default()
}

/// Which portion each group and bucket of a release is in.
pub struct Portions {
    /// Number of portions.
    number: u16,
    /// Names of the spaces of numbers: of groups, then of the buckets of attributes.
    spaces: Vec<String>,
    /// The portion of each number, space by space; of no number the last one.
    of_number: Vec<Vec<u16>>,
}

impl Portions {
    /// How many there are.
    pub fn number(&self) -> u16 {
        self.number
    }

    /// The portion that stands for all where an attack learns from one alone: drawn by
    /// the verifier's own number, the same one every time.
    pub fn drawn(&self) -> u16 {
        Seed::of_number(SEED)
            .stream(STAGE, 0)
            .random_range(0..self.number)
    }

    /// A portion of the release that they are of, by its number from 0.
    pub fn portion(&self, evidence: &Evidence, number: u16) -> Portion {
        Portion::of(evidence, self, number)
    }

    /// The space with this name.
    fn space(&self, name: &str) -> Option<usize> {
        self.spaces.iter().position(|space| space == name)
    }

    fn has(&self, portion: u16, (space, number): (usize, u64)) -> bool {
        self.of_number[space][number as usize] == portion
    }
}

/// The space of the buckets of an attribute.
fn space_of_buckets(attribute: &str) -> String {
    format!("{attribute}_bucket")
}

/// A portion of a release as a release of its own.
pub struct Portion {
    /// The records that are published in it.
    pub table: Table,
    /// What they ask for.
    pub requirements: Requirements,
    /// Its rows, with groups and buckets numbered anew.
    pub tables: Vec<PublishedTable>,
    /// The subject of each row.
    pub lineage: Lineage,
    /// Rows of each table in the release.
    rows: Vec<Vec<u32>>,
    spaces: Vec<String>,
    /// What is number 1, 2, … here, space by space.
    numbers: Vec<Vec<u64>>,
}

impl Portion {
    fn of(evidence: &Evidence, portions: &Portions, number: u16) -> Self {
        let numbers = portions.of_number.iter().map(|of_number| {
            let numbers = (1..).zip(of_number.iter().skip(1));
            let own = numbers.filter(|&(_, &portion)| portion == number);
            own.map(|(number, _)| number).collect::<Vec<u64>>()
        });
        let numbers: Vec<Vec<u64>> = numbers.collect();
        let rows = evidence.tables.iter();
        let rows: Vec<Vec<u32>> = rows.map(|table| rows_of(table, portions, number)).collect();
        let tables = evidence.tables.iter().zip(&rows);
        let tables = tables.map(|(table, rows)| some_rows(table, rows, (portions, &numbers)));
        let subjects = evidence.lineage.of(MICRODATA).unwrap_or_default();
        let own = rows.first().map_or(&[][..], |rows| rows);
        // With one record a subject, a subject's position is the record's.
        let mut records: Vec<u32> = own.iter().map(|&row| subjects[row as usize].0).collect();
        records.sort_unstable();
        records.dedup();
        let in_portion = own.iter().map(|&row| {
            let record = subjects[row as usize].0;
            SubjectIndex::from_usize(records.partition_point(|&other| other < record))
        });
        Self {
            lineage: Lineage {
                tables: vec![TableLineage {
                    table: MICRODATA.into(),
                    subjects: in_portion.collect(),
                }],
            },
            tables: tables.collect(),
            table: evidence.table.part(&records),
            requirements: evidence.requirements.part(&records),
            rows,
            spaces: portions.spaces.clone(),
            numbers,
        }
    }

    fn evidence<'a>(&'a self, of: &Evidence<'a>, whole: &'a OfWhole) -> Evidence<'a> {
        Evidence {
            table: &self.table,
            requirements: &self.requirements,
            tables: &self.tables,
            lineage: &self.lineage,
            at_once: AtOnce {
                whole: Some(whole),
                ..of.at_once
            },
            ..*of
        }
    }

    /// Names places as the whole release does.
    fn place(&self, check: &mut Check) {
        let attribute = check.attribute.as_deref().unwrap_or_default();
        let number = |space: Option<usize>, number: u64| {
            let numbers = space.and_then(|space| self.numbers.get(space));
            let at = (number as usize).checked_sub(1);
            let known = numbers.zip(at).and_then(|(numbers, at)| numbers.get(at));
            known.copied().unwrap_or(number)
        };
        let space = |name: &str| self.spaces.iter().position(|space| space == name);
        check.worst = check.worst.map(|place| match place {
            Place::Group(group) => Place::Group(number(Some(0), group)),
            Place::Bucket(bucket) => {
                Place::Bucket(number(space(&space_of_buckets(attribute)), bucket))
            }
            Place::Row(row) => {
                // Rows of lists are named by the table, or by the check of lists.
                let named = self.tables.iter().position(|table| table.name == attribute);
                let list = match check.kind {
                    "buckets_well_formed" => 1,
                    _ => named.unwrap_or(0),
                };
                let at = (row as usize).saturating_sub(1);
                let known = self.rows.get(list).and_then(|rows| rows.get(at));
                Place::Row(known.map_or(row, |&row| u64::from(row) + 1))
            }
        });
    }
}

/// The numbers of a column, and the space of each row's.
fn numbered<'t>(
    table: &'t PublishedTable,
    column: &'t PublishedColumn,
) -> Option<(&'t [u64], SpaceOfRow<'t>)> {
    let Cells::Numbers(numbers) = &column.cells else {
        return None;
    };
    let space = match column.content {
        Content::Group => SpaceOfRow::Named(column.name.clone()),
        Content::Bucket => {
            let mut columns = table.columns.iter();
            let attributes = columns.find(|column| column.content == Content::Attribute);
            match attributes.map(|attributes| &attributes.cells) {
                Some(Cells::Dictionary { codes, cells }) => {
                    let names = cells.iter().map(|cell| {
                        let mut name = String::new();
                        cell.text(&mut name);
                        space_of_buckets(&name)
                    });
                    SpaceOfRow::OfAttribute(codes, names.collect())
                }
                _ => SpaceOfRow::Named(column.name.clone()),
            }
        }
        _ => return None,
    };
    Some((numbers, space))
}

/// The space that the number of a row is of.
enum SpaceOfRow<'t> {
    /// The same for all rows.
    Named(String),
    /// By what the row says of its attribute.
    OfAttribute(&'t Codes, Vec<String>),
}

/// The numbers of a column with the positions of their spaces.
struct Numbered<'t> {
    numbers: &'t [u64],
    of_row: Option<&'t Codes>,
    spaces: Vec<usize>,
}

impl<'t> Numbered<'t> {
    /// None for a column without numbers of groups or buckets.
    fn of(
        (table, column): (&'t PublishedTable, &'t PublishedColumn),
        mut space: impl FnMut(&str) -> Option<usize>,
    ) -> Option<Self> {
        let (numbers, of_row) = numbered(table, column)?;
        let (of_row, names) = match of_row {
            SpaceOfRow::Named(name) => (None, vec![name]),
            SpaceOfRow::OfAttribute(codes, names) => (Some(codes), names),
        };
        Some(Self {
            numbers,
            of_row,
            spaces: names
                .iter()
                .map(|name| space(name))
                .collect::<Option<_>>()?,
        })
    }

    /// Space and number of a row.
    fn at(&self, row: usize) -> (usize, u64) {
        let space = self.of_row.map_or(0, |codes| codes.at(row) as usize);
        (self.spaces[space], self.numbers[row])
    }
}

/// The columns of a table that number groups or buckets.
fn columns_of_numbers<'t>(
    table: &'t PublishedTable,
    portions: &Portions,
) -> Vec<(usize, Numbered<'t>)> {
    let columns = table.columns.iter().enumerate();
    let numbered = columns.filter_map(|(at, column)| {
        let found = Numbered::of((table, column), |name| portions.space(name))?;
        Some((at, found))
    });
    numbered.collect()
}

/// The rows of a table that are in a portion; every row has a number that says so.
fn rows_of(table: &PublishedTable, portions: &Portions, portion: u16) -> Vec<u32> {
    let columns = columns_of_numbers(table, portions);
    let is_in = |row: &u32| {
        columns
            .first()
            .is_some_and(|(_, of)| portions.has(portion, of.at(*row as usize)))
    };
    (0..table.rows() as u32).filter(is_in).collect()
}

/// Some rows of a table, whose groups and buckets are numbered anew in their order.
fn some_rows(
    table: &PublishedTable,
    rows: &[u32],
    (portions, numbers): (&Portions, &[Vec<u64>]),
) -> PublishedTable {
    let numbered = columns_of_numbers(table, portions);
    let columns = table.columns.iter().enumerate().map(|(at, column)| {
        let own = numbered.iter().find(|(column, _)| *column == at);
        let cells = match (&column.cells, own) {
            (Cells::Dictionary { codes, cells }, _) => Cells::Dictionary {
                codes: codes.some(rows),
                cells: cells.clone(),
            },
            (Cells::Numbers(all), None) => {
                Cells::Numbers(rows.iter().map(|&row| all[row as usize]).collect())
            }
            (Cells::Numbers(_), Some((_, own))) => {
                let anew = rows.iter().map(|&row| {
                    let (space, number) = own.at(row as usize);
                    let before = numbers[space].partition_point(|&other| other < number);
                    // 0 is no number, and stays it.
                    if number == 0 { 0 } else { before as u64 + 1 }
                });
                Cells::Numbers(anew.collect())
            }
        };
        PublishedColumn {
            name: column.name.clone(),
            content: column.content,
            kind: column.kind,
            cells,
        }
    });
    PublishedTable {
        name: table.name.clone(),
        columns: columns.collect(),
    }
}
