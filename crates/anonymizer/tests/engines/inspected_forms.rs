//! One table as CSV, NDJSON and Parquet is inspected alike, and each file is read
//! by the schema that was proposed for it.

use std::io::Cursor;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int64Array, RecordBatch,
    StringArray, TimestampMillisecondArray,
};
use parquet::arrow::ArrowWriter;
use serde_json::{Value, json};
use vizard_anonymizer::catalog::{PURPOSES, job_for};
use vizard_anonymizer::inspect::{
    InspectError, InspectLimits, Inspection, inspect, inspect_parquet,
};
use vizard_anonymizer::microdata::value_text::date_text;
use vizard_anonymizer::microdata::{
    AttributeType, HierarchyFormat, HierarchySet, HierarchySource, ReadLimits, RecordFormat,
    RecordIndex, Role, SubjectKeys, Table, TableBuilder, TableError, Target, read_parquet_records,
    read_records,
};

use super::case::Case;

const RECORDS: i64 = 240;
const DAY_MS: i64 = 86_400_000;

/// A record: number, sex, age, postal code, day, diagnosis, cost in cents.
type Record = (String, &'static str, Option<i64>, String, i32, String, i64);

fn records() -> impl Iterator<Item = Record> {
    (0..RECORDS).map(|at| {
        (
            format!("{:06}", at * 7919 % 1_000_003),
            ["f", "m"][(at / 3 % 2) as usize],
            (at % 40 != 3).then_some(18 + at * 7 % 70),
            ["01067", "01069", "04103", "04109"][(at * 5 % 4) as usize].to_owned(),
            20_000 + (at * 13 % 300) as i32,
            ["I21.4", "I50.1", "J18.9", "K80.1", "N39.0", "E11.7"][(at * 5 % 6) as usize]
                .to_owned(),
            10_000 + at * 3_701 % 80_000,
        )
    })
}

/// The table in every form.
#[derive(Clone, Copy, Debug)]
enum Form {
    Csv,
    Ndjson,
    /// With days as days, or as times of day that are left out.
    Parquet {
        has_times: bool,
    },
}

impl Form {
    const ALL: [Self; 4] = [
        Self::Csv,
        Self::Ndjson,
        Self::Parquet { has_times: false },
        Self::Parquet { has_times: true },
    ];

    fn file(self) -> Vec<u8> {
        match self {
            Self::Csv => csv().into_bytes(),
            Self::Ndjson => ndjson().into_bytes(),
            Self::Parquet { has_times } => parquet(has_times),
        }
    }

    fn inspected(self) -> Inspection {
        let limits = InspectLimits::default();
        let inspected = match self {
            Self::Parquet { .. } => parquet_inspected(self.file()),
            _ => inspect(Cursor::new(self.file()), ("stays", false), &limits),
        };
        inspected.expect("a table")
    }

    /// The table of the file, as the proposed schema reads it.
    fn read(self, inspection: &Inspection) -> Table {
        let read = self.try_read(inspection);
        read.expect("the proposed schema reads its file")
    }

    fn try_read(self, inspection: &Inspection) -> Result<Table, TableError> {
        let schema = inspection.schema.as_ref().expect("a person is named");
        let mut hierarchies = HierarchySet::new();
        for (name, rule) in &inspection.hierarchies {
            let rule = serde_json::to_vec(rule).expect("JSON");
            let source = HierarchySource::read(&rule, HierarchyFormat::Json).expect("a tree");
            hierarchies.insert(name.clone(), source);
        }
        let target = Target {
            schema,
            hierarchies: &hierarchies,
            limits: ReadLimits::default(),
        };
        let (mut room, mut cells) = (Vec::new(), Vec::new());
        let mut subjects = SubjectKeys::new(*b"a key of 16 byte", &mut room);
        let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies).expect("sound");
        let mut sink = |chunk| builder.push(chunk);
        let file = Cursor::new(self.file());
        match self {
            Self::Csv => read_records(file, RecordFormat::Csv, &target, &mut subjects, &mut sink),
            Self::Ndjson => read_records(
                file,
                RecordFormat::Ndjson,
                &target,
                &mut subjects,
                &mut sink,
            ),
            Self::Parquet { .. } => {
                read_parquet_records(file, &target, &mut cells, &mut subjects, &mut sink)
            }
        }?;
        builder.finish()
    }
}

fn csv() -> String {
    let lines = records().map(|(number, sex, age, zip, day, code, cents)| {
        let age = age.map(|age| age.to_string()).unwrap_or_default();
        let cost = format!("{}.{:02}", cents / 100, cents % 100);
        format!(
            "{number},{sex},{age},{zip},{},{code},{cost}\n",
            date_text(day)
        )
    });
    let header = "patient_id,sex,age,zip_code,admission_date,icd_code,cost\n";
    header.to_owned() + &lines.collect::<String>()
}

