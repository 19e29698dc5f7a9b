//! From rows of cells to checked chunks, whatever the format.
//!
//! Row by row: the missing-value policy, each cell's type and hierarchy, the
//! digest, the subject. A chunk goes out when it is full; behind the first
//! error none does, and checking goes on.

use super::cell::trimmed;
use super::chunk::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX, Chunk};
use super::digest::ContentDigest;
use super::error::{CellErrorCode, TableError};
use super::faults::Faults;
use super::index::AttributeIndex;
use super::intake_column::IntakeColumn;
use super::limits::{ReadLimits, Target};
use super::records::{Fault, ReadSummary, Rows};
use super::schema::{MissingPolicy, Multiplicity, Schema};
use super::subjects::SubjectKeys;

/// The records of one upload on their way into chunks.
pub(super) struct Intake<'t, 's> {
    schema: &'t Schema,
    limits: ReadLimits,
    /// `None` where a subject may have many records.
    subjects: Option<&'t mut SubjectKeys<'s>>,
    sink: &'t mut dyn FnMut(Chunk) -> Result<(), TableError>,
    columns: Vec<IntakeColumn>,
    open_records: usize,
    open_bytes: usize,
    digest: ContentDigest,
    faults: Faults,
    records: u64,
    dropped: u64,
}

impl<'t, 's> Intake<'t, 's> {
    /// No record yet. The error: a hierarchy that is not given or does not
    /// fit its attribute.
    pub fn new(
        target: &Target<'t>,
        subjects: &'t mut SubjectKeys<'s>,
        sink: &'t mut dyn FnMut(Chunk) -> Result<(), TableError>,
    ) -> Result<Self, TableError> {
        let schema = target.schema;
        let columns = schema.attributes().iter();
        Ok(Self {
            schema,
            limits: target.limits,
            subjects: (schema.multiplicity() == Multiplicity::One).then_some(subjects),
            sink,
            columns: columns
                .map(|attribute| IntakeColumn::new(attribute, target))
                .collect::<Result<_, _>>()?,
            open_records: 0,
            open_bytes: 0,
            digest: ContentDigest::new(schema),
            faults: Faults::default(),
            records: 0,
            dropped: 0,
        })
    }

    /// Notes what is wrong with a line.
    pub fn fault(&mut self, fault: Fault) {
        let name = |index: AttributeIndex| self.schema.attribute(index).name.as_str();
        self.faults
            .add(fault.line, fault.attribute.map(name), fault.code);
    }

    /// Takes the row at hand; `columns` tells where each attribute stands.
    /// Whether another row may come.
    pub fn take(
        &mut self,
        line: u64,
        rows: &impl Rows,
        columns: &[usize],
    ) -> Result<bool, TableError> {
        if self.records == self.limits.records_max {
            self.faults.add(line, None, CellErrorCode::TooManyRecords);
            return Ok(false);
        }
        let is_missing = |&column: &usize| trimmed(rows.cell(column)).is_empty();
        if self.schema.missing() == MissingPolicy::Drop && columns.iter().any(is_missing) {
            self.dropped += 1;
            return Ok(true);
        }
        self.digest.record();
        let mut is_within = true;
        for (at, (&column, intake)) in columns.iter().zip(&mut self.columns).enumerate() {
            let cell = trimmed(rows.cell(column));
            match intake.take(cell, &self.limits, &mut self.digest) {
                Ok(bytes) => self.open_bytes += bytes,
                Err(code) => {
                    let name = &self.schema.attributes()[at].name;
                    self.faults.add(line, Some(name), code);
                    // More of them would only cost memory and time.
                    is_within &= code != CellErrorCode::TooManyValues;
                }
            }
        }
        if let Some(subjects) = &mut self.subjects {
            let subject = trimmed(rows.cell(columns[self.schema.subject_key().at()]));
            if !subject.is_empty() {
                subjects.add(subject, line)?;
            }
        }
        self.records += 1;
        self.open_records += 1;
        if self.open_records == CHUNK_RECORDS_MAX || self.open_bytes >= CHUNK_BYTES_MAX {
            self.close_chunk()?;
        }
        Ok(is_within)
    }

    /// What came in, or what is wrong with it.
    pub fn finish(mut self) -> Result<ReadSummary, TableError> {
        if self.open_records > 0 {
            self.close_chunk()?;
        }
        if let Some(subjects) = self.subjects {
            let key = &self.schema.attribute(self.schema.subject_key()).name;
            let faults = &mut self.faults;
            subjects.finish(&mut |line| {
                faults.add(line, Some(key), CellErrorCode::DuplicateSubject);
            })?;
        }
        self.faults.into_result()?;
        Ok(ReadSummary {
            records: self.records,
            dropped: self.dropped,
            sha256: self.digest.finish(),
        })
    }

    fn close_chunk(&mut self) -> Result<(), TableError> {
        // Behind an error columns may differ in length; they are only emptied.
        let chunk = Chunk {
            records: std::mem::take(&mut self.open_records),
            columns: self.columns.iter_mut().map(IntakeColumn::close).collect(),
        };
        self.open_bytes = 0;
        if self.faults.is_empty() {
            (self.sink)(chunk)?;
        }
        Ok(())
    }
}
