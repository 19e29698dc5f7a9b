//! The bundled sample is what its program writes, and what the demo needs it to be.

#[path = "../examples/make_sample/sample.rs"]
mod sample;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn content(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../sample")
        .join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("sample/{name}: {error}"))
}

fn rows(name: &str) -> Vec<BTreeMap<String, String>> {
    let text = content(name);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize()
        .map(|row| row.expect("the sample is CSV"))
        .collect()
}

/// The largest count of one value of an attribute, and the number of cells counted.
fn most_frequent<'a>(values: impl Iterator<Item = &'a str>) -> (usize, usize) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    (
        counts.values().copied().max().unwrap_or(0),
        counts.values().sum(),
    )
}

#[test]
fn committed_sample_is_what_its_program_writes() {
    for (name, written) in sample::files() {
        assert!(
            content(&name) == written,
            "sample/{name} differs: cargo run --example make_sample"
        );
    }
}

#[test]
fn no_sensitive_value_is_more_frequent_than_one_in_twelve() {
    let records = rows("records.csv");
    assert_eq!(records.len(), sample::RECORDS);
    for attribute in ["cost", "diagnosis"] {
        let (most, all) = most_frequent(records.iter().map(|record| record[attribute].as_str()));
        assert!(most * 12 <= all, "{attribute}: {most} of {all}");
    }
}

#[test]
fn no_flagged_value_is_more_frequent_than_one_in_twelve() {
    let flags: BTreeMap<String, String> = rows("preferences.csv")
        .into_iter()
        .filter(|terms| terms["exclude"] != "true")
        .map(|terms| (terms["subject"].clone(), terms["sensitive"].clone()))
        .collect();
    let records = rows("records.csv");
    for attribute in ["age", "insurance"] {
        let flagged = records.iter().filter(|record| {
            let flagged = flags.get(&record["patient"]);
            flagged.is_some_and(|names| names.split('|').any(|name| name == attribute))
        });
        let (most, all) = most_frequent(flagged.map(|record| record[attribute].as_str()));
        assert!(
            all > 200 && most * 12 <= all,
            "{attribute}: {most} of {all}"
        );
    }
}

#[test]
fn about_one_patient_in_five_has_terms_and_a_few_want_out() {
    let terms = rows("preferences.csv");
    assert!((700..900).contains(&terms.len()), "{}", terms.len());
    let excluded = terms
        .iter()
        .filter(|each| each["exclude"] == "true")
        .count();
    assert!((5..20).contains(&excluded), "{excluded}");
    for attribute in ["max_leakage", "max_reidentification"] {
        assert!(
            terms
                .iter()
                .filter(|each| !each[attribute].is_empty())
                .count()
                > 20
        );
    }
}

#[test]
fn every_value_with_a_hierarchy_is_one_of_its_leaves() {
    for attribute in ["diagnosis", "district", "profession"] {
        let text = content(&format!("hierarchies/{attribute}.csv"));
        let leaves: Vec<&str> = text
            .lines()
            .filter_map(|line| line.split(';').next())
            .collect();
        for record in rows("records.csv") {
            assert!(
                leaves.contains(&record[attribute].as_str()),
                "{}",
                record[attribute]
            );
        }
    }
}
