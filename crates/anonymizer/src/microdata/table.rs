//! A dataset version in memory: one column per attribute.
//!
//! Published attributes are coded columns; identifiers are kept as text, so
//! that the verifier can show that none of them was published.

use std::sync::Arc;

use super::codes::Codes;
use super::column::CodedColumn;
use super::index::{AttributeIndex, Code, RecordIndex, SubjectIndex};
use super::normalize::Merged;
use super::schema::{Multiplicity, Schema};
use super::text::TextColumn;

/// One attribute of a table.
#[derive(Clone, Debug)]
pub enum TableColumn {
    /// An identifier: text, never published. The subject key is kept in
    /// [`Table::subject_keys`] and its column here is empty.
    Identifier(TextColumn),
    /// Any other attribute.
    Coded(CodedColumn),
}

/// A dataset version in memory.
#[derive(Clone, Debug)]
pub struct Table {
    schema: Arc<Schema>,
    columns: Vec<TableColumn>,
    subject_keys: TextColumn,
    /// Subject of each record; empty with one record a subject, where the
    /// subject's position is the record's.
    subject_of: Vec<u32>,
    records: usize,
    merged: Vec<Merged>,
    /// Record and subject of the whole table behind each of them, where this is a
    /// part of one.
    whole: Option<Arc<Whole>>,
}

/// Where the records and subjects of a part stand in the whole table.
#[derive(Debug)]
struct Whole {
    records: Vec<u32>,
    subjects: Vec<u32>,
}

impl Table {
    /// Puts a table together from columns in schema order.
    ///
    /// `subject_keys` holds each distinct subject once, in order of first
    /// appearance; `subject_of` one entry per record, or nothing where each
    /// record is its own subject. All columns have `records` cells.
    pub fn new(
        schema: Arc<Schema>,
        columns: Vec<TableColumn>,
        subject_keys: TextColumn,
        subject_of: Vec<u32>,
    ) -> Self {
        let records = if subject_of.is_empty() {
            subject_keys.len()
        } else {
            subject_of.len()
        };
        debug_assert_eq!(columns.len(), schema.attributes().len());
        debug_assert!(columns.iter().all(|column| match column {
            TableColumn::Identifier(texts) => texts.is_empty() || texts.len() == records,
            TableColumn::Coded(column) => column.codes.len() == records,
        }));
        Self {
            schema,
            columns,
            subject_keys,
            subject_of,
            records,
            merged: Vec::new(),
            whole: None,
        }
    }

    /// The records at these positions, ascending, as a table of their own over the
    /// same domains: codes mean the same. Of subjects with many records all are
    /// there or none. Identifiers beside the subject key stay behind.
    ///
    /// # Panics
    /// Where a position is beyond the end.
    #[must_use]
    pub fn part(&self, records: &[u32]) -> Self {
        let mut subjects: Vec<u32> = records
            .iter()
            .map(|&record| self.subject_of(RecordIndex(record)).0)
            .collect();
        let of_records = subjects.clone();
        subjects.sort_unstable();
        subjects.dedup();
        let subject_of = match self.schema.multiplicity() {
            Multiplicity::One => Vec::new(),
            Multiplicity::Many => {
                let position = |subject: &u32| subjects.partition_point(|other| other < subject);
                of_records.iter().map(|of| position(of) as u32).collect()
            }
        };
        let columns = self.columns.iter().map(|column| match column {
            TableColumn::Identifier(_) => TableColumn::Identifier(TextColumn::new()),
            TableColumn::Coded(column) => TableColumn::Coded(CodedColumn {
                domain: Arc::clone(&column.domain),
                codes: column.codes.some(records),
            }),
        });
        let keys = subjects.iter().map(|&subject| subject as usize);
        let whole = Whole {
            records: records
                .iter()
                .map(|&one| self.in_whole(RecordIndex(one)).0)
                .collect(),
            subjects: subjects
                .iter()
                .map(|&one| self.subject_in_whole(SubjectIndex(one)).0)
                .collect(),
        };
        Self {
            schema: Arc::clone(&self.schema),
            columns: columns.collect(),
            subject_keys: self.subject_keys.some(keys),
            subject_of,
            records: records.len(),
            merged: self.merged.clone(),
            whole: Some(Arc::new(whole)),
        }
    }

    /// The same as a part of a whole table, in which its records and subjects stand at
    /// these positions.
    #[must_use]
    pub fn standing_at(mut self, records: Vec<u32>, subjects: Vec<u32>) -> Self {
        debug_assert_eq!(records.len(), self.records);
        debug_assert_eq!(subjects.len(), self.subjects());
        self.whole = Some(Arc::new(Whole { records, subjects }));
        self
    }

    /// The position of a record in the whole table, of which this may be a part.
    #[inline]
    pub fn in_whole(&self, record: RecordIndex) -> RecordIndex {
        match &self.whole {
            None => record,
            Some(whole) => RecordIndex(whole.records[record.at()]),
        }
    }

    /// The position of a subject in the whole table, of which this may be a part.
    #[inline]
    pub fn subject_in_whole(&self, subject: SubjectIndex) -> SubjectIndex {
        match &self.whole {
            None => subject,
            Some(whole) => SubjectIndex(whole.subjects[subject.at()]),
        }
    }

    /// The same, where spellings were taken together.
    #[must_use]
    pub(super) fn with_merged(mut self, merged: Vec<Merged>) -> Self {
        self.merged = merged;
        self
    }

    /// The same with these codes of a published attribute, one per record; of
    /// an identifier nothing changes.
    #[must_use]
    pub fn with_codes(mut self, attribute: AttributeIndex, codes: Codes) -> Self {
        if let TableColumn::Coded(column) = &mut self.columns[attribute.at()] {
            debug_assert_eq!(codes.len(), self.records);
            column.codes = codes;
        }
        self
    }

    /// The attributes in which spellings of one value were taken together.
    pub fn merged(&self) -> &[Merged] {
        &self.merged
    }

    /// The schema.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Number of records.
    pub fn records(&self) -> usize {
        self.records
    }

    /// Number of distinct subjects.
    pub fn subjects(&self) -> usize {
        self.subject_keys.len()
    }

    /// Keys of the distinct subjects, by [`SubjectIndex`].
    pub fn subject_keys(&self) -> &TextColumn {
        &self.subject_keys
    }

    /// The subject of a record.
    #[inline]
    pub fn subject_of(&self, record: RecordIndex) -> SubjectIndex {
        match self.schema.multiplicity() {
            Multiplicity::One => SubjectIndex(record.0),
            Multiplicity::Many => SubjectIndex(self.subject_of[record.at()]),
        }
    }

    /// All columns, in schema order.
    pub fn columns(&self) -> &[TableColumn] {
        &self.columns
    }

    /// The coded column of a published attribute; `None` for an identifier.
    pub fn coded(&self, attribute: AttributeIndex) -> Option<&CodedColumn> {
        match &self.columns[attribute.at()] {
            TableColumn::Coded(column) => Some(column),
            TableColumn::Identifier(_) => None,
        }
    }

    /// The code of one cell of a published attribute; `None` for an identifier.
    pub fn code(&self, attribute: AttributeIndex, record: RecordIndex) -> Option<Code> {
        self.coded(attribute).map(|column| column.code(record))
    }
}
