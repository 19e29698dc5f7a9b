//! Columns that are read past, columns that nobody declared, identifiers that
//! are empty.

use super::*;
use crate::microdata::FaultCount;

/// `id`, `x`, and what comes behind them in the document.
fn schema_of(options: &str, others: &str) -> Schema {
    let text = format!(
        r#"{{"name": "t", "subject_key": "id", {options}
            "attributes": [{{"name": "id", "role": "identifier"}}, {others}
                {{"name": "x", "role": "sensitive", "type": "integer"}}]}}"#
    );
    serde_json::from_str(&text).unwrap()
}

const NOTE: &str = r#"{"name": "note", "role": "ignore"},"#;
const EXTRA: &str = r#""extra_columns": "ignore","#;

fn summary(schema: &Schema, format: RecordFormat, text: &[u8]) -> ReadSummary {
    let (table, summary) = read_limited(schema, ReadLimits::default(), format, text).unwrap();
    assert_eq!(table.schema().attributes().len(), 2);
    summary
}

#[test]
fn a_column_that_is_read_past_leaves_no_trace() {
    let plain = summary(&schema("integer"), RecordFormat::Csv, b"id,x\na,1\nb,2\n");
    for schema in [schema_of("", NOTE), schema_of(EXTRA, "")] {
        // Whatever its cells are: nothing of them is checked.
        for text in [
            &b"note,id,x\n\xff\x01,a,1\n,b,2\n"[..],
            b"id,note,x\na,\"y\n,\",1\nb,NULL,2\n",
            b"id,x\na,1\nb,2\n",
        ] {
            assert_eq!(summary(&schema, RecordFormat::Csv, text), plain);
        }
        let lines = br#"{"note": {"deep": [1, "}\"", null]}, "id": "a", "x": 1}
            {"id": "b", "note": true, "x": 2, "note": -1.5e3}"#;
        assert_eq!(summary(&schema, RecordFormat::Ndjson, lines), plain);
        // Its width is the file's all the same.
        assert_eq!(
            errors(&schema, b"id,note,x\na,1\n"),
            [(2, None, WrongCellCount)]
        );
        let nested = format!(
            r#"{{"id": "a", "x": 1, "note": {}1{}}}"#,
            "[".repeat(99),
            "]".repeat(99)
        );
        let limits = ReadLimits {
            json_depth_max: 100,
            ..ReadLimits::default()
        };
        let read =
            |text: &str| read_limited(&schema, limits, RecordFormat::Ndjson, text.as_bytes());
        assert!(read(&nested).is_ok());
        let deeper = nested.replace('1', "[1]").replace("\"x\": [1]", "\"x\": 1");
        assert_eq!(listed(read(&deeper)), [(1, None, NestsTooDeep)]);
        assert_eq!(listed(read(r#"{"id": "a", "note": nul, "x": 1}"#)).len(), 1);
    }
}

#[test]
fn a_column_that_nobody_declared_is_refused_by_its_name() {
    let schema = schema("integer");
    let unknown = |name: &str| (1, Some(name.to_owned()), AttributeUnknown);
    assert_eq!(
        errors(&schema, b"id,ward,x,M\xc3\xbcller\n"),
        [unknown("ward"), unknown("Müller")]
    );
    let line = br#"{"id": "a", "x": 1, "ward": {}, "town": 1}"#;
    let limits = ReadLimits::default();
    let result = read_limited(&schema, limits, RecordFormat::Ndjson, &line[..]);
    assert_eq!(listed(result), [unknown("ward")]);
    // An ignored attribute does not make others known.
    let ignoring = schema_of("", NOTE);
    assert_eq!(errors(&ignoring, b"id,x,note,ward\n"), [unknown("ward")]);
    // Names are cut, and so is their number.
    let long = "n".repeat(65);
    let told = format!("{}…", &long[1..]);
    assert_eq!(
        errors(&schema, format!("id,x,{long},a\u{1}b\n").as_bytes()),
        [unknown(&told), unknown("a\u{fffd}b")]
    );
    let many: String = (0..500).map(|at| format!(",n{at}")).collect();
    let Err(TableError::Cells { total, summary, .. }) =
        read(&schema, format!("id,x{many}\n").as_bytes())
    else {
        panic!("nobody declared them")
    };
    let named = |kind: &&FaultCount| kind.attribute.is_some();
    assert_eq!((total, summary.iter().filter(named).count()), (500, 20));
}

#[test]
fn a_record_in_the_place_of_the_header_is_not_repeated() {
    let schema = schema("integer");
    for text in ["Miller,42\n", "{\"Miller\": 42, \"Jones\": 1}\n"] {
        for format in [RecordFormat::Csv, RecordFormat::Ndjson] {
            let limits = ReadLimits::default();
            let error = read_limited(&schema, limits, format, text.as_bytes()).unwrap_err();
            let said = format!("{error} {error:?}");
            assert!(
                !said.contains("Miller") && !said.contains("Jones"),
                "{said}"
            );
        }
    }
}

#[test]
fn an_identifier_other_than_the_subject_key_may_be_empty() {
    let letter = r#"{"name": "letter", "role": "identifier", "type": "categorical"},"#;
    let text = b"id,letter,x\na,,1\nb,L1,2\nc, ,3\n";
    for policy in ["reject", "drop", "category"] {
        let schema = schema_of(&format!(r#""missing": "{policy}","#), letter);
        let (table, summary) = read(&schema, text).unwrap();
        assert_eq!((summary.records, summary.dropped), (3, 0), "{policy}");
        assert_eq!(table.records(), 3);
        let counts = summary.attributes.iter();
        let counts: Vec<_> = counts.map(|count| (count.missing, count.dropped)).collect();
        assert_eq!(counts, [(0, 0), (2, 0), (0, 0)], "{policy}");
        // Null is the same.
        let lines = br#"{"id": "a", "letter": null, "x": 1}
            {"id": "b", "letter": "L1", "x": 2}
            {"id": "c", "letter": "", "x": 3}"#;
        let limits = ReadLimits::default();
        let same = read_limited(&schema, limits, RecordFormat::Ndjson, &lines[..]);
        assert_eq!(same.unwrap().1, summary);
    }
    let dropping = schema_of(r#""missing": "drop","#, letter);
    let (_, summary) = read(&dropping, b"id,letter,x\na,,\nb,,2\n").unwrap();
    let letters = &summary.attributes[1];
    assert_eq!(
        (summary.dropped, letters.missing, letters.dropped),
        (1, 2, 0)
    );
    // The subject key is never empty.
    let strict = schema_of("", letter);
    assert_eq!(errors(&strict, b"id,letter,x\n,L1,1\n"), [id(2, Missing)]);
}

#[test]
fn a_schema_says_what_is_ignored_and_is_written_as_it_was_read() {
    let text = r#"{"name":"t","subject_key":"id","multiplicity":"one","missing":"reject","extra_columns":"ignore","attributes":[{"name":"a","role":"ignore"},{"name":"id","role":"identifier"},{"name":"b","role":"ignore","type":"date"},{"name":"x","role":"sensitive","type":"integer"},{"name":"c","role":"ignore"}]}"#;
    let schema: Schema = serde_json::from_str(text).unwrap();
    let names: Vec<_> = schema.attributes().iter().map(|one| &one.name).collect();
    assert_eq!(names, ["id", "x"]);
    assert_eq!(serde_json::to_string(&schema).unwrap(), text);
    for (wrong, said) in [
        (r#""subject_key":"id""#, r#""subject_key":"a""#),
        (
            r#"{"name":"a","role":"ignore"}"#,
            r#"{"name":"a","role":"ignore","hierarchy":"h"}"#,
        ),
        (
            r#"{"name":"a","role":"ignore"}"#,
            r#"{"name":"x","role":"ignore"}"#,
        ),
        (
            r#""extra_columns":"ignore""#,
            r#""extra_columns":"perhaps""#,
        ),
    ] {
        let text = text.replace(wrong, said);
        assert!(serde_json::from_str::<Schema>(&text).is_err(), "{said}");
    }
    // Nobody's terms are about what is not there.
    let terms = text.replace(
        r#""attributes":"#,
        r#""default_preference":{"sensitive":["a"]},"attributes":"#,
    );
    assert!(serde_json::from_str::<Schema>(&terms).is_err());
}
