//! What attributes tell apart, alone and together.
//!
//! *Distinction* is the share of records with a value of their own; *separation*
//! the share of pairs of records that differ. They are measured on the records
//! that were held: all of them, or every second, fourth, …, which the answer
//! says.

use std::collections::BTreeMap;

use serde::Serialize;

use super::columns::Column;
use super::risk::Classes;

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
    let codes: BTreeMap<usize, Vec<u32>> = order
        .iter()
        .map(|&at| (at, spaced(&columns[at].1.hashes)))
        .collect();
    let records = codes.values().next().map_or(0, Vec::len);
    let whole = Classes::whole(records, records);
    let mut found: Vec<(Vec<usize>, f64)> = Vec::new();
    for size in 1..=SET_SIZE_MAX {
        for part in sets_of(&order, size - 1) {
            if has_part(&found, &part) {
                continue;
            }
            let divided = |classes: Classes, at: &usize| classes.by(&codes[at], None);
            let classes = part.iter().fold(whole.clone(), divided);
            let last = part.last().copied();
            let behind = order
                .iter()
                .filter(|&&at| last.is_none_or(|last| at > last));
            for &at in behind {
                let set = [&part[..], &[at]].concat();
                if has_part(&found, &set) {
                    continue;
                }
                let alone = classes.by(&codes[&at], None).alone();
                let unique = alone as f64 / records.max(1) as f64;
                if unique >= UNIQUE_SHARE {
                    found.push((set, unique));
                }
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

/// Whether a set that was found is a part of this one.
fn has_part(found: &[(Vec<usize>, f64)], set: &[usize]) -> bool {
    let is_part = |(part, _): &(Vec<usize>, f64)| part.iter().all(|at| set.contains(at));
    found.iter().any(is_part)
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
    held.div_ceil(step_of(held))
}

/// Every which record sets are measured on.
fn step_of(held: usize) -> usize {
    held.div_ceil(RECORDS_MAX).max(1)
}

/// The hashes of the records that sets are measured on.
fn spaced(hashes: &[u32]) -> Vec<u32> {
    let step = step_of(hashes.len());
    hashes.iter().copied().step_by(step).collect()
}
