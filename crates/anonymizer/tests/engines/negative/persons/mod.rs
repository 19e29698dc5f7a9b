//! The mutation test of trust.md for the table `persons` of `one_to_many` and
//! `rmr`: valid releases with one thing broken, named by the right check.

mod base;
mod cells;
mod claims;
mod fingerprints;
mod garbage;
mod identifiers;
mod made;
mod rows;

use vizard_anonymizer::privacy::QidConflict;

use self::base::{Engine, release};
use super::{Corruption, Least, all_are_named, all_hold, every_check_is_broken};
use crate::case::Case;

fn all() -> Vec<Corruption> {
    let mut all = Vec::new();
    all.extend(rows::corruptions());
    all.extend(cells::corruptions());
    all.extend(fingerprints::corruptions());
    all.extend(identifiers::corruptions());
    all.extend(claims::corruptions());
    all.extend(garbage::corruptions());
    all
}

fn bases() -> Vec<Case> {
    vec![
        release(1, Engine::OneToMany, QidConflict::Hull),
        release(2, Engine::OneToMany, QidConflict::Latest),
        release(3, Engine::Rmr, QidConflict::Hull),
        release(4, Engine::Rmr, QidConflict::First),
    ]
}

fn is_rmr(case: &Case) -> bool {
    case.manifest.engine == "rmr"
}

fn rule(case: &Case) -> QidConflict {
    match case.requirements.policy().model {
        vizard_anonymizer::privacy::Model::Fingerprints { qid_conflict, .. }
        | vizard_anonymizer::privacy::Model::Itemsets { qid_conflict, .. } => qid_conflict,
        _ => panic!("persons are not bucketized"),
    }
}

#[test]
fn the_releases_of_persons_that_are_broken_below_are_valid() {
    all_hold(&bases());
}

#[test]
fn every_corruption_of_persons_is_named_by_the_check_it_breaks() {
    all_are_named(&all(), &bases(), Least { kinds: 1, all: 200 });
}

#[test]
fn every_guarantee_and_structural_check_of_persons_is_broken_by_some_corruption() {
    every_check_is_broken(&all(), &bases());
}
