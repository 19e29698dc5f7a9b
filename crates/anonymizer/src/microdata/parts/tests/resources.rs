//! Resources of FHIR, and lines that are none.

use serde_json::json;

use super::{Files, Read, errors, mapping, read, read_whole, schema};
use crate::microdata::error::{CellErrorCode, TableError};
use crate::microdata::parts::Mapping;
use crate::microdata::records::RecordFormat;

fn patient(id: &str, age: u32) -> String {
    json!({"resourceType": "Patient", "id": id, "age": age, "fee": {"value": 1.5, "currency": "EUR"}})
        .to_string()
}

fn condition(reference: &str, code: &str) -> String {
    json!({"resourceType": "Condition", "id": "x", "subject": {"reference": reference},
        "code": {"coding": [{"system": "sct", "code": "1"}, {"system": "icd", "code": code}]}})
    .to_string()
}

fn fhir(lines: &[String], mapping: &Mapping) -> Read {
    let text = lines.join("\n");
    let files = Files::of(RecordFormat::Ndjson, &[("", &text)]);
    read(&schema(json!({})), Some(mapping), files)
}

#[test]
fn resources_of_one_file_are_joined_in_any_order_and_others_are_counted() {
    let lines = [
        condition("Patient/b", "I21"),
        r#"{"resourceType": "Observation"}"#.into(),
        patient("a", 30),
        r#"{"resourceType": "Anna Müller"}"#.into(),
        condition("https://a.example/fhir/Patient/a/_history/2", "J18"),
        r#"{"resourceType": "Observation", "value": [[{}]]}"#.into(),
        patient("b", 40),
        condition("urn:uuid:b", "K80"),
    ];
    let base = json!("https://a.example/fhir/");
    let (summary, parts) = fhir(&lines, &mapping(&[("base", base)])).unwrap();
    let by_hand = "p,age,cost,icd\nb,40,1.5,I21\na,30,1.5,J18\nb,40,1.5,K80\n";
    assert_eq!(summary, read_whole(&schema(json!({})), by_hand));
    assert_eq!(parts.other_resources, [("Observation", 2), ("other", 1)]);
}

#[test]
fn a_condition_of_an_unknown_patient_is_counted() {
    // A group's condition is nobody's, though a patient has the same id.
    let lines = [
        patient("a", 30),
        condition("Patient/a", "I21"),
        condition("Group/a", "J18"),
        condition("Patient/z", "K80"),
        // Another server's patient, though one here has the same id.
        condition("https://b.example/fhir/Patient/a", "K80"),
    ];
    let unknown = |line| (Some(1), line, "p".to_owned(), CellErrorCode::SubjectUnknown);
    assert_eq!(
        errors(fhir(&lines, &mapping(&[]))),
        [unknown(3), unknown(4), unknown(5)]
    );
    let drops = mapping(&[("unknown_subjects", json!("drop"))]);
    let (summary, parts) = fhir(&lines, &drops).unwrap();
    assert_eq!((summary.records, parts.tables[0].unknown_subjects), (1, 3));
}

#[test]
fn a_table_that_nobody_brought_is_an_error() {
    let Err(TableError::Parts(what)) = fhir(&[patient("a", 30)], &mapping(&[])) else {
        panic!("all diagnoses would be missing");
    };
    assert!(what.contains("`Condition`"), "{what}");
    let files = Files::of(RecordFormat::Csv, &[("other", "p,age\n")]);
    let read = read(&schema(json!({})), Some(&mapping(&[])), files);
    assert!(matches!(read, Err(TableError::Parts(_))));
}

#[test]
fn hostile_lines_are_refused_one_by_one() {
    let deep = format!(
        "{{\"resourceType\":\"Patient\",\"x\":{}{}}}",
        "[".repeat(200_000),
        "]".repeat(200_000)
    );
    let twice = r#"{"resourceType":"Patient","id":"b","id":"c"}"#;
    let long_number = r#"{"resourceType":"Patient","id":123456789012345678901234}"#;
    let lines = [
        patient("a", 30),
        condition("Patient/a", "I21"),
        deep,
        twice.into(),
        long_number.into(),
        r#"{"resourceType":"Patient","id":{"a":[]}}"#.into(),
        r#"{"resourceType":7}"#.into(),
        "[1]".into(),
        "{".into(),
        r#"{"resourceType":"Patient"}"#.into(),
        r#"{"resourceType":"Patient","id":"q","age":true}"#.into(),
        r#"{"resourceType":"Condition","subject":"Patient/a"}"#.into(),
        condition("Patient/unknown", "I21"),
    ];
    let told: Vec<(u64, CellErrorCode)> = errors(fhir(&lines, &mapping(&[])))
        .into_iter()
        .map(|error| (error.1, error.3))
        .collect();
    use CellErrorCode::{Malformed, Missing, NestsTooDeep};
    assert_eq!(
        told,
        [
            (3, NestsTooDeep),
            (4, Malformed),
            (5, Malformed),
            (6, Malformed),
            (7, Malformed),
            (8, Malformed),
            (9, Malformed),
            (10, Missing),
            (12, Malformed)
        ]
    );
    let long = format!(
        "{}\n{{\"x\": \"{}\"}}\n",
        patient("a", 1),
        "y".repeat(2 << 20)
    );
    let read = fhir(&[long], &mapping(&[]));
    assert_eq!(errors(read)[0].3, CellErrorCode::RecordTooLong);
}
