//! Spellings of one subject key are one subject in every format.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use serde_json::json;
use vizard_anonymizer::microdata::{
    HierarchySet, ReadLimits, RecordFormat, Schema, Table, TableError, Target, read_preferences,
};

use super::build;
use super::same_digest::build_parquet;

/// Three spellings of one key.
const SPELLINGS: [&str; 3] = ["Zo\u{eb}", "Zoe\u{308}", "\u{feff} Zo\u{200b}\u{eb}\u{a0}"];

fn schema(rules: &[&str], multiplicity: &str) -> Schema {
    let schema = json!({"name": "n", "subject_key": "p", "multiplicity": multiplicity,
        "subject_key_normalization": rules, "attributes": [{"name": "p", "role": "identifier"}]});
    serde_json::from_value(schema).expect("a schema")
}

fn parquet(keys: &[&str]) -> Vec<u8> {
    let column: ArrayRef = Arc::new(StringArray::from(keys.to_vec()));
    let batch = RecordBatch::try_from_iter([("p", column)]).expect("a table");
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a file");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    file
}

/// Subjects of a table with one record for each key, in each format.
fn subjects(schema: &Schema, keys: &[&str]) -> [Result<Vec<String>, TableError>; 3] {
    let csv: String = keys.iter().map(|key| format!("{key}\n")).collect();
    let lines = keys.iter().map(|key| format!("{}\n", json!({"p": key})));
    let none = HierarchySet::new();
    let csv = build(
        schema,
        &none,
        RecordFormat::Csv,
        Cursor::new(format!("p\n{csv}")),
    );
    let lines: String = lines.collect();
    let lines = build(schema, &none, RecordFormat::Ndjson, Cursor::new(lines));
    let parquet = build_parquet(schema, &none, parquet(keys));
    [csv, lines, parquet].map(|built| {
        built.map(|(table, _)| table.subject_keys().iter().map(str::to_owned).collect())
    })
}

#[test]
fn spellings_of_one_key_are_one_subject_in_every_format() {
    let all = ["nfc", "zero_width", "trim"];
    for found in subjects(&schema(&all, "many"), &SPELLINGS) {
        assert_eq!(found.expect("sound"), ["Zo\u{eb}"]);
    }
    for found in subjects(&schema(&all, "one"), &SPELLINGS) {
        let said = format!("{:?}", found.expect_err("two records of one subject"));
        assert!(said.contains("DuplicateSubject"), "{said}");
    }
    for found in subjects(&schema(&[], "one"), &SPELLINGS) {
        assert_eq!(found.expect("sound").len(), 3);
    }
}

#[test]
fn a_key_of_nothing_is_missing() {
    for found in subjects(&schema(&["zero_width"], "one"), &["a", "\u{200b}\u{feff}"]) {
        let said = format!("{:?}", found.expect_err("a key is missing"));
        assert!(said.contains("code: Missing"), "{said}");
    }
}

#[test]
fn terms_under_any_spelling_are_those_of_the_subject() {
    let schema = schema(&["nfc", "zero_width", "trim"], "one");
    let none = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &none,
        limits: ReadLimits::default(),
    };
    let csv: String = SPELLINGS
        .iter()
        .map(|key| format!("{key},true\n"))
        .collect();
    let csv = format!("subject,exclude\n{csv}");
    let lines = SPELLINGS.map(|key| format!("{}\n", json!({"subject": key, "exclude": true})));
    for (format, text) in [
        (RecordFormat::Csv, csv),
        (RecordFormat::Ndjson, lines.concat()),
    ] {
        let read = read_preferences(text.as_bytes(), format, &target).expect("sound");
        let found: Vec<_> = read
            .iter()
            .map(|one| (&*one.subject, one.terms.exclude))
            .collect();
        assert_eq!(found, [("Zo\u{eb}", true)]);
    }
    let nobody = "{\"subject\": \"\u{200b}\"}\n";
    let refused = read_preferences(nobody.as_bytes(), RecordFormat::Ndjson, &target);
    let said = format!("{:?}", refused.expect_err("nobody"));
    assert!(said.contains("code: Missing"), "{said}");
}

/// A table without a key, in each format; the second of three records lacks its
/// age.
fn numbered(schema: &Schema) -> [Result<Table, TableError>; 3] {
    let none = HierarchySet::new();
    let csv = "note,age\n,31\nx,\n,33\n";
    let lines = "{\"age\": 31, \"note\": 1}\n\n{\"age\": null}\n{\"age\": 33}\n";
    let ages: ArrayRef = Arc::new(Int64Array::from(vec![Some(31), None, Some(33)]));
    let notes: ArrayRef = Arc::new(StringArray::from(vec!["", "x", ""]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("note", notes, true), ("age", ages, true)]);
    let batch = batch.expect("a table");
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a file");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    [
        build(schema, &none, RecordFormat::Csv, Cursor::new(csv)),
        build(schema, &none, RecordFormat::Ndjson, Cursor::new(lines)),
        build_parquet(schema, &none, file),
    ]
    .map(|built| built.map(|(table, _)| table))
}

#[test]
fn a_record_is_named_by_its_number_in_every_format_whoever_was_left_out() {
    let schema = |missing: &str, words: &[&str]| -> Schema {
        serde_json::from_value(
            json!({"name": "n", "subject_key": {"row": true}, "missing": missing,
            "format": {"missing_values": words},
            "attributes": [{"name": "note", "role": "ignore"},
                {"name": "age", "role": "quasi_identifier", "type": "integer"}]}),
        )
        .expect("a schema")
    };
    for (missing, keys) in [("category", &["1", "2", "3"][..]), ("drop", &["1", "3"])] {
        // No word for a missing value takes a number away.
        for built in numbered(&schema(missing, &["1", "3"])) {
            let table = built.expect("sound");
            assert_eq!(
                table.subject_keys().iter().collect::<Vec<_>>(),
                keys,
                "{missing}"
            );
        }
    }
    // A column of the name that the number has is no key.
    let schema = schema("category", &[]);
    let none = HierarchySet::new();
    for (format, text) in [
        (RecordFormat::Csv, "(row),age\n7,31\n"),
        (RecordFormat::Ndjson, "{\"(row)\": 7, \"age\": 31}\n"),
    ] {
        assert!(build(&schema, &none, format, Cursor::new(text)).is_err());
    }
}
