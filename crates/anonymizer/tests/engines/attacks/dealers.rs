//! A dealer who looks at vectors: what a release must not be made by.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use vizard_anonymizer::microdata::{Code, Role};
use vizard_anonymizer::release::Cell;

use crate::case::Case;

/// Lets people change blocks as long as fewer of them come to stand beside
/// values that nobody with their quasi-identifiers has: what the withdrawn
/// search did. Every block keeps its size and each value once.
pub fn deal_by_vector(case: &mut Case, sensitive: &str, rounds: usize) {
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let mut dealer = Dealer::of(case, sensitive);
    let people = dealer.own.len();
    for _ in 0..rounds * people {
        let (one, other) = (
            random.random_range(0..people),
            random.random_range(0..people),
        );
        dealer.propose(one, other);
    }
    dealer.write(case, sensitive);
}

struct Dealer {
    own: Vec<u32>,
    block: Vec<u64>,
    rows: BTreeMap<u64, Vec<usize>>,
    /// The values of everyone with the quasi-identifiers of each person.
    seen: Vec<BTreeSet<u32>>,
}

impl Dealer {
    fn of(case: &Case, sensitive: &str) -> Self {
        let schema = case.table.schema();
        let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
        let all = 0..case.rows();
        let own: Vec<u32> = all.clone().map(|row| case.code(sensitive, row).0).collect();
        let vector = all.map(|row| {
            let codes = quasi.iter();
            let codes = codes.map(|&index| case.table.code(index, case.record(row)));
            codes.collect::<Vec<Option<Code>>>()
        });
        let vector: Vec<Vec<Option<Code>>> = vector.collect();
        let mut seen: BTreeMap<&[Option<Code>], BTreeSet<u32>> = BTreeMap::new();
        for (vector, &own) in vector.iter().zip(&own) {
            seen.entry(vector).or_default().insert(own);
        }
        let seen = vector.iter().map(|vector| seen[&**vector].clone());
        let seen = seen.collect();
        let block = case.numbers("quasi", "block");
        let mut rows: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (row, &block) in block.iter().enumerate() {
            rows.entry(block).or_default().push(row);
        }
        Self {
            own,
            block,
            rows,
            seen,
        }
    }

    /// Values of a block that people in it were never seen with.
    fn loss(&self, block: u64) -> usize {
        let rows = &self.rows[&block];
        let unseen = |row: &usize| {
            let values = rows.iter().map(|&other| self.own[other]);
            values
                .filter(|value| !self.seen[*row].contains(value))
                .count()
        };
        rows.iter().map(unseen).sum()
    }

    /// Whether a block has each value once.
    fn is_distinct(&self, block: u64) -> bool {
        let rows = &self.rows[&block];
        let values: BTreeSet<u32> = rows.iter().map(|&row| self.own[row]).collect();
        values.len() == rows.len()
    }

    fn propose(&mut self, one: usize, other: usize) {
        let (here, there) = (self.block[one], self.block[other]);
        if here == there {
            return;
        }
        let before = self.loss(here) + self.loss(there);
        self.exchange(one, other);
        let is_sound = self.is_distinct(here) && self.is_distinct(there);
        if !is_sound || self.loss(here) + self.loss(there) > before {
            self.exchange(one, other);
        }
    }

    fn exchange(&mut self, one: usize, other: usize) {
        for (from, to) in [(one, other), (other, one)] {
            let rows = self.rows.entry(self.block[from]).or_default();
            rows.retain(|&row| row != from);
            rows.push(to);
        }
        self.block.swap(one, other);
    }

    fn write(&self, case: &mut Case, sensitive: &str) {
        let (mut numbers, mut values) = (Vec::new(), Vec::new());
        for (&block, rows) in &self.rows {
            let mut codes: Vec<u32> = rows.iter().map(|&row| self.own[row]).collect();
            codes.sort_unstable();
            numbers.extend(codes.iter().map(|_| block));
            values.extend(
                codes
                    .into_iter()
                    .map(|code| case.exact(sensitive, Code(code))),
            );
        }
        let attributes = vec![Cell::Label(sensitive.into()); numbers.len()];
        case.set_numbers("quasi", "block", self.block.clone());
        case.set_numbers("sensitive", "count", vec![1; numbers.len()]);
        case.set_numbers("sensitive", "block", numbers);
        case.set_cells("sensitive", "attribute", attributes);
        case.set_cells("sensitive", "value", values);
    }
}
