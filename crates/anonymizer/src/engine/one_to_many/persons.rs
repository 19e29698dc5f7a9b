//! Stage 1: one row a subject.
//!
//! A *person* is a subject who has not asked to be left out: their
//! quasi-identifiers by the job's [`QidConflict`], and their fingerprint, the
//! set of distinct sensitive values over all of their records. Counts of
//! visits and their order are gone from here on.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::engine::error::EngineError;
use crate::engine::kernel::Scale;
use crate::microdata::{
    AttributeIndex, CodedColumn, RecordIndex, Role, SubjectIndex, SubjectRecords, Table,
};
use crate::privacy::{QidConflict, Requirements};

/// One quasi-identifier of all persons.
pub(super) struct Quasi<'a> {
    pub attribute: AttributeIndex,
    pub column: &'a CodedColumn,
    pub scale: Scale,
    /// Lowest code of each person.
    pub low: Vec<u32>,
    /// Highest code of each person; the same as `low` but under `hull`.
    pub high: Vec<u32>,
    /// For categories without a hierarchy: all codes of the persons who have
    /// more than one, ascending.
    pub sets: FxHashMap<u32, Vec<u32>>,
}

/// All persons.
pub(super) struct Persons<'a> {
    pub table: &'a Table,
    /// Subject of each person.
    pub subjects: Vec<SubjectIndex>,
    /// Quasi-identifiers in schema order.
    pub quasi: Vec<Quasi<'a>>,
    /// Columns of the sensitive attributes, in schema order.
    pub sensitive: Vec<(AttributeIndex, &'a CodedColumn)>,
    /// First position in `items` of each person, and their number at the end.
    starts: Vec<u32>,
    /// Fingerprints: items, ascending, each once.
    items: Vec<u32>,
    /// The k that each person asks for themself; 1 for none.
    pub k: Vec<u32>,
    /// The l that each person asks for themself, over all sensitive
    /// attributes; 1 for none.
    pub l: Vec<u32>,
    /// Subjects who asked to be left out.
    pub opted_out: usize,
}

impl<'a> Persons<'a> {
    /// Gathers the persons of a table.
    ///
    /// `InvalidParameter` where records of one subject disagree and the rule
    /// is [`QidConflict::Reject`].
    pub fn gather(
        table: &'a Table,
        requirements: &Requirements,
        rule: QidConflict,
    ) -> Result<Self, EngineError> {
        let records = SubjectRecords::of(table);
        let all = (0..table.subjects()).map(SubjectIndex::from_usize);
        let terms = |subject| requirements.of(records.of_subject(subject)[0]);
        let subjects: Vec<SubjectIndex> = all.filter(|&subject| !terms(subject).exclude).collect();
        let mut persons = Self {
            table,
            opted_out: table.subjects() - subjects.len(),
            quasi: Vec::new(),
            sensitive: columns(table, Role::Sensitive),
            starts: Vec::new(),
            items: Vec::new(),
            k: subjects
                .iter()
                .map(|&subject| terms(subject).own.k)
                .collect(),
            l: subjects
                .iter()
                .map(|&subject| terms(subject).own.l.iter().copied().max().unwrap_or(1))
                .collect(),
            subjects,
        };
        let quasi = || -> Vec<Result<Quasi<'a>, EngineError>> {
            let columns = columns(table, Role::QuasiIdentifier).into_par_iter();
            columns
                .map(|(attribute, column)| persons.quasi(&records, attribute, column, rule))
                .collect()
        };
        let (quasi, items) = rayon::join(quasi, || persons.gather_items(&records));
        persons.quasi = quasi.into_iter().collect::<Result<_, _>>()?;
        (persons.starts, persons.items) = items;
        Ok(persons)
    }

    fn quasi(
        &self,
        records: &SubjectRecords,
        attribute: AttributeIndex,
        column: &'a CodedColumn,
        rule: QidConflict,
    ) -> Result<Quasi<'a>, EngineError> {
        let mut quasi = Quasi {
            attribute,
            column,
            scale: Scale::new(&column.domain),
            low: Vec::with_capacity(self.subjects.len()),
            high: Vec::with_capacity(self.subjects.len()),
            sets: FxHashMap::default(),
        };
        let code = |record: RecordIndex| column.code(record).0;
        let missing = column.domain.missing_number().map(|missing| missing.0);
        let mut disagreeing = 0_u64;
        for (person, &subject) in self.subjects.iter().enumerate() {
            let records = records.of_subject(subject);
            let (first, last) = (code(records[0]), code(records[records.len() - 1]));
            let (low, high) = match rule {
                QidConflict::First => (first, first),
                QidConflict::Latest => (last, last),
                QidConflict::Reject | QidConflict::Hull => {
                    let codes = records.iter().map(|&record| code(record));
                    codes.fold((first, first), |(low, high), code| {
                        (low.min(code), high.max(code))
                    })
                }
            };
            disagreeing += u64::from(low != high);
            // Their ends do not tell what they are.
            let keeps_codes = match quasi.scale {
                Scale::Set(_) => true,
                Scale::Number(_) => missing == Some(high),
                Scale::Tree(_) => false,
            };
            if low != high && keeps_codes {
                let mut codes: Vec<u32> = records.iter().map(|&record| code(record)).collect();
                codes.sort_unstable();
                codes.dedup();
                quasi.sets.insert(person as u32, codes);
            }
            quasi.low.push(low);
            quasi.high.push(high);
        }
        if rule == QidConflict::Reject && disagreeing > 0 {
            let name = &self.table.schema().attribute(attribute).name;
            return Err(EngineError::InvalidParameter {
                parameter: "qid_conflict".into(),
                reason: format!(
                    "{disagreeing} subjects have records that differ in `{name}`; \
                     latest, first or hull would publish them"
                ),
            });
        }
        Ok(quasi)
    }

    /// Where the items of each person begin, and all items.
    fn gather_items(&self, records: &SubjectRecords) -> (Vec<u32>, Vec<u32>) {
        let mut columns = Vec::with_capacity(self.sensitive.len());
        let mut offset = 0;
        for (_, column) in &self.sensitive {
            columns.push((offset, column));
            offset += column.domain.len() as u32;
        }
        let mut starts = Vec::with_capacity(self.subjects.len() + 1);
        let mut items: Vec<u32> = Vec::with_capacity(self.table.records() * columns.len());
        starts.push(0);
        for &subject in &self.subjects {
            let from = items.len();
            for &(offset, column) in &columns {
                let codes = records.of_subject(subject).iter();
                items.extend(codes.map(|&record| offset + column.code(record).0));
            }
            items[from..].sort_unstable();
            let mut kept = from;
            for at in from..items.len() {
                if kept == from || items[kept - 1] != items[at] {
                    items[kept] = items[at];
                    kept += 1;
                }
            }
            items.truncate(kept);
            starts.push(kept as u32);
        }
        (starts, items)
    }

    /// Number of persons.
    pub fn len(&self) -> usize {
        self.subjects.len()
    }

    /// Fingerprint of a person: items, ascending; at least one.
    #[inline]
    pub fn items(&self, person: u32) -> &[u32] {
        let at = person as usize;
        &self.items[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

fn columns(table: &Table, role: Role) -> Vec<(AttributeIndex, &CodedColumn)> {
    let chosen = table.schema().select(|attribute| attribute.role == role);
    let chosen = chosen.into_iter();
    chosen
        .filter_map(|attribute| Some((attribute, table.coded(attribute)?)))
        .collect()
}
