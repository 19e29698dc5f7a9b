//! Seeds and dataset secrets of the offline commands: where they are written,
//! who may read them, and what the manifest says of them.

use std::os::unix::fs::PermissionsExt;

use super::offline::{Desk, ended, sample, text};

fn mode(desk: &Desk, name: &str) -> u32 {
    let metadata = std::fs::metadata(desk.path(name)).expect("it is there");
    metadata.permissions().mode() & 0o777
}

/// The one line of a file of 64 hexadecimal digits.
fn digits(desk: &Desk, name: &str) -> String {
    let line = std::fs::read_to_string(desk.path(name)).expect("text");
    let digits = line.strip_suffix('\n').expect("a whole line");
    assert_eq!(digits.len(), 64);
    assert!(digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    digits.to_owned()
}

#[test]
fn a_drawn_seed_is_kept_beside_the_lineage_and_a_given_one_is_told() {
    let desk = Desk::new();
    let records = sample("records.csv");
    let mut seen = Vec::new();
    for out in ["one", "two"] {
        let made = desk.anonymize_unseeded(&records, out, &[]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        let manifest = desk.document(&format!("{out}/manifest.json"));
        assert_eq!(manifest["reproducible_seed"], serde_json::Value::Null);
        let seed = digits(&desk, "lineage.csv.seed");
        assert_eq!(mode(&desk, "lineage.csv.seed"), 0o600);
        assert!(!manifest.to_string().contains(&seed));
        seen.push(seed);
    }
    assert_ne!(seen[0], seen[1]);
    let made = desk.anonymize(&records, "three", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let manifest = desk.document("three/manifest.json");
    assert_eq!(manifest["reproducible_seed"], true);
    // One in the specification is a given one too.
    let mut desk = Desk::new();
    desk.spec["job"]["seed"] = 7.into();
    let made = desk.anonymize_unseeded(&records, "four", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    let manifest = desk.document("four/manifest.json");
    assert_eq!(manifest["reproducible_seed"], true);
}

#[test]
fn verification_needs_the_seed_of_the_run() {
    let desk = Desk::new();
    desk.anonymize(&sample("records.csv"), "out", &[]);
    assert_eq!(desk.verify("out").status.code(), Some(0));
    let path = desk.path("lineage.csv.seed");
    std::fs::write(&path, "no seed\n").expect("written");
    ended(&desk.verify("out"), 3, "64 hexadecimal digits");
    std::fs::remove_file(&path).expect("removed");
    ended(&desk.verify("out"), 3, "lineage.csv.seed");
}

#[test]
fn the_secret_of_a_dataset_is_made_once_and_used_again() {
    let desk = Desk::new();
    let records = sample("records.csv");
    let file = desk.path("secret").display().to_string();
    let mut seen = Vec::new();
    for out in ["one", "two"] {
        let made = desk.anonymize_unseeded(&records, out, &["--dataset-secret", &file]);
        assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
        seen.push(digits(&desk, "secret"));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(mode(&desk, "secret"), 0o600);
    std::fs::write(&file, "short\n").expect("written");
    let refused = desk.anonymize_unseeded(&records, "three", &["--dataset-secret", &file]);
    ended(&refused, 3, "64 hexadecimal digits");
}
