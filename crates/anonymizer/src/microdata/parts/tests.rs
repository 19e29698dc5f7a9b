//! Joined records against a join by hand, and against hostile parts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::microdata::error::{CellError, CellErrorCode};
use crate::microdata::hierarchy::HierarchySet;
use crate::microdata::limits::ReadLimits;
use crate::microdata::records::read_records;
use crate::microdata::schema::Schema;

mod resources;

/// Files in memory.
struct Files<'f> {
    files: Vec<(&'f str, RecordFormat, &'f [u8])>,
    next: usize,
}

impl<'f> Files<'f> {
    fn of(format: RecordFormat, files: &[(&'f str, &'f str)]) -> Self {
        let files = files.iter();
        Self {
            files: files
                .map(|(name, text)| (*name, format, text.as_bytes()))
                .collect(),
            next: 0,
        }
    }
}

impl Parts for Files<'_> {
    fn next_part(&mut self) -> Result<Option<Part<'_>>, TableError> {
        let at = self.next;
        self.next += 1;
        Ok(self.files.get_mut(at).map(|(name, format, input)| Part {
            name: Some(*name),
            format: *format,
            input,
        }))
    }
}

fn schema(changes: Value) -> Schema {
    let mut document = json!({"name": "n", "subject_key": "p", "multiplicity": "many",
        "missing": "category", "subject_key_normalization": ["nfc", "zero_width", "trim"],
        "attributes": [{"name": "icd", "role": "sensitive", "type": "categorical"},
            {"name": "p", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "cost", "role": "insensitive", "type": "decimal"}]});
    for (name, value) in changes.as_object().unwrap() {
        document[name] = value.clone();
    }
    serde_json::from_value(document).unwrap()
}

fn mapping(changes: &[(&str, Value)]) -> Mapping {
    let mut document = json!({"subject": "p", "tables": {
        "Patient": {"rows": "one", "subject": "id", "attributes": {"age": "age", "cost": "fee.value"}},
        "Condition": {"rows": "many", "subject": "subject.reference",
            "attributes": {"icd": "code.coding[system=icd].code"}}}});
    for (name, value) in changes {
        document[*name] = value.clone();
    }
    Mapping::read(document.to_string().as_bytes()).unwrap()
}

type Read = Result<(ReadSummary, PartsSummary), TableError>;

fn target<'t>(schema: &'t Schema, hierarchies: &'t HierarchySet) -> Target<'t> {
    Target {
        schema,
        hierarchies,
        limits: ReadLimits::default(),
    }
}

fn read(schema: &Schema, mapping: Option<&Mapping>, mut files: Files<'_>) -> Read {
    let hierarchies = HierarchySet::new();
    let target = target(schema, &hierarchies);
    let (mut spill, mut room) = (Vec::new(), Vec::new());
    let mut subjects = SubjectKeys::new([7; 16], &mut spill);
    let sink: &mut Sink<'_> = &mut |_| Ok(());
    read_parts(
        &mut files,
        mapping,
        (&target, &mut room),
        &mut subjects,
        sink,
    )
}

fn read_whole(schema: &Schema, text: &str) -> ReadSummary {
    let hierarchies = HierarchySet::new();
    let target = target(schema, &hierarchies);
    let mut spill = Vec::new();
    let mut subjects = SubjectKeys::new([7; 16], &mut spill);
    let format = RecordFormat::Csv;
    read_records(text.as_bytes(), format, &target, &mut subjects, &mut |_| {
        Ok(())
    })
    .unwrap()
}

fn csv(schema: &Schema, files: &[&str]) -> Read {
    let named: Vec<(&str, &str)> = files.iter().map(|file| ("", *file)).collect();
    read(schema, None, Files::of(RecordFormat::Csv, &named))
}

/// Part, line, attribute and code of each error.
fn errors(read: Read) -> Vec<(Option<u32>, u64, String, CellErrorCode)> {
    let Err(TableError::Cells { errors, .. }) = read else {
        panic!("no errors of lines: {read:?}");
    };
    let told = |error: CellError| {
        let attribute = error.attribute.unwrap_or_default();
        (error.part, error.line, attribute, error.code)
    };
    errors.into_iter().map(told).collect()
}

