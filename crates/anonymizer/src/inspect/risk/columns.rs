//! Records as numbers, filled chunk by chunk.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::classes::{Classes, Subjects};
use super::figures::{SensitiveSpread, rounded};
use crate::microdata::value_text::MISSING_LABEL;
use crate::microdata::{AttributeIndex, Chunk, ChunkColumn, Multiplicity, Role, Schema};

/// The number of a missing value.
pub(super) const MISSING: u32 = 0;

/// The quasi-identifiers of a table, each value as a number.
pub struct RiskColumns {
    schema: Arc<Schema>,
    pub(super) attributes: Vec<(AttributeIndex, Numbered)>,
    sensitive: Vec<(AttributeIndex, Counted)>,
    /// The subject of each record, where one may have several.
    pub(super) subjects: Option<Subjects>,
    pub(super) records: usize,
}

/// One attribute.
#[derive(Default)]
pub(super) struct Numbered {
    /// Numbers and days by their bits, categories by their text; from 1.
    numbers: FxHashMap<u64, u32>,
    texts: FxHashMap<Box<str>, u32>,
    /// Of each record.
    pub codes: Vec<u32>,
    pub missing: u64,
}

/// The values of a sensitive attribute.
#[derive(Default)]
struct Counted {
    numbered: Numbered,
    counts: Vec<u64>,
}

impl Numbered {
    /// Distinct values, the missing one aside.
    pub fn distinct(&self) -> usize {
        self.numbers.len() + self.texts.len()
    }

    /// The number of a value that is known from its text in the canonical form;
    /// nothing where no record has it.
    pub fn number_of_text(&self, text: &str) -> Option<u32> {
        self.texts.get(text).copied()
    }

    /// The number of a numeric value by its bits.
    pub fn number_of_bits(&self, bits: u64) -> Option<u32> {
        self.numbers.get(&bits).copied()
    }

    fn number(&mut self, bits: u64) -> u32 {
        let next = self.numbers.len() as u32 + 1;
        *self.numbers.entry(bits).or_insert(next)
    }

    fn text(&mut self, text: &str) -> u32 {
        if text == MISSING_LABEL {
            return MISSING;
        }
        if let Some(&known) = self.texts.get(text) {
            return known;
        }
        let next = self.texts.len() as u32 + 1;
        self.texts.insert(text.into(), next);
        next
    }

    /// Adds the values of a chunk.
    fn take(&mut self, column: &ChunkColumn) {
        let before = self.codes.len();
        self.push(column);
        let new = self.codes[before..].iter();
        self.missing += new.filter(|&&code| code == MISSING).count() as u64;
    }

    fn push(&mut self, column: &ChunkColumn) {
        match column {
            ChunkColumn::Text(texts) => {
                for text in texts.iter() {
                    let code = self.text(text);
                    self.codes.push(code);
                }
            }
            ChunkColumn::Integer(values) => self.push_bits(values.iter().map(|&one| one as u64)),
            ChunkColumn::Decimal(values) => self.push_bits(values.iter().map(|one| one.to_bits())),
            ChunkColumn::Date(values) => {
                self.push_bits(values.iter().map(|&one| i64::from(one) as u64));
            }
            ChunkColumn::Category { labels, codes } => {
                let own: Vec<u32> = labels.iter().map(|label| self.text(label)).collect();
                let codes = codes.iter().map(|&code| own[code as usize]);
                self.codes.extend(codes);
            }
            ChunkColumn::WithMissing { known, missing } => {
                let before = self.codes.len();
                self.push(known);
                let known = self.codes.split_off(before);
                let records = known.len() + missing.len();
                let mut known = known.into_iter();
                let mut missing = missing.iter().peekable();
                for record in 0..records {
                    let is_missing = missing.next_if(|at| **at as usize == record).is_some();
                    let code = if is_missing { None } else { known.next() };
                    self.codes.push(code.unwrap_or(MISSING));
                }
            }
        }
    }

