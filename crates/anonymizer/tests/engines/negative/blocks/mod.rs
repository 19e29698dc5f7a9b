//! The mutation test of trust.md for releases of blocks: valid ones with one
//! thing broken, named by the right check.

mod base;
mod claims;
mod listed;
mod rows;
mod shown;

use serde_json::json;

use self::base::{release, release_of_rows};
use super::{Corruption, Least, all_are_named, all_hold, every_check_is_broken};
use crate::case::Case;

fn all() -> Vec<Corruption> {
    let mut all = Vec::new();
    all.extend(rows::corruptions());
    all.extend(listed::corruptions());
    all.extend(claims::corruptions());
    all
}

/// One sensitive attribute, two, values as often as eligible, everyone mixed.
fn bases() -> Vec<Case> {
    vec![
        release(1, "arp", &["disease"]),
        release(2, "arp", &["salary", "disease"]),
        release(3, "aip", &["disease"]),
        release(4, "anatomy", &["disease"]),
    ]
}

/// Rows that show values: groups that look the same, values kept or drawn,
/// rings.
fn bases_of_rows() -> Vec<Case> {
    let randomization = json!({"publish": "randomization", "retention": 0.4});
    vec![
        release_of_rows(5, "arp", json!({"publish": "generalization"})),
        release_of_rows(6, "arp", randomization),
        release_of_rows(7, "ng", json!({})),
        // Kinds of patients have to share rings.
        release_of_rows(8, "ng", json!({"l": 5, "max_excluded": 0.1})),
    ]
}

fn every_base() -> Vec<Case> {
    bases().into_iter().chain(bases_of_rows()).collect()
}

#[test]
fn the_releases_of_blocks_that_are_broken_below_are_valid() {
    let bases = every_base();
    all_hold(&bases);
    for case in bases {
        assert_eq!(case.excluded, 1);
    }
}

#[test]
fn every_corruption_of_blocks_is_named_by_the_check_it_breaks() {
    all_are_named(&all(), &bases(), Least { kinds: 1, all: 100 });
}

#[test]
fn every_corruption_of_rows_that_show_values_is_named_by_the_check_it_breaks() {
    all_are_named(
        &shown::corruptions(),
        &bases_of_rows(),
        Least { kinds: 1, all: 100 },
    );
}

#[test]
fn every_guarantee_and_structural_check_of_blocks_is_broken_by_some_corruption() {
    let all: Vec<Corruption> = all().into_iter().chain(shown::corruptions()).collect();
    every_check_is_broken(&all, &every_base());
}