fn ndjson() -> String {
    let lines = records().map(|(number, sex, age, zip, day, code, cents)| {
        let day = date_text(day);
        let age = json!(age);
        format!(
            "{{\"patient_id\": \"{number}\", \"sex\": \"{sex}\", \"age\": {age}, \"zip_code\": \
             \"{zip}\", \"admission_date\": \"{day}\", \"icd_code\": \"{code}\", \"cost\": \
             {}.{:02}}}\n",
            cents / 100,
            cents % 100
        )
    });
    lines.collect()
}

fn written(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, column)| (name, column, true)),
    )
    .expect("a table");
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).expect("a file");
    writer.write(&batch).expect("written");
    writer.close().expect("closed");
    file
}

fn parquet(has_times: bool) -> Vec<u8> {
    let all: Vec<Record> = records().collect();
    let texts = |of: fn(&Record) -> &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(all.iter().map(of)))
    };
    let days: ArrayRef = if has_times {
        Arc::new(TimestampMillisecondArray::from_iter_values(
            all.iter()
                .map(|one| i64::from(one.4) * DAY_MS + one.6 * 1_000 % DAY_MS),
        ))
    } else {
        Arc::new(Date32Array::from_iter_values(all.iter().map(|one| one.4)))
    };
    let cents = Decimal128Array::from_iter_values(all.iter().map(|one| i128::from(one.6)));
    let cents = cents.with_precision_and_scale(12, 2).expect("a scale");
    written(vec![
        ("patient_id", texts(|one| &one.0)),
        ("sex", texts(|one| one.1)),
        (
            "age",
            Arc::new(Int64Array::from_iter(all.iter().map(|one| one.2))),
        ),
        ("zip_code", texts(|one| &one.3)),
        ("admission_date", days),
        ("icd_code", texts(|one| &one.5)),
        ("cost", Arc::new(cents)),
    ])
}

fn parquet_inspected(file: Vec<u8>) -> Result<Inspection, InspectError> {
    let limits = InspectLimits::default();
    inspect_parquet(Cursor::new(file), "stays", &mut Vec::new(), &limits)
}

fn ndjson_inspected(text: &str) -> Result<Inspection, InspectError> {
    inspect(
        Cursor::new(text.as_bytes()),
        ("x", false),
        &InspectLimits::default(),
    )
}

fn said(inspection: &Inspection) -> Vec<(&str, Role, Option<AttributeType>)> {
    let attributes = inspection.attributes.iter();
    attributes
        .map(|one| (one.name.as_str(), one.role, one.kind))
        .collect()
}

#[test]
fn one_table_is_inspected_alike_in_every_form_and_read_by_what_was_proposed() {
    let first = Form::Csv.inspected();
    let table = Form::Csv.read(&first);
    for form in Form::ALL {
        let inspection = form.inspected();
        assert_eq!(said(&inspection), said(&first), "{form:?}");
        assert_eq!(inspection.sets, first.sets, "{form:?}");
        assert_eq!(inspection.sensitive, first.sensitive, "{form:?}");
        assert_eq!(inspection.hierarchies, first.hierarchies, "{form:?}");
        assert_eq!(inspection.questions, first.questions, "{form:?}");
        let read = form.read(&inspection);
        assert_eq!(
            read.subject_keys().iter().collect::<Vec<_>>(),
            table.subject_keys().iter().collect::<Vec<_>>()
        );
        for purpose in &PURPOSES {
            let job = job_for(purpose, &inspection).expect("a job");
            let case = Case::run(job.engine, form.read(&inspection), &job.parameters, &[], 7);
            assert!(case.expect("a release").verdict().holds(), "{form:?}");
        }
    }
}

#[test]
fn numbers_of_json_are_no_codes_and_their_points_part_no_thousands() {
    let lines = (0..60).map(|at| {
        format!(
            "{{\"patient_id\": {}, \"x1\": {}.{:03}, \"score\": {}, \"dose\": \"{},5\"}}\n",
            at + 100,
            at + 1,
            at * 7 % 1000,
            if at % 2 == 0 {
                "1.5e1".to_owned()
            } else {
                at.to_string()
            },
            at % 9
        )
    });
    let inspection = ndjson_inspected(&lines.collect::<String>()).expect("a table");
    use AttributeType::{Decimal, Integer};
    let kinds: Vec<_> = said(&inspection).iter().map(|one| one.2).collect();
    assert_eq!(
        kinds,
        [Some(Integer), Some(Decimal), Some(Decimal), Some(Decimal)]
    );
    let schema = serde_json::to_value(inspection.schema.expect("a person")).expect("JSON");
    // The comma is that of the texts alone.
    assert_eq!(schema["attributes"][1].get("format"), None);
    assert_eq!(schema["attributes"][3]["format"]["decimal"], ",");
    let asked = inspection.questions.join("\n");
    assert!(!asked.contains("thousand"), "{asked}");
}

