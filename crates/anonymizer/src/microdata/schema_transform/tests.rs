//! What a schema may say of transforms, and what it must not.

use serde_json::{Value, json};

use crate::microdata::{AttributeType, Schema, TableError};

fn schema(attributes: &[Value]) -> Result<Schema, TableError> {
    let mut all = vec![json!({"name": "id", "role": "identifier"})];
    all.extend_from_slice(attributes);
    let document = json!({"name": "stays", "subject_key": "id", "attributes": all});
    serde_json::from_value(document).map_err(|error| TableError::Schema(error.to_string()))
}

fn of(kind: &str, transform: Value) -> Value {
    json!({"name": kind, "role": "quasi_identifier", "type": kind, "transform": transform})
}

#[test]
fn what_a_schema_says_of_transforms_is_read_and_written_again() {
    let admission = json!({"name": "admission", "role": "quasi_identifier", "type": "date",
        "transform": {"shift_days": 30}});
    let read = schema(&[
        of("integer", json!({"top": 90, "bottom": 18})),
        of("decimal", json!({"top": 2.5})),
        admission,
        of("date", json!({"days_since": "admission", "top": 365})),
    ]);
    let read = read.unwrap();
    let again: Schema = serde_json::from_value(serde_json::to_value(&read).unwrap()).unwrap();
    assert_eq!(read, again);
    assert!(read.is_transformed());
    let seen = read.transformed();
    let kinds: Vec<_> = seen.attributes().iter().map(|one| one.kind).collect();
    assert_eq!(kinds[4], Some(AttributeType::Integer));
    assert_eq!(kinds[3], Some(AttributeType::Date));
    assert!(read.is_index_date(read.find("admission").unwrap()));
    assert!(!read.is_index_date(read.find("date").unwrap()));
    let last = i64::MAX;
    let far = schema(&[of("integer", json!({"bottom": last - 1, "top": last}))]);
    assert!(far.is_ok());
    // What says nothing is written as before there were transforms.
    let plain = schema(&[
        json!({"name": "age", "role": "sensitive", "type": "integer",
        "transform": {}}),
    ]);
    let plain = plain.unwrap();
    assert!(!plain.is_transformed());
    let written = serde_json::to_value(&plain).unwrap();
    assert!(written["attributes"][1].get("transform").is_none());
}

#[test]
fn transforms_that_contradict_themselves_are_refused_by_what_is_wrong() {
    let refused = |attributes: &[Value], word: &str| {
        let error = schema(attributes).unwrap_err().to_string();
        assert!(error.contains(word), "{error}: {word}");
    };
    refused(
        &[of("integer", json!({"top": 2.5}))],
        "numbers of that type",
    );
    refused(
        &[of("categorical", json!({"top": 2}))],
        "numbers of that type",
    );
    refused(&[of("date", json!({"top": 2}))], "numbers of that type");
    refused(
        &[of("integer", json!({"top": 2, "bottom": 2}))],
        "bottom lies below top",
    );
    refused(&[of("integer", json!({"shift_days": 2}))], "are for dates");
    refused(&[of("date", json!({"shift_days": 0}))], "between 1 and");
    refused(&[of("date", json!({"shift_days": 4000}))], "between 1 and");
    refused(
        &[of("date", json!({"shift_days": 4, "days_since": "x"}))],
        "needs no shift_days",
    );
    refused(
        &[of("date", json!({"days_since": "x"}))],
        "names no attribute",
    );
    refused(
        &[of("date", json!({"days_since": "date"}))],
        "the attribute itself",
    );
    refused(
        &[of("date", json!({"days_since": "id"}))],
        "not of the type date",
    );
    refused(&[of("date", json!({"median": 4}))], "unknown field");
    let key = json!({"name": "birth", "role": "identifier", "type": "date",
        "transform": {"shift_days": 4}});
    refused(&[key], "not published");
    let ignored = json!({"name": "birth", "role": "ignore", "type": "date"});
    refused(
        &[ignored, of("date", json!({"days_since": "birth"}))],
        "not stored",
    );
}

#[test]
fn a_date_beside_one_that_is_moved_is_moved_by_the_same_days() {
    let date = |name: &str, role: &str, transform: Value| json!({"name": name, "role": role, "type": "date", "transform": transform});
    let moved = date("admission", "quasi_identifier", json!({"shift_days": 30}));
    let bare = date("test", "insensitive", json!({}));
    let error = schema(&[moved.clone(), bare]).unwrap_err().to_string();
    assert!(
        error.contains("attribute 3") && error.contains("as it is"),
        "{error}"
    );
    let other = date("test", "sensitive", json!({"shift_days": 31}));
    let error = schema(&[moved.clone(), other]).unwrap_err().to_string();
    assert!(error.contains("the same"), "{error}");
    // What is not published tells nothing.
    let birth = json!({"name": "birth", "role": "identifier", "type": "date"});
    let age = date("test", "sensitive", json!({"days_since": "birth"}));
    assert!(schema(&[moved, birth, age]).is_ok());
}
