//! Tests of grids, figures and fronts.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::microdata::Schema;

fn schema() -> Schema {
    let document = json!({
        "name": "made-up", "subject_key": "id",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "illness", "role": "sensitive", "type": "categorical"}
        ]
    });
    serde_json::from_value(document).expect("the schema is valid")
}

fn settings(grid: &Value) -> Result<GridSettings, GridError> {
    let grid: Grid = serde_json::from_value(grid.clone()).expect("a grid");
    grid.settings(&schema())
}

#[test]
fn a_grid_gives_each_combination_once_and_varies_only_what_an_engine_takes() {
    let found = settings(&json!({
        "engines": [
            {"engine": "mondrian"},
            {"engine": "arp", "parameters": {"l": 2}},
            {"engine": "mondrian", "parameters": {"effort": "fast"}},
        ],
        "k": [2, 5], "effort": ["fast", "best"],
    }));
    let found = found.expect("settings");
    let told: Vec<(u32, &str, &Value)> = found
        .settings
        .iter()
        .map(|one| (one.number, one.engine.as_str(), &one.parameters))
        .collect();
    assert_eq!(
        told,
        [
            (1, "mondrian", &json!({"k": 2, "effort": "fast"})),
            (2, "mondrian", &json!({"k": 2, "effort": "best"})),
            (3, "mondrian", &json!({"k": 5, "effort": "fast"})),
            (4, "mondrian", &json!({"k": 5, "effort": "best"})),
            (5, "arp", &json!({"l": 2})),
        ]
    );
    assert_eq!(found.refused, []);
}

#[test]
fn combinations_that_an_engine_refuses_are_told_with_the_reason() {
    let found = settings(&json!({
        "engines": [{"engine": "mondrian"}, {"engine": "one_to_many", "parameters": {"k": 2}},
            {"engine": "nothing"}],
        "k": [0, 3],
    }));
    let found = found.expect("settings");
    assert_eq!(found.settings.len(), 1);
    let refused: Vec<&str> = found
        .refused
        .iter()
        .map(|one| one.engine.as_str())
        .collect();
    assert_eq!(
        refused,
        ["mondrian", "one_to_many", "one_to_many", "nothing"]
    );
    assert!(found.refused.iter().all(|one| !one.reason.is_empty()));
}

#[test]
fn a_grid_has_its_bounds() {
    let many: Vec<u32> = (2..=16).collect();
    let grid = json!({"engines": [{"engine": "lgb"}], "k": many, "l": many});
    let most = SETTINGS_MAX;
    let what = "settings";
    assert_eq!(settings(&grid), Err(GridError::TooMany { what, most }));
    assert_eq!(settings(&json!({"engines": []})), Err(GridError::NoEngine));
    let list = json!({"engines": [{"engine": "mondrian", "parameters": []}]});
    assert_eq!(settings(&list), Err(GridError::Parameters));
    let long: Vec<u32> = (2..=52).collect();
    let grid = json!({"engines": [{"engine": "mondrian"}], "k": long});
    assert!(matches!(settings(&grid), Err(GridError::TooMany { .. })));
}

#[test]
fn figures_come_from_the_documents_and_what_is_not_there_stays_absent() {
    let report = json!({"records": 90, "measures": {
        "ncp": {"value": {"mean": 0.25}},
        "query_error": {"value": {"relative_error": {"mean": 0.5}, "relative_range": {"mean": 2.0}}},
        "reidentification_risk": {"value": {"prosecutor_max": 0.2, "prosecutor_mean": 0.1}},
        "leakage": {"value": {"subjects": {"max": 0.5, "mean": 0.3}}},
    }});
    let verification = json!({"attacks": [
        {"kind": "inference", "figures": {"lift": 1.1}}, {"kind": "other"},
        {"kind": "inference", "figures": {"lift": 1.4}},
    ]});
    let found = Measures::of(&report, &verification, 10);
    assert_eq!((found.records, found.left_out), (90, 0.1));
    assert_eq!((found.ncp, found.query_error), (Some(0.25), Some(0.5)));
    assert_eq!(found.inference_lift, Some(1.4));
    assert_eq!(LossAxis::Ncp.of(&found), Some(0.25 + 0.75 * 0.1));
    assert_eq!(LossAxis::QueryError.of(&found), Some(0.6));
    let nothing = Measures::of(&Value::Null, &Value::Null, 0);
    assert_eq!(nothing, Measures::default());
    assert_eq!(Axes::default().of(&nothing), None);
    let persons = json!({"records": 1, "measures": {
        "qid_ncp": {"value": {"mean": 0.2}}, "sa_ncp": {"value": {"mean": 0.4}}}});
    let found = Measures::of(&persons, &Value::Null, 0);
    assert!((found.ncp.expect("a loss") - 0.3).abs() < 1e-12);
}

fn measured(figures: &[(f64, f64)]) -> Vec<(u32, Measures)> {
    let of = |(number, (loss, risk)): (u32, &(f64, f64))| {
        let measures = Measures {
            query_error: Some(*loss),
            reidentification_max: Some(*risk),
            ..Measures::default()
        };
        (number, measures)
    };
    (1..).zip(figures).map(of).collect()
}

#[test]
fn the_best_are_nearest_to_the_corner_of_the_front() {
    let points = measured(&[(0.0, 1.0), (0.1, 0.2), (1.0, 0.0), (0.5, 0.5), (0.9, 0.1)]);
    assert_eq!(front(&points, Axes::default()), [1, 2, 5, 3]);
    assert_eq!(best(&points, Axes::default(), 1), [2]);
    assert_eq!(best(&points, Axes::default(), 2), [2, 5]);
    assert_eq!(best(&points, Axes::default(), 9).len(), 4);
    assert_eq!(best(&[], Axes::default(), 3), [] as [u32; 0]);
    let alike = measured(&[(0.5, 0.5), (0.5, 0.5)]);
    assert_eq!(front(&alike, Axes::default()), [1]);
    assert_eq!(best(&alike, Axes::default(), 3), [1]);
}

proptest! {
    /// Against the definition: nobody on the front is beaten, and everybody else is
    /// beaten by, or alike with, somebody on it.
    #[test]
    fn the_front_is_what_its_definition_says(
        figures in prop::collection::vec((0_u8..6, 0_u8..6), 0..30),
    ) {
        let figures: Vec<(f64, f64)> = figures
            .into_iter()
            .map(|(loss, risk)| (f64::from(loss), f64::from(risk)))
            .collect();
        let points = measured(&figures);
        let front = front(&points, Axes::default());
        let at = |number: u32| figures[number as usize - 1];
        let covers = |one: (f64, f64), other: (f64, f64)| one.0 <= other.0 && one.1 <= other.1;
        for (number, _) in &points {
            let own = at(*number);
            let is_beaten = figures.iter().any(|one| covers(*one, own) && *one != own);
            if front.contains(number) {
                prop_assert!(!is_beaten);
            } else {
                prop_assert!(front.iter().any(|one| covers(at(*one), own)));
            }
        }
    }
}
