//! Companions stay: the same in every release of a dataset, and nearly the
//! same when people come, leave or change their mind.

use std::collections::BTreeSet;

use serde_json::json;
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::kernel::Included;
use vizard_anonymizer::engine::kernel::companions::companions;
use vizard_anonymizer::microdata::{Code, RecordIndex, Values};
use vizard_anonymizer::privacy::{Requirements, Seed, Share};

use super::made::{old_patients, patients_and};

/// Names of those who are treated as asking for something, and of those who
/// do ask, of so many patients under a secret.
fn treated(records: usize, every: usize, secret: u64) -> (BTreeSet<String>, usize) {
    let (table, preferences) = patients_and(records, |at, _| {
        at.is_multiple_of(every)
            .then(|| json!({"max_leakage": 0.2}))
    });
    let parameters = json!({"k": 5});
    let engine = Engine::parse("mondrian", &parameters, table.schema()).expect("they fit");
    let policy = engine.policy(table.schema()).expect("they fit the schema");
    let requirements = Requirements::new(&table, policy, &preferences);
    let included = Included::gather(&table, &requirements).expect("one record a patient");
    let share = Share::new(0.25).expect("a share");
    let found = companions(&included, share, &Seed::of_number(secret));
    let lent = requirements.lent(&found);
    let records = (0..table.records()).map(RecordIndex::from_usize);
    let asking = records.filter(|&record| lent.of(record).own.l[0] > 1);
    let name = |record| {
        table
            .subject_keys()
            .get(table.subject_of(record).at())
            .to_owned()
    };
    (asking.map(name).collect(), preferences.len())
}

#[test]
fn each_who_asks_has_three_companions_of_their_own_for_a_share_of_a_quarter() {
    let (treated, askers) = treated(1_000, 20, 1);
    assert_eq!((treated.len(), askers), (200, 50));
}

#[test]
fn another_dataset_has_other_companions() {
    let (one, askers) = treated(1_000, 20, 1);
    let (other, _) = treated(1_000, 20, 2);
    let both = one.intersection(&other).count();
    assert!(askers <= both && both < askers + 60, "{both}");
}

#[test]
fn who_comes_or_leaves_changes_few_companions() {
    let (before, _) = treated(1_000, 20, 1);
    // Forty come, two of whom ask for something: eight more, but for the few
    // who took the place of others.
    let (after, _) = treated(1_040, 20, 1);
    assert_eq!((before.len(), after.len()), (200, 208));
    let gone = before.difference(&after).count();
    assert!(gone <= 16, "{gone} of 150 companions left");
}

#[test]
fn where_there_are_too_few_others_everyone_is_treated_alike() {
    let (treated, askers) = treated(1_000, 3, 1);
    assert_eq!((treated.len(), askers), (1_000, 334));
}

#[test]
fn where_people_who_are_alike_ask_more_often_everyone_has_more_companions() {
    let (table, preferences) = old_patients();
    let engine = Engine::parse("mondrian", &json!({"k": 5}), table.schema()).expect("they fit");
    let policy = engine.policy(table.schema()).expect("they fit the schema");
    let requirements = Requirements::new(&table, policy, &preferences);
    let included = Included::gather(&table, &requirements).expect("one record a patient");
    let share = Share::new(0.25).expect("a share");
    let found = companions(&included, share, &Seed::of_number(1));
    let age = table.schema().find("age").expect("it exists");
    let ages = table.coded(age).expect("it is coded").domain.values();
    let is_old = |&record: &RecordIndex| match (ages, table.code(age, record)) {
        (Values::Integer(ages), Some(Code(code))) => ages[code as usize] > 65,
        _ => panic!("ages are numbers"),
    };
    let asks = |record: &RecordIndex| requirements.of(*record).own.l[0] > 1;
    let records = (0..table.records()).map(RecordIndex::from_usize);
    let askers = records.filter(asks).filter(is_old).count() as f64;
    let others = found.iter().filter(|(record, _)| is_old(record)).count() as f64;
    let share = askers / (askers + others);
    assert!(
        share < 0.30,
        "{askers} of the old ask, with {others} others"
    );
    // Three each would leave them at twice the share.
    assert!(found.len() > 3 * preferences.len(), "{}", found.len());
}
