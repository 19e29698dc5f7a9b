//! The release as the checks read it: published columns resolved against the
//! source, rows joined with their records by the lineage.
//!
//! Made once, leniently: a view exists whenever every column that an lgb
//! release needs can be read, whatever the columns say. Rows whose subject is
//! unknown have no record; checks skip them, since `every_record_once` has
//! named them already.

use rayon::prelude::*;

use crate::microdata::{
    AttributeIndex, Codes, Domain, Multiplicity, RecordIndex, Role, Table, refine_by_code,
};
use crate::privacy::{CancelFlag, ProtectedIndex, RecordTerms, Requirements};
use crate::release::{PublishedColumn, PublishedTable};

use super::evidence::Evidence;
use super::meaning::{MeaningColumn, numbers};
use super::shape::{ExpectedColumn, ExpectedTable, MICRODATA, fits};
use super::whole::OfWhole;

/// Stands for a row without a record, or a cell without a bucket.
pub(super) const NONE: u32 = u32::MAX;

/// One published attribute beside its source.
#[derive(Debug)]
pub(super) struct AttributeView<'a> {
    pub(super) name: &'a str,
    pub(super) role: Role,
    /// Its position among the protectable attributes, if it is one.
    pub(super) protected: Option<ProtectedIndex>,
    pub(super) domain: &'a Domain,
    /// Source code of each row's record; the number of codes where the row has
    /// no record.
    source: Codes,
    /// The published cell of each row.
    pub(super) cells: MeaningColumn<'a>,
    /// The bucket number of each row (0 for none), where rows name theirs.
    pub(super) bucket: Option<&'a [u64]>,
}

/// A release joined with its source.
#[derive(Debug)]
pub(super) struct View<'a> {
    pub(super) table: &'a Table,
    pub(super) requirements: &'a Requirements,
    /// Heeded between checks.
    pub(super) cancel: &'a CancelFlag,
    /// Record of each row of `microdata`; [`NONE`] where it is not known.
    pub(super) records: Vec<u32>,
    /// Published group number of each row.
    pub(super) group: &'a [u64],
    /// The published attributes in schema order.
    pub(super) attributes: Vec<AttributeView<'a>>,
    /// What is held against the whole release, where this is a portion.
    pub(super) whole: Option<&'a OfWhole>,
}

impl<'a> View<'a> {
    /// The view, or `None` where a column that it needs cannot be read.
    pub(super) fn of(evidence: &Evidence<'a>, expected: &[ExpectedTable]) -> Option<Self> {
        let table = evidence.table;
        if evidence.requirements.records() != table.records() {
            return None;
        }
        let published = evidence.published(MICRODATA)?;
        let wanted = &expected
            .iter()
            .find(|table| table.name == MICRODATA)?
            .columns;
        let rows = published.rows();
        let column = |at: usize| {
            let found = find(published, wanted, at)?;
            (found.cells.len() == rows).then_some(found)
        };
        let group = numbers(column(0)?)?;
        let mut found = Vec::new();
        let mut at = 1;
        for index in table.schema().publishable() {
            let cells = column(at)?;
            at += 1;
            let links_row = table.schema().attribute(index).is_protectable()
                && wanted
                    .get(at)
                    .is_some_and(|column| column.content == crate::release::Content::Bucket);
            let bucket = if links_row {
                Some(numbers(column(at)?)?)
            } else {
                None
            };
            at += usize::from(links_row);
            found.push((index, cells, bucket));
        }
        let records = records_of_rows(evidence, rows);
        let found = found.into_par_iter().map(|(index, cells, bucket)| {
            let attribute = table.schema().attribute(index);
            let source = table.coded(index)?;
            Some(AttributeView {
                name: &attribute.name,
                role: attribute.role,
                protected: protected_position(evidence.requirements, index),
                domain: &source.domain,
                source: of_rows(&source.codes, source.domain.len() as u32, &records),
                cells: MeaningColumn::of(cells, &source.domain)?,
                bucket,
            })
        });
        let attributes: Vec<AttributeView> = found.collect::<Option<_>>()?;
        let protected = attributes
            .iter()
            .filter(|attribute| attribute.protected.is_some());
        if protected.count() != evidence.requirements.policy().model.protected() {
            return None;
        }
        Some(Self {
            table,
            requirements: evidence.requirements,
            cancel: evidence.cancel,
            records,
            group,
            attributes,
            whole: evidence.at_once.whole,
        })
    }

    /// Number of rows of `microdata`.
    pub(super) fn rows(&self) -> usize {
        self.records.len()
    }

