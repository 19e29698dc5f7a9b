//! Which records stand together: as seed and dataset's secret deal them, and by
//! nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use vizard_anonymizer::microdata::Table;
use vizard_anonymizer::privacy::Seed;
use vizard_anonymizer::verify::{Check, Place};

use super::handmade::{publish_by, table};
use crate::case::Case;
use crate::tables;

/// Two cities with every value four times, and between them one of two people
/// who share a value.
fn cities() -> Table {
    let values = ["v", "w", "x", "y", "z"];
    let of_city = |city| (0..20).map(move |at| (city, values[at % 5]));
    let rows = of_city("A").chain([("B", "x"); 2]).chain(of_city("C"));
    table(&rows.collect::<Vec<_>>())
}

/// Every engine and form; whether the dataset's secret draws blocks, not
/// only the seed neighbours.
fn jobs() -> [(&'static str, Value, bool); 9] {
    let shown = |form: &str| json!({"l": 3, "publish": form});
    let paper = || json!({"l": 3, "partitioning": "paper"});
    let randomized = json!({"l": 3, "publish": "randomization", "retention": 0.4});
    [
        ("arp", json!({"l": 3}), true),
        ("arp", shown("generalization"), true),
        ("arp", shown("slicing"), true),
        ("arp", randomized, true),
        ("anatomy", json!({"l": 3}), true),
        ("aip", json!({"l": 3}), false),
        ("aip", paper(), false),
        ("ng", json!({"l": 3}), false),
        ("ng", paper(), false),
    ]
}

fn publish(seed: u64, engine: &str, parameters: &Value) -> Case {
    let job = (parameters.clone(), Vec::new());
    publish_by(seed, engine, cities(), job).expect("the cities can be published")
}

fn dealt(case: &Case) -> Check {
    let verdict = case.verdict();
    let mut checks = verdict.checks.into_iter();
    let found = checks.find(|check| check.kind == "blocks_as_dealt");
    found.expect("the dealing is checked")
}

#[test]
fn every_engine_of_blocks_is_held_to_its_dealing() {
    for (engine, parameters, _) in jobs() {
        let check = dealt(&publish(7, engine, &parameters));
        assert!(check.holds, "{engine} {parameters}: {check:?}");
    }
}

#[test]
fn blocks_of_another_seed_are_refused_with_the_first_row_that_stands_elsewhere() {
    for (engine, parameters, is_drawn) in jobs() {
        let case = publish(7, engine, &parameters);
        let by_others = (8..28).map(|seed| {
            let mut other = case.clone();
            other.seed = Seed::of_number(seed);
            other.dataset_secret = Seed::of_number(seed);
            dealt(&other)
        });
        let refused: Vec<Check> = by_others.filter(|check| !check.holds).collect();
        let number = refused.len();
        let is_paper = parameters["partitioning"] == json!("paper");
        match (is_drawn, is_paper) {
            (true, _) => assert_eq!(number, 20, "{engine} {parameters}"),
            // The two of the city between go one way or the other.
            (false, true) => assert!((2..=18).contains(&number), "{engine}: {number}"),
            (false, false) => assert_eq!(number, 0, "{engine}"),
        }
        for check in refused {
            assert_eq!(check.attribute.as_deref(), Some("disease"));
            assert!(matches!(check.worst, Some(Place::Row(1..=42))), "{check:?}");
        }
    }
}

/// Costs of six cities, of which three lie near each other. Whoever knows the
/// cities, and that near costs of two cities were joined with far ones, would
/// know whose they are: so near costs are joined with others of their city.
#[test]
fn blocks_are_joined_for_their_spread_inside_a_block_of_like_records_alone() {
    const COSTS: [i64; 5] = [10, 11, 12, 8_000, 9_000];
    let mut text = String::from("id,city,cost\n");
    for at in 0..186_usize {
        text += &format!("p{at},c{},{}\n", at % 6, COSTS[at * at % 31 % 5]);
    }
    let schema = json!({
        "name": "costs", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "cost", "role": "sensitive", "type": "integer"},
        ],
    });
    let mut joined = 0;
    for seed in 0..20 {
        let costs = tables::table(schema.clone(), &[], &text);
        let job = (json!({"l": 2, "min_spread": {"cost": 5_000}}), Vec::new());
        let case = publish_by(seed, "arp", costs, job).expect("they can be published");
        let verdict = case.verdict();
        assert!(
            verdict.holds(),
            "{:?}",
            verdict.failed().collect::<Vec<_>>()
        );
        let mut blocks: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        let numbers = case.numbers("quasi", "block");
        for (number, subject) in numbers.into_iter().zip(case.subjects()) {
            blocks.entry(number).or_default().push(subject.at());
        }
        for people in blocks.into_values() {
            let costs: BTreeSet<i64> = people.iter().map(|at| COSTS[at * at % 31 % 5]).collect();
            let cities: BTreeSet<usize> = people.iter().map(|at| at % 6).collect();
            let spread = costs.last().unwrap() - costs.first().unwrap();
            assert!(spread >= 5_000, "{costs:?}");
            let is_joined = costs.len() < people.len();
            joined += usize::from(is_joined);
            assert!(!is_joined || cities.len() == 1, "{cities:?}");
        }
    }
    assert!(joined > 100, "{joined}");
}

/// Two records of one value in one block, with the same l, are as likely in
/// either place: nothing but the secret decides between them.
#[test]
fn each_record_of_a_value_is_as_likely_to_stand_with_any_other() {
    const SEEDS: u64 = 600;
    let rows = ["x", "x", "x", "y", "y", "z", "w"].map(|value| ("A", value));
    for engine in ["arp", "anatomy"] {
        let mut together = [[0_u64; 7]; 7];
        for seed in 0..SEEDS {
            let job = (json!({"l": 2}), Vec::new());
            let case = publish_by(seed, engine, table(&rows), job).expect("they are eligible");
            let blocks = case.numbers("quasi", "block");
            let mut block = [0; 7];
            for (row, subject) in case.subjects().iter().enumerate() {
                block[subject.at()] = blocks[row];
            }
            for (one, with) in together.iter_mut().enumerate() {
                let with = with.iter_mut().zip(&block);
                with.for_each(|(count, other)| *count += u64::from(block[one] == *other));
            }
        }
        // Records 0 to 2 share x, 3 and 4 share y.
        for (other, alike) in [(3, 0..3), (5, 0..3), (6, 0..3), (5, 3..5), (0, 3..5)] {
            let counts: Vec<u64> = alike.map(|one| together[other][one]).collect();
            let mean = counts.iter().sum::<u64>() / counts.len() as u64;
            // Five deviations of a share of 600 are 61.
            let is_even = counts.iter().all(|&count| count.abs_diff(mean) <= 61);
            assert!(mean > 100 && is_even, "{engine}, with {other}: {counts:?}");
        }
    }
}
