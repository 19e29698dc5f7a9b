//! The mutation test of trust.md for sliced releases: valid ones with one
//! thing broken, named by the right check.

mod base;
mod claims;
mod columns;
mod garbage;
mod rows;
mod values;

use std::collections::BTreeMap;

use rand_chacha::rand_core::SeedableRng;
use vizard::verify::Section;

use self::base::bases;
use super::{Corruption, Done, Random, failed};

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
    for case in bases() {
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
        assert!(case.groups_of("sliced", "bucket").len() > 3);
    }
}

#[test]
fn every_corruption_of_a_sliced_release_is_named_by_the_check_it_breaks() {
    let bases = bases();
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    for corruption in all() {
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
    assert!(
        kinds >= 60 && total >= 600,
        "{total} corruptions of {kinds} kinds"
    );
    println!("{total} corruptions of {kinds} kinds, all caught");
}

#[test]
fn every_guarantee_and_structural_check_of_a_sliced_release_is_broken_by_some_corruption() {
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