    /// What the subject of a row asks for; `None` if the row has no record.
    #[inline]
    pub(super) fn terms(&self, row: usize) -> Option<&'a RecordTerms> {
        let record = self.records[row];
        (record != NONE).then(|| self.requirements.of(RecordIndex(record)))
    }

    /// The l of each row's subject for an attribute; 1 where the row has no
    /// record.
    pub(super) fn asked_l(&self, index: ProtectedIndex) -> Vec<u32> {
        let l = |row: usize| self.terms(row).map_or(1, |terms| terms.l[index.at()]);
        (0..self.rows()).map(l).collect()
    }

    /// Source code of a row's value; `None` if the row has no record.
    #[inline]
    pub(super) fn source(&self, attribute: &AttributeView, row: usize) -> Option<u32> {
        let code = attribute.source.at(row);
        (self.records[row] != NONE).then_some(code)
    }

    /// Source code of each row's value; [`NONE`] where the row has no record.
    pub(super) fn own(&self, attribute: &AttributeView) -> Vec<u32> {
        let rows = 0..self.rows();
        rows.map(|row| self.source(attribute, row).unwrap_or(NONE))
            .collect()
    }

    /// Numbers the rows by the source values of the chosen attributes, which
    /// are what is known of their records; [`NONE`] where a row has none.
    pub(super) fn known(&self, is_chosen: impl Fn(&AttributeView) -> bool) -> Vec<u32> {
        let mut vector = vec![0_u32; self.rows()];
        for attribute in self.attributes.iter().filter(|one| is_chosen(one)) {
            refine_by_code(&mut vector, |row| attribute.source.at(row));
        }
        for (vector, &record) in vector.iter_mut().zip(&self.records) {
            if record == NONE {
                *vector = NONE;
            }
        }
        vector
    }

    /// The protectable attributes with their position.
    pub(super) fn protected(&self) -> impl Iterator<Item = (ProtectedIndex, &AttributeView<'a>)> {
        let all = self.attributes.iter();
        all.filter_map(|attribute| Some((attribute.protected?, attribute)))
    }
}

/// The column expected at position `at`: the one there if the table has the
/// expected width (names may repeat), else any that fits.
pub(super) fn find<'a>(
    table: &'a PublishedTable,
    wanted: &[ExpectedColumn],
    at: usize,
) -> Option<&'a PublishedColumn> {
    let expected = wanted.get(at)?;
    let there = table
        .columns
        .get(at)
        .filter(|column| fits(column, expected));
    there.or_else(|| table.columns.iter().find(|column| fits(column, expected)))
}

/// The code of each row's record, or `none`, which follows all codes.
fn of_rows(codes: &Codes, none: u32, records: &[u32]) -> Codes {
    let of_rows = records.iter().map(|&record| match record {
        NONE => none,
        record => codes.at(record as usize),
    });
    Codes::below(none as usize + 1, of_rows)
}

fn protected_position(
    requirements: &Requirements,
    attribute: AttributeIndex,
) -> Option<ProtectedIndex> {
    requirements
        .protected()
        .find(|&index| requirements.attribute(index) == attribute)
}

/// Record of each row of a table, where a record is the first row's that has
/// it; [`NONE`] for other rows. With one record a subject, the record of a
/// subject has its position.
pub(super) fn records_of_first_rows(evidence: &Evidence, table: &str, rows: usize) -> Vec<u32> {
    let single = evidence.table.schema().multiplicity() == Multiplicity::One;
    let subjects = if single {
        evidence.lineage.of(table).unwrap_or_default()
    } else {
        &[]
    };
    let mut is_taken = vec![false; evidence.table.records()];
    let mut record = |row: usize| {
        let subject = subjects.get(row)?;
        let is_taken = is_taken.get_mut(subject.at())?;
        (!std::mem::replace(is_taken, true)).then_some(subject.0)
    };
    (0..rows).map(|row| record(row).unwrap_or(NONE)).collect()
}

/// With one record a subject, the record of a subject has its position.
pub(super) fn records_of_rows(evidence: &Evidence, rows: usize) -> Vec<u32> {
    let single = evidence.table.schema().multiplicity() == Multiplicity::One;
    let subjects = if single {
        evidence.lineage.of(MICRODATA).unwrap_or_default()
    } else {
        &[]
    };
    let known = |row: usize| {
        let subject = subjects.get(row)?;
        (subject.at() < evidence.table.records()).then_some(subject.0)
    };
    (0..rows).map(|row| known(row).unwrap_or(NONE)).collect()
}