const PATIENTS: &str = "p,age,cost\na,30,1.50\nb,40,2\nc,50,\n";
const DIAGNOSES: &str = "icd,p\nI21,b\nJ18,a\nK80,b\n";
const BY_HAND: &str = "p,age,cost,icd\nb,40,2,I21\na,30,1.50,J18\nb,40,2,K80\nc,50,,\n";

#[test]
fn two_files_are_joined_to_the_records_of_the_file_made_by_hand() {
    let schema = schema(json!({}));
    for files in [[PATIENTS, DIAGNOSES], [DIAGNOSES, PATIENTS]] {
        let (summary, parts) = csv(&schema, &files).unwrap();
        assert_eq!(summary, read_whole(&schema, BY_HAND));
        let rows: Vec<u64> = parts.tables.iter().map(|table| table.rows).collect();
        assert_eq!(rows, [3, 3]);
        assert_eq!(parts.loses_many(), None);
    }
}

#[test]
fn the_missing_value_policy_decides_of_subjects_without_a_row_of_many() {
    let drops = schema(json!({"missing": "drop"}));
    let (summary, _) = csv(&drops, &[PATIENTS, DIAGNOSES]).unwrap();
    assert_eq!((summary.records, summary.dropped), (3, 1));
    let rejects = schema(json!({"missing": "reject"}));
    let found = errors(csv(
        &rejects,
        &[&PATIENTS.replace("50,", "50,9"), DIAGNOSES],
    ));
    // The row that stands for the record is the patient's.
    assert_eq!(found, [(Some(1), 4, "icd".into(), CellErrorCode::Missing)]);
}

#[test]
fn an_unknown_subject_is_refused_by_line_or_left_out_where_the_mapping_says_so() {
    let schema = schema(json!({}));
    let more = format!("{DIAGNOSES}X1,nobody\nX2,\n");
    assert_eq!(
        errors(csv(&schema, &[PATIENTS, &more])),
        [
            (Some(2), 5, "p".into(), CellErrorCode::SubjectUnknown),
            (Some(2), 6, "p".into(), CellErrorCode::Missing),
        ]
    );
    let tables = json!({"patients": {"rows": "one", "subject": "p", "attributes": {"age": "age", "cost": "cost"}},
        "diagnoses": {"rows": "many", "subject": "p", "attributes": {"icd": "icd"}}});
    let drops = mapping(&[("tables", tables), ("unknown_subjects", json!("drop"))]);
    let named = [("Patients", PATIENTS), ("diagnoses", &more)];
    let (summary, parts) =
        read(&schema, Some(&drops), Files::of(RecordFormat::Csv, &named)).unwrap();
    assert_eq!(summary, read_whole(&schema, BY_HAND));
    let counts = parts.tables.iter();
    let counts: Vec<_> = counts
        .map(|table| (&*table.table, table.rows, table.unknown_subjects))
        .collect();
    assert_eq!(counts, [("diagnoses", 5, 2), ("patients", 3, 0)]);
    assert_eq!(parts.loses_many(), parts.tables.first());
}

#[test]
fn a_second_row_of_a_subject_in_a_table_of_one_row_is_an_error_by_line() {
    let schema = schema(json!({}));
    let twice = format!("{PATIENTS}d,1,1\n\u{200b}a ,2,2\nd,3,3\na,4,4\n");
    let duplicate = |line| {
        (
            Some(2),
            line,
            "p".to_owned(),
            CellErrorCode::DuplicateSubject,
        )
    };
    assert_eq!(
        errors(csv(&schema, &[DIAGNOSES, &twice])),
        [duplicate(6), duplicate(7), duplicate(8)]
    );
}

#[test]
fn keys_that_are_spelled_in_two_ways_are_one_subject() {
    let schema = schema(json!({}));
    let patients = "p,age,cost\nZoe\u{308},30,1\n";
    let diagnoses = "p,icd\n Zo\u{eb}\u{200b},I21\n";
    let (summary, _) = csv(&schema, &[patients, diagnoses]).unwrap();
    assert_eq!(
        summary,
        read_whole(&schema, "p,age,cost,icd\nZo\u{eb},30,1,I21\n")
    );
}

