//! Objects that are records, and those that are none.

use super::*;
use crate::microdata::{HierarchySet, ReadLimits};

fn schema() -> Schema {
    let text = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "n", "role": "sensitive", "type": "decimal"},
        {"name": "c", "role": "sensitive", "type": "categorical"}]}"#;
    serde_json::from_str(text).unwrap()
}

/// The cells of the first line, or the attribute and code of its fault.
fn row(text: &[u8]) -> Result<Vec<String>, (Option<&'static str>, CellErrorCode)> {
    let schema = schema();
    let hierarchies = HierarchySet::new();
    let target = Target {
        schema: &schema,
        hierarchies: &hierarchies,
        limits: ReadLimits::default(),
    };
    let mut rows = NdjsonRows::new(text, &target).unwrap();
    match rows.next_row().unwrap() {
        Row::Cells(_) => Ok((0..rows.width())
            .map(|at| String::from_utf8(rows.cell(at).to_vec()).unwrap())
            .collect()),
        Row::Fault(fault) => {
            let name = fault.attribute.map(|index| ["id", "n", "c"][index.at()]);
            Err((name, fault.code))
        }
        Row::Stop(_) | Row::End => panic!("there is a line"),
    }
}

#[test]
fn names_may_stand_in_any_order_and_numbers_keep_their_digits() {
    assert_eq!(
        row(b"\xef\xbb\xbf\n { \"n\":-0.30e+1 ,\"c\" : \"x\\u00e9\\ud83d\\ude00\\n\\/\", \"id\": 7 }\r\n")
            .unwrap(),
        ["7", "-0.30e+1", "xé😀\n/"]
    );
    assert_eq!(
        row(br#"{"id":"a","n":null,"c":""}"#).unwrap(),
        ["a", "", ""]
    );
    assert_eq!(
        row(br#"{"\u0069d":"a","n":"5","c":0}"#).unwrap(),
        ["a", "5", "0"]
    );
}

#[test]
fn names_are_those_of_the_schema_each_once() {
    use CellErrorCode::{AttributeMissing, AttributeRepeated, AttributeUnknown};
    assert_eq!(
        row(br#"{"id":"a","n":1}"#),
        Err((Some("c"), AttributeMissing))
    );
    assert_eq!(row(b"{}"), Err((Some("id"), AttributeMissing)));
    assert_eq!(
        row(br#"{"id":"a","n":1,"n":1,"c":"x"}"#),
        Err((Some("n"), AttributeRepeated))
    );
    assert_eq!(
        row(br#"{"id":"a","n":1,"c":"x","d":{}}"#),
        Err((None, AttributeUnknown))
    );
    assert_eq!(row(br#"{"d":1}"#), Err((None, AttributeUnknown)));
}

#[test]
fn what_is_no_cell_is_malformed() {
    for value in [
        "true",
        "[1]",
        "{}",
        "1.5",
        "1e3",
        "nul",
        "nulll",
        "'a'",
        "-",
        "01",
        "1.",
        ".5",
        "+1",
        "\"a",
        "\"\\x\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"\\u00g0\"",
        "\"a\nb\"",
        "",
    ] {
        let text = format!("{{\"id\":\"a\",\"n\":1,\"c\":{value}}}");
        let (_, code) = row(text.as_bytes()).unwrap_err();
        assert_eq!(code, CellErrorCode::Malformed, "{value}");
    }
    for text in [
        "[]",
        "{",
        "{\"id\"}",
        "{\"id\":1,}",
        "{\"id\":1}}",
        "{,}",
        "{\"id\" 1}",
        "null",
        "{\"id\":\"a\",\"n\":1,\"c\":\"x\"} x",
    ] {
        assert_eq!(
            row(text.as_bytes()).unwrap_err().1,
            CellErrorCode::Malformed,
            "{text}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn strings_are_read_as_serde_json_writes_them(id: String, c: String, n in -1e300_f64..1e300) {
        let text = serde_json::json!({"id": id, "n": n, "c": c}).to_string();
        let cells = row(text.as_bytes()).unwrap();
        proptest::prop_assert_eq!(&cells[0], &id);
        proptest::prop_assert_eq!(&cells[2], &c);
        proptest::prop_assert_eq!(cells[1].parse::<f64>().unwrap(), n);
    }

    #[test]
    fn any_bytes_are_rows_or_faults(text in "[{}\\[\\],:\"\\\\idncu01.e\\- ]{1,40}") {
        if !text.trim().is_empty() {
            let _ = row(text.as_bytes());
        }
    }
}
