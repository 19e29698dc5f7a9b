//! `--population`: among whom the people could be, in a release's report and
//! beside records before any job.

use serde_json::{Value, json};

use super::desk::{Desk, said};

const SPEC: &str = r#"{"schema": {"name": "x", "subject_key": "id", "missing": "category",
    "attributes": [{"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "illness", "role": "sensitive", "type": "categorical"}]},
    "job": {"engine": "mondrian", "parameters": {"k": 3}}}"#;

/// Records of 40 people of 20 to 39 in two towns.
fn desk() -> Desk {
    let desk = Desk::empty();
    let record = |at: usize| {
        let (town, ill) = (["A", "B"][at % 2], ["flu", "cold", "cough"][at % 3]);
        format!("p{at},{},{town},{ill}\n", 20 + at % 20)
    };
    let records: String = (0..40).map(record).collect();
    desk.write("records.csv", &format!("id,age,town,illness\n{records}"));
    desk.write("spec.json", SPEC);
    desk
}

const INPUT: [&str; 4] = ["--spec", "spec.json", "--records", "records.csv"];

fn anonymize(desk: &Desk, out: &str, population: &[&str]) {
    let lineage = format!("{out}.lineage");
    let rest = ["--out", out, "--lineage", &lineage, "--seed", "7"];
    let ran = desk.run(&[&["anonymize"], &INPUT[..], &rest, population].concat());
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
}

fn journalist(desk: &Desk, out: &str) -> Value {
    let report = desk.document(&format!("{out}/report.json"));
    report["measures"]["journalist_risk"]["value"].clone()
}

#[test]
fn a_report_tells_the_journalists_risk_and_is_verified_with_the_same_table() {
    let desk = desk();
    // As many of each age everywhere, and none in town B who is 39.
    let people: String = (20..40)
        .map(|age| format!("{age},A,50\n{age},B,50\n"))
        .collect();
    let people = people.replace("39,B,50\n", "");
    desk.write("people.csv", &format!("age,town,count\n{people}"));
    let population = ["--population", "people.csv"];
    anonymize(&desk, "release", &population);
    let risk = journalist(&desk, "release");
    assert_eq!(
        [&risk["people"], &risk["attributes"]],
        [&json!(1950), &json!(["age", "town"])]
    );
    let k_map = risk["k_map"].as_u64().expect("a number");
    // Three records at least are of two ages at least of one town.
    assert!(k_map >= 50 && k_map.is_multiple_of(50), "{risk}");
    assert_eq!(risk["max"].as_f64().expect("a risk"), 1.0 / k_map as f64);
    assert_eq!(risk["not_covered"], 0);

    let verify = |population: &[&str]| {
        let release = ["--release", "release", "--lineage", "release.lineage"];
        desk.run(&[&["verify"], &INPUT[..], &release, population].concat())
    };
    let same = verify(&population);
    assert_eq!(same.status.code(), Some(0), "{}", said(&same));
    // Another table tells another risk: the report is not the one of these inputs.
    desk.write("fewer.csv", "age,town\n20,A\n");
    for other in [&[][..], &["--population", "fewer.csv"]] {
        let refused = verify(other);
        assert_ne!(refused.status.code(), Some(0), "{}", said(&refused));
    }
}

#[test]
fn a_table_of_the_released_people_alone_tells_the_prosecutors_risk() {
    let desk = desk();
    let records = std::fs::read_to_string(desk.path("records.csv")).unwrap();
    desk.write("people.csv", &records);
    anonymize(&desk, "release", &["--population", "people.csv"]);
    let risk = journalist(&desk, "release");
    let report = desk.document("release/report.json");
    let prosecutor = &report["measures"]["reidentification_risk"]["value"];
    let none = json!([0]);
    assert_eq!(risk["not_covered"], none[0]);
    // Cells may overlap: then more people fit a class than are in it.
    assert!(
        risk["max"].as_f64() <= prosecutor["prosecutor_max"].as_f64(),
        "{risk}"
    );
    assert!(
        risk["mean"].as_f64() <= prosecutor["prosecutor_mean"].as_f64(),
        "{risk}"
    );
    assert_eq!(risk["people"], 40);
}

#[test]
fn without_a_table_a_report_has_no_such_measure_and_a_wrong_one_stops_the_run() {
    let desk = desk();
    anonymize(&desk, "release", &[]);
    assert_eq!(journalist(&desk, "release"), Value::Null);
    for (text, told) in [
        ("age,town\n20,A\ncanary,A\n", "line 3"),
        ("id,illness\np1,flu\n", "names no quasi-identifier"),
        ("age,age\n1,2\n", "attribute_repeated"),
    ] {
        desk.write("wrong.csv", text);
        for command in ["risk", "anonymize"] {
            let out: &[&str] = if command == "risk" {
                &[]
            } else {
                &["--out", "none"]
            };
            let population = ["--population", "wrong.csv"];
            let ran = desk.run(&[&[command], &INPUT[..], out, &population].concat());
            let said = said(&ran);
            assert_ne!(ran.status.code(), Some(0), "{said}");
            assert!(said.contains(told) && said.contains("wrong.csv"), "{said}");
            assert!(!said.contains("canary"), "{said}");
        }
    }
    assert!(!desk.path("none").exists());
}

#[test]
fn risk_before_any_job_tells_it_too() {
    let desk = desk();
    desk.write("people.csv", "town,count\nA,20\nB,80\n");
    let arguments = [
        &["risk", "--json"],
        &INPUT[..],
        &["--population", "people.csv"],
    ]
    .concat();
    let ran = desk.run(&arguments);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let risk: Value = serde_json::from_slice(&ran.stdout).expect("JSON");
    // Twenty of each town: all whom the table has of A, a quarter of B.
    assert_eq!(
        risk["population"],
        json!({"attributes": ["town"], "people": 100, "k_map": 20, "journalist": 0.05,
            "journalist_mean": 0.0313, "presence": [0.25, 1.0], "not_covered": 0})
    );
}
