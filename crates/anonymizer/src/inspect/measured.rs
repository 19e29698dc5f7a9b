//! What attributes tell apart, alone and together.
//!
//! *Distinction* is the share of records with a value of their own; *separation*
//! the share of pairs of records that differ. They are measured on the records
//! that were held: all of them, or every second, fourth, …, which the answer
//! says.

use serde::Serialize;

use super::columns::Column;

/// Attributes of a set at most.
const SET_SIZE_MAX: usize = 3;
/// Attributes whose sets are all looked at; of more, those that tell most.
const ATTRIBUTES_MAX: usize = 12;
/// Records that sets are measured on; of more, evenly spaced ones.
const RECORDS_MAX: usize = 100_000;
/// Sets that are told.
const SETS_MAX: usize = 10;
/// Share of records that must stand alone for a set to be told.
const UNIQUE_SHARE: f64 = 0.05;

/// What an attribute tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AttributeRisk {
    /// Share of records whose value no other record has.
    pub distinction: f64,
    /// Share of pairs of records whose values differ.
    pub separation: f64,
}

/// A set of attributes by which many records stand alone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SmallSet {
    /// Their names, in the order of the file.
    pub attributes: Vec<String>,
    /// Share of records that no other one is like.
    pub unique: f64,
}

/// What a column tells apart.
pub(super) fn risk_of(column: &Column) -> AttributeRisk {
    let mut hashes = column.hashes.clone();
    hashes.sort_unstable();
    let runs = hashes.chunk_by(|left, right| left == right);
    let runs: Vec<u64> = runs.map(|run| run.len() as u64).collect();
    let records = hashes.len() as u64;
    let alone = runs.iter().filter(|&&count| count == 1).count() as f64;
    let alike: u64 = runs.iter().map(|count| count * (count - 1) / 2).sum();
    let pairs = records * records.saturating_sub(1) / 2;
    AttributeRisk {
        distinction: rounded(alone / records.max(1) as f64),
        separation: rounded(1.0 - alike as f64 / pairs.max(1) as f64),
    }
}

fn rounded(share: f64) -> f64 {
    (share * 10_000.0).round() / 10_000.0
}

/// The least sets of up to three columns by which at least one record in twenty
/// stands alone, the sharpest first: no set is told whose part is.
pub(super) fn small_sets(columns: &[(String, &Column)]) -> Vec<SmallSet> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    let separations: Vec<f64> = columns
        .iter()
        .map(|(_, column)| risk_of(column).separation)
        .collect();
    order.sort_by(|&left, &right| separations[right].total_cmp(&separations[left]));
    order.truncate(ATTRIBUTES_MAX);
    order.sort_unstable();
    let mut found: Vec<(Vec<usize>, f64)> = Vec::new();
    for size in 1..=SET_SIZE_MAX {
        for set in sets_of(&order, size) {
            let has_found = |(part, _): &(Vec<usize>, f64)| part.iter().all(|at| set.contains(at));
            if found.iter().any(has_found) {
                continue;
            }
            let unique = unique_share(&set, columns);
            if unique >= UNIQUE_SHARE {
                found.push((set, unique));
            }
        }
    }
    found.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    found.truncate(SETS_MAX);
    let told = found.into_iter().map(|(set, unique)| SmallSet {
        attributes: set.iter().map(|&at| columns[at].0.clone()).collect(),
        unique: rounded(unique),
    });
    told.collect()
}

fn sets_of(order: &[usize], size: usize) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = vec![Vec::new()];
    for _ in 0..size {
        let longer = |set: &Vec<usize>| {
            let last = set.last().copied();
            let behind = order
                .iter()
                .filter(|&&at| last.is_none_or(|last| at > last));
            let longer = behind.map(|&at| {
                let mut set = set.clone();
                set.push(at);
                set
            });
            longer.collect::<Vec<_>>()
        };
        sets = sets.iter().flat_map(longer).collect();
    }
    sets
}

/// How many of the records that are held sets are measured on.
pub(super) fn records_of_sets(held: usize) -> usize {
    held.div_ceil(held.div_ceil(RECORDS_MAX).max(1))
}

fn unique_share(set: &[usize], columns: &[(String, &Column)]) -> f64 {
    let all = columns[set[0]].1.hashes.len();
    let step = all.div_ceil(RECORDS_MAX).max(1);
    let records = all.div_ceil(step);
    let key_of = |record: usize| {
        set.iter().fold(0_u64, |key, &at| {
            let hash = u64::from(columns[at].1.hashes[record]);
            // Every column moves the others: two columns that change places
            // are another key.
            (key.rotate_left(21) ^ hash).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        })
    };
    let mut keys: Vec<u64> = (0..all).step_by(step).map(key_of).collect();
    keys.sort_unstable();
    let runs = keys.chunk_by(|left, right| left == right);
    let alone = runs.filter(|run| run.len() == 1).count();
    alone as f64 / records.max(1) as f64
}
