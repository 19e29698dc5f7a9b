//! Releases of `personalized` with one thing broken.
//!
//! What breaks any table with one row a record breaks these as well; the rest
//! is about sensitive values, leakage and claims.

mod base;
mod claims;
mod rows;
mod sensitive;

use std::collections::BTreeMap;

use rand_chacha::rand_core::SeedableRng;
use vizard::verify::Section;

use super::super::case::Case;
use super::{Corruption, Done, Random, cells, failed, garbage, identifiers};

/// Checks that only releases with buckets have.
const OF_BUCKETS: [&str; 3] = [
    "buckets_well_formed",
    "flagged_cells_in_one_bucket",
    "l_diversity",
];

/// Ask for looks in which a sensitive value has a part.
const OTHERWISE: [&str; 2] = [
    "generalize a whole group one level further",
    "put a value into a set",
];

fn all() -> Vec<Corruption> {
    let shared = garbage::corruptions().into_iter();
    let shared = shared
        .chain(identifiers::corruptions())
        .chain(cells::corruptions());
    let fits = |corruption: &Corruption| {
        let mut kinds = corruption.caught_by.iter();
        !kinds.any(|kind| OF_BUCKETS.contains(kind)) && !OTHERWISE.contains(&corruption.name)
    };
    let mut all: Vec<Corruption> = shared.filter(fits).collect();
    all.extend(rows::corruptions());
    all.extend(sensitive::corruptions());
    all.extend(claims::corruptions());
    all
}

fn bases() -> Vec<Case> {
    let kinds = [
        ("sorted", "group_cut"),
        ("mondrian", "group_cut"),
        ("sorted", "group_cut"),
        ("sorted", "paper"),
    ];
    let bases = kinds.iter().enumerate();
    bases
        .map(|(seed, (grouping, recoding))| base::release(seed as u64, grouping, recoding))
        .collect()
}

#[test]
fn the_personalized_releases_that_are_broken_below_are_valid() {
    for case in bases() {
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
        assert!(case.manifest.excluded >= 1);
    }
}

#[test]
fn every_corruption_of_personalized_releases_is_named_by_the_check_it_breaks() {
    let bases = bases();
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    let all = all();
    for corruption in &all {
        for (base, case) in bases.iter().enumerate() {
            for seed in 0..4_u64 {
                let mut random = Random::seed_from_u64(seed);
                let mut broken = case.clone();
                match (corruption.apply)(&mut broken, &mut random) {
                    Done::Skip => continue,
                    Done::Seal => broken.seal(),
                    Done::Keep => {}
                }
                *applied.entry(corruption.name).or_default() += 1;
                let failed = failed(&broken);
                let mut wanted = corruption.caught_by.iter();
                if !wanted.all(|kind| failed.contains(kind)) {
                    let name = corruption.name;
                    missed.push(format!("{name}, base {base}, seed {seed}: {failed:?}"));
                }
            }
        }
    }
    let nowhere = all.iter().map(|one| one.name);
    let nowhere: Vec<&str> = nowhere.filter(|name| !applied.contains_key(name)).collect();
    assert!(nowhere.is_empty(), "applied nowhere: {nowhere:?}");
    let total: usize = applied.values().sum();
    let of = missed.len();
    assert!(
        missed.is_empty(),
        "{of} of {total} missed:\n{}",
        missed.join("\n")
    );
    let kinds = applied.len();
    assert!(
        kinds >= 60 && total >= 400,
        "{total} corruptions of {kinds} kinds"
    );
    println!("{total} corruptions of {kinds} kinds, all caught");
}

#[test]
fn every_check_of_personalized_releases_is_broken_by_some_corruption() {
    let all = all();
    let mut broken: Vec<&str> = all.iter().flat_map(|one| one.caught_by).copied().collect();
    broken.sort_unstable();
    for case in bases() {
        let verdict = case.verdict();
        for section in [Section::Guarantee, Section::Structure] {
            for check in verdict.section(section) {
                assert!(broken.binary_search(&check.kind).is_ok(), "{}", check.kind);
            }
        }
    }
}
