//! Values that a schema says are changed beforehand: from files to a verified
//! release, which holds none of what was to be changed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::desk::{Desk, said};

const PERSONS: u32 = 120;

/// An export with a birth date that nobody may see, ages, and days of a stay.
fn export() -> String {
    let mut text = String::from("patient;birth;age;admission;discharge;test;diagnosis\n");
    for at in 0..PERSONS {
        let day = 1 + at % 20;
        writeln!(
            text,
            "p{at};{:02}.03.{};{};{day:02}.05.2021;{:02}.05.2021;{:02}.06.2021;{}",
            1 + at % 28,
            1920 + at % 60,
            101 - at % 60,
            day + at % 7,
            1 + at % 5,
            ["asthma", "angina", "gout", "flu"][(at % 4) as usize]
        )
        .expect("a String");
    }
    text
}

fn spec() -> Value {
    let date = |name: &str, role: &str, transform: Value| json!({"name": name, "role": role, "type": "date", "transform": transform});
    json!({
        "schema": {"name": "stays", "subject_key": "patient",
            "format": {"delimiter": ";", "dates": ["DD.MM.YYYY"]},
            "attributes": [
                {"name": "patient", "role": "identifier"},
                {"name": "birth", "role": "identifier", "type": "date"},
                {"name": "age", "role": "quasi_identifier", "type": "integer",
                 "transform": {"top": 90}},
                date("admission", "sensitive", json!({"shift_days": 182})),
                date("discharge", "quasi_identifier", json!({"days_since": "admission", "top": 5})),
                date("test", "sensitive", json!({"days_since": "birth"})),
                {"name": "diagnosis", "role": "sensitive", "type": "categorical"}]},
        "job": {"engine": "mondrian", "parameters": {"k": 4}, "report": {"queries": 20}}
    })
}

fn release(desk: &Desk, secret: &str, out: &str) {
    let lineage = format!("{out}.csv");
    let made = desk.run(&[
        "anonymize",
        "--spec",
        "spec.json",
        "--records",
        "stays.csv",
        "--out",
        out,
        "--lineage",
        &lineage,
        "--dataset-secret",
        secret,
    ]);
    assert_eq!(made.status.code(), Some(0), "{}", said(&made));
}

/// Of each row of a release its subject, and the day of admission that it shows.
fn admissions(desk: &Desk, out: &str) -> BTreeMap<String, String> {
    let read = |name: &str| std::fs::read_to_string(desk.path(name)).unwrap();
    let table = read(&format!("{out}/microdata.csv"));
    let mut rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().unwrap();
    let at = header.iter().position(|name| *name == "admission").unwrap();
    let shown: Vec<String> = rows.map(|row| row[at].to_owned()).collect();
    let lineage = read(&format!("{out}.csv"));
    let mut of_rows = lineage
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let header = of_rows.next().unwrap();
    let place = |name: &str| header.iter().position(|one| *one == name).unwrap();
    let (row, subject) = (place("row"), place("subject"));
    of_rows
        .map(|line| {
            let at: usize = line[row].parse().unwrap();
            (line[subject].to_owned(), shown[at - 1].clone())
        })
        .collect()
}

/// The day of May 2021 on which a person was admitted.
fn true_day(subject: &str) -> i64 {
    let at: i64 = subject[1..].parse().unwrap();
    1 + at % 20
}

/// Days since the end of April 2021.
fn day_of(text: &str) -> i64 {
    let day: chrono::NaiveDate = text.parse().unwrap();
    (day - chrono::NaiveDate::from_ymd_opt(2021, 4, 30).unwrap()).num_days()
}

