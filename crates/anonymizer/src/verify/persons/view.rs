//! The table `persons` as the checks read it: its columns resolved against the
//! source, its rows joined with their subjects by the lineage.
//!
//! Made once, leniently: a view exists whenever every column that the table
//! needs can be read, whatever the columns say. A row whose subject is unknown,
//! or has a row further up, has none here; checks skip it, since
//! `every_subject_once` has named it already.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::{
    AttributeIndex, Codes, Domain, Role, SubjectIndex, SubjectRecords, refine_by_code,
};
use crate::privacy::{CancelFlag, QidConflict, RecordTerms, Requirements};
use crate::release::PublishedTable;

use super::items::{Fingerprint, Trees};
use super::source::{Hulls, SubjectItems};
use crate::verify::equivalence::Subjects;
use crate::verify::evidence::Evidence;
use crate::verify::meaning::{MeaningColumn, categories, dictionary, numbers};
use crate::verify::shape::{ExpectedTable, PERSONS};
use crate::verify::view::{NONE, find};

/// One published quasi-identifier beside its source.
#[derive(Debug)]
pub(super) struct QuasiView<'a> {
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
    pub(super) cells: MeaningColumn<'a>,
    pub(super) source: Hulls,
}

/// One published sensitive attribute beside its source.
#[derive(Debug)]
pub(super) struct SensitiveView<'a> {
    pub(super) name: &'a str,
    pub(super) domain: &'a Domain,
    codes: &'a Codes,
    categories: Vec<u32>,
    fingerprints: Vec<Fingerprint>,
    pub(super) source: SubjectItems,
}

impl SensitiveView<'_> {
    /// What a row's cell says.
    #[inline]
    pub(super) fn fingerprint(&self, row: usize) -> &Fingerprint {
        &self.fingerprints[self.codes.at(row) as usize]
    }

    #[inline]
    fn category(&self, row: usize) -> u32 {
        self.categories[self.codes.at(row) as usize]
    }

    /// Category of each distinct cell by what it covers; one that cannot be
    /// read shares its category with those that look the same.
    fn meanings(&self) -> Vec<u32> {
        let mut seen: FxHashMap<(u32, &[u32]), u32> = FxHashMap::default();
        let cells = self.categories.iter().zip(&self.fingerprints);
        let meanings = cells.map(|(&category, fingerprint)| {
            let key = match fingerprint.fault {
                None => (NONE, fingerprint.spans.as_slice()),
                Some(_) => (category, [].as_slice()),
            };
            let next = seen.len() as u32;
            *seen.entry(key).or_insert(next)
        });
        meanings.collect()
    }
}

/// A table of persons joined with its source.
#[derive(Debug)]
pub(super) struct PersonsView<'a> {
    pub(super) requirements: &'a Requirements,
    /// Heeded between checks.
    pub(super) cancel: &'a CancelFlag,
    /// Number of subjects of the source.
    pub(super) subjects: usize,
    /// Subject of each row; [`NONE`] where it is not known.
    pub(super) subject_of_row: Vec<u32>,
    /// Terms of each row's subject.
    terms: Vec<Option<&'a RecordTerms>>,
    /// Published group number of each row.
    pub(super) group: &'a [u64],
    pub(super) quasi: Vec<QuasiView<'a>>,
    pub(super) sensitive: Vec<SensitiveView<'a>>,
    pub(super) trees: Trees,
    /// Fingerprint of each row over all attributes, by how it reads.
    pub(super) reading_of_row: Vec<u32>,
    /// Fingerprint of each row over all attributes, by what it covers.
    pub(super) meaning_of_row: Vec<u32>,
}

