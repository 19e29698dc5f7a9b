//! The people who are published, as a dealing of one sensitive attribute reads
//! them: numbered from 0 in the order of the table, each with their value, what
//! they ask for and the number that the dataset's secret gives
//! them.
//!
//! Where quasi-identifiers are published exactly, people who share them cannot
//! be told apart: each asks for the strictest l of all of them.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::microdata::{Code, CodedColumn, RecordIndex, Role};
use crate::privacy::{BlockForm, CancelFlag, ProtectedIndex, Seed};

use crate::verify::evidence::Evidence;

/// The people of one sensitive attribute.
pub(super) struct People<'a> {
    /// The record of each.
    pub(super) records: Vec<u32>,
    /// Quasi-identifiers in schema order.
    pub(super) quasi: Vec<&'a CodedColumn>,
    /// The sensitive attribute.
    pub(super) sensitive: &'a CodedColumn,
    /// The sensitive value of each.
    pub(super) value: Vec<u32>,
    /// The l that each asks for; at least 1.
    pub(super) l: Vec<u32>,
    /// The k that each asks for.
    pub(super) k: Vec<u32>,
    /// The number that the dataset's secret gives to each.
    pub(super) number: Vec<u64>,
    /// What the known values of every block span, where that is asked.
    pub(super) least_spread: Option<f64>,
    /// Heeded while they are dealt.
    pub(super) cancel: &'a CancelFlag,
}

impl<'a> People<'a> {
    /// The people with these records, which ascend; none if the attribute has
    /// no codes.
    pub(super) fn of(
        evidence: &Evidence<'a>,
        form: BlockForm,
        index: ProtectedIndex,
        records: Vec<u32>,
    ) -> Option<Self> {
        let table = evidence.table;
        let quasi = table
            .schema()
            .select(|attribute| attribute.role == Role::QuasiIdentifier);
        let quasi: Vec<_> = quasi.iter().filter_map(|&at| table.coded(at)).collect();
        let sensitive = table.coded(evidence.requirements.attribute(index))?;
        let terms = |&record: &u32| evidence.requirements.of(RecordIndex(record));
        let own = records.iter().map(|record| terms(record).l[index.at()]);
        let mut l: Vec<u32> = own.map(|l| l.max(1)).collect();
        match form {
            BlockForm::Distinct | BlockForm::Eligible | BlockForm::Randomized { .. } => {
                share_strictest(&quasi, &records, &mut l);
            }
            BlockForm::Generalized | BlockForm::Sliced | BlockForm::Ring => {}
        }
        let place = (Seed::DEALING, index.at() as u64);
        let number = |&record: &u32| {
            let subject = table.subject_of(RecordIndex(record));
            let key = table.subject_keys().get(subject.at());
            evidence.dataset_secret.number(place, key)
        };
        let code = |&record: &u32| sensitive.codes.at(record as usize);
        Some(Self {
            value: records.iter().map(code).collect(),
            l,
            k: records.iter().map(|record| terms(record).k).collect(),
            number: records.par_iter().map(number).collect(),
            quasi,
            sensitive,
            records,
            least_spread: evidence.requirements.protection(index).min_spread(),
            cancel: evidence.cancel,
        })
    }

    /// Some of them, numbered anew in this order.
    pub(super) fn only(&self, some: &[u32]) -> Self {
        let of = |all: &[u32]| {
            some.iter()
                .map(|&at| all[at as usize])
                .collect::<Vec<u32>>()
        };
        Self {
            records: of(&self.records),
            quasi: self.quasi.clone(),
            sensitive: self.sensitive,
            value: of(&self.value),
            l: of(&self.l),
            k: of(&self.k),
            number: some.iter().map(|&at| self.number[at as usize]).collect(),
            least_spread: self.least_spread,
            cancel: self.cancel,
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// The strictest l of some of them.
    pub(super) fn l_of(&self, some: &[u32]) -> usize {
        let asked = some.iter().map(|&person| self.l[person as usize]);
        asked.max().unwrap_or(1) as usize
    }

    /// The strictest k of some of them.
    pub(super) fn k_of(&self, some: &[u32]) -> usize {
        let asked = some.iter().map(|&person| self.k[person as usize]);
        asked.max().unwrap_or(1) as usize
    }

    /// Whether the known values of some of them span what is asked; those of
    /// nobody do.
    pub(super) fn span(&self, some: &[u32]) -> bool {
        let ends = some
            .iter()
            .fold(None, |ends, &person| self.wider(ends, person));
        self.is_wide(ends)
    }

    /// The lowest and the highest known value with one person more.
    pub(super) fn wider(&self, ends: Option<(u32, u32)>, person: u32) -> Option<(u32, u32)> {
        let value = self.value[person as usize];
        match ends {
            _ if self.sensitive.domain.missing() == Some(Code(value)) => ends,
            Some((low, high)) => Some((low.min(value), high.max(value))),
            None => Some((value, value)),
        }
    }

    /// Whether these values lie as far apart as is asked.
    pub(super) fn is_wide(&self, ends: Option<(u32, u32)>) -> bool {
        let number = |value| self.sensitive.domain.number(Code(value));
        match (self.least_spread, ends) {
            (Some(wanted), Some((low, high))) => number(high) - number(low) >= wanted,
            _ => true,
        }
    }

    /// What decides between people: the number, and the order of the table
    /// should two have the same.
    pub(super) fn turn(&self, person: u32) -> (u64, u32) {
        (self.number[person as usize], person)
    }
}

/// Everyone with the same quasi-identifiers asks for the strictest l of them.
fn share_strictest(quasi: &[&CodedColumn], records: &[u32], l: &mut [u32]) {
    let mut vector = vec![0_u32; records.len()];
    for column in quasi {
        let mut known: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        for (vector, &record) in vector.iter_mut().zip(records) {
            let next = known.len() as u32;
            let seen = (*vector, column.codes.at(record as usize));
            *vector = *known.entry(seen).or_insert(next);
        }
    }
    let mut strictest = vec![1; records.len()];
    for (&vector, &l) in vector.iter().zip(&*l) {
        let strictest = &mut strictest[vector as usize];
        *strictest = l.max(*strictest);
    }
    for (l, &vector) in l.iter_mut().zip(&vector) {
        *l = strictest[vector as usize];
    }
}
