//! From batches of cells to checked chunks, whatever the format.
//!
//! Batch by batch: each cell's type and hierarchy, column beside column; then
//! the digest beside the subjects. Outside a pool of threads one comes after
//! the other. A chunk goes out when it is full; behind
//! the first error none does, and checking goes on.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::attribute::{Doubt, NAME_CHARACTERS_MAX};
use super::batch::Batch;
use super::chunk::{CHUNK_BYTES_MAX, CHUNK_RECORDS_MAX, Chunk, Sink};
use super::dialect::cell_rules::expected_form;
use super::digest::{ContentDigest, write_cell, write_record};
use super::error::{CellErrorCode, TableError};
use super::faults::Faults;
use super::hint::Hint;
use super::index::AttributeIndex;
use super::intake_column::{IntakeColumn, Taken};
use super::limits::{ReadLimits, Target};
use super::row::{DoubtfulValues, Fault, MissingCount, ReadSummary};
use super::schema::{MissingPolicy, Multiplicity, Schema};
use super::subjects::SubjectKeys;

/// Faults of rows that many records share which are remembered, so that each is
/// told once; further ones are told with each record.
const SHARED_FAULTS_MAX: usize = 10_000;

/// The records of one upload on their way into chunks.
pub(super) struct Intake<'t, 's> {
    schema: &'t Schema,
    limits: ReadLimits,
    /// `None` where a subject may have many records, and none is replaced.
    subjects: Option<&'t mut SubjectKeys<'s>>,
    columns: Vec<IntakeColumn>,
    open_records: usize,
    open_bytes: usize,
    digest: ContentDigest,
    faults: Faults,
    /// For each attribute, the table that it is joined from; empty where there is
    /// one table.
    tables: Vec<Option<usize>>,
    /// Line, attribute and code of faults of joined rows.
    shared: BTreeSet<(u64, usize, CellErrorCode)>,
    /// Chunks that are full and not yet handed on.
    closed: Vec<Chunk>,
    records: u64,
    dropped: u64,
    /// For each attribute, the cells without a value.
    missing: Vec<u64>,
    /// For each attribute, the cells that may not be what they seem.
    doubtful: Vec<[(Doubt, u64); 2]>,
}

impl<'t, 's> Intake<'t, 's> {
    /// No record yet. The error: a hierarchy that is not given or does not
    /// fit its attribute.
    pub fn new(target: &Target<'t>, subjects: &'t mut SubjectKeys<'s>) -> Result<Self, TableError> {
        let schema = target.schema;
        let columns = schema.attributes().iter();
        Ok(Self {
            schema,
            limits: target.limits,
            subjects: (schema.multiplicity() == Multiplicity::One || subjects.is_upsert())
                .then_some(subjects),
            columns: columns
                .map(|attribute| IntakeColumn::new(attribute, target))
                .collect::<Result<_, _>>()?,
            open_records: 0,
            open_bytes: 0,
            digest: ContentDigest::new(schema),
            faults: Faults::default(),
            tables: Vec::new(),
            shared: BTreeSet::new(),
            closed: Vec::new(),
            records: 0,
            dropped: 0,
            missing: vec![0; schema.attributes().len()],
            doubtful: vec![Default::default(); schema.attributes().len()],
        })
    }

    /// Notes what is wrong with a line.
    pub fn fault(&mut self, fault: &Fault) {
        let schema = self.schema;
        let name = |index: AttributeIndex| schema.attribute(index).name.as_str();
        let name = fault.attribute.map(name).or(fault.name.as_deref());
        self.faults
            .add_formed(fault.line, name, fault.code, fault.form());
        if let Some(hint) = fault.hint {
            self.faults.hint(None, hint);
        }
    }

    /// Notes what is wrong with a column that no attribute has; its name is cut
    /// to the length of the names that attributes have.
    pub fn fault_of_column(&mut self, line: u64, name: Option<&str>, code: CellErrorCode) {
        let name = name.map(told_name);
        self.faults.add(line, name.as_deref(), code);
    }

    /// Takes records that are joined: `tables` says for each attribute from
    /// which table, and its faults stand on the lines of that one.
    pub fn joins(&mut self, tables: Vec<Option<usize>>) {
        self.tables = tables;
    }

