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

use super::compile::compile;
use super::condition::Condition;
use super::expression::{Comparison, InvalidQuery, Literal, Test};
use super::knowledge::PublicDomain;

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

/// A predicate that was drawn.
pub(super) enum Drawn {
    /// One of a number or day.
    Test(Test),
    /// A category is one of these codes of its domain.
    Codes(Vec<usize>),
}

impl Drawn {
    /// The condition on the attribute, whose public domain is given too.
    pub(super) fn condition(
        self,
        domain: &Domain,
        public: &PublicDomain,
    ) -> Result<Condition, InvalidQuery> {
        let test = match (self, &public.hierarchy) {
            // Codes are leaves: no label need be made or found.
            (Self::Codes(codes), Some(tree)) if tree.leaf_count() == domain.len() => {
                let mut marked = vec![false; domain.len()];
                codes.into_iter().for_each(|code| marked[code] = true);
                return Ok(Condition::of_leaves(tree, &marked));
            }
            (Self::Codes(codes), _) => {
                let literals = codes.into_iter().map(|code| literal(domain, code));
                Test::In(literals.collect())
            }
            (Self::Test(test), _) => test,
        };
        compile(&test, public, 1)
    }
}

/// Draws one query over attributes with these domains: positions of the
/// attributes, each at most once, with their predicates. Attributes without a
/// value are left out.
pub(super) fn draw(domains: &[&Domain], rng: &mut impl Rng) -> Vec<(usize, Drawn)> {
    let filled: Vec<usize> = (0..domains.len())
        .filter(|&at| domains[at].known_len() > 0)
        .collect();
    let most = PREDICATES_MAX.min(filled.len());
    let count = if most == 0 {
        0
    } else {
        rng.random_range(1..=most)
    };
    sample(rng, filled.len(), count)
        .into_iter()
        .map(|at| (filled[at], draw_one(domains[filled[at]], rng)))
        .collect()
}

fn draw_one(domain: &Domain, rng: &mut impl Rng) -> Drawn {
    let size = domain.len();
    if !domain.is_numeric() {
        let most = size.saturating_sub(1).max(1);
        let count = rng.random_range(1..=most);
        return Drawn::Codes(sample(rng, size, count).into_vec());
    }
    Drawn::Test(draw_test(domain, rng))
}

fn draw_test(domain: &Domain, rng: &mut impl Rng) -> Test {
    let size = domain.known_len();
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
