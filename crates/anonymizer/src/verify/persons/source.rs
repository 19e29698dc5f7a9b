//! What the source says about every subject of 1:M data: quasi-identifiers by
//! the job's rule, and the set of values of each sensitive attribute.
//!
//! Written from the definitions alone (engines.md, `one_to_many`, stage 1).
//! Linear in records, but for sorting the codes of each subject.

use rustc_hash::FxHashMap;

use crate::microdata::{CodedColumn, Domain, RecordIndex, SubjectIndex, SubjectRecords};
use crate::privacy::QidConflict;

use crate::verify::meaning::Meaning;

/// Whether an attribute's values have neither order nor tree, so that only a
/// set of them can be published.
pub(super) fn is_plain_set(domain: &Domain) -> bool {
    !domain.is_numeric() && domain.hierarchy().is_none()
}

/// One quasi-identifier of all subjects.
#[derive(Debug)]
pub(super) struct Hulls {
    /// Lowest code of each subject.
    pub(super) low: Vec<u32>,
    /// Highest code of each subject.
    pub(super) high: Vec<u32>,
    /// All codes, ascending, of subjects with several, where only sets of
    /// values can be published or a number is missing.
    sets: FxHashMap<u32, Vec<u32>>,
}

impl Hulls {
    /// What the rule makes of the records of each subject; under `reject` all
    /// of them count, as under `hull`: they must agree.
    pub(super) fn of(column: &CodedColumn, records: &SubjectRecords, rule: QidConflict) -> Self {
        let mut hulls = Self {
            low: Vec::with_capacity(records.subjects()),
            high: Vec::with_capacity(records.subjects()),
            sets: FxHashMap::default(),
        };
        let keeps_sets = is_plain_set(&column.domain) || column.domain.missing_number().is_some();
        for subject in 0..records.subjects() {
            let all = records.of_subject(SubjectIndex::from_usize(subject));
            let counting = counting(all, rule);
            let codes = || counting.iter().map(|&record| column.code(record).0);
            let low = codes().min().unwrap_or(0);
            let high = codes().max().unwrap_or(0);
            if keeps_sets && low != high {
                hulls.sets.insert(subject as u32, sorted(codes()));
            }
            hulls.low.push(low);
            hulls.high.push(high);
        }
        hulls
    }

    /// Whether a published cell covers all that counts of a subject.
    pub(super) fn covered_by(&self, meaning: &Meaning, subject: u32) -> bool {
        let (low, high) = (self.low[subject as usize], self.high[subject as usize]);
        match meaning {
            Meaning::Values(_) | Meaning::SpanOrMissing { .. } if low != high => self
                .sets
                .get(&subject)
                .is_some_and(|codes| codes.iter().all(|&code| meaning.covers(code))),
            _ => meaning.covers(low) && meaning.covers(high),
        }
    }

    /// The codes of a subject, where only sets of values can be published or a
    /// number is missing.
    pub(super) fn add_codes(&self, subject: u32, to: &mut Vec<u32>) {
        match self.sets.get(&subject) {
            Some(codes) => to.extend(codes),
            None => to.push(self.low[subject as usize]),
        }
    }
}

fn counting(records: &[RecordIndex], rule: QidConflict) -> &[RecordIndex] {
    let ends = match rule {
        QidConflict::First => records.first(),
        QidConflict::Latest => records.last(),
        QidConflict::Reject | QidConflict::Hull => return records,
    };
    ends.map_or(&[], std::slice::from_ref)
}

/// The values of one sensitive attribute of all subjects.
#[derive(Debug)]
pub(super) struct SubjectItems {
    starts: Vec<u32>,
    codes: Vec<u32>,
}

impl SubjectItems {
    pub(super) fn of(column: &CodedColumn, records: &SubjectRecords) -> Self {
        let mut items = Self {
            starts: vec![0],
            codes: Vec::with_capacity(column.codes.len()),
        };
        for subject in 0..records.subjects() {
            let records = records.of_subject(SubjectIndex::from_usize(subject));
            let codes = records.iter().map(|&record| column.code(record).0);
            items.codes.extend(sorted(codes));
            items.starts.push(items.codes.len() as u32);
        }
        items
    }

    /// Distinct codes of a subject, ascending.
    pub(super) fn of_subject(&self, subject: u32) -> &[u32] {
        let [from, to] = [0, 1].map(|side| self.starts[subject as usize + side] as usize);
        &self.codes[from..to]
    }
}

fn sorted(codes: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut codes: Vec<u32> = codes.collect();
    codes.sort_unstable();
    codes.dedup();
    codes
}
