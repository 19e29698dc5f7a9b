//! The tables `quasi` and `sensitive` as the checks read them: columns
//! resolved against the source, rows joined with their records by the lineage
//! and with their blocks by number.
//!
//! Made once, leniently: a view exists whenever every column that it needs
//! can be read, whatever the columns say. What is wrong with numbers and
//! contents of blocks is counted while it is made.

use crate::microdata::{Codes, Domain, RecordIndex, Role};
use crate::privacy::{CancelFlag, ProtectedIndex, RecordTerms, Requirements};

use super::published;
use crate::verify::buckets::{Owner, read_table};
use crate::verify::classes::{Classes, Counts, Members, Numbering};
use crate::verify::equivalence::{EquivalenceClasses, Subjects};
use crate::verify::evidence::Evidence;
use crate::verify::meaning::{MeaningColumn, numbers};
use crate::verify::shape::{ExpectedTable, QUASI, SENSITIVE};
use crate::verify::verdict::{Failures, Place};
use crate::verify::view::{NONE, find, records_of_first_rows};

/// One non-sensitive attribute beside its source.
#[derive(Debug)]
pub(super) struct PlainView<'a> {
    pub(super) name: &'a str,
    pub(super) role: Role,
    /// Source code of each *record*.
    pub(super) source: &'a Codes,
    /// The published cell of each row.
    pub(super) cells: MeaningColumn<'a>,
}

/// One sensitive attribute: its blocks beside its source.
#[derive(Debug)]
pub(super) struct BlockView<'a> {
    pub(super) index: ProtectedIndex,
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
    /// Source code of each *record*.
    pub(super) source: &'a Codes,
    /// What each block holds.
    pub(super) blocks: Counts,
    /// Which rows are in it.
    pub(super) members: Members,
}

impl BlockView<'_> {
    /// The blocks as classes.
    pub(super) fn classes(&self) -> Classes<'_> {
        Classes {
            index: self.index,
            name: self.name,
            domain: self.domain,
            members: &self.members,
            counts: &self.blocks,
            numbering: Numbering::Buckets,
            of_all: None,
        }
    }
}

/// A release of listed blocks joined with its source.
#[derive(Debug)]
pub(super) struct QuasiView<'a> {
    pub(super) requirements: &'a Requirements,
    /// Heeded between checks.
    pub(super) cancel: &'a CancelFlag,
    /// Record of each row of `quasi`; [`NONE`] where it is not known.
    pub(super) records: Vec<u32>,
    /// Quasi-identifiers and insensitive attributes in schema order.
    pub(super) attributes: Vec<PlainView<'a>>,
    /// Published sensitive attributes in schema order.
    pub(super) blocks: Vec<BlockView<'a>>,
    /// Rows with the same published quasi-identifiers.
    pub(super) alike: EquivalenceClasses,
}

impl<'a> QuasiView<'a> {
    /// The view with what is wrong with numbers and contents of blocks, or
    /// `None` where a column that it needs cannot be read.
    pub(super) fn of(
        evidence: &Evidence<'a>,
        expected: &[ExpectedTable],
    ) -> Option<(Self, Failures)> {
        let table = evidence.table;
        if evidence.requirements.records() != table.records() {
            return None;
        }
        let quasi = evidence.published(QUASI)?;
        let rows = quasi.rows();
        let column = |at: usize| {
            let found = find(quasi, &expected.first()?.columns, at)?;
            (found.cells.len() == rows).then_some(found)
        };
        let indexes = published(evidence.requirements);
        let schema = table.schema();
        let mut owners = Vec::new();
        let mut sources = Vec::new();
        for &index in &indexes {
            let attribute = evidence.requirements.attribute(index);
            let source = table.coded(attribute)?;
            owners.push(Owner {
                index,
                name: &schema.attribute(attribute).name,
                domain: &source.domain,
            });
            sources.push(&source.codes);
        }
        let contents = evidence.published(SENSITIVE)?;
        let limit = match evidence.requirements.history() {
            None => table.records() as u64,
            // Counterfeits are bounded by a check of their own.
            Some(_) => u64::from(u32::MAX),
        };
        let (buckets, mut failures) = read_table(contents, "block", &owners, limit)?;
        let mut blocks = Vec::new();
        for (at, ((owner, source), blocks_of)) in
            owners.iter().zip(sources).zip(buckets).enumerate()
        {
            let found = numbers(column(at)?)?;
            let members = members(owner.name, found, &blocks_of, &mut failures);
            blocks.push(BlockView {
                index: owner.index,
                name: owner.name,
                domain: owner.domain,
                source,
                blocks: blocks_of,
                members,
            });
        }
        let mut attributes = Vec::new();
        let plain = schema.select(|attribute| {
            matches!(attribute.role, Role::QuasiIdentifier | Role::Insensitive)
        });
        for (at, index) in (indexes.len()..).zip(plain) {
            let source = table.coded(index)?;
            attributes.push(PlainView {
                name: &schema.attribute(index).name,
                role: schema.attribute(index).role,
                source: &source.codes,
                cells: MeaningColumn::of(column(at)?, &source.domain)?,
            });
        }
        let records = records_of_first_rows(evidence, QUASI, rows);
        let alike = alike(&attributes, &records, table.records());
        let view = Self {
            requirements: evidence.requirements,
            cancel: evidence.cancel,
            records,
            attributes,
            blocks,
            alike,
        };
        Some((view, failures))
    }

    /// Number of rows of `quasi`.
    pub(super) fn rows(&self) -> usize {
        self.records.len()
    }

    /// What the subject of a row asks for; `None` if the row has no record.
    #[inline]
    pub(super) fn terms(&self, row: usize) -> Option<&'a RecordTerms> {
        let record = self.records[row];
        (record != NONE).then(|| self.requirements.of(RecordIndex(record)))
    }
}

/// The rows of each block; a number of no block, or a block without rows, is
/// a failure.
fn members(name: &str, numbers: &[u64], blocks: &Counts, failures: &mut Failures) -> Members {
    let positions = numbers.iter().enumerate().map(|(row, &number)| {
        blocks.position(number).unwrap_or_else(|| {
            failures.add_at(name, Place::Row(row as u64 + 1));
            NONE
        })
    });
    let members = Members::of(positions.collect(), blocks.len());
    for at in 0..blocks.len() {
        if members.rows(at).is_empty() {
            failures.add_at(name, Place::Bucket(at as u64 + 1));
        }
    }
    members
}

/// Rows by what they show of their quasi-identifiers.
fn alike(attributes: &[PlainView], records: &[u32], number: usize) -> EquivalenceClasses {
    let known = attributes.iter();
    let known = known.filter(|attribute| attribute.role == Role::QuasiIdentifier);
    let columns: Vec<&MeaningColumn> = known.map(|attribute| &attribute.cells).collect();
    // Each row is a group of its own: block numbers say nothing of looks.
    let groups: Vec<u64> = (0..records.len() as u64).collect();
    let subjects = Subjects {
        of_row: records,
        number,
    };
    EquivalenceClasses::of_columns(&groups, &columns, subjects)
}