    fn push_bits(&mut self, values: impl Iterator<Item = u64>) {
        for bits in values {
            let code = self.number(bits);
            self.codes.push(code);
        }
    }
}

impl RiskColumns {
    /// No record of a schema yet.
    pub fn new(schema: Arc<Schema>) -> Self {
        let known = schema.select(|attribute| {
            matches!(attribute.role, Role::QuasiIdentifier | Role::SemiSensitive)
        });
        let sensitive = schema.select(|attribute| attribute.role == Role::Sensitive);
        let is_many = schema.multiplicity() == Multiplicity::Many;
        Self {
            attributes: known
                .into_iter()
                .map(|index| (index, Numbered::default()))
                .collect(),
            sensitive: sensitive
                .into_iter()
                .map(|index| (index, Counted::default()))
                .collect(),
            subjects: is_many.then(Subjects::default),
            records: 0,
            schema,
        }
    }

    /// Bytes that a record takes while its risk is measured, about: numbers,
    /// classes by each attribute, and those at hand.
    pub fn record_bytes(&self) -> usize {
        8 * (self.attributes.len() + 4)
    }

    /// Adds the records of a chunk.
    pub fn add(&mut self, chunk: &Chunk) {
        for (index, numbered) in &mut self.attributes {
            numbered.take(&chunk.columns[index.at()]);
        }
        for (index, counted) in &mut self.sensitive {
            counted.take(&chunk.columns[index.at()]);
        }
        if let Some(subjects) = &mut self.subjects
            && let ChunkColumn::Text(keys) = &chunk.columns[self.schema.subject_key().at()]
        {
            for key in keys.iter() {
                subjects.take(key);
            }
        }
        self.records += chunk.records;
    }

    /// The name of an attribute.
    pub(super) fn name(&self, at: usize) -> String {
        self.schema.attribute(self.attributes[at].0).name.clone()
    }

    /// All records in one class.
    pub(super) fn whole(&self) -> Classes {
        Classes::whole(self.records, self.subject_count())
    }

    /// The number of subjects.
    pub(super) fn subject_count(&self) -> usize {
        match &self.subjects {
            Some(subjects) => subjects.count(),
            None => self.records,
        }
    }

    /// The classes of records, divided by an attribute.
    pub(super) fn divided(&self, classes: &Classes, at: usize) -> Classes {
        classes.by(&self.attributes[at].1.codes, self.subjects.as_ref())
    }

    /// The schema of the records.
    pub(super) fn schema(&self) -> &Schema {
        &self.schema
    }

    /// How the values of the sensitive attributes are spread.
    pub(super) fn spreads(&self) -> Vec<SensitiveSpread> {
        let all = self.sensitive.iter().map(|(index, counted)| {
            let name = self.schema.attribute(*index).name.clone();
            counted.spread(name, self.records as u64)
        });
        all.collect()
    }
}

impl Counted {
    fn take(&mut self, column: &ChunkColumn) {
        self.numbered.take(column);
        for code in std::mem::take(&mut self.numbered.codes) {
            let at = code as usize;
            if self.counts.len() <= at {
                self.counts.resize(at + 1, 0);
            }
            self.counts[at] += 1;
        }
    }

    fn spread(&self, name: String, records: u64) -> SensitiveSpread {
        let known = self.counts.get(1..).unwrap_or_default();
        let all: u64 = known.iter().sum();
        let share = |count: u64| count as f64 / all.max(1) as f64;
        let entropy = known.iter().filter(|&&count| count > 0);
        let entropy: f64 = entropy
            .map(|&count| -share(count) * share(count).log2())
            .sum();
        let most = known.iter().copied().max().unwrap_or_default();
        SensitiveSpread {
            name,
            distinct: self.numbered.distinct() as u64,
            most_frequent: rounded(most as f64 / records.max(1) as f64),
            entropy_bits: (entropy * 100.0).round() / 100.0,
            missing: self.numbered.missing,
        }
    }
}
