//! Each error code, each missing-value policy, each type at its bounds.

mod batches;
mod columns;
mod missing;
mod repair;

use crate::microdata::AttributeIndex;
use std::sync::Arc;

use super::*;
use crate::microdata::CellErrorCode::*;
use crate::microdata::{
    Chunk, Code, HierarchyFormat, HierarchySet, HierarchySource, ReadLimits, RecordIndex, Table,
    TableBuilder,
};

fn hierarchies() -> HierarchySet {
    let read = |text: &str, format| HierarchySource::read(text.as_bytes(), format).unwrap();
    let csv = |text: &str| read(text, HierarchyFormat::Csv);
    let tens = r#"{"intervals": {"origin": 0, "width": 10, "fanouts": [2]}}"#;
    HierarchySet::from([
        (
            "illness".into(),
            csv("cough;chest;*\nflu;chest;*\ngout;foot;*\n"),
        ),
        ("steps".into(), csv("1;low;*\n2.5;low;*\n3;high;*\n")),
        ("turned".into(), csv("2;*\n10;*\n1;*\n")),
        ("gap".into(), csv("a;(missing);*\nb;*\n")),
        ("tens".into(), read(tens, HierarchyFormat::Json)),
    ])
}

/// A schema of `id` and one attribute `x`, with further options.
fn schema_with(options: &str, kind: &str, hierarchy: Option<&str>) -> Schema {
    let hierarchy = hierarchy.map_or(String::new(), |name| format!(r#", "hierarchy": "{name}""#));
    let text = format!(
        r#"{{"name": "t", "subject_key": "id", {options}
            "attributes": [{{"name": "id", "role": "identifier"}},
                {{"name": "x", "role": "sensitive", "type": "{kind}"{hierarchy}}}]}}"#
    );
    serde_json::from_str(&text).unwrap()
}

fn schema(kind: &str) -> Schema {
    schema_with("", kind, None)
}

