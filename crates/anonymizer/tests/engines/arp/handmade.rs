//! Small tables by hand: every bound at equality, answers, personal terms.

use serde_json::{Value, json};
use vizard_anonymizer::catalog::Engine;
use vizard_anonymizer::engine::{EngineError, Infeasible, RunContext};
use vizard_anonymizer::microdata::{Preference, Table};
use vizard_anonymizer::privacy::Requirements;

use crate::case::Case;
use crate::tables;

/// Runs an engine on a table.
pub fn publish(
    engine: &str,
    table: Table,
    parameters: Value,
    preferences: Vec<Preference>,
) -> Result<Case, EngineError> {
    publish_by(7, engine, table, (parameters, preferences))
}

/// The same by the seed and the dataset's secret of one number.
pub fn publish_by(
    seed: u64,
    engine: &str,
    table: Table,
    (parameters, preferences): (Value, Vec<Preference>),
) -> Result<Case, EngineError> {
    let parsed = Engine::parse(engine, &parameters, table.schema())?;
    let policy = parsed.policy(table.schema())?;
    let requirements = Requirements::new(&table, policy, &preferences);
    let context = RunContext::silent(seed);
    let release = parsed.run(&table, &requirements, &context)?;
    let made = (table, requirements);
    let case = Case::made_by(engine, made, parsed.parameters().clone(), release);
    Ok(case.drawn_by(seed))
}

/// A table of (city, disease), each letter a value.
pub fn table(rows: &[(&str, &str)]) -> Table {
    let schema = json!({
        "name": "t", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]});
    let mut records = String::from("id,city,disease\n");
    for (at, (city, disease)) in rows.iter().enumerate() {
        records += &format!("p{at},{city},{disease}\n");
    }
    tables::table(schema, &[], &records)
}

const ENGINES: [&str; 3] = ["arp", "aip", "anatomy"];

fn infeasible(result: Result<Case, EngineError>) -> Infeasible {
    match result {
        Err(EngineError::Infeasible(answer)) => *answer,
        other => panic!("{:?}", other.err()),
    }
}

#[test]
fn a_value_in_exactly_one_of_l_records_can_be_published() {
    let rows = [("A", "x"), ("A", "y"), ("B", "x"), ("B", "z")];
    for engine in ENGINES {
        let case = publish(engine, table(&rows), json!({"l": 2}), vec![]).unwrap();
        let verdict = case.verdict();
        assert!(
            verdict.holds(),
            "{:#?}",
            verdict.failed().collect::<Vec<_>>()
        );
        assert_eq!(case.rows(), 4);
    }
}

#[test]
fn a_value_in_more_than_one_of_l_records_is_refused_with_the_strongest_l() {
    let rows = [("A", "x"), ("A", "x"), ("B", "x"), ("B", "z"), ("B", "y")];
    for engine in ENGINES {
        let answer = infeasible(publish(engine, table(&rows), json!({"l": 2}), vec![]));
        assert_eq!((answer.parameter, answer.strongest_value), ("l", Some(1.0)));
        assert_eq!(answer.attribute.as_deref(), Some("disease"));
        assert!(answer.condition.contains("3 of 5"), "{}", answer.condition);
    }
}

#[test]
fn blocks_of_a_whole_city_are_not_mixed_with_another() {
    let rows = [
        ("A", "x"),
        ("A", "y"),
        ("B", "x"),
        ("B", "z"),
        ("A", "z"),
        ("A", "x"),
    ];
    let case = publish("aip", table(&rows), json!({"l": 2}), vec![]).unwrap();
    let (cities, blocks) = (case.cells("quasi", "city"), case.numbers("quasi", "block"));
    let mut pairs: Vec<_> = cities
        .iter()
        .map(|city| format!("{city:?}"))
        .zip(blocks)
        .collect();
    pairs.sort();
    pairs.dedup();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
}

#[test]
fn a_city_that_is_not_eligible_is_merged_with_its_neighbour() {
    // B alone has x twice of three.
    let rows = [
        ("A", "z"),
        ("A", "y"),
        ("B", "x"),
        ("B", "x"),
        ("B", "z"),
        ("C", "y"),
        ("C", "z"),
        ("C", "y"),
        ("C", "z"),
    ];
    // Blocks that are not those of the paper have four records for each l.
    for (partitioning, times) in [("paper", 1), ("recursive", 4)] {
        let parameters = json!({"l": 2, "partitioning": partitioning});
        let rows = rows.repeat(times);
        let case = publish("aip", table(&rows), parameters, vec![]).unwrap();
        assert!(case.verdict().holds());
        let blocks = case.numbers("quasi", "block");
        assert_eq!(blocks.iter().max(), Some(&2));
    }
}