#[test]
fn a_release_shows_what_the_schema_makes_of_values_and_says_so() {
    let desk = Desk::empty();
    desk.write("stays.csv", &export());
    desk.write("spec.json", &spec().to_string());
    release(&desk, "own.secret", "first");
    release(&desk, "own.secret", "second");
    release(&desk, "other.secret", "third");

    let [first, second, third] = ["first", "second", "third"].map(|out| admissions(&desk, out));
    assert_eq!(first.len(), PERSONS as usize);
    for (subject, shown) in &first {
        let days = day_of(shown) - true_day(subject);
        assert!(days != 0 && days.abs() <= 182, "{days}");
    }
    // The secret decides, in every release alike.
    assert_eq!(first, second);
    assert_ne!(first, third);

    let table = std::fs::read_to_string(desk.path("first/microdata.csv")).unwrap();
    for hidden in ["patient", "birth"] {
        assert!(!table.contains(hidden), "{hidden}");
    }
    let rows = table
        .lines()
        .map(|line| line.split(',').collect::<Vec<_>>());
    let mut rows = rows.collect::<Vec<_>>().into_iter();
    let at = rows
        .next()
        .unwrap()
        .iter()
        .position(|name| *name == "age")
        .unwrap();
    let ages: Vec<u32> = rows
        .flat_map(|row| {
            row[at]
                .split("..")
                .map(|end| end.parse().unwrap())
                .collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(ages.iter().max(), Some(&90));
    let manifest = desk.document("first/manifest.json");
    let said_of = &manifest["transformed"];
    assert_eq!(
        said_of[0],
        json!({"attribute": "age", "transform": {"top": 90}})
    );
    assert_eq!(said_of[1]["transform"], json!({"shift_days": 182}));
    assert_eq!(said_of[3]["transform"], json!({"days_since": "birth"}));
    let columns = manifest["tables"][0]["columns"].as_array().unwrap();
    let kind = |name: &str| {
        let mut columns = columns.iter();
        columns.find(|one| one["name"] == name).unwrap()["type"].clone()
    };
    assert_eq!([kind("discharge"), kind("test")], ["integer", "integer"]);
    assert_eq!(kind("admission"), "date");
    assert!(
        manifest["not_protected"]
            .to_string()
            .contains("moved by the same number of days")
    );
    let verification = desk.document("first/verification.json").to_string();
    assert!(verification.contains("\"transformed\""), "{verification}");
}

#[test]
fn a_release_is_verified_with_the_secret_that_moved_its_dates_and_with_no_other() {
    let desk = Desk::empty();
    desk.write("stays.csv", &export());
    desk.write("spec.json", &spec().to_string());
    release(&desk, "own.secret", "first");
    release(&desk, "other.secret", "other");
    let verify = |secret: &str, spec: &str| {
        desk.run(&[
            "verify",
            "--spec",
            spec,
            "--records",
            "stays.csv",
            "--release",
            "first",
            "--lineage",
            "first.csv",
            "--dataset-secret",
            secret,
        ])
    };
    let holds = verify("own.secret", "spec.json");
    assert_eq!(holds.status.code(), Some(0), "{}", said(&holds));
    assert_ne!(verify("other.secret", "spec.json").status.code(), Some(0));
    // A specification that declares another transform is another release's.
    let mut other = spec();
    other["schema"]["attributes"][2]["transform"] = json!({"top": 80});
    desk.write("lower.json", &other.to_string());
    let refused = verify("own.secret", "lower.json");
    assert_ne!(refused.status.code(), Some(0), "{}", said(&refused));
}

#[test]
fn an_index_date_that_is_no_day_is_refused_by_line_and_attribute() {
    let desk = Desk::empty();
    desk.write(
        "stays.csv",
        &export().replacen("02.03.1921", "31.02.1921", 1),
    );
    desk.write("spec.json", &spec().to_string());
    let refused = desk.run(&[
        "anonymize",
        "--spec",
        "spec.json",
        "--records",
        "stays.csv",
        "--out",
        "release",
    ]);
    let told = said(&refused);
    assert_ne!(refused.status.code(), Some(0), "{told}");
    assert!(told.contains("line 3") && told.contains("birth"), "{told}");
    assert!(!told.contains("31.02.1921"), "{told}");
    // Nor may it be missing where no value may.
    desk.write("stays.csv", &export().replacen("02.03.1921", "", 1));
    let refused = desk.run(&["risk", "--spec", "spec.json", "--records", "stays.csv"]);
    let told = said(&refused);
    assert!(told.contains("line 3") && told.contains("birth"), "{told}");
}
