//! The mutation test of trust.md: valid releases with one thing broken.
//!
//! Every corruption says which checks must name it, and is applied to several
//! releases with several seeds; the manifest is sealed over the change (rows,
//! columns, digests), so that nothing is caught merely because a digest is
//! stale. Each corruption argues in its doc why what it leaves cannot be a
//! valid release; where that needs a particular place, it looks for one and
//! skips a release that has none.

mod blocks;
mod buckets;
mod cells;
pub mod claims;
mod exchanges;
mod garbage;
mod identifiers;
mod links;
mod manifests;
mod order;
mod personalized;
mod persons;
mod rows;
mod sliced;

use std::collections::BTreeMap;

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::engine::lgb::{Params, run};
use vizard_anonymizer::microdata::Preference;
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::verify::Section;

use super::case::Case;
use super::made::hospital;

/// Where corruptions take their choices from.
pub type Random = ChaCha12Rng;

/// What a corruption did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Done {
    /// Nothing: this release has no place for it.
    Skip,
    /// Changed tables or lineage; the manifest is to be sealed over it.
    Seal,
    /// Changed something that sealing would undo or could not describe.
    Keep,
}

/// One way to break a release.
pub struct Corruption {
    pub name: &'static str,
    /// Checks that must all fail.
    pub caught_by: &'static [&'static str],
    pub apply: fn(&mut Case, &mut Random) -> Done,
}

/// A corruption by its parts.
pub fn corruption(
    name: &'static str,
    caught_by: &'static [&'static str],
    apply: fn(&mut Case, &mut Random) -> Done,
) -> Corruption {
    Corruption {
        name,
        caught_by,
        apply,
    }
}

/// A random member of a list; `None` from an empty one.
pub fn any<T: Clone>(from: &[T], random: &mut Random) -> Option<T> {
    match from.len() {
        0 => None,
        len => Some(from[random.random_range(0..len)].clone()),
    }
}

/// Corruptions of a table `microdata` of the hospital, and of its manifest,
/// some of them of what only `lgb` publishes.
pub fn of_microdata() -> Vec<Corruption> {
    let mut all = rows::corruptions();
    all.extend(cells::corruptions());
    all.extend(identifiers::corruptions());
    all.extend(claims::corruptions());
    all.extend(garbage::corruptions());
    all
}

/// What breaks any release: the order of its rows, or its manifest.
fn of_every_release() -> Vec<Corruption> {
    let mut all = order::corruptions();
    all.extend(manifests::corruptions());
    all
}

/// Somebody who is published asks for something, beside what all `preferences`
/// ask for.
pub fn ask(
    case: &mut Case,
    random: &mut Random,
    mut preferences: Vec<Preference>,
    mut document: Value,
) -> Done {
    let row = random.random_range(0..case.rows());
    let keys = case.table.subject_keys();
    document["subject"] = json!(keys.get(case.subjects()[row].at()));
    let asked: Preference = serde_json::from_value(document).expect("a preference");
    preferences.retain(|preference| preference.subject != asked.subject);
    preferences.push(asked);
    let policy = case.requirements.policy().clone();
    case.requirements = Requirements::new(&case.table, policy, &preferences);
    Done::Keep
}

fn all() -> Vec<Corruption> {
    let mut all = Vec::new();
    all.extend(rows::corruptions());
    all.extend(cells::corruptions());
    all.extend(buckets::corruptions());
    all.extend(exchanges::corruptions());
    all.extend(identifiers::corruptions());
    all.extend(claims::corruptions());
    all.extend(links::corruptions());
    all.extend(garbage::corruptions());
    all
}

/// A verified release of a made-up hospital.
pub fn release(seed: u64, bucket_link: &str) -> Case {
    let mut random = Random::seed_from_u64(seed);
    let made = hospital(180, &mut random);
    let parameters = json!({
        "k": 4, "l": 3, "bucket_link": bucket_link, "max_excluded": 0.05,
        "generalization": if seed.is_multiple_of(2) { "mdp" } else { "ncp" },
        "attributes": {
            "sex": {"t_closeness": 0.3}, "salary": {"l": 4, "min_spread": 3000},
        },
    });
    let params: Params = serde_json::from_value(parameters.clone()).expect("sound parameters");
    let policy = params
        .policy(made.table.schema())
        .expect("they fit the schema");
    let requirements = Requirements::new(&made.table, policy, &made.preferences);
    let release = run(
        &made.table,
        &requirements,
        &params,
        &RunContext::silent(seed),
    );
    let release = release.expect("the hospital can be published");
    Case::of(made.table, requirements, parameters, release)
}