#[test]
fn a_subject_who_asks_for_more_than_the_table_has_is_left_out() {
    let rows = [("A", "x"), ("A", "y"), ("B", "x"), ("B", "y")];
    let preferences = || tables::preferences(json!([{"subject": "p0", "max_leakage": 0.1}]));
    for engine in ENGINES {
        let parameters = json!({"l": 1, "max_excluded": 0.25});
        let case = publish(engine, table(&rows), parameters, preferences()).unwrap();
        assert!(case.verdict().holds());
        assert_eq!((case.rows(), case.excluded), (3, 1));
        let answer = infeasible(publish(
            engine,
            table(&rows),
            json!({"l": 1}),
            preferences(),
        ));
        assert_eq!(answer.parameter, "max_excluded");
        assert_eq!(answer.strongest_value, Some(0.25));
    }
}

#[test]
fn an_own_l_holds_over_every_row_with_the_same_quasi_identifiers() {
    // Ten people of one city; the first asks for 1 in 4.
    let diseases = ["a", "b", "c", "d", "e", "a", "b", "c", "d", "e"];
    let rows: Vec<(&str, &str)> = diseases.iter().map(|&disease| ("A", disease)).collect();
    let preferences = tables::preferences(json!([{"subject": "p0", "max_leakage": 0.25}]));
    for engine in ENGINES {
        let case = publish(engine, table(&rows), json!({"l": 2}), preferences.clone()).unwrap();
        assert!(case.verdict().holds());
        let mut sizes = std::collections::BTreeMap::new();
        for block in case.numbers("quasi", "block") {
            *sizes.entry(block).or_insert(0) += 1;
        }
        assert!(sizes.values().all(|&size| size >= 4), "{sizes:?}");
    }
}

#[test]
fn an_own_k_counts_rows_with_the_same_quasi_identifiers() {
    let rows = [("A", "x"), ("A", "y"), ("A", "z"), ("B", "x"), ("B", "y")];
    let ask = |subject: &str| {
        tables::preferences(json!([{"subject": subject, "max_reidentification": 0.3334}]))
    };
    let case = publish("arp", table(&rows), json!({"l": 2}), ask("p0")).unwrap();
    assert!(case.verdict().holds());
    assert_eq!(case.rows(), 5);
    let answer = infeasible(publish("arp", table(&rows), json!({"l": 2}), ask("p3")));
    assert_eq!(
        (answer.parameter, answer.strongest_value),
        ("max_excluded", Some(0.2))
    );
}

#[test]
fn nobody_left_is_an_answer() {
    let rows = [("A", "x")];
    let preferences = tables::preferences(json!([{"subject": "p0", "exclude": true}]));
    let answer = infeasible(publish("arp", table(&rows), json!({"l": 1}), preferences));
    assert_eq!((answer.parameter, answer.strongest_value), ("l", None));
}

#[test]
fn parameters_that_do_not_fit_are_refused_by_name() {
    let refused = [
        ("arp", json!({"l": 0}), "parameters"),
        ("arp", json!({"l": 2, "k": 2}), "parameters"),
        ("arp", json!({"l": 2, "sensitive": ["city"]}), "sensitive"),
        (
            "arp",
            json!({"l": 2, "sensitive": ["disease", "disease"]}),
            "sensitive",
        ),
        ("arp", json!({"l": 2, "sensitive": []}), "sensitive"),
        ("arp", json!({"l": 2, "retention": 0.5}), "retention"),
        (
            "arp",
            json!({"l": 2, "publish": "randomization"}),
            "retention",
        ),
        (
            "arp",
            json!({"l": 2, "publish": "randomization", "retention": 1.0}),
            "retention",
        ),
        ("aip", json!({"l": 2, "max_excluded": 1.5}), "max_excluded"),
        (
            "anatomy",
            json!({"l": 2, "partitioning": "paper"}),
            "parameters",
        ),
    ];
    for (engine, parameters, wanted) in refused {
        let rows = [("A", "x"), ("B", "y")];
        match publish(engine, table(&rows), parameters.clone(), vec![]) {
            Err(EngineError::InvalidParameter { parameter, .. }) => {
                assert_eq!(parameter, wanted, "{parameters}");
            }
            other => panic!("{parameters}: {:?}", other.err()),
        }
    }
}

