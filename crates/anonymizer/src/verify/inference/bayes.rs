//! A naive Bayes model: how often each value occurs, and with it each category
//! of each quasi-identifier.

use super::known::Known;
use super::{Class, Learner};

/// People whom the whole counts for beside those of a value: a value that few
/// people have says little of their quasi-identifiers.
const WHOLE: f64 = 4.0;

/// How often values occur, and categories with them.
pub struct Bayes {
    /// People of each value; fractions of people where it is not known whose a
    /// value is.
    of_value: Vec<f64>,
    /// For each quasi-identifier by value and category: people, and once the
    /// model is settled how much more frequent the category is with the value
    /// than in the whole.
    with: Vec<Vec<f64>>,
    sizes: Vec<usize>,
}

impl Bayes {
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
    fn count(&mut self, known: &Known, person: usize, (value, share): (u32, f64)) {
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
    fn settle(&mut self) {
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
}

impl Learner for Bayes {
    /// It counts them.
    const PASSES: usize = 1;

    fn learn(&mut self, known: &Known, classes: &[Class], placed: &[Vec<f64>]) {
        *self = Self::empty(known, self.of_value.len());
        for (class, placed) in classes.iter().zip(placed) {
            for (person, shares) in class.members(placed) {
                for (&(value, _), &share) in class.values.iter().zip(shares) {
                    self.count(known, person, (value, share));
                }
            }
        }
        self.settle();
    }

    fn ratio(&self, known: &Known, person: usize, value: u32) -> f64 {
        let row = known.row(person).iter().zip(&self.with).zip(&self.sizes);
        let ratios = row
            .map(|((&category, with), size)| with[value as usize * size + usize::from(category)]);
        ratios.product()
    }
}