fn bases() -> Vec<Case> {
    let links = ["row", "row", "row", "group"];
    let bases = links
        .iter()
        .enumerate()
        .map(|(seed, link)| release(seed as u64, link));
    bases.collect()
}

/// Kinds of the checks that fail.
pub fn failed(case: &Case) -> Vec<&'static str> {
    case.verdict().failed().map(|check| check.kind).collect()
}

#[test]
fn the_releases_that_are_broken_below_are_valid() {
    let bases = bases();
    all_hold(&bases);
    for case in bases {
        let masked = case
            .cells("microdata", "age")
            .contains(&vizard_anonymizer::release::Cell::Masked);
        assert!(
            masked,
            "a rare pattern is masked, so that a mask can be broken"
        );
        assert_eq!(case.excluded, 1);
    }
}

#[test]
fn every_corruption_is_named_by_the_check_it_breaks() {
    all_are_named(&all(), &bases(), Least { kinds: 1, all: 200 });
}

#[test]
fn every_guarantee_and_structural_check_is_broken_by_some_corruption() {
    every_check_is_broken(&all(), &[release(0, "row")]);
}

/// Fewest kinds of corruptions, and corruptions, that releases must have had
/// a place for.
#[derive(Clone, Copy, Debug)]
pub struct Least {
    pub kinds: usize,
    pub all: usize,
}

/// Breaks each release with four seeds in every way that it has a place for;
/// each corruption must be applied somewhere, and named wherever it is.
pub fn all_are_named(corruptions: &[Corruption], bases: &[Case], least: Least) {
    let mut applied: BTreeMap<&str, usize> = BTreeMap::new();
    let mut missed = Vec::new();
    let of_every = of_every_release();
    for corruption in corruptions.iter().chain(&of_every) {
        let name = corruption.name;
        for (base, case) in bases.iter().enumerate() {
            for seed in 0..4_u64 {
                let mut random = Random::seed_from_u64(seed);
                let mut broken = case.clone();
                match (corruption.apply)(&mut broken, &mut random) {
                    Done::Skip => continue,
                    Done::Seal => broken.seal(),
                    Done::Keep => {}
                }
                *applied.entry(name).or_default() += 1;
                let failed = failed(&broken);
                let mut wanted = corruption.caught_by.iter();
                if !wanted.all(|kind| failed.contains(kind)) {
                    missed.push(format!("{name}, base {base}, seed {seed}: {failed:?}"));
                }
            }
        }
    }
    let names = corruptions.iter().map(|corruption| corruption.name);
    let nowhere: Vec<&str> = names.filter(|name| !applied.contains_key(name)).collect();
    assert!(nowhere.is_empty(), "applied nowhere: {nowhere:?}");
    let (total, kinds) = (applied.values().sum::<usize>(), applied.len());
    let of = missed.len();
    assert!(
        missed.is_empty(),
        "{of} of {total} missed:\n{}",
        missed.join("\n")
    );
    let enough = kinds >= least.kinds && total >= least.all;
    assert!(enough, "{total} corruptions of {kinds} kinds");
    println!("{total} corruptions of {kinds} kinds, all caught");
}

/// Every guarantee and structural check of the releases must be what some
/// corruption breaks.
pub fn every_check_is_broken(corruptions: &[Corruption], cases: &[Case]) {
    let of_every = of_every_release();
    let mut broken: Vec<&str> = corruptions
        .iter()
        .chain(&of_every)
        .flat_map(|one| one.caught_by)
        .copied()
        .collect();
    // It looks at the records and at the job, which no corruption of a release
    // changes; `exact` breaks it.
    broken.push("direct_identifiers");
    broken.sort_unstable();
    for case in cases {
        let verdict = case.verdict();
        for section in [Section::Guarantee, Section::Structure] {
            for check in verdict.section(section) {
                assert!(broken.binary_search(&check.kind).is_ok(), "{}", check.kind);
            }
        }
    }
}

/// Nothing is shown by breaking a release that does not hold.
pub fn all_hold(cases: &[Case]) {
    for case in cases {
        let verdict = case.verdict();
        let failed: Vec<_> = verdict.failed().collect();
        assert!(verdict.holds(), "{failed:#?}");
    }
}
