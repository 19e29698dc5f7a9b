//! The mutation test of trust.md for releases of blocks: valid ones with one
//! thing broken, named by the right check.

mod base;
mod claims;
mod listed;
mod rows;
mod shown;

use std::collections::BTreeMap;

use rand_chacha::rand_core::SeedableRng;
use serde_json::json;
use vizard::verify::Section;

use self::base::{release, release_of_rows};
use super::super::case::Case;
use super::{Corruption, Done, Random, failed};

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

#[test]
fn the_releases_of_blocks_that_are_broken_below_are_valid() {
    for case in bases().into_iter().chain(bases_of_rows()) {
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
        assert_eq!(case.manifest.excluded, 1);
    }
}

#[test]
fn every_corruption_of_blocks_is_named_by_the_check_it_breaks() {
    all_are_caught(&all(), &bases());
}

#[test]
fn every_corruption_of_rows_that_show_values_is_named_by_the_check_it_breaks() {
    all_are_caught(&shown::corruptions(), &bases_of_rows());
}

fn all_are_caught(all: &[Corruption], bases: &[Case]) {
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for corruption in all {
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
        let name = corruption.name;
        assert!(applied.contains_key(name), "{name}: applied nowhere");
    }
    let total: usize = applied.values().sum();
    let of = missed.len();
    assert!(
        missed.is_empty(),
        "{of} of {total} missed:\n{}",
        missed.join("\n")
    );
    let kinds = applied.len();
    assert!(total >= 100, "{total} corruptions of {kinds} kinds");
}

#[test]
fn every_guarantee_and_structural_check_of_blocks_is_broken_by_some_corruption() {
    let all: Vec<Corruption> = all().into_iter().chain(shown::corruptions()).collect();
    let mut broken: Vec<&str> = all.iter().flat_map(|one| one.caught_by).copied().collect();
    broken.sort_unstable();
    for case in bases().into_iter().chain(bases_of_rows()) {
        let verdict = case.verdict();
        for section in [Section::Guarantee, Section::Structure] {
            for check in verdict.section(section) {
                assert!(broken.binary_search(&check.kind).is_ok(), "{}", check.kind);
            }
        }
    }
}