fn read_limited(
    schema: &Schema,
    limits: ReadLimits,
    format: RecordFormat,
    input: impl Read,
) -> Result<(Table, ReadSummary), TableError> {
    let hierarchies = hierarchies();
    let target = Target {
        schema,
        hierarchies: &hierarchies,
        limits,
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new([3; 16], &mut room);
    let mut builder = TableBuilder::new(Arc::new(schema.clone()), &hierarchies)?;
    let mut sink = |chunk| builder.push(chunk);
    let summary = read_records(input, format, &target, &mut subjects, &mut sink)?;
    Ok((builder.finish()?, summary))
}

fn read(schema: &Schema, text: &[u8]) -> Result<(Table, ReadSummary), TableError> {
    read_limited(schema, ReadLimits::default(), RecordFormat::Csv, text)
}

/// The values of `x` as texts, and the leaves of its domain.
fn values(schema: &Schema, text: &str) -> (Vec<String>, Vec<String>) {
    let (table, _) = read(schema, text.as_bytes()).unwrap();
    let column = table.coded(schema.find("x").unwrap()).unwrap();
    let records = (0..table.records()).map(RecordIndex::from_usize);
    let domain = (0..column.domain.len()).map(Code::from_usize);
    (
        records
            .map(|record| column.domain.text(column.code(record)))
            .collect(),
        domain.map(|code| column.domain.text(code)).collect(),
    )
}

/// Line, attribute and code of each error.
type Listed = Vec<(u64, Option<String>, CellErrorCode)>;

fn listed(result: Result<(Table, ReadSummary), TableError>) -> Listed {
    match result {
        Err(TableError::Cells {
            errors,
            total,
            summary,
            ..
        }) => {
            let listed: u64 = summary.iter().map(|kind| kind.count.min(10)).sum();
            assert_eq!(errors.len() as u64, listed.min(100));
            assert_eq!(total, summary.iter().map(|kind| kind.count).sum::<u64>());
            let errors = errors.into_iter();
            errors
                .map(|error| (error.line, error.attribute, error.code))
                .collect()
        }
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("the input is at fault"),
    }
}

fn errors(schema: &Schema, text: &[u8]) -> Listed {
    listed(read(schema, text))
}

/// An error of the attribute `x`.
fn x(line: u64, code: CellErrorCode) -> (u64, Option<String>, CellErrorCode) {
    (line, Some("x".into()), code)
}

fn id(line: u64, code: CellErrorCode) -> (u64, Option<String>, CellErrorCode) {
    (line, Some("id".into()), code)
}

#[test]
fn each_type_names_what_it_is_not() {
    for (kind, cell, code) in [
        ("integer", "1.5", NotAnInteger),
        ("integer", "9223372036854775808", NotAnInteger),
        ("decimal", "1,5", NotADecimal),
        ("decimal", "1e999", NotADecimal),
        ("date", "2024-02-30", NotADate),
        ("date", "20240201", NotADate),
        ("categorical", "a\tb", ControlCharacter),
    ] {
        let text = format!("id,x\na,{}\nb,\"{cell}\"\n", good(kind));
        assert_eq!(
            errors(&schema(kind), text.as_bytes()),
            [x(3, code)],
            "{cell}"
        );
    }
}

fn good(kind: &str) -> &str {
    match kind {
        "date" => "2024-02-29",
        _ => "1",
    }
}

#[test]
fn each_type_is_read_up_to_its_bounds() {
    let (cells, domain) = values(
        &schema("integer"),
        "id,x\na,9223372036854775807\nb,-9223372036854775808\nc,+007\n",
    );
    assert_eq!(cells, ["9223372036854775807", "-9223372036854775808", "7"]);
    assert_eq!(domain, ["-9223372036854775808", "7", "9223372036854775807"]);
    let (cells, _) = values(&schema("decimal"), "id,x\na,-0.0\nb,5e-324\nc,1.50\n");
    assert_eq!(cells[0], "0");
    assert_eq!(cells[1].parse(), Ok(5e-324));
    assert_eq!(cells[2], "1.5");
    let (_, domain) = values(&schema("date"), "id,x\na,9999-12-31\nb,0001-01-01\n");
    assert_eq!(domain, ["0001-01-01", "9999-12-31"]);
    let (_, domain) = values(&schema("categorical"), "id,x\na,é\nb,z\nc,Y\n");
    assert_eq!(domain, ["Y", "z", "é"]);
}

#[test]
fn bytes_that_are_no_text_are_named_in_every_type() {
    for kind in ["integer", "decimal", "date", "categorical"] {
        assert_eq!(errors(&schema(kind), b"id,x\na,\xff1\n"), [x(2, NotUtf8)]);
    }
    assert_eq!(
        errors(&schema("integer"), b"id,x\n\xff,1\n"),
        [id(2, NotUtf8)]
    );
}

#[test]
fn a_cell_may_be_as_long_as_its_limit_and_no_longer() {
    let limits = ReadLimits {
        cell_bytes_max: 5,
        ..ReadLimits::default()
    };
    for kind in ["integer", "decimal", "categorical"] {
        let result = read_limited(
            &schema(kind),
            limits,
            RecordFormat::Csv,
            &b"id,x\na, 00001 \nb,000001\nlonger,1\n"[..],
        );
        assert_eq!(listed(result), [x(3, CellTooLong), id(4, CellTooLong)]);
    }
}

#[test]
fn a_record_without_end_stops_the_reading() {
    let limits = ReadLimits {
        record_bytes_max: 1 << 19,
        ..ReadLimits::default()
    };
    for (format, start) in [
        (RecordFormat::Csv, "id,x\na,1\nb,\""),
        (RecordFormat::Ndjson, "{\"id\":\"a\",\"x\":1}\n\n{\"id\":\""),
    ] {
        let input = start.as_bytes().chain(std::io::repeat(b'7'));
        let result = read_limited(&schema("integer"), limits, format, input);
        assert_eq!(listed(result), [(3, None, RecordTooLong)]);
    }
}

#[test]
fn every_value_is_a_leaf_of_its_hierarchy() {
    let illness = schema_with("", "categorical", Some("illness"));
    // A node above leaves is no value, nor is the label of missing values.
    assert_eq!(
        errors(&illness, b"id,x\na,flu\nb,chest\nc,Flu\nd,(missing)\ne,*\n"),
        [3, 4, 5, 6].map(|line| x(line, NotInHierarchy))
    );
    let (_, domain) = values(&illness, "id,x\na,gout\n");
    assert_eq!(domain, ["cough", "flu", "gout"]);
    let steps = schema_with("", "decimal", Some("steps"));
    assert_eq!(
        errors(&steps, b"id,x\na,2.50\nb,2\n"),
        [x(3, NotInHierarchy)]
    );
    let (_, domain) = values(&steps, "id,x\na,3.0\nb,1\n");
    assert_eq!(domain, ["1", "3"]);
    let (_, domain) = values(&schema_with("", "integer", Some("tens")), "id,x\na,15\n");
    assert_eq!(domain, ["15"]);
}

#[test]
fn hierarchies_that_do_not_fit_are_refused_before_reading() {
    let text = b"id,x\n";
    for (kind, name) in [
        ("integer", "turned"),
        ("categorical", "tens"),
        ("date", "tens"),
    ] {
        let result = read(&schema_with("", kind, Some(name)), text);
        assert!(matches!(result, Err(TableError::Hierarchy(_))), "{name}");
    }
    let keeping = schema_with(r#""missing": "category","#, "categorical", Some("gap"));
    assert!(matches!(
        read(&keeping, text),
        Err(TableError::Hierarchy(_))
    ));
    let result = read(&schema_with("", "integer", Some("absent")), text);
    assert!(matches!(result, Err(TableError::HierarchyUnknown(name)) if name == "absent"));
}

#[test]
fn a_header_names_each_attribute_once_and_nothing_else() {
    let schema = schema("integer");
    assert_eq!(errors(&schema, b"x\n1\n"), [id(1, AttributeMissing)]);
    assert_eq!(errors(&schema, b"x,x,id\n"), [x(1, AttributeRepeated)]);
    assert_eq!(
        errors(&schema, b"\n\nid, y\na,1\n"),
        [
            (3, Some(" y".into()), AttributeUnknown),
            x(3, AttributeMissing)
        ]
    );
    assert_eq!(
        errors(&schema, b""),
        [id(1, AttributeMissing), x(1, AttributeMissing)]
    );
    // Space around a name is no part of it.
    assert!(read(&schema, b"id, x \na,1\n").is_ok());
    // A name that is no text is not repeated.
    assert_eq!(
        errors(&schema, b"id,x,\xff\n"),
        [(1, None, AttributeUnknown)]
    );
}

#[test]
fn columns_may_stand_in_any_order() {
    let (table, _) = read(&schema("integer"), b"\xef\xbb\xbfx,id\r\n5,a\r\n4,b").unwrap();
    assert_eq!(table.subject_keys().iter().collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(table.coded(AttributeIndex(1)).unwrap().codes, [1, 0]);
}

#[test]
fn lines_are_counted_as_an_editor_counts_them() {
    let text = b"id,x\n\n\"a\n\nb\",1\r\n\r\nc,z\nd\ne,1,2\nf,\"1\"2\ng,1\nh,\"q\n";
    assert_eq!(
        errors(&schema("integer"), text),
        [
            id(3, ControlCharacter),
            x(7, NotAnInteger),
            (8, None, WrongCellCount),
            (9, None, WrongCellCount),
            x(10, Malformed),
            x(12, Malformed),
        ]
    );
}

#[test]
fn a_second_record_of_a_subject_is_named_by_its_line() {
    let text = b"id,x\na,1\nb,1\n a ,2\na,z\n";
    assert_eq!(
        errors(&schema("integer"), text),
        [
            id(4, DuplicateSubject),
            x(5, NotAnInteger),
            id(5, DuplicateSubject)
        ]
    );
    let many = schema_with(r#""multiplicity": "many","#, "integer", None);
    let (table, _) = read(&many, b"id,x\na,1\nb,1\n a ,2\n").unwrap();
    assert_eq!((table.records(), table.subjects()), (3, 2));
}

#[test]
fn a_subject_of_the_version_before_cannot_be_appended() {
    let schema = schema("integer");
    let hierarchies = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let read = |before: &[Chunk], text: &[u8]| {
        let mut room = Vec::new();
        let mut subjects = SubjectKeys::new([3; 16], &mut room);
        for chunk in before {
            subjects.add_chunk(chunk, &schema).unwrap();
        }
        let mut stored = Vec::new();
        let mut sink = |chunk| {
            stored.push(chunk);
            Ok(())
        };
        let summary = read_records(text, RecordFormat::Csv, &target, &mut subjects, &mut sink)?;
        assert_eq!(summary.records, 2);
        Ok(stored)
    };
    let before = read(&[], b"id,x\na,1\nb,2\n").unwrap();
    assert!(read(&before, b"id,x\nc,1\nd,1\n").is_ok());
    let Err(TableError::Cells { errors, .. }) = read(&before, b"id,x\nc,1\nb,1\n") else {
        panic!("b has a record")
    };
    assert_eq!(errors.len(), 1);
    assert_eq!((errors[0].line, errors[0].code), (3, DuplicateSubject));
}

#[test]
fn limits_hold_at_their_bound_and_not_above() {
    let limits = ReadLimits {
        records_max: 2,
        distinct_values_max: 2,
        ..ReadLimits::default()
    };
    let read = |kind: &str, text: &'static str| {
        read_limited(&schema(kind), limits, RecordFormat::Csv, text.as_bytes())
    };
    assert!(read("categorical", "id,x\na,1\nb,2\n").is_ok());
    assert_eq!(
        listed(read("categorical", "id,x\na,1\nb,2\nc,3\nd,4\n")),
        [(4, None, TooManyRecords)]
    );
    let limits = ReadLimits {
        distinct_values_max: 2,
        ..ReadLimits::default()
    };
    let text = "id,x\na,1\nb,2\nc,1\nd,3\ne,2\nf,4\n";
    let read = |schema: &Schema| read_limited(schema, limits, RecordFormat::Csv, text.as_bytes());
    let expected = [x(5, TooManyValues)];
    assert_eq!(listed(read(&schema("categorical"))), expected);
    assert!(read(&schema("integer")).is_ok());
}

#[test]
fn behind_an_error_no_chunk_is_handed_on() {
    let mut text = String::from("id,x\n");
    (0..70_000)
        .for_each(|at| text.push_str(&format!("p{at},{}\n", if at < 250 { "z" } else { "1" })));
    let mut chunks = 0;
    let schema = schema("integer");
    let hierarchies = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new([3; 16], &mut room);
    let mut sink = |_| {
        chunks += 1;
        Ok(())
    };
    let result = read_records(
        text.as_bytes(),
        RecordFormat::Csv,
        &target,
        &mut subjects,
        &mut sink,
    );
    let Err(TableError::Cells { total, .. }) = result else {
        panic!("250 cells are at fault")
    };
    assert_eq!((total, chunks), (250, 0));
}

#[test]
fn a_stream_that_breaks_is_no_upload() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _buffer: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
    let input = b"id,x\na,1\n".chain(Broken);
    let result = read_limited(
        &schema("integer"),
        ReadLimits::default(),
        RecordFormat::Csv,
        input,
    );
    assert!(matches!(result, Err(TableError::Read(_))));
}

#[test]
fn an_error_of_the_sink_ends_the_reading() {
    let schema = schema("integer");
    let hierarchies = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut room = Vec::new();
    let mut subjects = SubjectKeys::new([3; 16], &mut room);
    let full = TableError::Read("no room".into());
    let mut sink = |_| Err(full.clone());
    let text = &b"id,x\na,1\n"[..];
    let result = read_records(text, RecordFormat::Csv, &target, &mut subjects, &mut sink);
    assert_eq!(result, Err(full.clone()));
}

#[test]
fn no_error_repeats_a_cell() {
    let canary = "CANARY4711";
    let text = format!(
        "id,x\n{canary},{canary}\n{canary},\"{canary}\"{canary}\n{canary},{canary},{canary}\n{canary},2\n"
    );
    for text in [
        text.clone(),
        // No header: the first record is not repeated either.
        format!("{canary},{canary}\n"),
        format!("{canary},2\n"),
        format!("{{\"{canary}\": 1"),
        format!("{{\"{canary}\": 1}}"),
    ] {
        for format in [RecordFormat::Csv, RecordFormat::Ndjson] {
            let limits = ReadLimits::default();
            let result = read_limited(&schema("integer"), limits, format, text.as_bytes());
            let error = result.err().unwrap();
            assert!(!format!("{error} {error:?}").contains("CANARY"));
        }
    }
}
