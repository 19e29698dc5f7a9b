//! `vizard hierarchy`: a hierarchy alone, and beside records.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use super::command;
use super::desk::said;

const CSV: &str = "01067;010;*\n01069;010;*\n04103;041;Leipzig;*\n99999;*\n";

/// Runs `vizard hierarchy` in a folder with a hierarchy and records.
fn review(more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    std::fs::write(place("places.csv"), CSV).unwrap();
    // Six people have 01097, one has 04299, and none 04103 or 99999.
    let mut records = String::from("patient_id,plz,diagnosis\n");
    for at in 0..40 {
        let plz = match at {
            0..6 => "01097",
            6 => "04299",
            _ => ["01067", "01069"][at % 2],
        };
        records += &format!("{},{plz},{}\n", 1000 + at, ["flu", "gout"][at % 2]);
    }
    std::fs::write(place("records.csv"), records).unwrap();
    let attribute =
        |name: &str, role: &str| json!({"name": name, "role": role, "type": "categorical"});
    let spec = json!({"schema": {"name": "x", "subject_key": "patient_id", "attributes": [
            {"name": "patient_id", "role": "identifier"},
            attribute("plz", "quasi_identifier"), attribute("diagnosis", "sensitive")]},
        "job": {"engine": "mondrian", "parameters": {"k": 2}}});
    std::fs::write(place("spec.json"), spec.to_string()).unwrap();
    run(folder.path(), more)
}

fn run(folder: &Path, more: &[&str]) -> Output {
    let mut command = command(&[&["hierarchy", "places.csv"], more].concat());
    command.current_dir(folder).output().unwrap()
}

#[test]
fn a_hierarchy_is_reviewed_in_plain_words() {
    let told = review(&[]);
    assert_eq!(told.status.code(), Some(0), "{}", said(&told));
    for what in [
        "8 nodes in 4 levels, root and leaves included; 4 leaves",
        "most on level 2; 2 on another: 04103, 99999",
        "2 nodes have one node below, and say the same as that one: Leipzig, 041",
        "largest below the root: 010, 2 leaves, 50.0 % of all",
    ] {
        assert!(said(&told).contains(what), "{what}: {}", said(&told));
    }
}

#[test]
fn values_that_it_lacks_are_counted_and_told_if_five_people_share_them() {
    let on_records = ["--records", "records.csv", "--attribute", "plz"];
    let with_spec = [&on_records[..], &["--spec", "spec.json"]].concat();
    for arguments in [&on_records[..], &with_spec] {
        let told = review(arguments);
        assert_eq!(told.status.code(), Some(0), "{}", said(&told));
        for what in [
            "plz: 40 records, 0 without a value",
            "no record has 2 of the leaves",
            "2 values in 7 records are no leaves",
            "01097 in 6 records",
            "and 1 more",
        ] {
            assert!(said(&told).contains(what), "{what}: {}", said(&told));
        }
        assert!(!said(&told).contains("04299"), "{}", said(&told));
    }
    let json = review(&[&with_spec[..], &["--json"]].concat());
    let found: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(found["leaves"], 4);
    assert_eq!(
        found["attributes"][0]["lacking"]["values"],
        json!([{"value": "01097", "records": 6}])
    );
}

#[test]
fn an_attribute_that_is_none_and_half_an_order_are_refused() {
    let named = |name| ["--records", "records.csv", "--attribute", name];
    for name in ["street", "patient_id"] {
        let refused = review(&named(name));
        assert_eq!(refused.status.code(), Some(2), "{}", said(&refused));
        assert!(said(&refused).contains("--spec"), "{}", said(&refused));
    }
    assert_eq!(review(&named("plz")[..2]).status.code(), Some(2));
    assert_eq!(review(&named("plz")[2..]).status.code(), Some(2));
}
