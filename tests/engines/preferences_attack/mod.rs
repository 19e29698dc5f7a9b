//! Who asked for something must not show: an adversary takes releases of one
//! dataset apart, and finds askers among no more others than the job states.

mod adversary;
mod made;
mod stays;

use serde_json::{Value, json};
use vizard::catalog::Engine;
use vizard::engine::RunContext;
use vizard::microdata::{Preference, Table};
use vizard::privacy::{Requirements, Seed};
use vizard::release::Release;

use adversary::{Ask, Attained, attack};
use made::patients;

/// What a job states where it says nothing.
const SHARE_MAX: f64 = 0.25;
/// Standard deviations that chance may add to a share of at least so many
/// people: the best of many thresholds is looked at.
const CHANCE: f64 = 4.0;

/// Requirements and releases of one dataset by several seeds.
fn released(
    (table, preferences): (&Table, &[Preference]),
    (engine, parameters): (&str, &Value),
    seeds: std::ops::Range<u64>,
) -> (Requirements, Vec<Release>) {
    let engine = Engine::parse(engine, parameters, table.schema()).expect("they fit");
    let policy = engine.policy(table.schema()).expect("they fit the schema");
    let requirements = Requirements::new(table, policy, preferences);
    let releases = seeds.map(|seed| {
        let context = RunContext {
            dataset_secret: Seed::of_number(77),
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
    let (table, preferences) = patients(ask);
    let (requirements, releases) = released((&table, &preferences), engine, 0..3);
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
    let chance = CHANCE * (SHARE_MAX * (1.0 - SHARE_MAX) / least).sqrt();
    assert!(found.precision <= SHARE_MAX + chance, "{found:?}");
}

#[test]
fn no_release_of_mondrian_tells_who_asked_for_an_l() {
    for effort in ["none", "fast", "best"] {
        let parameters = json!({"k": 5, "effort": effort});
        let attained = attacked(("mondrian", &parameters), Ask::OfValues);
        attained.map(tells_little);
    }
}

#[test]
fn no_release_of_mondrian_tells_who_asked_for_a_k() {
    for effort in ["none", "fast", "best"] {
        let parameters = json!({"k": 5, "effort": effort});
        let attained = attacked(("mondrian", &parameters), Ask::K);
        attained.map(tells_little);
    }
}

#[test]
fn no_release_of_personalized_tells_who_asked_for_a_k() {
    for effort in ["none", "fast"] {
        let parameters = json!({"k": 5, "sensitive": "disease", "effort": effort});
        let attained = attacked(("personalized", &parameters), Ask::K);
        attained.map(tells_little);
    }
}

#[test]
fn no_release_of_personalized_tells_who_asked_for_less_leakage() {
    for effort in ["none", "fast"] {
        let parameters = json!({"k": 5, "sensitive": "disease", "effort": effort});
        let attained = attacked(("personalized", &parameters), Ask::OfValues);
        attained.map(tells_little);
    }
}