impl<'a> PersonsView<'a> {
    /// The view, or `None` where a column that it needs cannot be read.
    pub(super) fn of(
        evidence: &Evidence<'a>,
        expected: &ExpectedTable,
        rule: QidConflict,
        records: &SubjectRecords,
    ) -> Option<Self> {
        if evidence.requirements.records() != evidence.table.records() {
            return None;
        }
        let columns = Columns::of(evidence, expected)?;
        let rows = columns.group.len();
        let subject_of_row = subjects_of_rows(evidence, rows);
        let terms = subject_of_row.iter().map(|&subject| {
            let known = subject != NONE;
            let records = known.then(|| records.of_subject(SubjectIndex(subject)))?;
            Some(evidence.requirements.of(*records.first()?))
        });
        let quasi = columns.quasi.into_par_iter();
        let quasi = quasi.map(|(index, cells)| {
            let source = evidence.table.coded(index)?;
            Some(QuasiView {
                name: &evidence.table.schema().attribute(index).name,
                domain: &source.domain,
                cells,
                source: Hulls::of(source, records, rule),
            })
        });
        let mut view = Self {
            requirements: evidence.requirements,
            cancel: evidence.cancel,
            subjects: evidence.table.subjects(),
            terms: terms.collect(),
            subject_of_row,
            group: columns.group,
            quasi: quasi.collect::<Option<Vec<_>>>()?,
            sensitive: Vec::new(),
            trees: Trees::default(),
            reading_of_row: vec![0; rows],
            meaning_of_row: vec![0; rows],
        };
        let items = columns.sensitive.par_iter();
        let items = items.map(|&(index, ..)| {
            let source = evidence.table.coded(index)?;
            Some(SubjectItems::of(source, records))
        });
        let items: Vec<SubjectItems> = items.collect::<Option<_>>()?;
        for ((index, codes, cells), source) in columns.sensitive.into_iter().zip(items) {
            let domain = &evidence.table.coded(index)?.domain;
            let tree = view.trees.add(domain);
            let fingerprints = cells.iter().map(|cell| view.trees.read(tree, cell));
            view.sensitive.push(SensitiveView {
                name: &evidence.table.schema().attribute(index).name,
                domain,
                codes,
                categories: categories(cells),
                fingerprints: fingerprints.collect(),
                source,
            });
        }
        view.join_fingerprints();
        Some(view)
    }

    fn join_fingerprints(&mut self) {
        for attribute in &self.sensitive {
            refine_by_code(&mut self.reading_of_row, |row| attribute.category(row));
            let meanings = attribute.meanings();
            refine_by_code(&mut self.meaning_of_row, |row| {
                meanings[attribute.codes.at(row) as usize]
            });
        }
    }

    /// Number of rows.
    pub(super) fn rows(&self) -> usize {
        self.subject_of_row.len()
    }

    /// What the subject of a row asks for; `None` if the row has none.
    #[inline]
    pub(super) fn terms(&self, row: usize) -> Option<&'a RecordTerms> {
        self.terms[row]
    }

    /// The subject of a row; `None` if the row has none.
    #[inline]
    pub(super) fn subject(&self, row: usize) -> Option<u32> {
        let subject = self.subject_of_row[row];
        (subject != NONE).then_some(subject)
    }

    pub(super) fn subjects(&self) -> Subjects<'_> {
        Subjects {
            of_row: &self.subject_of_row,
            number: self.subjects,
        }
    }
}

/// The columns as they were found.
struct Columns<'a> {
    group: &'a [u64],
    quasi: Vec<(AttributeIndex, MeaningColumn<'a>)>,
    sensitive: Vec<(AttributeIndex, &'a Codes, &'a [crate::release::Cell])>,
}

impl<'a> Columns<'a> {
    fn of(evidence: &Evidence<'a>, expected: &ExpectedTable) -> Option<Self> {
        let table = evidence.table;
        let published: &PublishedTable = evidence.published(PERSONS)?;
        let rows = published.rows();
        let column = |at: usize| {
            let found = find(published, &expected.columns, at)?;
            (found.cells.len() == rows).then_some(found)
        };
        let mut columns = Self {
            group: numbers(column(0)?)?,
            quasi: Vec::new(),
            sensitive: Vec::new(),
        };
        for (at, index) in (1..).zip(super::published_attributes(table.schema())) {
            if table.schema().attribute(index).role == Role::Sensitive {
                let (codes, cells) = dictionary(column(at)?)?;
                columns.sensitive.push((index, codes, cells));
            } else {
                let domain = &table.coded(index)?.domain;
                let cells = MeaningColumn::of(column(at)?, domain)?;
                columns.quasi.push((index, cells));
            }
        }
        Some(columns)
    }
}

/// The first row of each subject is theirs.
fn subjects_of_rows(evidence: &Evidence, rows: usize) -> Vec<u32> {
    let subjects = evidence.lineage.of(PERSONS).unwrap_or_default();
    let mut seen = vec![false; evidence.table.subjects()];
    let known = |row: usize| {
        let subject = subjects.get(row)?;
        let seen = seen.get_mut(subject.at())?;
        (!std::mem::replace(seen, true)).then_some(subject.0)
    };
    (0..rows)
        .map(known)
        .map(|known| known.unwrap_or(NONE))
        .collect()
}
