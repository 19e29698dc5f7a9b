//! Classes of records that are alike on a set of attributes.

use rustc_hash::FxHashMap;

use super::columns::RiskColumns;

/// Records in classes, and the subjects of each class.
pub(super) struct Classes {
    /// The class of each record.
    pub of_records: Vec<u32>,
    /// Subjects of each class.
    pub sizes: Vec<u32>,
}

/// One bit a record.
#[derive(Clone, Default)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn new(records: usize) -> Self {
        Self(vec![0; records.div_ceil(64)])
    }

    pub fn set(&mut self, record: usize) {
        self.0[record / 64] |= 1 << (record % 64);
    }

    /// Bits that are set here and in none of the others.
    pub fn count_beyond(&self, others: &[&Self]) -> u64 {
        let words = self.0.iter().enumerate();
        let beyond = words.map(|(at, word)| {
            let covered = others
                .iter()
                .fold(0, |covered, other| covered | other.0[at]);
            u64::from((word & !covered).count_ones())
        });
        beyond.sum()
    }
}

impl Classes {
    /// All records in one class.
    pub fn whole(columns: &RiskColumns) -> Self {
        Self {
            of_records: vec![0; columns.records],
            sizes: vec![subjects(columns) as u32],
        }
    }

    /// The classes, divided by an attribute.
    pub fn by(&self, columns: &RiskColumns, attribute: usize) -> Self {
        let codes = &columns.attributes[attribute].1.codes;
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let pairs = self.of_records.iter().zip(codes);
        let of_records: Vec<u32> = pairs
            .map(|(&class, &code)| {
                let next = numbers.len() as u32;
                let key = u64::from(class) << 32 | u64::from(code);
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        let sizes = sizes(columns, &of_records, numbers.len());
        Self { of_records, sizes }
    }

    /// Of each subject, the subjects of the smallest class that one of their
    /// records is in.
    pub fn of_subjects(&self, columns: &RiskColumns) -> Vec<u32> {
        let sizes = self
            .of_records
            .iter()
            .map(|&class| self.sizes[class as usize]);
        match &columns.subjects {
            None => sizes.collect(),
            Some(subjects) => {
                let mut smallest = vec![u32::MAX; subjects.count()];
                for (size, &subject) in sizes.zip(&subjects.of_records) {
                    let smallest = &mut smallest[subject as usize];
                    *smallest = size.min(*smallest);
                }
                smallest
            }
        }
    }

    /// The records whose subject is alone in their class.
    pub fn unique(&self) -> Bits {
        let mut bits = Bits::new(self.of_records.len());
        for (record, &class) in self.of_records.iter().enumerate() {
            if self.sizes[class as usize] == 1 {
                bits.set(record);
            }
        }
        bits
    }
}

/// The number of subjects.
pub(super) fn subjects(columns: &RiskColumns) -> usize {
    match &columns.subjects {
        Some(subjects) => subjects.count(),
        None => columns.records,
    }
}

/// Subjects of each class: one with several records counts once in each.
fn sizes(columns: &RiskColumns, of_records: &[u32], classes: usize) -> Vec<u32> {
    let mut sizes = vec![0; classes];
    match &columns.subjects {
        None => of_records
            .iter()
            .for_each(|&class| sizes[class as usize] += 1),
        Some(subjects) => {
            let pairs = of_records.iter().zip(&subjects.of_records);
            let mut pairs: Vec<u64> = pairs
                .map(|(&class, &subject)| u64::from(class) << 32 | u64::from(subject))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            pairs
                .iter()
                .for_each(|pair| sizes[(pair >> 32) as usize] += 1);
        }
    }
    sizes
}
