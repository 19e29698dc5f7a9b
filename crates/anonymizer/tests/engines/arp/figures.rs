//! GLP and RE of reports beside a naive reading of the tables, and what they
//! must be: no lower than their floor, and of `arp` lower than of others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use vizard_anonymizer::microdata::Role;
use vizard_anonymizer::release::Cell;
use vizard_anonymizer::utility::UtilityReport;

use crate::case::Case;

use super::scenario::Plan;

fn report(case: &Case) -> UtilityReport {
    case.report().expect("the release fits together")
}

fn figure(report: &UtilityReport, measure: &str, name: &str) -> f64 {
    let value: &Value = report.value(measure).expect("it is measured");
    let value = &value["attributes"]["s0"][name];
    value.as_f64().expect("it is a number")
}

/// What the tables say of each row: the values of its block with their share.
fn listed(case: &Case) -> Vec<BTreeMap<String, f64>> {
    let text = |cell: &Cell| match cell {
        Cell::Label(label) => label.clone(),
        other => {
            let mut text = String::new();
            other.text(&mut text);
            text
        }
    };
    let contents = case.published("sensitive");
    let attributes = case.cells("sensitive", "attribute");
    let values = case.cells("sensitive", "value");
    let (blocks, counts) = (
        case.numbers("sensitive", "block"),
        case.numbers("sensitive", "count"),
    );
    let mut of_block: BTreeMap<u64, BTreeMap<String, f64>> = BTreeMap::new();
    for row in 0..contents.rows() {
        if attributes[row] == Cell::Label("s0".into()) {
            let block = of_block.entry(blocks[row]).or_default();
            block.insert(text(&values[row]), counts[row] as f64);
        }
    }
    for block in of_block.values_mut() {
        let size: f64 = block.values().sum();
        block.values_mut().for_each(|count| *count /= size);
    }
    let several = case.published("quasi").column("s0_block").is_some();
    let name = if several { "s0_block" } else { "block" };
    let numbers = case.numbers("quasi", name).into_iter();
    numbers.map(|block| of_block[&block].clone()).collect()
}

/// GLP, its floor and RE, word by word from their definitions.
fn naive(case: &Case, l: f64) -> (f64, f64, f64) {
    let schema = case.table.schema();
    let quasi = schema.select(|attribute| attribute.role == Role::QuasiIdentifier);
    let vector = |row: usize| -> Vec<u32> {
        let codes = quasi.iter();
        let codes = codes.map(|&index| case.table.code(index, case.record(row)));
        codes.map(|code| code.expect("it is coded").0).collect()
    };
    let own = |row: usize| case.domain("s0").text(case.code("s0", row));
    let mut seen: BTreeMap<Vec<u32>, BTreeSet<String>> = BTreeMap::new();
    for row in 0..case.rows() {
        seen.entry(vector(row)).or_default().insert(own(row));
    }
    let (mut glp, mut floor, mut re) = (0.0, 0.0, 0.0);
    for (row, values) in listed(case).iter().enumerate() {
        let seen = &seen[&vector(row)];
        let unseen = values.iter().filter(|(value, _)| !seen.contains(*value));
        glp += unseen.map(|(_, share)| share).sum::<f64>();
        floor += (l - seen.len() as f64).max(0.0) / l;
        re += 1.0 - values[&own(row)];
    }
    let n = case.rows() as f64;
    (glp / n, floor / n, re)
}

/// The same table published by an engine.
fn published(engine: &'static str, plan: Plan) -> Option<Case> {
    let mut scenario = plan.scenario("anatomy");
    scenario.engine = engine;
    scenario.preferences.clear();
    let parameters = serde_json::json!({"l": 3, "sensitive": ["s0"]});
    scenario.publish(&parameters, plan.seed).ok()
}

fn plans() -> impl Iterator<Item = Plan> {
    (0..60).map(|seed| Plan {
        seed,
        records: 60 + 20 * (seed % 40) as usize,
        quasi: 1 + seed as usize % 3,
        sensitive: 1,
    })
}

#[test]
fn glp_and_re_are_those_of_a_naive_reading_of_the_tables() {
    let mut compared = 0;
    for plan in plans() {
        for engine in ["arp", "aip", "anatomy"] {
            let Some(case) = published(engine, plan) else {
                continue;
            };
            let (glp, floor, re) = naive(&case, 3.0);
            let report = report(&case);
            let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + b.abs());
            assert!(close(figure(&report, "glp", "glp"), glp));
            assert!(close(figure(&report, "glp", "floor"), floor));
            assert!(close(figure(&report, "reconstruction", "re"), re));
            let bound = case.rows() as f64 * 2.0 / 3.0;
            assert!(close(figure(&report, "reconstruction", "bound"), bound));
            assert!(glp >= floor - 1e-9 && re >= bound - 1e-9);
            compared += 1;
        }
    }
    assert!(compared >= 60, "{compared} compared");
}

#[test]
fn arp_loses_less_correlation_than_aip_and_anatomy_over_many_tables() {
    let (mut sums, mut compared) = ([0.0; 3], 0);
    for plan in plans() {
        let engines = ["arp", "aip", "anatomy"];
        let cases: Vec<Case> = engines
            .into_iter()
            .filter_map(|engine| published(engine, plan))
            .collect();
        if cases.len() == 3 {
            let glp: Vec<f64> = cases.iter().map(|case| naive(case, 3.0).0).collect();
            sums.iter_mut().zip(&glp).for_each(|(sum, glp)| *sum += glp);
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared} compared");
    assert!(sums[0] < sums[1] && sums[0] < sums[2], "{sums:?}");
}

#[test]
fn one_attribute_with_eligible_values_loses_nothing() {
    // Two cities, each with every disease equally often.
    let mut records = String::from("id,city,disease\n");
    for at in 0..60 {
        records += &format!(
            "p{at},{},{}\n",
            ["Oslo", "Bergen"][at % 2],
            ["a", "b", "c"][at / 2 % 3]
        );
    }
    let schema = serde_json::json!({
        "name": "t", "subject_key": "id", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "disease", "role": "sensitive", "type": "categorical"}]});
    for engine in ["arp", "aip"] {
        let table = crate::tables::table(schema.clone(), &[], &records);
        let case = super::handmade::publish(engine, table, serde_json::json!({"l": 3}), vec![]);
        let report = report(&case.expect("it can be published"));
        let glp = &report.value("glp").expect("it is measured")["attributes"]["disease"];
        assert_eq!((&glp["glp"], &glp["floor"]), (&0.0.into(), &0.0.into()));
    }
}
