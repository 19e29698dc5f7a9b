//! `vizard explore` and `vizard compare`: many settings, and two releases side by
//! side.

use std::fmt::Write as _;
use std::process::Output;

use serde_json::{Value, json};

use super::desk::{Desk, said};

impl Desk {
    /// A folder with made-up records and a specification.
    fn with_stays() -> Self {
        let desk = Self::empty();
        desk.records(240);
        let spec = json!({
            "schema": {"name": "stays", "subject_key": "id", "attributes": [
                {"name": "id", "role": "identifier"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"},
                {"name": "ward", "role": "quasi_identifier", "type": "categorical"},
                {"name": "illness", "role": "sensitive", "type": "categorical"}]},
            "job": {"engine": "mondrian", "parameters": {"k": 5}, "seed": 7,
                "report": {"queries": 50, "fit": {"statistic": "mean", "of": "age"}}},
        });
        desk.write("spec.json", &spec.to_string());
        desk
    }

    fn records(&self, count: usize) {
        let mut text = String::from("id,age,ward,illness\n");
        for at in 0..count {
            let (age, ward) = (18 + at * 13 % 70, ["a", "b", "c"][at % 3]);
            let illness = ["flu", "gout", "asthma", "measles"][at / 3 % 4];
            writeln!(text, "p{at},{age},{ward},{illness}").unwrap();
        }
        self.write("records.csv", &text);
    }

    fn explore(&self, more: &[&str]) -> Output {
        let input = ["explore", "--records", "records.csv", "--spec", "spec.json"];
        let settings = ["--k", "2,5,10", "--effort", "none,fast", "--out", "found"];
        self.run(&[&input[..], &settings, more].concat())
    }
}

#[test]
fn an_exploration_is_gone_on_with_and_its_best_can_be_run() {
    let desk = Desk::with_stays();
    let none = desk.explore(&["--seconds-max", "0", "--json"]);
    assert_eq!(none.status.code(), Some(0), "{}", said(&none));
    let begun: Value = serde_json::from_slice(&none.stdout).unwrap();
    let states = |of: &Value| -> Vec<String> {
        let settings = of["settings"].as_array().unwrap().iter();
        let state = settings.map(|one| one["state"].as_str().unwrap().to_owned());
        state.collect()
    };
    assert_eq!(states(&begun), ["cancelled"; 6]);
    let first = desk.explore(&[]);
    assert_eq!(first.status.code(), Some(0), "{}", said(&first));
    assert!(said(&first).contains("On the front of query error"));
    let found = desk.document("found/exploration.json");
    assert_eq!(states(&found), ["succeeded"; 6]);
    for setting in found["settings"].as_array().unwrap() {
        assert!(setting["measures"]["fit"].is_number(), "{setting}");
    }
    let page = std::fs::read_to_string(desk.path("found/index.html")).unwrap();
    assert!(page.contains("Exploration of stays"));

    // A second run has nothing left to do: the same figures, and no line more.
    let lines = || std::fs::read_to_string(desk.path("found/results.ndjson")).unwrap();
    let before = lines();
    let again = desk.explore(&[]);
    assert_eq!(again.status.code(), Some(0));
    assert_eq!(lines().trim_end(), before.trim_end());
    assert_eq!(desk.document("found/exploration.json"), found);

    let best = found["best"][0].as_u64().unwrap();
    let spec = format!("found/spec-{best}.json");
    let run = ["anonymize", "--records", "records.csv", "--spec", &spec];
    let ran = desk.run(&[&run[..], &["--out", "release"]].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    // The same seed: the release has the figures of the exploration.
    let report = desk.document("release/report.json");
    let setting = &found["settings"][best as usize - 1];
    let query_error = &report["measures"]["query_error"]["value"]["relative_error"]["mean"];
    assert_eq!(*query_error, setting["measures"]["query_error"]);
    let fit = &report["measures"]["fit"]["value"];
    assert_eq!(
        (&fit["statistic"], &fit["of"]),
        (&json!("mean"), &json!("age"))
    );

    desk.records(241);
    let other = desk.explore(&[]);
    assert_eq!(other.status.code(), Some(2));
    assert!(said(&other).contains("other records"), "{}", said(&other));
}

#[test]
fn what_cannot_be_explored_is_told() {
    let desk = Desk::with_stays();
    for (arguments, told) in [
        (["--engine", "rmr"], "no setting can be run"),
        (["--loss", "beauty"], "possible values"),
        (["--grid", "nothing.json"], "cannot be used with"),
        (["--keep", "many"], "invalid value"),
    ] {
        let ran = desk.explore(&arguments);
        assert_eq!(ran.status.code(), Some(2), "{}", said(&ran));
        assert!(said(&ran).contains(told), "{}", said(&ran));
    }
    let wrong = json!({"engines": [{"engine": "mondrian"}], "k": [2], "speed": 3});
    desk.write("grid.json", &wrong.to_string());
    let input = ["explore", "--records", "records.csv", "--spec", "spec.json"];
    let ran = desk.run(&[&input[..], &["--grid", "grid.json", "--out", "found"]].concat());
    assert_eq!(ran.status.code(), Some(2));
    assert!(said(&ran).contains("unknown field"), "{}", said(&ran));
}

#[test]
fn two_releases_stand_side_by_side() {
    let desk = Desk::with_stays();
    for k in ["5", "10"] {
        let mut spec = desk.document("spec.json");
        spec["job"]["parameters"]["k"] = json!(k.parse::<u32>().unwrap());
        desk.write("spec.json", &spec.to_string());
        let out = format!("k{k}");
        let run = [
            "anonymize",
            "--records",
            "records.csv",
            "--spec",
            "spec.json",
        ];
        let ran = desk.run(&[&run[..], &["--out", &out]].concat());
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    }
    let compared = desk.run(&["compare", "k5", "k10"]);
    let told = said(&compared);
    assert_eq!(compared.status.code(), Some(0), "{told}");
    let line = told
        .lines()
        .find(|line| line.starts_with("reidentification_risk.prosecutor_max "));
    let line: Vec<&str> = line.expect("a line").split_whitespace().collect();
    assert_eq!(line[1], "0.200000");
    assert!(line[2].parse::<f64>().unwrap() <= 0.1);
    assert!(told.contains("are the same in both"));
    let itself = desk.run(&["compare", "k5", "k5", "--json"]);
    let figures: Value = serde_json::from_slice(&itself.stdout).unwrap();
    assert!(
        figures
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["difference"] == 0.0)
    );
    let mut other = desk.document("k10/manifest.json");
    other["input"]["dataset"] = json!("another");
    desk.write("k10/manifest.json", &other.to_string());
    let unlike = desk.run(&["compare", "k5", "k10"]);
    assert_eq!(unlike.status.code(), Some(2), "{}", said(&unlike));
    let missing = desk.run(&["compare", "k5", "nothing"]);
    assert_eq!(missing.status.code(), Some(1), "{}", said(&missing));
}