#[test]
fn manifests_of_listed_blocks_say_that_identity_is_not_protected() {
    let rows = [("A", "x"), ("A", "y")];
    for engine in ENGINES {
        let case = publish(engine, table(&rows), json!({"l": 2}), vec![]).unwrap();
        let texts = &case.manifest.not_protected;
        assert!(
            texts.iter().any(|text| text.starts_with("identity")),
            "{texts:?}"
        );
    }
}

#[test]
fn groups_have_as_many_records_as_their_members_ask_for() {
    let rows: Vec<(&str, &str)> = (0..24)
        .map(|at| (["A", "B", "C"][at / 8], ["x", "y", "z", "w"][at % 4]))
        .collect();
    let preferences =
        tables::preferences(json!([{"subject": "p0", "max_reidentification": 0.125}]));
    let parameters = json!({"l": 4, "publish": "generalization"});
    let case = publish("arp", table(&rows), parameters, preferences).unwrap();
    let verdict = case.verdict();
    assert!(
        verdict.holds(),
        "{:#?}",
        verdict.failed().collect::<Vec<_>>()
    );
    let sizes: Vec<usize> = case.groups().iter().map(Vec::len).collect();
    let own = (0..case.rows())
        .find(|&row| case.subjects()[row].at() == 0)
        .unwrap();
    let own = case
        .groups()
        .iter()
        .find(|rows| rows.contains(&own))
        .unwrap()
        .len();
    assert!(own >= 8 && sizes.iter().all(|&size| size >= 4), "{sizes:?}");
}

#[test]
fn randomization_claims_what_all_rows_of_a_block_tell() {
    let rows: Vec<(&str, &str)> = (0..40)
        .map(|at| ("A", ["a", "b", "c", "d", "e"][at % 5]))
        .collect();
    let parameters = json!({"l": 5, "publish": "randomization", "retention": 0.3});
    let case = publish("arp", table(&rows), parameters, vec![]).unwrap();
    assert!(case.verdict().holds());
    let claim = case.manifest.guarantees.first().unwrap();
    let vizard_anonymizer::release::Guarantee::RandomizedResponse { max_posterior, .. } = claim
    else {
        panic!("{claim:?}");
    };
    assert!((0.59..0.61).contains(max_posterior), "{max_posterior}");
}

#[test]
fn a_ring_of_l_records_covers_all_of_them_in_every_row() {
    let rows = [("A", "x"), ("B", "y"), ("C", "z")];
    let case = publish("ng", table(&rows), json!({"l": 3}), vec![]).unwrap();
    assert!(case.verdict().holds());
    let cities = case.cells("microdata", "city");
    assert!(cities.iter().all(|cell| *cell == cities[0]));
    assert!(matches!(&cities[0], vizard_anonymizer::release::Cell::Set(all) if all.len() == 3));
}

#[test]
fn a_ring_is_as_wide_as_the_strictest_k_asks() {
    let rows: Vec<(&str, &str)> = (0..12)
        .map(|at| ("A", ["x", "y", "z", "w"][at % 4]))
        .collect();
    let ask =
        |share: f64| tables::preferences(json!([{"subject": "p0", "max_reidentification": share}]));
    let case = publish("ng", table(&rows), json!({"l": 3}), ask(0.1)).unwrap();
    assert!(case.verdict().holds());
    assert_eq!(case.rows(), 12);
    let answer = infeasible(publish("ng", table(&rows), json!({"l": 3}), ask(0.07)));
    assert_eq!(answer.parameter, "max_excluded");
}

#[test]
fn rows_that_show_values_take_tables_with_one_sensitive_attribute() {
    let schema = json!({
        "name": "t", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "drug", "role": "sensitive", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]});
    let table = tables::table(schema, &[], "id,drug,disease\np0,a,x\np1,b,y\n");
    match publish("ng", table, json!({"l": 2, "sensitive": ["drug"]}), vec![]) {
        Err(EngineError::InvalidParameter { parameter, .. }) => assert_eq!(parameter, "sensitive"),
        other => panic!("{:?}", other.err()),
    }
}