    /// Whether nothing is wrong so far.
    pub fn is_sound(&self) -> bool {
        self.faults.is_empty()
    }

    /// Notes what the whole input looks like.
    pub fn hint(&mut self, hint: Hint) {
        self.faults.hint(None, hint);
    }

    /// Whether something is known of what the input looks like.
    pub fn has_hint(&self) -> bool {
        self.faults.has_hint()
    }

    /// Takes the records of a batch; whether another batch may come. Columns
    /// are taken side by side where the caller is in a pool of rayon's.
    pub fn take(&mut self, batch: &Batch) -> Result<bool, TableError> {
        if self.open_records + batch.lines().len() > CHUNK_RECORDS_MAX {
            self.close_chunk();
        }
        let limits = &self.limits;
        let in_pool = rayon::current_thread_index().is_some();
        let take = |(at, column): (usize, &mut IntakeColumn)| column.take(batch.column(at), limits);
        let taken: Vec<Taken> = if in_pool {
            self.columns.par_iter_mut().enumerate().map(take).collect()
        } else {
            self.columns.iter_mut().enumerate().map(take).collect()
        };
        let last = taken.iter().filter_map(|taken| taken.last).min();
        let records = last.map_or(batch.lines().len(), |last| last as usize + 1);
        self.note_faults(batch, &taken, records);
        let (subjects, digest) = (&mut self.subjects, &mut self.digest);
        let key = self.schema.subject_key().at();
        let mut add = || match subjects {
            Some(subjects) => {
                subjects.add_left_out(batch.left_out())?;
                subjects.add_records(batch.column(key), &batch.lines()[..records])
            }
            None => Ok(()),
        };
        let mut digest = || add_to_digest(digest, batch, &taken);
        let (added, ()) = if in_pool {
            rayon::join(add, digest)
        } else {
            (add(), digest())
        };
        added?;
        self.records += records as u64;
        self.dropped += batch.dropped();
        for ((missing, gaps), taken) in self.missing.iter_mut().zip(batch.gaps()).zip(&taken) {
            *missing += gaps + taken.missing;
        }
        for (doubtful, taken) in self.doubtful.iter_mut().zip(&taken) {
            let [one, other] = taken.doubtful;
            *doubtful = [
                (one.0, doubtful[0].1 + one.1),
                (other.0, doubtful[1].1 + other.1),
            ];
        }
        self.open_records += records;
        self.open_bytes += taken.iter().map(|taken| taken.bytes).sum::<usize>();
        if self.open_bytes >= CHUNK_BYTES_MAX {
            self.close_chunk();
        }
        Ok(last.is_none())
    }

    /// Notes what is wrong with the first `records` of a batch and with the
    /// rows between them.
    fn note_faults(&mut self, batch: &Batch, taken: &[Taken], records: usize) {
        let end = match batch.lines().get(records) {
            Some(&line) => line,
            None => u64::MAX,
        };
        for fault in batch.faults().iter().filter(|fault| fault.line < end) {
            self.fault(fault);
        }
        for (attribute, taken) in self.schema.attributes().iter().zip(taken) {
            for &hint in &taken.hints {
                self.faults.hint(Some(&attribute.name), hint);
            }
        }
        let attributes = (0..).zip(taken).flat_map(|(at, taken)| {
            let faults = taken.faults.iter();
            faults.map(move |&(record, code)| (record as usize, at, code))
        });
        let mut faults: Vec<(usize, usize, CellErrorCode)> =
            attributes.filter(|fault| fault.0 < records).collect();
        faults.sort_by_key(|&(record, at, _)| (record, at));
        for (record, at, code) in faults {
            let index = AttributeIndex::from_usize(at);
            let table = self.tables.get(at).copied().flatten();
            let line = batch.line_of(record, table);
            // A row that many records share is at fault once.
            if table.is_some() && !self.shared.insert((line, at, code)) {
                continue;
            }
            if self.shared.len() > SHARED_FAULTS_MAX {
                self.shared.pop_last();
            }
            self.fault(&Fault::of_attribute(line, index, code));
        }
    }

