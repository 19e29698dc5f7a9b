//! What is read past is in nothing that any engine publishes.

use serde_json::{Value, json};

use super::case::Case;
use super::tables::table;

const ILLNESSES: [&str; 4] = ["flu", "cough", "gout", "ulcer"];
const HIERARCHY: &str = "flu;chest;*\ncough;chest;*\ngout;other;*\nulcer;other;*\n";

/// Every engine, with parameters and whether a subject has several records.
pub fn engines() -> [(&'static str, Value, &'static str); 10] {
    [
        ("lgb", json!({"k": 2, "l": 2}), "one"),
        ("mondrian", json!({"k": 2}), "one"),
        (
            "personalized",
            json!({"k": 2, "sensitive": "illness"}),
            "one",
        ),
        ("slicing", json!({"l": 2, "clusters": 2}), "one"),
        ("arp", json!({"l": 2}), "one"),
        ("aip", json!({"l": 2}), "one"),
        ("anatomy", json!({"l": 2}), "one"),
        ("ng", json!({"l": 2}), "one"),
        (
            "one_to_many",
            json!({"k": 2, "l": 2, "max_excluded": 1.0}),
            "many",
        ),
        (
            "rmr",
            json!({"k": 2, "m": 2, "delta": 0.5, "max_excluded": 1.0}),
            "many",
        ),
    ]
}

/// Forty records, with a note in the middle of each that is read past or not
/// there at all.
pub fn released(engine: &str, parameters: &Value, multiplicity: &str, has_note: bool) -> Case {
    let mut schema = json!({
        "name": "people", "subject_key": "id", "multiplicity": multiplicity,
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"}
        ]
    });
    let mut records = String::from(if has_note {
        "extra,id,note,age,illness\n"
    } else {
        "id,age,illness\n"
    });
    for at in 0..40 {
        let illness = ILLNESSES[at % 4];
        records += &if has_note {
            format!("canary,p{at},canary,{},{illness}\n", 20 + at / 2)
        } else {
            format!("p{at},{},{illness}\n", 20 + at / 2)
        };
    }
    if has_note {
        schema["extra_columns"] = json!("ignore");
        let attributes = schema["attributes"].as_array_mut().expect("a list");
        attributes.insert(1, json!({"name": "note", "role": "ignore"}));
    }
    let table = table(schema, &[("illness", HIERARCHY)], &records);
    let case = Case::run(engine, table, parameters, &[], 7);
    let case = case.unwrap_or_else(|error| panic!("{engine}: {error}"));
    case.drawn_by(7)
}

#[test]
fn an_ignored_column_changes_no_release_manifest_or_report_of_any_engine() {
    for (engine, parameters, multiplicity) in engines() {
        let plain = released(engine, &parameters, multiplicity, false);
        let case = released(engine, &parameters, multiplicity, true);
        let verdict = case.verdict();
        assert!(verdict.holds(), "{engine}: {verdict:?}");
        let text = |case: &Case| {
            let manifest = serde_json::to_string(&case.manifest).expect("JSON");
            let report = case.report().map(|report| format!("{report:?}"));
            (
                manifest,
                report.unwrap_or_else(|error| panic!("{engine}: {error}")),
            )
        };
        let (said, told) = (text(&case), text(&plain));
        assert_eq!(said, told, "{engine}");
        for word in ["note", "extra", "canary"] {
            let quoted = format!("\"{word}\"");
            assert!(
                !said.0.contains(&quoted) && !said.1.contains(&quoted),
                "{engine}"
            );
        }
    }
}
