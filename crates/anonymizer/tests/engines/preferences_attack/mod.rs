//! Who asked for something must not show: an adversary takes releases of one
//! dataset apart, and finds askers among no more others than the job states.

mod adversary;
mod made;
mod stays;

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::RunContext;
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::{Requirements, Seed};
use vizard_anonymizer::release::Release;

use crate::case::Case;
use adversary::{Ask, Attained, attack};
use made::{old_patients, patients};

/// What a job states where it says nothing.
const SHARE_MAX: f64 = 0.25;
/// Standard deviations that chance may add to a share of at least so many
/// people: the best of many thresholds is looked at.
const CHANCE: f64 = 4.0;

/// Requirements and releases of one dataset by several seeds, under one secret of
/// the dataset or each under another.
fn released(
    (table, preferences): (&Table, &[Preference]),
    (engine, parameters): (&str, &Value),
    (seeds, are_apart): (std::ops::Range<u64>, bool),
) -> (Requirements, Vec<Release>) {
    let engine = Engine::parse(engine, parameters, table.schema()).expect("they fit");
    let policy = engine.policy(table.schema()).expect("they fit the schema");
    let requirements = Requirements::new(table, policy, preferences);
    let releases = seeds.map(|seed| {
        let context = RunContext {
            dataset_secret: Seed::of_number(if are_apart { 77 + seed } else { 77 }),
            ..RunContext::silent(seed)
        };
        let release = engine.run(table, &requirements, &context);
        release.expect("there is a release")
    });
    let releases = releases.collect();
    (requirements, releases)
}

/// The attack on one release, and on three of the same data.
fn attacked(engine: (&str, &Value), ask: Ask) -> [Attained; 2] {
    attacked_by(engine, ask, false)
}

fn attacked_by(engine: (&str, &Value), ask: Ask, are_apart: bool) -> [Attained; 2] {
    let (table, preferences) = patients(ask);
    let (requirements, releases) = released((&table, &preferences), engine, (0..3, are_apart));
    [1, 3].map(|number| {
        let found = attack((&table, &requirements), &releases[..number], ask);
        let found = found.expect("enough asked");
        println!("{engine:?} {ask:?} {number}: {found:?}");
        found
    })
}

/// No threshold finds more askers than the job states, but for chance.
fn tells_little(found: Attained) {
    let least = (found.askers / 20).max(20) as f64;
    assert!(
        found.askers as f64 <= SHARE_MAX * found.published as f64,
        "few ask"
    );
    let chance = CHANCE * (SHARE_MAX * (1.0 - SHARE_MAX) / least).sqrt();
    assert!(found.precision <= SHARE_MAX + chance, "{found:?}");
}

#[test]
fn no_release_of_mondrian_tells_who_asked_for_an_l() {
    for effort in ["none", "fast", "best"] {
        let parameters = json!({"k": 5, "effort": effort});
        let attained = attacked(("mondrian", &parameters), Ask::OfValues);
        attained.into_iter().for_each(tells_little);
    }
}

#[test]
fn no_release_of_mondrian_tells_who_asked_for_a_k() {
    for effort in ["none", "fast", "best"] {
        let parameters = json!({"k": 5, "effort": effort});
        let attained = attacked(("mondrian", &parameters), Ask::K);
        attained.into_iter().for_each(tells_little);
    }
}

#[test]
fn no_release_of_personalized_tells_who_asked_for_a_k() {
    for effort in ["none", "fast"] {
        let parameters = json!({"k": 5, "sensitive": "disease", "effort": effort});
        let attained = attacked(("personalized", &parameters), Ask::K);
        attained.into_iter().for_each(tells_little);
    }
}

#[test]
fn no_release_of_personalized_tells_who_asked_for_less_leakage() {
    for effort in ["none", "fast"] {
        let parameters = json!({"k": 5, "sensitive": "disease", "effort": effort});
        let attained = attacked(("personalized", &parameters), Ask::OfValues);
        attained.into_iter().for_each(tells_little);
    }
}

/// What the tests above would see of an engine that hides nobody.
#[test]
fn without_companions_the_attack_finds_who_asked() {
    let mut parameters = json!({"k": 5, "askers_share_max": 1});
    let [one, three] = attacked(("mondrian", &parameters), Ask::OfValues);
    // As many others again make the conditions hold; they are always the same.
    assert!(one.precision > 0.45 && three.precision > 0.45 && one.auc > 0.97);
    parameters["effort"] = json!("best");
    let [_, three] = attacked_by(("mondrian", &parameters), Ask::K, true);
    assert!(three.precision > 0.25);
    // Under one secret a second release makes the same groups, and adds nothing.
    let [one, three] = attacked(("mondrian", &parameters), Ask::K);
    assert_eq!(one.precision, three.precision);
}

/// A release of `mondrian` made under one share, and the verdict on it under
/// the share of a job that says nothing.
fn verdict((table, preferences): (Table, Vec<Preference>), share_max: f64) -> Vec<String> {
    let parameters = json!({"k": 5, "askers_share_max": share_max});
    let engine = ("mondrian", &parameters);
    let (requirements, mut releases) = released((&table, &preferences), engine, (0..1, false));
    let release = releases.remove(0);
    let mut case = Case::made_by("mondrian", (table, requirements), parameters, release);
    let engine = Engine::parse("mondrian", &json!({"k": 5}), case.table.schema());
    let policy = engine.expect("they fit").policy(case.table.schema());
    let policy = policy.expect("they fit the schema");
    case.requirements = Requirements::new(&case.table, policy, &preferences);
    let verdict = case.verdict();
    let mut checks = verdict.checks.iter();
    let check = checks.find(|check| check.kind == "terms_visible");
    let check = check.expect("the attack is carried out");
    assert_eq!((check.claimed, check.figures.len()), (Some(SHARE_MAX), 2));
    verdict.failed_kinds()
}

#[test]
fn the_verifier_refuses_a_release_that_hides_fewer_than_the_job_states() {
    let nothing: [&str; 0] = [];
    assert_eq!(verdict(patients(Ask::OfValues), SHARE_MAX), nothing);
    assert_eq!(verdict(patients(Ask::OfValues), 0.1), nothing);
    assert_eq!(verdict(patients(Ask::OfValues), 1.0), ["terms_visible"]);
}

#[test]
fn the_share_holds_where_the_old_ask_more_often() {
    let nothing: [&str; 0] = [];
    assert_eq!(verdict(old_patients(), SHARE_MAX), nothing);
}
