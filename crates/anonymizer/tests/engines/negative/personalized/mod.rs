//! Releases of `personalized` with one thing broken.
//!
//! What breaks any table with one row a record breaks these as well; the rest
//! is about sensitive values, leakage and claims.

mod base;
mod claims;
mod rows;
mod sensitive;

use super::{
    Corruption, Least, all_are_named, all_hold, cells, every_check_is_broken, garbage, identifiers,
};
use crate::case::Case;

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
    let bases = bases();
    all_hold(&bases);
    for case in bases {
        assert!(case.excluded >= 1);
    }
}

#[test]
fn every_corruption_of_personalized_releases_is_named_by_the_check_it_breaks() {
    all_are_named(
        &all(),
        &bases(),
        Least {
            kinds: 60,
            all: 400,
        },
    );
}

#[test]
fn every_check_of_personalized_releases_is_broken_by_some_corruption() {
    every_check_is_broken(&all(), &bases());
}
