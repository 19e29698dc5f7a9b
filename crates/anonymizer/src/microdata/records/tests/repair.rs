//! Errors that help to mend the file: counts, hints, where a line is wrong.

use super::*;
use crate::microdata::{CellError, FaultCount};

/// What the answer to a faulty input holds.
struct Told {
    errors: Vec<CellError>,
    total: u64,
    summary: Vec<FaultCount>,
    hints: Vec<String>,
}

fn told(schema: &Schema, format: RecordFormat, text: &[u8]) -> Told {
    let limits = ReadLimits::default();
    match read_limited(schema, limits, format, text).err() {
        Some(TableError::Cells {
            errors,
            total,
            summary,
            hints,
        }) => Told {
            errors,
            total,
            summary,
            hints,
        },
        other => panic!("{other:?}"),
    }
}

#[test]
pub(super) fn errors_are_listed_up_to_ten_of_a_kind_and_counted_by_kind() {
    let mut text = String::from("id,x\n");
    (0..70_000)
        .for_each(|at| text.push_str(&format!("p{at},{}\n", if at < 250 { "z" } else { "1" })));
    text.push_str("p1,1\n,1\n");
    let told = told(&schema("integer"), RecordFormat::Csv, text.as_bytes());
    assert_eq!((told.errors.len(), told.total), (12, 252));
    // The second mistake is not hidden behind a hundred of the first.
    let last: Vec<_> = told.errors[10..].iter().map(|error| error.line).collect();
    assert_eq!(last, [70_002, 70_003]);
    let summary = told.summary.iter().map(|kind| {
        let name = kind.attribute.as_deref();
        (name, kind.code, kind.count, kind.first_lines.as_slice())
    });
    assert_eq!(
        summary.collect::<Vec<_>>(),
        [
            (Some("x"), NotAnInteger, 250, &[2, 3, 4][..]),
            (Some("id"), Missing, 1, &[70_003][..]),
            (Some("id"), DuplicateSubject, 1, &[70_002][..]),
        ]
    );
}

#[test]
fn a_hint_says_how_the_whole_file_is_written() {
    for (kind, text, hint) in [
        ("integer", &b"id;x\na;1\n"[..], "separator seems to be `;`"),
        ("integer", b"id\tx\na\t1\n", "separator seems to be a tab"),
        ("integer", b"\xff\xfei\0d\0,\0x\0\n\0", "seems to be UTF-16"),
        (
            "integer",
            b"\xef\xbb\xbf\xef\xbb\xbfid,x\na,1\n",
            "byte order mark",
        ),
        ("categorical", b"id,x\na,\xdcber\n", "may be Windows-1252"),
        ("categorical", b"id,\xdcber\na,1\n", "may be Windows-1252"),
        (
            "integer",
            b"a,1\nb,2\n",
            "names less than half of the attributes",
        ),
        ("decimal", b"id,x\na,\"4878,80\"\n", "x: decimal commas"),
        ("integer", b"id,x\na,90+\n", "x: open-ended numbers"),
        ("date", b"id,x\na,16.09.1999\n", "x: days seem to be DD.MM"),
        ("date", b"id,x\na,1999-09-16 10:00\n", "x: a time stands"),
        ("integer", b"id,x\na,NULL\n", "x: words such as `NULL`"),
    ] {
        let hints = told(&schema(kind), RecordFormat::Csv, text).hints;
        assert_eq!(hints.len(), 1, "{hint}: {hints:?}");
        assert!(hints[0].contains(hint), "{hints:?}");
        for cell in ["4878", "16.09", "10:00"] {
            assert!(!hints[0].contains(cell), "{hints:?}");
        }
    }
    let plain = told(&schema("integer"), RecordFormat::Csv, b"id,x\na,z\n");
    assert!(plain.hints.is_empty());
    let utf16 = told(&schema("integer"), RecordFormat::Ndjson, b"\xff\xfe{\0}\0");
    assert!(utf16.hints[0].contains("UTF-16"), "{:?}", utf16.hints);
    let comma = br#"{"id": "a", "x": "1,5"}"#;
    let comma = told(&schema("decimal"), RecordFormat::Ndjson, comma);
    assert!(comma.hints[0].contains("decimal commas"));
}

#[test]
fn a_malformed_line_names_its_field_and_how_it_is_wrong() {
    let schema = schema("integer");
    let text = b"id,x\n\"a\"b,1\nb,1\"\nc\nd,1,2\n\"e,1\n";
    let errors = told(&schema, RecordFormat::Csv, text).errors;
    let errors = errors.iter().map(|error| {
        let reason = error.reason.map(|reason| reason.to_string());
        (
            (error.line, error.column, error.attribute.as_deref()),
            reason.unwrap_or_default(),
        )
    });
    let found: Vec<_> = errors.collect();
    let expected = [
        ((2, Some(1), Some("id")), "text behind the closing quote"),
        ((3, Some(2), Some("x")), "a quote inside a cell"),
        ((4, None, None), "1 cell where the header has 2"),
        ((5, None, None), "3 cells where the header has 2"),
        ((6, Some(1), Some("id")), "a quote that is never closed"),
    ];
    assert_eq!(found.len(), expected.len());
    for ((place, reason), (expected, begin)) in found.iter().zip(expected) {
        assert_eq!(*place, expected);
        assert!(reason.starts_with(begin), "{reason}");
    }
    for (text, column, attribute, reason) in [
        (
            &br#"{"id": "a", "x": true}"#[..],
            18,
            Some("x"),
            "neither a string",
        ),
        (br#"{"id": "a" "x": 1}"#, 12, None, "`,` or `}` is due"),
        (br#"{"id" "a"}"#, 7, Some("id"), "`:` is due"),
        (
            br#"{"id": "a}"#,
            9,
            Some("id"),
            "a string that is never closed",
        ),
        (
            br#"{"id": 1.5}"#,
            11,
            Some("id"),
            "a number with a fraction",
        ),
        (br#"["a", 1]"#, 1, None, "no object"),
        (br#"{"id": "a", "x": 1}}"#, 20, None, "something behind"),
    ] {
        let error = told(&schema, RecordFormat::Ndjson, text).errors.remove(0);
        assert_eq!(error.code, Malformed);
        assert_eq!(
            (error.column, error.attribute.as_deref()),
            (Some(column), attribute)
        );
        let said = error.reason.expect("a reason").to_string();
        assert!(said.starts_with(reason), "{said}");
    }
}
