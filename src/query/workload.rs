//! Random counting queries, to measure a release by.
//!
//! A query has 1 to 4 predicates on different attributes, all equally likely.
//! A number or day has one of `< <= = != >= >` or (as often as all of those) a
//! range, with ends drawn from the values of the dataset version; a category
//! has `in` with 1 to all but one of its values. Query number i has a random
//! stream of its own, so that threads do not change it.

use rand::seq::index::sample;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::microdata::domain::date_text;
use crate::microdata::{Code, Domain, Values};

use super::expression::{Comparison, Literal, Predicate, Query, Select, Test, True};

/// How many queries to draw, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Queries.
    pub queries: u32,
    /// Decides all of them.
    pub seed: u64,
}

/// Predicates of a query.
const PREDICATES_MAX: usize = 4;

impl Workload {
    /// The workload of reports: the same queries for every release of one
    /// dataset version, so that releases can be compared.
    pub fn standard(queries: u32) -> Self {
        Self { queries, seed: 0 }
    }

    /// The random stream of query number `number`.
    pub(super) fn stream(&self, number: u32) -> ChaCha12Rng {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..12].copy_from_slice(&number.to_le_bytes());
        key[12..16].copy_from_slice(b"qery");
        ChaCha12Rng::from_seed(key)
    }
}

/// Draws one query over attributes with these names and domains. Attributes
/// without a value are left out.
pub(super) fn draw(attributes: &[(&str, &Domain)], rng: &mut impl Rng) -> Query {
    let filled: Vec<&(&str, &Domain)> = attributes
        .iter()
        .filter(|(_, domain)| !domain.is_empty())
        .collect();
    let most = PREDICATES_MAX.min(filled.len());
    let count = if most == 0 {
        0
    } else {
        rng.random_range(1..=most)
    };
    let predicates = sample(rng, filled.len(), count)
        .into_iter()
        .map(|at| {
            let (name, domain) = filled[at];
            Predicate {
                attribute: (*name).to_owned(),
                test: draw_test(domain, rng),
            }
        })
        .collect();
    Query {
        select: Select::Count(True),
        group_by: None,
        predicates,
    }
}

fn draw_test(domain: &Domain, rng: &mut impl Rng) -> Test {
    let size = domain.len();
    if !domain.is_numeric() {
        let most = size.saturating_sub(1).max(1);
        let count = rng.random_range(1..=most);
        let codes = sample(rng, size, count).into_iter();
        return Test::In(codes.map(|code| literal(domain, code)).collect());
    }
    if rng.random_bool(0.5) {
        let (one, two) = (rng.random_range(0..size), rng.random_range(0..size));
        let (lo, hi) = (one.min(two), one.max(two));
        return Test::Between(literal(domain, lo), literal(domain, hi));
    }
    const COMPARISONS: [Comparison; 6] = [
        Comparison::Less,
        Comparison::AtMost,
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::AtLeast,
        Comparison::Greater,
    ];
    let comparison = COMPARISONS[rng.random_range(0..COMPARISONS.len())];
    Test::Compare(comparison, literal(domain, rng.random_range(0..size)))
}

fn literal(domain: &Domain, code: usize) -> Literal {
    match domain.values() {
        Values::Integer(values) => Literal::Whole(values[code]),
        Values::Decimal(values) => Literal::Number(values[code]),
        Values::Date(values) => Literal::Text(date_text(values[code])),
        Values::Category(_) => Literal::Text(domain.text(Code::from_usize(code))),
    }
}
