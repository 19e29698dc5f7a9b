//! Sets of attributes: who is unique by them, and by no part of them.

use rayon::prelude::*;

use super::classes::{Bits, Classes};
use super::columns::RiskColumns;
use super::figures::{AttributeExposure, Risk, SetRisk, rounded};

/// Attributes of which every set of up to three is looked at.
const NARROW_MAX: usize = 12;
/// Attributes of the largest set that grows.
const GROWN_MAX: usize = 24;
/// Classes of fewer subjects are counted: those of the purposes.
const SMALL: [u32; 2] = [5, 12];

/// What a set of attributes does.
struct Looked {
    set: Vec<usize>,
    risk: SetRisk,
    /// Records that it makes unique and no part of it does.
    minimal: u64,
}

/// A single attribute.
struct Single {
    classes: Classes,
    unique: Bits,
    risk: SetRisk,
}

/// All but the spread of sensitive attributes and the population.
pub(super) fn risk_of(columns: &RiskColumns) -> Risk {
    let whole = columns.whole();
    let all: Vec<usize> = (0..columns.attributes.len()).collect();
    let singles: Vec<Single> = all
        .par_iter()
        .map(|&at| {
            let classes = columns.divided(&whole, at);
            Single {
                unique: classes.unique(),
                risk: set_risk(columns, &[at], &classes),
                classes,
            }
        })
        .collect();
    let narrow = narrowed(&singles);
    let mut looked: Vec<Looked> = all
        .iter()
        .map(|&at| Looked {
            set: vec![at],
            risk: singles[at].risk.clone(),
            minimal: singles[at].unique.count_beyond(&[]),
        })
        .collect();
    looked.extend(larger(columns, &singles, &narrow));
    let growing = growing(columns, whole);
    let attributes = exposures(columns, &looked);
    looked.sort_by(|left, right| {
        let by_share = right.risk.unique.total_cmp(&left.risk.unique);
        by_share
            .then(left.set.len().cmp(&right.set.len()))
            .then_with(|| left.set.cmp(&right.set))
    });
    Risk {
        records: columns.records as u64,
        subjects: columns.subject_count() as u64,
        attributes,
        sets: looked.into_iter().map(|looked| looked.risk).collect(),
        is_narrowed: narrow.len() < all.len(),
        growing,
        sensitive: Vec::new(),
        population: None,
    }
}

/// The sets of two and of three of the attributes.
fn larger(columns: &RiskColumns, singles: &[Single], narrow: &[usize]) -> Vec<Looked> {
    let pairs: Vec<[usize; 2]> = pairs_of(narrow);
    let of_pairs: Vec<(Looked, Bits)> = pairs
        .par_iter()
        .map(|&[left, right]| {
            let classes = columns.divided(&singles[left].classes, right);
            let unique = classes.unique();
            let parts = [&singles[left].unique, &singles[right].unique];
            let pair = Looked {
                set: vec![left, right],
                risk: set_risk(columns, &[left, right], &classes),
                minimal: unique.count_beyond(&parts),
            };
            (pair, unique)
        })
        .collect();
    let bits_of = |pair: [usize; 2]| {
        let at = pairs.binary_search(&pair);
        at.ok().map(|at| &of_pairs[at].1)
    };
    let triples: Vec<Looked> = pairs
        .par_iter()
        .flat_map_iter(|&[left, middle]| {
            let classes = columns.divided(&singles[left].classes, middle);
            let behind = narrow.iter().filter(|&&at| at > middle);
            let triples: Vec<Looked> = behind
                .map(|&right| {
                    let triple = columns.divided(&classes, right);
                    let parts = [[left, middle], [left, right], [middle, right]];
                    let parts: Vec<&Bits> = parts.into_iter().filter_map(bits_of).collect();
                    Looked {
                        set: vec![left, middle, right],
                        risk: set_risk(columns, &[left, middle, right], &triple),
                        minimal: triple.unique().count_beyond(&parts),
                    }
                })
                .collect();
            triples
        })
        .collect();
    let pairs = of_pairs.into_iter().map(|(pair, _)| pair);
    pairs.chain(triples).collect()
}

/// The attributes that make most unique, in schema order.
fn narrowed(singles: &[Single]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..singles.len()).collect();
    order.sort_by(|&left, &right| {
        let classes = |at: usize| singles[at].classes.sizes.len();
        classes(right).cmp(&classes(left)).then(left.cmp(&right))
    });
    order.truncate(NARROW_MAX);
    order.sort_unstable();
    order
}

fn pairs_of(attributes: &[usize]) -> Vec<[usize; 2]> {
    let lefts = attributes.iter().enumerate();
    let pairs = lefts.flat_map(|(at, &left)| {
        let rights = attributes[at + 1..].iter();
        rights.map(move |&right| [left, right])
    });
    pairs.collect()
}

fn set_risk(columns: &RiskColumns, set: &[usize], classes: &Classes) -> SetRisk {
    let mut set = set.to_vec();
    set.sort_unstable();
    let smallest = classes.of_subjects(columns.subjects.as_ref());
    let all = smallest.len().max(1) as f64;
    let below = |bound: u32| {
        let small = smallest.iter().filter(|&&size| size < bound).count();
        rounded(small as f64 / all)
    };
    let found: f64 = smallest
        .iter()
        .map(|&size| 1.0 / f64::from(size.max(1)))
        .sum();
    let k_min = classes.sizes.iter().copied().min().unwrap_or_default();
    SetRisk {
        attributes: set.iter().map(|&at| columns.name(at)).collect(),
        unique: below(2),
        below: SMALL.map(below),
        k_min: u64::from(k_min),
        prosecutor: rounded(1.0 / f64::from(k_min.max(1))),
        marketer: rounded(found / all),
    }
}

/// The set that grows by the attribute that makes most classes, until nobody is
/// alike any more.
fn growing(columns: &RiskColumns, whole: Classes) -> Vec<SetRisk> {
    let mut left: Vec<usize> = (0..columns.attributes.len()).collect();
    let mut set: Vec<usize> = Vec::new();
    let mut classes = whole;
    let mut grown = Vec::new();
    // More classes first, then the attribute that stands first.
    let better = |one: (usize, Classes), other: (usize, Classes)| {
        let order = |of: &(usize, Classes)| (of.1.sizes.len(), std::cmp::Reverse(of.0));
        if order(&one) >= order(&other) {
            one
        } else {
            other
        }
    };
    while let Some((at, best)) = left
        .par_iter()
        .map(|&at| (at, columns.divided(&classes, at)))
        .reduce_with(better)
    {
        set.push(at);
        left.retain(|&one| one != at);
        grown.push(set_risk(columns, &set, &best));
        let are_apart = best.sizes.len() >= columns.records;
        if are_apart || set.len() == GROWN_MAX {
            break;
        }
        classes = best;
    }
    grown
}

fn exposures(columns: &RiskColumns, looked: &[Looked]) -> Vec<AttributeExposure> {
    let exposure = |at: usize| {
        let mut minimal = [0; 3];
        for one in looked.iter().filter(|one| one.set.contains(&at)) {
            minimal[one.set.len() - 1] += one.minimal;
        }
        let numbered = &columns.attributes[at].1;
        AttributeExposure {
            name: columns.name(at),
            distinct: numbered.distinct() as u64,
            missing: numbered.missing,
            minimal_unique_sets: minimal,
        }
    };
    (0..columns.attributes.len()).map(exposure).collect()
}
