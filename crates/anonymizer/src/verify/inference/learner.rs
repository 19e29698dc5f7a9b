//! A naive Bayes model: how often each value occurs, and with it each category
//! of each quasi-identifier.

use crate::microdata::CodedColumn;

/// Categories of a quasi-identifier: of more values, numbers fall into so many
/// intervals of equally many people, and the rarest labels together.
const CATEGORIES_MAX: usize = 64;
/// People whom the whole counts for beside those of a value: a value that few
/// people have says little of their quasi-identifiers.
const WHOLE: f64 = 4.0;

/// The categories of people, one row a person.
pub struct Known {
    category_of: Vec<u16>,
    /// Categories of each quasi-identifier.
    sizes: Vec<usize>,
}

impl Known {
    /// Those of these records.
    pub fn of(columns: &[&CodedColumn], records: &[u32]) -> Self {
        let mut category_of = vec![0; columns.len() * records.len()];
        let mut sizes = Vec::new();
        for (at, column) in columns.iter().enumerate() {
            let of_code = categories(column, records);
            let size = of_code
                .iter()
                .max()
                .map_or(0, |&last| usize::from(last) + 1);
            sizes.push(size);
            let own = category_of.iter_mut().skip(at).step_by(columns.len());
            for (category, &record) in own.zip(records) {
                *category = of_code[column.codes.at(record as usize) as usize];
            }
        }
        Self { category_of, sizes }
    }

    fn row(&self, person: usize) -> &[u16] {
        let width = self.sizes.len();
        &self.category_of[person * width..(person + 1) * width]
    }
}

/// Category of each code.
fn categories(column: &CodedColumn, records: &[u32]) -> Vec<u16> {
    let mut counts = vec![0_u64; column.domain.len()];
    for &record in records {
        counts[column.codes.at(record as usize) as usize] += 1;
    }
    if counts.len() <= CATEGORIES_MAX {
        return (0..counts.len() as u16).collect();
    }
    if column.domain.is_numeric() {
        let all = records.len().max(1) as u64;
        let mut before = 0;
        let interval = counts.iter().map(|&count| {
            let interval = before * CATEGORIES_MAX as u64 / all;
            before += count;
            interval.min(CATEGORIES_MAX as u64 - 1) as u16
        });
        return interval.collect();
    }
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&code| std::cmp::Reverse(counts[code]));
    let mut category = vec![0; counts.len()];
    for (rank, code) in order.into_iter().enumerate() {
        category[code] = rank.min(CATEGORIES_MAX - 1) as u16;
    }
    category
}

/// How often values occur, and categories with them.
pub struct Model {
    /// People of each value; fractions of people where it is not known whose a
    /// value is.
    of_value: Vec<f64>,
    /// For each quasi-identifier by value and category: people, and once the
    /// model is settled how much more frequent the category is with the value
    /// than in the whole.
    with: Vec<Vec<f64>>,
    sizes: Vec<usize>,
}

impl Model {
    /// One that knows nobody yet.
    pub fn empty(known: &Known, values: usize) -> Self {
        Self {
            of_value: vec![0.0; values],
            with: known
                .sizes
                .iter()
                .map(|size| vec![0.0; size * values])
                .collect(),
            sizes: known.sizes.clone(),
        }
    }

    /// A person has a value, with a probability.
    pub fn learn(&mut self, known: &Known, person: usize, (value, share): (u32, f64)) {
        self.of_value[value as usize] += share;
        let row = known
            .row(person)
            .iter()
            .zip(&mut self.with)
            .zip(&self.sizes);
        for ((&category, with), size) in row {
            with[value as usize * size + usize::from(category)] += share;
        }
    }

    /// Turns numbers of people into quotients; nobody is learned afterwards.
    pub fn settle(&mut self) {
        let all: f64 = self.of_value.iter().sum();
        for (with, &size) in self.with.iter_mut().zip(&self.sizes) {
            let mut whole = vec![0.0; size];
            for people in with.chunks(size) {
                whole
                    .iter_mut()
                    .zip(people)
                    .for_each(|(whole, people)| *whole += people);
            }
            for (people, of_value) in with.chunks_mut(size).zip(&self.of_value) {
                for (people, whole) in people.iter_mut().zip(&whole) {
                    let whole = whole / all.max(f64::MIN_POSITIVE);
                    let with = (*people + WHOLE * whole) / (of_value + WHOLE);
                    *people = with / whole.max(f64::MIN_POSITIVE);
                }
            }
        }
    }

    /// How much more likely a person with such quasi-identifiers is among those
    /// with a value than in the whole.
    pub fn ratio(&self, known: &Known, person: usize, value: u32) -> f64 {
        let row = known.row(person).iter().zip(&self.with).zip(&self.sizes);
        let ratios = row
            .map(|((&category, with), size)| with[value as usize * size + usize::from(category)]);
        ratios.product()
    }

    /// The same times how often the value occurs.
    pub fn score(&self, known: &Known, person: usize, value: u32) -> f64 {
        self.of_value[value as usize] * self.ratio(known, person, value)
    }

    /// The values that somebody has, ascending.
    pub fn values(&self) -> Vec<u32> {
        let all = (0..).zip(&self.of_value);
        let there = all.filter(|(_, people)| **people > 0.0);
        there.map(|(value, _)| value).collect()
    }
}
