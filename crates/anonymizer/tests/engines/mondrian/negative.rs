//! The mutation test of trust.md for `mondrian`: valid releases with one thing
//! broken, named by the right check. What breaks any table of records is taken
//! from the corruptions of `lgb`; values and claims have their own.

mod claims;
mod values;

use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};

use super::publish;
use crate::case::Case;
use crate::made::open_hospital;
use crate::negative::{
    Corruption, Least, Random, all_are_named, all_hold, every_check_is_broken, of_microdata,
};

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
    let bases = bases();
    all_hold(&bases);
    for case in bases {
        assert_eq!(case.excluded, 1);
        assert!(case.groups().len() > 5, "{} groups", case.groups().len());
    }
}

#[test]
fn every_corruption_of_groups_is_named_by_the_check_it_breaks() {
    all_are_named(
        &all(),
        &bases(),
        Least {
            kinds: 60,
            all: 500,
        },
    );
}

#[test]
fn every_guarantee_and_structural_check_of_groups_is_broken_by_some_corruption() {
    every_check_is_broken(&all(), &bases());
}