#[test]
fn what_are_no_cells_is_read_past_and_told() {
    let lines = (0..40).map(|at| {
        let last = if at == 39 { "" } else { ", \"ward\": \"a\"" };
        format!(
            "{{\"patient_id\": \"p{at}\", \"age\": {}, \"dead\": {}, \"tags\": [{at}]{last}}}\n",
            20 + at % 30,
            at % 2 == 0
        )
    });
    let inspection = ndjson_inspected(&lines.collect::<String>()).expect("a table");
    assert_eq!(said(&inspection)[2], ("dead", Role::Ignore, None));
    assert_eq!(said(&inspection)[3], ("tags", Role::Ignore, None));
    let asked = inspection.questions.join("\n");
    for what in [
        "dead: truth values of JSON are no cells",
        "tags: objects and lists are no cells",
        "a mapping takes values",
        "ward: 1 objects have no such member",
    ] {
        assert!(asked.contains(what), "{what}: {asked}");
    }

    let whole = |at: i64| (at % 4 != 1).then_some((20 + at % 30) as f64);
    let file = written(vec![
        (
            "number",
            Arc::new(Float64Array::from_iter_values((0..40).map(f64::from))),
        ),
        ("patient", Arc::new(Int64Array::from_iter_values(500..540))),
        ("age", Arc::new(Float64Array::from_iter((0..40).map(whole)))),
        ("dead", Arc::new(BooleanArray::from(vec![true; 40]))),
    ]);
    let inspection = parquet_inspected(file).expect("a table");
    assert_eq!(
        said(&inspection),
        [
            // A float names nobody: an upload would not take it for a text.
            ("number", Role::Ignore, Some(AttributeType::Integer)),
            ("patient", Role::Identifier, Some(AttributeType::Integer)),
            ("age", Role::QuasiIdentifier, Some(AttributeType::Integer)),
            ("dead", Role::Ignore, None),
        ]
    );
    assert!(inspection.questions[0].contains("dead: values of this type"));
}

#[test]
fn an_object_with_a_member_twice_is_told_and_counted_as_no_record() {
    let lines =
        "{\"patient_id\": 1, \"age\": 3}\n{\"patient_id\": 2, \"age\": 3, \"age\": 4}\n{\"p\n";
    let inspection = ndjson_inspected(lines).expect("a table");
    assert_eq!(inspection.records, 1);
    let asked = inspection.questions.join("\n");
    assert!(
        asked.contains("2 lines are no JSON object, or have a member twice, first in 2, 3"),
        "{asked}"
    );
}

#[test]
fn bytes_that_only_begin_as_parquet_are_refused() {
    let whole = Form::Parquet { has_times: false }.file();
    for cut in [4, 12, 200, whole.len() - 1] {
        let error = parquet_inspected(whole[..cut].to_vec()).expect_err("cut");
        assert!(error.to_string().contains("the file"), "{error}");
    }
    for at in (0..whole.len()).step_by(7) {
        let mut bent = whole.clone();
        bent[at] ^= 0x55;
        let _no_panic = parquet_inspected(bent);
    }
}

#[test]
fn a_time_is_left_out_where_the_schema_says_so_and_refused_where_it_does_not() {
    let form = Form::Parquet { has_times: true };
    let mut inspection = form.inspected();
    let table = form.read(&inspection);
    let days = Form::Csv.read(&Form::Csv.inspected());
    let at = table.schema().find("admission_date").expect("it is there");
    let codes = |table: &Table| {
        let records = (0..table.records()).map(RecordIndex::from_usize);
        records
            .map(|record| table.code(at, record))
            .collect::<Vec<_>>()
    };
    assert_eq!(codes(&table), codes(&days));
    let mut schema: Value =
        serde_json::to_value(inspection.schema.expect("a person")).expect("JSON");
    schema["format"]
        .as_object_mut()
        .expect("an object")
        .remove("dates");
    for attribute in schema["attributes"].as_array_mut().expect("a list") {
        attribute
            .as_object_mut()
            .expect("an object")
            .remove("format");
    }
    inspection.schema = serde_json::from_value(schema).expect("a schema");
    let refused = form.try_read(&inspection);
    assert!(matches!(refused, Err(TableError::Cells { total: 240, .. })));
}
