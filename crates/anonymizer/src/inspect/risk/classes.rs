//! Classes of records that are alike on a set of attributes.

use rustc_hash::FxHashMap;

/// Records in classes, and the subjects of each class.
#[derive(Clone)]
pub(in crate::inspect) struct Classes {
    /// The class of each record.
    of_records: Vec<u32>,
    /// Subjects of each class.
    pub sizes: Vec<u32>,
}

/// Subjects as numbers.
#[derive(Default)]
pub(in crate::inspect) struct Subjects {
    numbers: FxHashMap<Box<str>, u32>,
    pub of_records: Vec<u32>,
}

/// One bit a record.
#[derive(Clone, Default)]
pub(in crate::inspect) struct Bits(Vec<u64>);

impl Subjects {
    /// The subject of the next record.
    pub fn take(&mut self, key: &str) {
        let number = match self.numbers.get(key) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(key.into(), number);
                number
            }
        };
        self.of_records.push(number);
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.numbers.len()
    }
}

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
    pub fn whole(records: usize, subjects: usize) -> Self {
        Self {
            of_records: vec![0; records],
            sizes: vec![subjects as u32],
        }
    }

    /// The classes, divided by what an attribute has in each record. Without
    /// subjects each record is one.
    pub fn by(&self, codes: &[u32], subjects: Option<&Subjects>) -> Self {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let pairs = self.of_records.iter().zip(codes);
        let of_records: Vec<u32> = pairs
            .map(|(&class, &code)| {
                let next = numbers.len() as u32;
                let key = u64::from(class) << 32 | u64::from(code);
                *numbers.entry(key).or_insert(next)
            })
            .collect();
        let sizes = sizes(subjects, &of_records, numbers.len());
        Self { of_records, sizes }
    }

    /// Of each subject, the subjects of the smallest class that one of their
    /// records is in.
    pub fn of_subjects(&self, subjects: Option<&Subjects>) -> Vec<u32> {
        let sizes = self
            .of_records
            .iter()
            .map(|&class| self.sizes[class as usize]);
        match subjects {
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

    /// Classes of one subject.
    pub fn alone(&self) -> usize {
        self.sizes.iter().filter(|&&size| size == 1).count()
    }

    /// The class of each record.
    pub fn of_records(&self) -> &[u32] {
        &self.of_records
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

/// Subjects of each class: one with several records counts once in each.
fn sizes(subjects: Option<&Subjects>, of_records: &[u32], classes: usize) -> Vec<u32> {
    let mut sizes = vec![0; classes];
    match subjects {
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
