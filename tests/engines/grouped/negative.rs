//! The mutation test of trust.md for `mondrian`: valid releases with one thing
//! broken, named by the right check. What breaks any table of records is taken
//! from the corruptions of `lgb`; values and claims have their own.

mod claims;
mod values;

use std::collections::BTreeMap;

use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard::verify::Section;

use super::publish;
use crate::case::Case;
use crate::made::open_hospital;
use crate::negative::{Corruption, Done, Random, failed, of_microdata};

/// Corruptions of what only `lgb` publishes or claims.
const OF_LGB: [&str; 10] = [
    "unmask a flagged cell",
    "put a key among the values of a bucket",
    "number buckets wildly",
    "count wildly",
    "name attributes that there are not",
    "give an interval for a bucket's value",
    "publish nothing",
    "claim another l",
    "ask for an l that the buckets do not have",
    "flag a value that is published",
];

fn all() -> Vec<Corruption> {
    let mut all = of_microdata();
    let before = all.len();
    all.retain(|corruption| !OF_LGB.contains(&corruption.name));
    assert_eq!(before - all.len(), OF_LGB.len(), "every name is known");
    all.extend(values::corruptions());
    all.extend(claims::corruptions());
    all
}

fn release(seed: u64, parameters: Value) -> Case {
    let made = open_hospital(180, &mut Random::seed_from_u64(seed));
    let case = publish(made.table, &parameters, &made.preferences, seed);
    case.expect("the hospital can be published")
}

fn bases() -> Vec<Case> {
    vec![
        release(1, json!({"k": 4, "l": 3, "max_excluded": 0.05})),
        release(
            2,
            json!({"k": 4, "l": 2, "diversity": "entropy", "partitioning": "relaxed",
                   "attributes": {"salary": {"l": 3, "t_closeness": 0.35}}, "max_excluded": 0.05}),
        ),
        release(
            3,
            json!({"k": 4, "split": "gain", "max_excluded": 0.05, "attributes": {
                "disease": {"l": 2, "diversity": "recursive", "c": 2},
                "salary": {"t_closeness": 0.3}}}),
        ),
        release(
            4,
            json!({"k": 4, "l": 3, "diversity": "recursive", "c": 3, "split": "gain",
                   "partitioning": "relaxed", "attributes": {"salary": {"diversity": "distinct"}},
                   "max_excluded": 0.05}),
        ),
    ]
}

#[test]
fn the_releases_of_groups_that_are_broken_below_are_valid() {
    for case in bases() {
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
        assert_eq!(case.manifest.excluded, 1);
        assert!(case.groups().len() > 5, "{} groups", case.groups().len());
    }
}

#[test]
fn every_corruption_of_groups_is_named_by_the_check_it_breaks() {
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
    let (total, of) = (applied.values().sum::<usize>(), missed.len());
    assert!(
        missed.is_empty(),
        "{of} of {total} missed:\n{}",
        missed.join("\n")
    );
    let kinds = applied.len();
    assert!(
        kinds >= 60 && total >= 500,
        "{total} corruptions of {kinds} kinds"
    );
    println!("{total} corruptions of {kinds} kinds, all caught");
}

#[test]
fn every_guarantee_and_structural_check_of_groups_is_broken_by_some_corruption() {
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
