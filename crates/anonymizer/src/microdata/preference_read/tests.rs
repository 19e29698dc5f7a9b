//! Each column and field of a preference, and each way to get it wrong.

use super::*;
use crate::microdata::CellErrorCode::*;
use crate::microdata::{HierarchyFormat, ReadLimits};

fn schema() -> Schema {
    let text = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "semi_sensitive", "type": "integer"},
        {"name": "sex", "role": "semi_sensitive", "type": "categorical"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"},
        {"name": "salary", "role": "sensitive", "type": "integer", "hierarchy": "later"}]}"#;
    serde_json::from_str(text).unwrap()
}

fn read_limited(
    format: RecordFormat,
    limits: ReadLimits,
    text: &str,
) -> Result<Vec<Preference>, TableError> {
    let schema = schema();
    let illness = HierarchySource::read(b"flu;chest;*\ngout;*\n", HierarchyFormat::Csv);
    let hierarchies = HierarchySet::from([("illness".into(), illness.unwrap())]);
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits,
    };
    read_preferences(text.as_bytes(), format, &target)
}

fn read(format: RecordFormat, text: &str) -> Result<Vec<Preference>, TableError> {
    read_limited(format, ReadLimits::default(), text)
}

/// Line, field and code of each error.
fn errors(format: RecordFormat, text: &str) -> Vec<(u64, Option<String>, CellErrorCode)> {
    match read(format, text) {
        Err(TableError::Cells { errors, .. }) => errors
            .into_iter()
            .map(|error| (error.line, error.attribute, error.code))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn at(line: u64, field: &str, code: CellErrorCode) -> (u64, Option<String>, CellErrorCode) {
    (line, Some(field.into()), code)
}

fn documents(preferences: &[Preference]) -> Vec<String> {
    let text = |preference| serde_json::to_string(preference).unwrap();
    preferences.iter().map(text).collect()
}

#[test]
fn csv_and_ndjson_say_the_same() {
    let csv = "exclude,max_leakage,subject,sensitive,max_reidentification\r\n\
        ,,1002,,\r\n true ,0.25, 1003 ,age | sex,0.1\r\nfalse,1,\"10,4\",illness,1\r\n";
    let ndjson = r#"
        {"subject": "1002"}
        {"exclude": true, "max_leakage": 0.25, "subject": " 1003", "sensitive": ["age", "sex"], "max_reidentification": 1e-1}

        {"subject": "10,4", "max_leakage": 1, "sensitive": ["illness"], "max_reidentification": 1.0, "exclude": null, "guard": null}"#;
    let from_csv = read(RecordFormat::Csv, csv).unwrap();
    assert_eq!(from_csv, read(RecordFormat::Ndjson, ndjson).unwrap());
    assert_eq!(
        documents(&from_csv),
        [
            r#"{"subject":"1002"}"#,
            r#"{"subject":"1003","sensitive":["age","sex"],"max_leakage":0.25,"max_reidentification":0.1,"exclude":true}"#,
            r#"{"subject":"10,4","sensitive":["illness"],"max_leakage":1.0,"max_reidentification":1.0}"#,
        ]
    );
}

#[test]
fn columns_beside_the_subject_may_be_absent() {
    let preferences = read(RecordFormat::Csv, "subject\na\nb\n").unwrap();
    assert_eq!(preferences.len(), 2);
    assert_eq!(preferences[0].terms, Terms::default().into());
    assert!(read(RecordFormat::Ndjson, "").unwrap().is_empty());
}

#[test]
fn bounds_and_guards_per_attribute_are_kept() {
    let text = r#"{"subject": "a", "max_leakage": {"illness": 0.5, "age": 1}, "guard": {"illness": ["chest", "gout"], "salary": ["[0..5)"]}}"#;
    let preferences = read(RecordFormat::Ndjson, text).unwrap();
    let Some(MaxLeakageTerms::PerAttribute(bounds)) = &preferences[0].terms.max_leakage else {
        panic!("a bound per attribute was given")
    };
    assert_eq!(bounds["illness"].get(), 0.5);
    assert_eq!(preferences[0].terms.guard["illness"], ["chest", "gout"]);
}

#[test]
fn the_later_line_of_a_subject_wins() {
    let text = "subject,exclude\na,true\nb,\na,false\n";
    let preferences = read(RecordFormat::Csv, text).unwrap();
    let said: Vec<(&str, bool)> = preferences
        .iter()
        .map(|preference| (preference.subject.as_str(), preference.terms.exclude))
        .collect();
    assert_eq!(said, [("a", false), ("b", false)]);
}

#[test]
fn each_wrong_cell_is_named_by_line_and_column() {
    let header = "subject,sensitive,max_leakage,max_reidentification,exclude\n";
    for (row, field, code) in [
        (",age,,,", "subject", Missing),
        ("a\tb,,,,", "subject", ControlCharacter),
        ("a,agee,,,", "sensitive", AttributeUnknown),
        ("a,age|,,,", "sensitive", AttributeUnknown),
        ("a,town,,,", "town", NotSemiSensitive),
        ("a,,x,,", "max_leakage", NotADecimal),
        ("a,,0,,", "max_leakage", OutOfBounds),
        ("a,,1.01,,", "max_leakage", OutOfBounds),
        ("a,,,-0.1,", "max_reidentification", OutOfBounds),
        ("a,,,nan,", "max_reidentification", NotADecimal),
        ("a,,,,TRUE", "exclude", NotATruthValue),
        ("a,,,,1", "exclude", NotATruthValue),
    ] {
        let text = format!("{header}z,,,,\n{row}\n");
        assert_eq!(
            errors(RecordFormat::Csv, &text),
            [at(3, field, code)],
            "{row}"
        );
    }
    assert_eq!(
        errors(RecordFormat::Csv, &format!("{header}a\nb\"c,,,,\n,,,,\n")),
        [
            (2, None, WrongCellCount),
            (3, None, Malformed),
            at(4, "subject", Missing)
        ]
    );
}

#[test]
fn headers_are_strict() {
    for (header, error) in [
        ("sensitive", at(1, "subject", AttributeMissing)),
        ("", at(1, "subject", AttributeMissing)),
        ("subject,subject", at(1, "subject", AttributeRepeated)),
        ("subject,guard", (1, None, AttributeUnknown)),
        ("subject,Exclude", (1, None, AttributeUnknown)),
    ] {
        assert_eq!(errors(RecordFormat::Csv, header), [error], "{header}");
    }
}

#[test]
fn each_wrong_field_is_named() {
    for (fields, field, code) in [
        (r#""excluded": true"#, None, AttributeUnknown),
        (
            r#""sensitive": ["age"], "sensitive": []"#,
            Some("sensitive"),
            AttributeRepeated,
        ),
        (r#""max_leakage": 0"#, Some("max_leakage"), OutOfBounds),
        (
            r#""max_leakage": {"age": 2}"#,
            Some("max_leakage"),
            OutOfBounds,
        ),
        (
            r#""max_leakage": {"age": 0.1, "age": 0.9}"#,
            Some("max_leakage"),
            AttributeRepeated,
        ),
        (
            r#""max_leakage": {"agee": 0.1}"#,
            Some("max_leakage"),
            AttributeUnknown,
        ),
        (
            r#""max_leakage": {"town": 0.1}"#,
            Some("town"),
            NotSemiSensitive,
        ),
        (r#""max_leakage": "0.1""#, Some("max_leakage"), NotADecimal),
        (
            r#""max_leakage": {"age": "0.1"}"#,
            Some("max_leakage"),
            NotADecimal,
        ),
        (
            r#""max_reidentification": "0.1""#,
            Some("max_reidentification"),
            NotADecimal,
        ),
        (r#""sensitive": "age""#, Some("sensitive"), Malformed),
        (r#""guard": ["age"]"#, Some("guard"), Malformed),
        (
            r#""max_reidentification": -1"#,
            Some("max_reidentification"),
            OutOfBounds,
        ),
        (r#""exclude": "true""#, Some("exclude"), NotATruthValue),
        (
            r#""guard": {"illness": ["cough"]}"#,
            Some("guard"),
            NotANode,
        ),
        (r#""guard": {"sex": ["f"]}"#, Some("guard"), NotANode),
        (
            r#""guard": {"illness": [], "illness": []}"#,
            Some("guard"),
            AttributeRepeated,
        ),
        (
            r#""guard": {"town": ["x"]}"#,
            Some("town"),
            NotSemiSensitive,
        ),
        (r#""subject": "b""#, Some("subject"), AttributeRepeated),
    ] {
        let text = format!("{{\"subject\": \"a\"}}\n{{\"subject\": \"a\", {fields}}}");
        let error = (2, field.map(str::to_owned), code);
        assert_eq!(errors(RecordFormat::Ndjson, &text), [error], "{fields}");
    }
}

#[test]
fn each_wrong_document_is_named() {
    for (text, error) in [
        ("{}", at(1, "subject", AttributeMissing)),
        (r#"{"subject": " "}"#, at(1, "subject", Missing)),
        (r#"{"subject": 5}"#, at(1, "subject", Malformed)),
        ("[]", (1, None, Malformed)),
        ("{\"subject\": \"a\"", (1, None, Malformed)),
        (r#"{"subject": "a"} {}"#, (1, None, Malformed)),
    ] {
        assert_eq!(errors(RecordFormat::Ndjson, text), [error], "{text}");
    }
}

#[test]
fn one_document_is_read_as_strictly_as_a_bulk() {
    let read = serde_json::from_str::<Preference>;
    assert!(read(r#"{"subject": "a", "max_leakage": {"age": 0.5}}"#).is_ok());
    for text in [
        r#"{"subject": "a", "excluded": true}"#,
        r#"{"subject": "a", "exclude": false, "exclude": true}"#,
        r#"{"subject": "a", "max_leakage": 0}"#,
        r#"{"exclude": true}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

#[test]
fn limits_hold_for_preferences_too() {
    let limits = ReadLimits {
        records_max: 2,
        cell_bytes_max: 3,
        ..ReadLimits::default()
    };
    for (format, two, three, long) in [
        (
            RecordFormat::Csv,
            "subject\na\nb\n",
            "subject\na\nb\nc\nd",
            "subject\nabcd\n",
        ),
        (
            RecordFormat::Ndjson,
            "{\"subject\":\"a\"}\n{\"subject\":\"b\"}\n",
            "{\"subject\":\"a\"}\n{\"subject\":\"b\"}\n{\"subject\":\"c\"}\n{}",
            "{\"subject\":\"abcd\"}",
        ),
    ] {
        assert!(read_limited(format, limits, two).is_ok());
        for (text, code) in [(three, TooManyRecords), (long, CellTooLong)] {
            let Err(TableError::Cells { errors, .. }) = read_limited(format, limits, text) else {
                panic!("{text}")
            };
            let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
            assert_eq!(codes, [code]);
        }
    }
}

#[test]
fn a_malformed_line_says_where_and_how() {
    let header = "subject,exclude\n";
    for (format, text, column, reason) in [
        (
            RecordFormat::Csv,
            format!("{header}a,\"x\"y\n"),
            Some(2),
            "text behind the closing quote of a cell",
        ),
        (
            RecordFormat::Csv,
            format!("{header}a\n"),
            None,
            "1 cell where the header has 2",
        ),
        (
            RecordFormat::Ndjson,
            r#"{"subject": "a"; "exclude": true}"#.into(),
            Some(16),
            "no JSON",
        ),
    ] {
        let Err(TableError::Cells { errors, .. }) = read(format, &text) else {
            panic!("{text}")
        };
        let said = errors[0].reason.map(|reason| reason.to_string());
        assert_eq!((errors[0].column, said.as_deref()), (column, Some(reason)));
    }
}

#[test]
fn the_header_shows_the_delimiter() {
    for sign in [',', ';', '\t', '|'] {
        let text = format!("subject{sign}exclude\na{sign}true\n");
        let preferences = read(RecordFormat::Csv, &text).unwrap();
        assert!(preferences[0].terms.exclude, "{sign}");
    }
}

#[test]
fn no_error_repeats_what_a_line_says() {
    let canary = "CANARY4711";
    for text in [
        format!("subject,{canary}\n"),
        format!("subject,sensitive,exclude,max_leakage\n{canary},{canary},{canary},{canary}\n"),
    ] {
        let error = read(RecordFormat::Csv, &text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(canary));
    }
    for text in [
        format!(r#"{{"subject": "{canary}", "exclude": "{canary}"}}"#),
        format!(r#"{{"subject": "{canary}", "{canary}": 1}}"#),
        format!(r#"{{"subject": "{canary}", "guard": {{"{canary}": ["{canary}"]}}}}"#),
    ] {
        let error = read(RecordFormat::Ndjson, &text).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(canary));
    }
}
