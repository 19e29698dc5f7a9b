//! The table `sliced` as the checks read it: its attributes resolved against
//! the source, the combinations of each column numbered for published rows and
//! source records alike.
//!
//! A record is joined with the row whose first column is its own (lineage). A
//! row whose record is unknown, or has a row further up, has none; a cell that
//! is no exact value of its attribute has a code of its own that no record has.

use rustc_hash::FxHashMap;

use crate::microdata::{AttributeIndex, Codes, Domain, RecordIndex, Role};
use crate::privacy::{CancelFlag, ProtectedIndex, RecordTerms, Requirements};
use crate::release::PublishedColumn;

use super::declared::Declared;
use crate::verify::equivalence::{EquivalenceClasses, Subjects};
use crate::verify::evidence::Evidence;
use crate::verify::meaning::{MeaningColumn, numbers};
use crate::verify::shape::{ExpectedTable, SLICED};
use crate::verify::view::{NONE, find, records_of_first_rows};

/// One appearance of an attribute.
#[derive(Debug)]
pub(super) struct Appearance<'a> {
    pub(super) attribute: AttributeIndex,
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
    pub(super) cells: MeaningColumn<'a>,
    /// Code of each row's exact cell, else [`NONE`].
    pub(super) codes: Vec<u32>,
    /// Code of each record of the source.
    pub(super) source: &'a Codes,
}

/// Distinct combinations, numbered for rows and records alike.
#[derive(Clone, Debug, Default)]
pub(super) struct Joint {
    pub(super) of_row: Vec<u32>,
    /// By record of the source.
    pub(super) of_record: Vec<u32>,
}

impl Joint {
    fn of<'b>(
        (rows, records): (usize, usize),
        appearances: impl Iterator<Item = &'b Appearance<'b>>,
    ) -> Self {
        let mut joint = Self {
            of_row: vec![0; rows],
            of_record: vec![0; records],
        };
        let mut numbers: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for appearance in appearances {
            numbers.clear();
            let mut number = |class: &mut u32, code: u32| {
                let next = numbers.len() as u32;
                *class = *numbers.entry((*class, code)).or_insert(next);
            };
            let rows = joint.of_row.iter_mut().zip(&appearance.codes);
            rows.for_each(|(class, &code)| number(class, code));
            let records = joint.of_record.iter_mut().zip(appearance.source);
            records.for_each(|(class, code)| number(class, code));
        }
        joint
    }
}

/// One column: attributes that stay linked.
#[derive(Debug)]
pub(super) struct ColumnView {
    /// Positions in [`SlicedView::exact`].
    pub(super) appearances: std::ops::Range<usize>,
    /// Combinations of all its attributes.
    pub(super) whole: Joint,
    /// Combinations of its quasi-identifiers, which an adversary knows.
    pub(super) known: Joint,
}

/// A sliced table joined with its source.
#[derive(Debug)]
pub(super) struct SlicedView<'a> {
    pub(super) requirements: &'a Requirements,
    /// Heeded between checks.
    pub(super) cancel: &'a CancelFlag,
    /// Records of the source.
    pub(super) records: usize,
    /// Record of each row, by its first column; [`NONE`] where not known.
    pub(super) record_of_row: Vec<u32>,
    /// Published bucket number of each row.
    pub(super) number: &'a [u64],
    /// Rows by bucket.
    pub(super) buckets: EquivalenceClasses,
    pub(super) generalized: Vec<Appearance<'a>>,
    pub(super) exact: Vec<Appearance<'a>>,
    pub(super) columns: Vec<ColumnView>,
}

