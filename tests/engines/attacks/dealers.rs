//! A dealer who looks at vectors: what a release must not be made by.

use std::collections::{BTreeMap, BTreeSet};

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use vizard::microdata::Role;

use crate::case::Case;

/// Lets people with the same value change blocks, as long as they come to
/// stand beside more values that people with their quasi-identifiers have.
/// Every block keeps its values.
pub fn deal_by_vector(case: &mut Case, sensitive: &str, rounds: usize) {
    let mut random = ChaCha12Rng::seed_from_u64(5);
    let schema = case.table.schema();
    let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let own: Vec<u32> = (0..case.rows())
        .map(|row| case.code(sensitive, row).0)
        .collect();
    let vector: Vec<Vec<u32>> = (0..case.rows())
        .map(|row| {
            let codes = quasi.iter();
            let codes = codes.map(|&index| case.table.code(index, case.record(row)));
            codes.map(|code| code.expect("it is coded").0).collect()
        })
        .collect();
    let mut seen: BTreeMap<&[u32], BTreeSet<u32>> = BTreeMap::new();
    for (vector, &own) in vector.iter().zip(&own) {
        seen.entry(vector).or_default().insert(own);
    }
    let mut block = case.numbers("quasi", "block");
    let mut holds: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    for (&block, &own) in block.iter().zip(&own) {
        holds.entry(block).or_default().insert(own);
    }
    let mut of_value: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (row, &own) in own.iter().enumerate() {
        of_value.entry(own).or_default().push(row);
    }
    let unseen = |row: usize, block: u64| {
        let seen = &seen[&*vector[row]];
        holds[&block]
            .iter()
            .filter(|&value| !seen.contains(value))
            .count()
    };
    for _ in 0..rounds * own.len() {
        let one = random.random_range(0..own.len());
        let equals = &of_value[&own[one]];
        let other = equals[random.random_range(0..equals.len())];
        let (here, there) = (block[one], block[other]);
        let stays = unseen(one, here) + unseen(other, there);
        if unseen(one, there) + unseen(other, here) <= stays {
            block.swap(one, other);
        }
    }
    case.set_numbers("quasi", "block", block);
}
