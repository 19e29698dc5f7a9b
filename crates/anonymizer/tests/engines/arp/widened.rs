//! Blocks that no near block mends: tables in which many ask for far more than
//! the job, so that blocks, looks and buckets fail for somebody's own terms.
//! Nobody is left out because of the block that they are in.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Table;

use crate::case::Case;
use crate::tables::{preferences, table};

const RUNS: u64 = 400;

/// People whose values go with their age, so that near blocks hold the same
/// values and cannot mend each other.
fn people(random: &mut ChaCha12Rng) -> (Table, Value) {
    let schema = json!({
        "name": "people", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "job", "role": "sensitive", "type": "categorical"}
        ]
    });
    let mut records = String::from("name,age,city,job\n");
    let mut wishes = Vec::new();
    let (ages, cities) = (random.random_range(2..14), random.random_range(1..=3));
    for at in 0..random.random_range(12..120) {
        let age = random.random_range(0..ages);
        let city = ["Rome", "Oslo", "Bern"][random.random_range(0..cities)];
        let job = (age / 2 + random.random_range(0..2)) % 6;
        records += &format!("n{at},{age},{city},job {job}\n");
        let mut wish = json!({"subject": format!("n{at}")});
        if random.random_bool(0.1) {
            wish["max_leakage"] = json!([0.34, 0.25, 0.21][random.random_range(0..3)]);
        }
        if random.random_bool(0.1) || wish["max_leakage"].is_number() && random.random_bool(0.5) {
            wish["max_reidentification"] = json!(1.0 / f64::from(random.random_range(3..40)));
        }
        wishes.push(wish);
    }
    (table(schema, &[], &records), json!(wishes))
}

/// Subjects who are published; none if nobody can be.
fn published(form: &str, seed: u64) -> Option<Vec<u32>> {
    let (table, wishes) = people(&mut ChaCha12Rng::seed_from_u64(seed));
    let parameters = json!({"l": 2, "publish": form, "max_excluded": 1.0});
    let case = match Case::run("arp", table, &parameters, &preferences(wishes), seed) {
        Ok(case) => case.drawn_by(seed),
        Err(EngineError::Infeasible(_)) => return None,
        Err(error) => panic!("{form}, seed {seed}: {error}"),
    };
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    assert!(verdict.holds(), "{form}, seed {seed}: {failed:#?}");
    let mut subjects: Vec<u32> = case.subjects().iter().map(|subject| subject.0).collect();
    subjects.sort_unstable();
    Some(subjects)
}

/// Both forms have the same condition on everyone together, so both publish
/// the same people, whatever their blocks are like.
#[test]
fn generalized_and_sliced_blocks_are_of_the_same_people() {
    let mut released = 0;
    for seed in 0..RUNS {
        let generalized = published("generalization", seed);
        assert_eq!(generalized, published("slicing", seed), "seed {seed}");
        released += u64::from(generalized.is_some());
    }
    assert!(released > RUNS / 2, "{released} of {RUNS} released");
}
