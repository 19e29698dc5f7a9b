//! Random counting queries, to measure a release by.
//!
//! A query has 1 to 4 predicates on different attributes, all equally likely.
//! A number or day has one of `< <= = != >= >` or (as often as all of those) a
//! range, with ends drawn from the values of the dataset version; a category
//! has `in` with 1 to all but one of its values. Query number i has a random
//! stream of its own, so that threads do not change it.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::seq::index::sample;
use rand::{Rng, RngExt};
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::microdata::value_text::date_text;
use crate::microdata::{Code, Domain, Values};

use super::compile::compile;
use super::condition::{Condition, Span};
use super::expression::{Comparison, InvalidQuery, List, Literal, Test};
use super::knowledge::PublicDomain;

/// How many queries to draw, and from which seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Queries.
    pub queries: u32,
    /// Decides all of them.
    pub seed: u64,
    /// Values that are looked at for all of them, about; queries past it are
    /// not asked.
    pub work_max: u64,
}

/// A random code takes as long as so many values that are only looked at.
const CODES_PER_VALUE: usize = 8;

/// Predicates of a query.
const PREDICATES_MAX: usize = 4;

impl Workload {
    /// What the report of a release may look at: a few seconds.
    pub const WORK_MAX: u64 = 1_000_000_000;

    /// The workload of reports: the same queries for every release of one
    /// dataset version, so that releases can be compared.
    pub fn standard(queries: u32) -> Self {
        Self {
            queries,
            seed: 0,
            work_max: Self::WORK_MAX,
        }
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

/// An attribute that predicates are drawn on.
pub(super) struct Source<'a> {
    /// The values of the dataset version.
    pub(super) domain: &'a Domain,
    /// What is public of them.
    pub(super) public: &'a PublicDomain,
    /// Of a category without a hierarchy the rank of each code's label among
    /// the published ones.
    pub(super) ranks: Vec<Option<u32>>,
}

impl<'a> Source<'a> {
    pub(super) fn new(domain: &'a Domain, public: &'a PublicDomain) -> Self {
        let ranks = match (domain.values(), &public.hierarchy) {
            (Values::Category(labels), None) => {
                let rank = |label: &String| public.rank(label).map(|rank| rank as u32);
                labels.iter().map(rank).collect()
            }
            _ => Vec::new(),
        };
        Self {
            domain,
            public,
            ranks,
        }
    }
}

impl Drawn {
    /// Which codes of the domain satisfy.
    pub(super) fn marks(&self, source: &Source<'_>) -> Result<Vec<bool>, InvalidQuery> {
        let mut marks = vec![false; source.domain.len()];
        match self {
            Self::Codes(codes) => codes.iter().for_each(|&code| marks[code] = true),
            Self::Test(test) => {
                let condition = compile(test, source.public, List::Where.at(0))?;
                for run in runs(&condition, source.domain.values()) {
                    marks[run].fill(true);
                }
            }
        }
        Ok(marks)
    }

    /// Values that drawing and marking looked at, about: each of a set is drawn
    /// by itself, a range is found.
    pub(super) fn work(&self, source: &Source<'_>) -> u64 {
        let drawn = match self {
            Self::Codes(codes) => CODES_PER_VALUE * codes.len(),
            Self::Test(_) => 0,
        };
        (drawn + source.domain.len()) as u64
    }

    /// The condition on the attribute.
    pub(super) fn condition(self, source: &Source<'_>) -> Result<Condition, InvalidQuery> {
        match self {
            Self::Codes(codes) => Ok(of_codes(&codes, source)),
            Self::Test(test) => compile(&test, source.public, List::Where.at(0)),
        }
    }
}

/// The condition that these codes of an attribute's domain satisfy.
fn of_codes(codes: &[usize], source: &Source<'_>) -> Condition {
    let (domain, public) = (source.domain, source.public);
    match &public.hierarchy {
        // Codes are leaves: no label need be made or found.
        Some(tree) if tree.leaf_count() == domain.len() => {
            let mut marked = vec![false; domain.len()];
            codes.iter().for_each(|&code| marked[code] = true);
            Condition::of_leaves(tree, &marked)
        }
        Some(tree) => {
            let mut marked = vec![false; tree.leaf_count()];
            let leaves = codes.iter().filter_map(|&code| {
                let label = domain.text(Code::from_usize(code));
                tree.leaf(&label)
            });
            leaves.for_each(|leaf| marked[leaf.at()] = true);
            Condition::of_leaves(tree, &marked)
        }
        None => {
            let mut named = vec![false; public.labels.len()];
            let mut beyond = BTreeSet::new();
            for &code in codes {
                match source.ranks[code] {
                    Some(rank) => named[rank as usize] = true,
                    // One says as much as many: no cell shows any of them.
                    None if beyond.is_empty() => {
                        beyond.insert(domain.text(Code::from_usize(code)));
                    }
                    None => {}
                }
            }
            Condition::Labels {
                named,
                beyond,
                except: false,
            }
        }
    }
}

/// The runs of ascending numbers that satisfy a condition.
fn runs(condition: &Condition, values: &Values) -> Vec<Range<usize>> {
    fn whole<T: Copy + Into<i64>>(values: &[T], ranges: &[(i64, i64)]) -> Vec<Range<usize>> {
        let run = |&(lo, hi): &(i64, i64)| {
            let from = values.partition_point(|&value| value.into() < lo);
            from..values
                .partition_point(|&value| value.into() <= hi)
                .max(from)
        };
        ranges.iter().map(run).collect()
    }
    match (condition, values) {
        (Condition::Whole(ranges), Values::Integer(values)) => whole(values, ranges),
        (Condition::Whole(ranges), Values::Date(values)) => whole(values, ranges),
        (Condition::Real(spans), Values::Decimal(values)) => {
            let run = |span: &Span| {
                let below = |&value: &f64| value < span.lo || (span.lo_open && value == span.lo);
                let within = |&value: &f64| value < span.hi || (!span.hi_open && value == span.hi);
                let from = values.partition_point(below);
                from..values.partition_point(within).max(from)
            };
            spans.iter().map(run).collect()
        }
        _ => Vec::new(),
    }
}

/// Draws one query over attributes with these domains: positions of the
/// attributes, each at most once, with their predicates. Attributes without a
/// value are left out.
pub(super) fn draw(sources: &[Source<'_>], rng: &mut impl Rng) -> Vec<(usize, Drawn)> {
    let filled: Vec<usize> = (0..sources.len())
        .filter(|&at| sources[at].domain.known_len() > 0)
        .collect();
    let most = PREDICATES_MAX.min(filled.len());
    let count = if most == 0 {
        0
    } else {
        rng.random_range(1..=most)
    };
    sample(rng, filled.len(), count)
        .into_iter()
        .map(|at| (filled[at], draw_one(sources[filled[at]].domain, rng)))
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
