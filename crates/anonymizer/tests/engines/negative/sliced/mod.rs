//! The mutation test of trust.md for sliced releases: valid ones with one
//! thing broken, named by the right check.

mod base;
mod claims;
mod columns;
mod garbage;
mod rows;
mod values;

use self::base::bases;
use super::{Corruption, Least, all_are_named, all_hold, every_check_is_broken};

fn all() -> Vec<Corruption> {
    let mut all = Vec::new();
    all.extend(rows::corruptions());
    all.extend(values::corruptions());
    all.extend(columns::corruptions());
    all.extend(claims::corruptions());
    all.extend(garbage::corruptions());
    all
}

#[test]
fn the_sliced_releases_that_are_broken_below_are_valid() {
    let bases = bases();
    all_hold(&bases);
    for case in bases {
        assert!(case.groups_of("sliced", "bucket").len() > 3);
    }
}

#[test]
fn every_corruption_of_a_sliced_release_is_named_by_the_check_it_breaks() {
    all_are_named(
        &all(),
        &bases(),
        Least {
            kinds: 60,
            all: 600,
        },
    );
}

#[test]
fn every_guarantee_and_structural_check_of_a_sliced_release_is_broken_by_some_corruption() {
    every_check_is_broken(&all(), &bases());
}
