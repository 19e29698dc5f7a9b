//! `anonymize` and `verify` of a table in parts.

use serde_json::json;

use super::offline::{Desk, ended, sample, text};

#[test]
fn a_release_in_parts_is_verified_again_and_parts_are_not_those_of_another_job() {
    let mut desk = Desk::new();
    let parameters = json!({"k": 5, "l": 5, "attributes": {"sex": {"l": 1}}});
    desk.spec["job"]["parameters"] = parameters;
    desk.spec["job"]["parts"] = json!({"records_max": 300});
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    ended(&made, 0, "");
    let parts = desk.document("out/manifest.json")["parts"].clone();
    assert_eq!(parts["sizes"], json!({"records_max": 300}));
    assert!(parts["number"].as_u64() > Some(1), "{parts}");
    let checked = desk.verify("out");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    desk.spec["job"]["parts"] = json!(null);
    let checked = desk.verify("out");
    assert_eq!(checked.status.code(), Some(5), "{}", text(&checked.stdout));
    assert!(text(&checked.stdout).contains("manifest_as_rendered"));
}