impl<'a> SlicedView<'a> {
    /// The view, or `None` where a column that it needs cannot be read.
    pub(super) fn of(
        evidence: &Evidence<'a>,
        declared: &Declared,
        expected: &ExpectedTable,
    ) -> Option<Self> {
        let source = evidence.table;
        if evidence.requirements.records() != source.records()
            || source.records() != source.subjects()
        {
            return None;
        }
        let table = evidence.published(SLICED)?;
        let rows = table.rows();
        let column = |at: usize| -> Option<&'a PublishedColumn> {
            let found = find(table, &expected.columns, at)?;
            (found.cells.len() == rows).then_some(found)
        };
        let number = numbers(column(0)?)?;
        let record_of_row = records_of_first_rows(evidence, SLICED, rows);
        let appearance = |(at, attribute): (usize, AttributeIndex)| {
            let coded = source.coded(attribute)?;
            let cells = MeaningColumn::of(column(at)?, &coded.domain)?;
            let codes = (0..rows).map(|row| cells.meaning(row).single().unwrap_or(NONE));
            Some(Appearance {
                attribute,
                name: &source.schema().attribute(attribute).name,
                domain: &coded.domain,
                codes: codes.collect(),
                source: &coded.codes,
                cells,
            })
        };
        let generalized = (1..).zip(declared.generalized.iter().copied());
        let generalized: Vec<Appearance> = generalized.map(&appearance).collect::<Option<_>>()?;
        let linked = declared.columns.iter().flatten().copied();
        let exact = (1 + generalized.len()..).zip(linked).map(&appearance);
        let exact: Vec<Appearance> = exact.collect::<Option<_>>()?;
        let sizes = (rows, source.records());
        let is_known = |appearance: &&Appearance| {
            source.schema().attribute(appearance.attribute).role == Role::QuasiIdentifier
        };
        let mut from = 0;
        let columns = declared.columns.iter().map(|column| {
            let range = from..from + column.len();
            from = range.end;
            let appearances = || exact[range.clone()].iter();
            ColumnView {
                whole: Joint::of(sizes, appearances()),
                known: Joint::of(sizes, appearances().filter(is_known)),
                appearances: range.clone(),
            }
        });
        let columns = columns.collect();
        let subjects = Subjects {
            of_row: &record_of_row,
            number: source.records(),
        };
        Some(Self {
            requirements: evidence.requirements,
            cancel: evidence.cancel,
            records: source.records(),
            buckets: EquivalenceClasses::of_groups(number, subjects),
            record_of_row,
            number,
            generalized,
            exact,
            columns,
        })
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.record_of_row.len()
    }

    /// The record of a row; `None` if the row has none.
    #[inline]
    pub(super) fn record(&self, row: usize) -> Option<u32> {
        let record = self.record_of_row[row];
        (record != NONE).then_some(record)
    }

    /// What the subject of a row asks for; `None` if the row has none.
    pub(super) fn terms(&self, row: usize) -> Option<&'a RecordTerms> {
        Some(self.requirements.of(RecordIndex(self.record(row)?)))
    }

    /// Combinations of the quasi-identifiers that two columns both show.
    pub(super) fn shared(&self, one: usize, other: usize) -> Joint {
        let [one, other] = [one, other].map(|at| &self.exact[self.columns[at].appearances.clone()]);
        let both = one.iter().filter(|appearance| {
            let attribute = appearance.attribute;
            other.iter().any(|other| other.attribute == attribute) && !self.is_protected(attribute)
        });
        Joint::of((self.rows(), self.records), both)
    }

    /// Whether the policy protects an attribute.
    pub(super) fn is_protected(&self, attribute: AttributeIndex) -> bool {
        let requirements = self.requirements;
        let mut all = requirements.protected();
        all.any(|index| requirements.attribute(index) == attribute)
    }

    /// The attribute that the policy protects at a position.
    pub(super) fn protected(&self, at: usize) -> AttributeIndex {
        self.requirements.attribute(ProtectedIndex(at as u8))
    }

    /// Published number of the bucket at a position.
    pub(super) fn bucket_number(&self, at: usize) -> u64 {
        self.buckets.group_number(self.number, at)
    }
}