#[test]
fn a_fault_is_told_once_by_its_own_line_however_many_records_share_it() {
    let schema = schema(json!({}));
    let patients = PATIENTS.replace("b,40", "b,forty");
    let diagnoses = format!("{DIAGNOSES}L1,b\nL\u{1},a\n");
    assert_eq!(
        errors(csv(&schema, &[&patients, &diagnoses])),
        [
            (Some(1), 3, "age".into(), CellErrorCode::NotAnInteger),
            (Some(2), 6, "icd".into(), CellErrorCode::ControlCharacter),
        ]
    );
}

#[test]
fn a_lost_row_of_a_patient_makes_no_unknown_subject() {
    let schema = schema(json!({}));
    let patients = PATIENTS.replace("b,40,2", "b,\"4\"0,2");
    let malformed = (Some(1), 3, "age".into(), CellErrorCode::Malformed);
    assert_eq!(errors(csv(&schema, &[&patients, DIAGNOSES])), [malformed]);
    let diagnoses = DIAGNOSES.replace("J18,a", "J18,a,x");
    let count = (Some(2), 3, String::new(), CellErrorCode::WrongCellCount);
    let rejects = self::schema(json!({"missing": "reject"}));
    let patients = PATIENTS.replace("50,", "50,3");
    assert_eq!(errors(csv(&rejects, &[&patients, &diagnoses])), [count]);
}

#[test]
fn headers_that_do_not_make_the_schema_are_refused() {
    let schema = schema(json!({}));
    for (files, found) in [
        (
            ["p,age,cost\n", "p,age,icd\n"],
            (Some(2), 1, "age", CellErrorCode::AttributeRepeated),
        ),
        (
            ["p,age\n", "p,icd\n"],
            (None, 0, "cost", CellErrorCode::AttributeMissing),
        ),
        (
            ["p,age,cost\n", "icd\n"],
            (Some(2), 1, "p", CellErrorCode::AttributeMissing),
        ),
        (
            ["p,age,cost,x\n", "p,icd\n"],
            (Some(1), 1, "", CellErrorCode::AttributeUnknown),
        ),
        (
            ["p,age,cost\n", "p,icd,p\n"],
            (Some(2), 1, "p", CellErrorCode::AttributeRepeated),
        ),
    ] {
        let (part, line, name, code) = found;
        let told = errors(csv(&schema, &files));
        assert!(
            told.contains(&(part, line, name.into(), code)),
            "{files:?}: {told:?}"
        );
    }
    let Err(TableError::Parts(what)) = csv(&schema, &["p\n", "p,age,cost\n"]) else {
        panic!("a part that says nothing of its subjects is refused");
    };
    assert!(what.contains("no attribute but"), "{what}");
    let two = ["p,icd\n", "p,age,cost\n", "p,lab\n"];
    let lab = self::schema(json!({"attributes": [{"name": "p", "role": "identifier"},
        {"name": "icd", "role": "sensitive", "type": "categorical"},
        {"name": "lab", "role": "sensitive", "type": "categorical"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "cost", "role": "insensitive", "type": "decimal"}]}));
    let Err(TableError::Parts(what)) = csv(&lab, &two) else {
        panic!("two tables of many rows are refused");
    };
    assert!(what.contains("what nobody observed"), "{what}");
}

#[test]
fn a_cell_that_is_too_long_takes_no_room_and_is_told() {
    let long = format!("p,icd\na,{}\n", "x".repeat(5_000));
    let told = errors(csv(&schema(json!({})), &["p,age,cost\na,1,2\n", &long]));
    let expected = (Some(2), 2, "icd".to_owned(), CellErrorCode::CellTooLong);
    assert_eq!(told, [expected]);
}

#[test]
fn tables_of_one_row_alone_are_joined_by_their_subjects() {
    let schema = schema(json!({"multiplicity": "one"}));
    let (summary, _) = csv(
        &schema,
        &["p,age\na,1\nb,2\n", "icd,p\nI,c\nJ,a\n", "p,cost\nb,3\n"],
    )
    .unwrap();
    let by_hand = "p,age,icd,cost\na,1,J,\nb,2,,3\nc,,I,\n";
    assert_eq!(summary, read_whole(&schema, by_hand));
}

