//! Who is published of a table in parts, and what is decided for all of them.

use rayon::prelude::*;

use crate::engine::context::{RunContext, WholeTable};
use crate::engine::error::EngineError;
use crate::engine::kernel::feasibility::exclude_unmet;
use crate::engine::kernel::{Included, companions};
use crate::microdata::{Multiplicity, RecordIndex, SubjectIndex, Table, TableColumn};
use crate::privacy::{Companion, Model, ProtectedIndex, Protection, Requirements};

/// Who is published of a table.
pub(super) struct Gathered<'a> {
    /// The whole table.
    pub table: &'a Table,
    /// What its records ask for; companions are decided.
    pub requirements: Requirements,
    /// One record for each subject, ascending.
    pub units: Vec<u32>,
    /// Records that somebody wished to be left out.
    pub opted_out: usize,
    /// Subjects whose terms everyone together cannot meet.
    pub unsatisfiable: Vec<SubjectIndex>,
    /// Where subjects have many records.
    of_subjects: Option<OfSubjects>,
}

/// The records of each subject, subject by subject.
struct OfSubjects {
    records: Vec<u32>,
    starts: Vec<u32>,
}

impl<'a> Gathered<'a> {
    /// Gathers who is published. Where values are published beside groups those
    /// are left out whose terms everyone together cannot meet, and companions are
    /// found.
    pub fn of(
        table: &'a Table,
        requirements: &Requirements,
        context: &RunContext<'_>,
    ) -> Result<Self, EngineError> {
        let mut gathered = Self {
            table,
            requirements: requirements.clone(),
            units: Vec::new(),
            opted_out: 0,
            unsatisfiable: Vec::new(),
            of_subjects: None,
        };
        if table.schema().multiplicity() == Multiplicity::Many {
            gathered.gather_subjects();
            return Ok(gathered);
        }
        let mut included = Included::gather(table, requirements)?;
        gathered.opted_out = included.opted_out;
        let share = match requirements.policy().model {
            Model::Generalized {
                askers_share_max, ..
            } => {
                let excluded = exclude_unmet(&mut included, context).into_iter();
                let subject = |record| table.subject_of(RecordIndex(record));
                gathered.unsatisfiable = excluded.map(subject).collect();
                Some(askers_share_max)
            }
            Model::Personalized {
                askers_share_max, ..
            } => Some(askers_share_max),
            _ => None,
        };
        if let Some(share) = share {
            let found = companions(&included, share, &context.dataset_secret);
            gathered.requirements = gathered.requirements.with_companions(found);
        }
        gathered.units = included.records;
        Ok(gathered)
    }

    /// Subjects with many records, by the first of each. Those who wish to be left
    /// out go to the parts like all others: the engine counts them.
    fn gather_subjects(&mut self) {
        let table = self.table;
        let mut starts = vec![0_u32; table.subjects() + 1];
        let subject = |record: u32| table.subject_of(RecordIndex(record)).at();
        let all = 0..table.records() as u32;
        for record in all.clone() {
            starts[subject(record) + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        let mut records = vec![0_u32; table.records()];
        for record in all {
            let next = &mut next[subject(record)];
            records[*next as usize] = record;
            *next += 1;
        }
        let firsts = starts[..table.subjects()].iter();
        self.units = firsts.map(|&start| records[start as usize]).collect();
        self.of_subjects = Some(OfSubjects { records, starts });
    }

    /// All records of the subjects of these, ascending.
    pub fn records(&self, units: &[u32]) -> Vec<u32> {
        let mut records = match &self.of_subjects {
            None => units.to_vec(),
            Some(of) => {
                let own = units.iter().flat_map(|&unit| {
                    let subject = self.table.subject_of(RecordIndex(unit)).at();
                    &of.records[of.starts[subject] as usize..of.starts[subject + 1] as usize]
                });
                own.copied().collect()
            }
        };
        records.sort_unstable();
        records
    }

    /// The first record of a subject.
    pub fn first_record(&self, subject: SubjectIndex) -> u32 {
        match &self.of_subjects {
            None => subject.0,
            Some(of) => of.records[of.starts[subject.at()] as usize],
        }
    }

    /// Whether more are left out already than this share.
    pub fn leaves_out_more_than(&self, share: f64) -> bool {
        let all = self.units.len() + self.unsatisfiable.len();
        self.unsatisfiable.len() as f64 > share * all as f64
    }

    /// What everyone asks for, companions what those ask whom they accompany.
    pub fn lent(&self) -> Requirements {
        let companions: &[Companion] = self.requirements.companions().unwrap_or_default();
        self.requirements.lent(companions)
    }

    /// What is counted over the whole table.
    pub fn whole(&self) -> WholeTable {
        let of_columns = |records: Option<&[u32]>| -> Vec<Vec<u64>> {
            let columns = self.table.columns().par_iter();
            let counts = columns.map(|column| match (column, records) {
                (TableColumn::Identifier(_), _) => Vec::new(),
                (TableColumn::Coded(column), None) => {
                    column.histogram().into_iter().map(u64::from).collect()
                }
                (TableColumn::Coded(column), Some(records)) => {
                    let mut counts = vec![0_u64; column.domain.len()];
                    for &record in records {
                        counts[column.codes.at(record as usize) as usize] += 1;
                    }
                    counts
                }
            });
            counts.collect()
        };
        let all = of_columns(None);
        let of_protected = self.requirements.protected();
        let protected = of_protected.map(|index| self.protected_values(index));
        let published = if self.of_subjects.is_none() && self.units.len() < self.table.records() {
            of_columns(Some(&self.units))
        } else {
            all.clone()
        };
        WholeTable {
            all,
            published,
            protected: protected.collect(),
        }
    }

    /// How often each code of an attribute occurs among the records that protect it,
    /// where its buckets are held against all of them.
    fn protected_values(&self, index: ProtectedIndex) -> Vec<u64> {
        let is_relative = matches!(
            self.requirements.protection(index),
            Protection::Closeness { .. }
        );
        let column = self.table.coded(self.requirements.attribute(index));
        let Some(column) = column.filter(|_| is_relative && self.of_subjects.is_none()) else {
            return Vec::new();
        };
        let terms = self.requirements.distinct_terms().iter();
        let protects: Vec<bool> = terms.map(|terms| terms.flags.contains(index)).collect();
        let terms_of_record = self.requirements.terms_of_record();
        let mut counts = vec![0_u64; column.domain.len()];
        for record in self.units.iter().map(|&record| record as usize) {
            if protects[terms_of_record.at(record) as usize] {
                counts[column.codes.at(record) as usize] += 1;
            }
        }
        counts
    }
}