    /// Hands the last chunks on; what came in, or what is wrong with it.
    pub fn finish(mut self, sink: &mut Sink<'_>) -> Result<ReadSummary, TableError> {
        if self.open_records > 0 {
            self.close_chunk();
        }
        self.closed().into_iter().try_for_each(sink)?;
        if let Some(subjects) = self.subjects {
            let key = &self.schema.attribute(self.schema.subject_key()).name;
            let faults = &mut self.faults;
            let has_one = self.schema.multiplicity() == Multiplicity::One;
            subjects.finish(&mut |line| {
                if has_one {
                    faults.add(line, Some(key), CellErrorCode::DuplicateSubject);
                }
            })?;
        }
        let schema = self.schema;
        self.faults.into_result_with(&|name, code| {
            use CellErrorCode::{NotADate, NotADecimal, NotAnInteger};
            let attribute = schema.attribute(schema.find(name)?);
            let is_of_form = matches!(code, NotAnInteger | NotADecimal | NotADate);
            is_of_form.then(|| expected_form(attribute, schema.format()))?
        })?;
        let drops = self.schema.missing() == MissingPolicy::Drop;
        let questions = questions(schema, &self.doubtful);
        let attributes = schema.select(|_| true).into_iter().zip(self.missing);
        Ok(ReadSummary {
            records: self.records,
            dropped: self.dropped,
            attributes: attributes
                .map(|(index, missing)| MissingCount {
                    attribute: schema.attribute(index).name.clone(),
                    missing,
                    dropped: if drops && !schema.may_be_empty(index) {
                        missing
                    } else {
                        0
                    },
                })
                .collect(),
            questions,
            sha256: self.digest.finish(),
        })
    }

    /// The chunks that are full by now.
    pub fn closed(&mut self) -> Vec<Chunk> {
        std::mem::take(&mut self.closed)
    }

    fn close_chunk(&mut self) {
        // Behind an error columns may differ in length; they are only emptied.
        let chunk = Chunk {
            records: std::mem::take(&mut self.open_records),
            columns: self.columns.iter_mut().map(IntakeColumn::close).collect(),
        };
        self.open_bytes = 0;
        if self.faults.is_empty() {
            self.closed.push(chunk);
        }
    }
}

/// What is asked of the counted cells: what the schema does not answer.
fn questions(schema: &Schema, doubtful: &[[(Doubt, u64); 2]]) -> Vec<DoubtfulValues> {
    let attributes = schema.attributes().iter().zip(doubtful);
    let asked = attributes.flat_map(|(attribute, doubtful)| {
        let open = doubtful.iter();
        let open = open.filter(|(doubt, count)| *count > 0 && !attribute.meant.contains(doubt));
        open.map(|&(doubt, count)| DoubtfulValues {
            attribute: attribute.name.clone(),
            doubt,
            count,
        })
    });
    asked.collect()
}

/// A name that nobody checked, as it is told.
pub(super) fn told_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_control() {
            '\u{fffd}'
        } else {
            letter
        }
    };
    let mut told: String = name.chars().take(NAME_CHARACTERS_MAX).map(plain).collect();
    if name.chars().nth(NAME_CHARACTERS_MAX).is_some() {
        told.push('…');
    }
    told
}

/// Adds the canonical texts of a batch whose cells were `taken`. Where some
/// were at fault, nobody asks for the digest any more.
fn add_to_digest(digest: &mut ContentDigest, batch: &Batch, taken: &[Taken]) {
    if taken.iter().all(|taken| taken.rewritten.is_empty()) {
        return digest.add(batch.text());
    }
    let mut columns: Vec<_> = (0..)
        .zip(taken)
        .map(|(at, taken)| (batch.column(at), taken.rewritten.iter().peekable()))
        .collect();
    let mut text = Vec::with_capacity(batch.text().len());
    for record in 0..batch.lines().len() as u32 {
        write_record(&mut text);
        for (cells, rewritten) in &mut columns {
            let cell = cells.next().unwrap_or_default();
            match rewritten.next_if(|(at, _)| *at == record) {
                Some((_, rewritten)) => write_cell(&mut text, rewritten.as_bytes()),
                None => write_cell(&mut text, cell),
            }
        }
    }
    digest.add(&text);
}