#[test]
fn parts_are_read_in_the_dialect_of_the_schema() {
    let schema =
        schema(json!({"format": {"delimiter": ";", "decimal": ",", "missing_values": ["NULL"]}}));
    let (summary, _) = csv(
        &schema,
        &["p;age;cost\na;NULL;1,5\n", "p;icd\na;\"I;21\"\n"],
    )
    .unwrap();
    assert_eq!(
        summary,
        read_whole(&schema, "p;age;cost;icd\na;NULL;1,5;\"I;21\"\n")
    );
}

/// Rows: subject, and what stands there.
type Table = Vec<(u8, u16)>;

fn joined_by_hand(patients: &Table, diagnoses: &Table) -> String {
    let of: BTreeMap<u8, u16> = patients.iter().copied().collect();
    let mut text = String::from("p,age,cost,icd\n");
    for (subject, code) in diagnoses {
        let age = of[subject];
        writeln!(text, "s{subject},{age},{age}.5,c{code}").unwrap();
    }
    for (subject, age) in patients {
        if diagnoses.iter().all(|(other, _)| other != subject) {
            writeln!(text, "s{subject},{age},{age}.5,").unwrap();
        }
    }
    text
}

proptest! {
    #[test]
    fn random_tables_are_joined_as_by_hand(
        patients in prop::collection::vec((any::<u8>(), any::<u16>()), 0..60),
        diagnoses in prop::collection::vec((any::<prop::sample::Index>(), 0..9_u16), 0..120),
        many_first: bool,
        cut in 0_usize..120,
    ) {
        let mut seen = [false; 256];
        let patients: Table = patients
            .into_iter()
            .filter(|(subject, _)| !std::mem::replace(&mut seen[usize::from(*subject)], true))
            .collect();
        let diagnoses: Table = diagnoses
            .into_iter()
            .filter(|_| !patients.is_empty())
            .map(|(at, code)| (at.get(&patients).0, code))
            .collect();
        let mut one = String::from("cost,p,age\n");
        for (subject, age) in &patients {
            writeln!(one, "{age}.50, s{subject},{age}").unwrap();
        }
        // The table of many in two files.
        let cut = cut.min(diagnoses.len());
        let halves = [&diagnoses[..cut], &diagnoses[cut..]].map(|rows| {
            let mut text = String::from("p,icd\n");
            rows.iter().for_each(|(subject, code)| writeln!(text, "s{subject},c{code}").unwrap());
            text
        });
        let tables = json!({"one": {"rows": "one", "subject": "p", "attributes": {"age": "age", "cost": "cost"}},
            "many": {"rows": "many", "subject": "p", "attributes": {"icd": "icd"}}});
        let mapping = mapping(&[("tables", tables)]);
        let mut files = vec![("many", &*halves[0]), ("many", &*halves[1])];
        files.insert(if many_first { 2 } else { 0 }, ("one", &one));
        let schema = schema(json!({}));
        let (summary, parts) = read(&schema, Some(&mapping), Files::of(RecordFormat::Csv, &files)).unwrap();
        prop_assert_eq!(summary, read_whole(&schema, &joined_by_hand(&patients, &diagnoses)));
        prop_assert_eq!(parts.tables[0].rows, diagnoses.len() as u64);
    }

    #[test]
    fn any_bytes_are_records_or_errors(
        lines in prop::collection::vec("[{}\\[\\]:,\"a0\\\\ é-]{0,30}", 0..8),
        is_csv: bool,
    ) {
        let text = lines.join("\n");
        let format = if is_csv { RecordFormat::Csv } else { RecordFormat::Ndjson };
        let files = Files::of(format, &[("Patient", &text), ("Condition", &text)]);
        let read = read(&schema(json!({})), Some(&mapping(&[])), files);
        prop_assert!(read.is_err());
    }

    #[test]
    fn any_text_is_a_path_or_none(text in "[a.\\[\\]=0 é]{0,24}") {
        if let Ok(path) = path::Path::read(&text) {
            // Whatever is found, it is no panic.
            let _ = path.find(&json!({"a": [{"a": "a"}, {"a": [0, {"a": null}]}]}));
        }
    }
}
