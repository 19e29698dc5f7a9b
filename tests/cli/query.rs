//! `vizard query` on the folder of a release.

use serde_json::{Value, json};

use super::offline::{Desk, ended, sample, text};
use super::vizard;

/// Asks the release in `out`.
fn ask(desk: &Desk, arguments: &[&str]) -> std::process::Output {
    let release = desk.path("out").display().to_string();
    vizard(&[&["query", &release], arguments].concat())
}

fn released() -> Desk {
    let desk = Desk::new();
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    desk
}

#[test]
fn a_release_in_a_folder_is_asked_and_what_does_not_fit_is_refused() {
    let desk = released();
    let rows = desk.document("out/manifest.json")["records"].clone();
    let made = ask(&desk, &[r#"{"count": true}"#, "--format", "json"]);
    ended(&made, 0, "");
    let answer: Value = serde_json::from_slice(&made.stdout).unwrap();
    assert_eq!(answer["group_by"], json!([]));
    assert_eq!(answer["cells"][0]["rows"], rows);

    let query = json!({"count": true, "group_by": ["district"]});
    std::fs::write(desk.path("q.json"), query.to_string()).unwrap();
    let file = desk.path("q.json").display().to_string();
    let made = ask(&desk, &["--file", &file]);
    ended(&made, 0, "");
    let told = text(&made.stdout);
    assert!(told.starts_with("district") && told.contains('['), "{told}");

    let refused = |query: &str, says: &str| ended(&ask(&desk, &[query]), 3, says);
    refused(r#"{"count": true, "top": 3}"#, "line 1, column");
    refused(r#"{"group_by": ["district"]}"#, "ask for at least one");
    refused(
        r#"{"count": true, "group_by": ["nothing"]}"#,
        "group_by[0]: the attribute",
    );
    refused(r#"{"count": true, "count": true}"#, "stands twice");
    ended(&ask(&desk, &[]), 2, "QUERY");
}

#[test]
fn without_its_hierarchies_nothing_is_answered_of_what_they_generalize() {
    let desk = released();
    let query = r#"{"count": true, "group_by": ["district"]}"#;
    let csv = desk.path("out/hierarchies/district.csv");
    let kept = std::fs::read_to_string(&csv).unwrap();
    std::fs::write(&csv, kept.clone() + "\n").unwrap();
    ended(&ask(&desk, &[query]), 3, "its digest is not the one");
    std::fs::write(&csv, kept).unwrap();
    ended(&ask(&desk, &[query]), 0, "");
    std::fs::remove_file(desk.path("out/hierarchies.json")).unwrap();
    ended(&ask(&desk, &[query]), 3, "hierarchy that is not published");
    ended(&ask(&desk, &[r#"{"count": true}"#]), 0, "");
}

#[test]
fn hierarchies_that_are_withheld_are_not_written() {
    let mut desk = Desk::new();
    desk.spec["job"]["hierarchies"] = json!("withhold");
    let made = desk.anonymize(&sample("records.csv"), "out", &[]);
    assert_eq!(made.status.code(), Some(0), "{}", text(&made.stderr));
    assert!(!desk.path("out/hierarchies").exists());
    let list = desk.document("out/hierarchies.json");
    assert_eq!(list["published"], json!([]));
    assert!(
        list["withheld"]
            .as_array()
            .unwrap()
            .contains(&json!("district"))
    );
    let query = r#"{"count": true, "group_by": ["district"]}"#;
    ended(&ask(&desk, &[query]), 3, "hierarchy that is not published");
    let checked = desk.verify("out");
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
}
