//! Equal vectors: people with the same quasi-identifiers in several blocks.

use rand::RngExt;
use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::SeedableRng;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::microdata::Table;

use crate::arp::handmade::publish;
use crate::case::Case;
use crate::tables;

use super::dealers::deal_by_vector;
use super::equal_vectors::{Attained, Hits, attack};
use super::sight::Source;

const L: u32 = 5;

/// Few vectors with some people each, as census data have: `vectors` of them,
/// with 2 to 4 people. Values are independent of vectors, but for a share
/// `correlated` of the people, who have the value of their vector.
fn table(seed: u64, vectors: u32, correlated: f64) -> Table {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    let mut records = String::from("id,age,city,disease\n");
    let mut number = 0;
    for vector in 0..vectors {
        for _ in 0..random.random_range(2..5) {
            let value = if random.random_bool(correlated) {
                vector % 14
            } else {
                random.random_range(0..14)
            };
            records += &format!("p{number},{},c{},d{value}\n", 20 + vector / 10, vector % 10);
            number += 1;
        }
    }
    let schema = json!({
        "name": "t", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]});
    tables::table(schema, &[], &records)
}

fn attained(case: &Case) -> Attained {
    let source = Source::new(&case.table, (&case.tables, &case.lineage)).expect("it can be read");
    let index = source.sensitive()[0];
    attack(&source.sight(index).expect("it is published"), L)
}

/// Whether guesses are right more often than 1 in l, and three deviations.
fn is_beyond(hits: Hits) -> bool {
    let (people, chance) = (hits.people as f64, 1.0 / f64::from(L));
    hits.right > people * chance + 3.0 * (people * chance).sqrt()
}

fn check(case: &Case) -> vizard_anonymizer::verify::Check {
    let mut all = case.verdict().checks.into_iter();
    let found = all.find(|check| check.kind == "equal_vectors");
    found.expect("the verifier carries the attack out")
}

#[test]
fn what_blocks_with_equal_vectors_share_tells_no_more_than_one_in_l() {
    let forms = [
        ("arp", json!({"l": L})),
        ("arp", json!({"l": L, "partitioning": "paper"})),
        ("arp", json!({"l": L, "publish": "generalization"})),
        ("arp", json!({"l": L, "publish": "slicing"})),
        ("anatomy", json!({"l": L})),
        ("aip", json!({"l": L})),
    ];
    for (engine, parameters) in forms {
        let case = publish(engine, table(1, 600, 0.0), parameters.clone(), vec![]).unwrap();
        let attained = attained(&case);
        for hits in [attained.common, attained.fewer_than_l, attained.likeliest] {
            assert!(!is_beyond(hits), "{engine} {parameters}: {attained:?}");
        }
        assert!(case.verdict().holds(), "{engine} {parameters}");
    }
}

#[test]
fn blocks_that_hold_the_true_values_of_their_vectors_are_refused() {
    let mut case = publish("arp", table(1, 600, 0.0), json!({"l": L}), vec![]).unwrap();
    let before = attained(&case);
    deal_by_vector(&mut case, "disease", 100);
    case.seal();
    let after = attained(&case);
    assert!(
        !is_beyond(before.common) && is_beyond(after.common),
        "{before:?} {after:?}"
    );
    assert!(after.common.rate() > 0.3, "{after:?}");
    let verdict = case.verdict();
    assert!(verdict.failed_kinds().contains(&"equal_vectors".to_owned()));
    assert!(!check(&case).holds);
}

#[test]
fn the_verifier_attains_what_the_attack_does() {
    for engine in ["arp", "anatomy"] {
        let case = publish(engine, table(2, 200, 0.3), json!({"l": L}), vec![]).unwrap();
        let (naive, found) = (attained(&case), check(&case));
        let close = |one: f64, other: f64| (one - other).abs() < 1e-4;
        assert!(
            close(naive.common.rate(), found.attained.unwrap()),
            "{found:?}"
        );
        let figure = |name: &str| {
            let mut figures = found.figures.iter();
            figures
                .find(|figure| figure.0 == name)
                .map_or(f64::NAN, |figure| figure.1)
        };
        assert!(close(naive.vectors as f64, figure("vectors")));
        assert!(close(naive.common.people as f64, figure("people")));
        assert!(close(
            naive.fewer_than_l.people as f64,
            figure("people_with_few_in_common")
        ));
        assert!(close(
            naive.fewer_than_l.rate(),
            figure("right_with_few_in_common")
        ));
    }
}

#[test]
fn data_in_which_equal_people_share_values_can_be_published() {
    let mut compared = 0;
    for seed in 0..200 {
        let correlated = [0.0, 0.2, 0.5, 0.9][seed as usize % 4];
        let table = table(seed, 10 + seed as u32 % 60, correlated);
        for (engine, l) in [("arp", 3), ("anatomy", 3)] {
            let Ok(case) = publish(engine, table.clone(), json!({"l": l}), vec![]) else {
                continue;
            };
            let check = check(&case);
            compared += usize::from(check.claimed.is_some());
            assert!(check.holds, "{engine} {seed}: {check:?}");
        }
    }
    assert!(compared > 250, "{compared} compared");
}

#[test]
fn a_job_that_names_the_search_is_told_why_it_was_withdrawn() {
    let schema = table(1, 4, 0.0).schema().clone();
    for asked in [json!(true), json!(false), Value::Null] {
        let parameters = json!({"l": 2, "optimize": asked});
        let error = Engine::parse("arp", &parameters, &schema).expect_err("it is refused");
        let said = error.to_string();
        assert!(
            said.contains("optimize") && said.contains("withdrawn"),
            "{said}"
        );
    }
}
