//! One table has many forms: order of columns, quotes, line ends, white
//! space, CSV or NDJSON. All build the same table with the same digest.

use proptest::prelude::*;
use serde_json::{Map, Value};
use vizard_anonymizer::microdata::{
    HierarchyFormat, HierarchySet, HierarchySource, RecordFormat, Schema,
};

use super::{build, domain, rows};

const NAMES: [&str; 6] = ["id", "age", "weight", "born", "town", "illness"];

fn schema() -> Schema {
    let text = r#"{"name": "t", "subject_key": "id", "missing": "category", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "weight", "role": "quasi_identifier", "type": "decimal"},
        {"name": "born", "role": "semi_sensitive", "type": "date"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "illness", "role": "sensitive", "type": "categorical", "hierarchy": "illness"}]}"#;
    serde_json::from_str(text).expect("the schema is sound")
}

fn hierarchies() -> HierarchySet {
    let content = b"flu;chest;*\ncough;chest;*\ngout;*\n";
    let source = HierarchySource::read(content, HierarchyFormat::Csv).expect("a tree");
    HierarchySet::from([("illness".into(), source)])
}

/// One record as canonical texts, in the order of [`NAMES`].
fn record() -> impl Strategy<Value = [String; 6]> {
    let weight = prop_oneof![
        (-999_i32..999).prop_map(|n| f64::from(n) / 8.0),
        (-1e300..1e300_f64)
    ];
    let day = (1_u32..=9999, 1_u32..=12, 1_u32..=28);
    let town = prop_oneof![Just(String::new()), "[a-c\",;\\\\é|']{1,3}"];
    let illness = prop::sample::select(vec!["flu", "cough", "gout", ""]);
    (-50_i64..50, weight, day, town, illness).prop_map(|(age, weight, day, town, illness)| {
        let (year, month, date) = day;
        [
            String::new(),
            age.to_string(),
            // Positive zero has the one text of both zeros.
            (weight + 0.0).to_string(),
            format!("{year:04}-{month:02}-{date:02}"),
            town,
            illness.to_owned(),
        ]
    })
}

fn table() -> impl Strategy<Value = Vec<[String; 6]>> {
    prop::collection::vec(record(), 0..40).prop_map(|mut records| {
        for (at, record) in records.iter_mut().enumerate() {
            record[0] = format!("p{at}");
        }
        records
    })
}

/// How a table is written.
#[derive(Clone, Debug)]
struct Form {
    order: Vec<usize>,
    crlf: bool,
    mark: bool,
    last_line_ended: bool,
    /// For each cell in turn, whether it is quoted and padded.
    manners: Vec<(bool, bool)>,
}

fn form() -> impl Strategy<Value = Form> {
    (
        Just((0..NAMES.len()).collect::<Vec<_>>()).prop_shuffle(),
        any::<(bool, bool, bool)>(),
        prop::collection::vec(any::<(bool, bool)>(), 1..50),
    )
        .prop_map(|(order, (crlf, mark, last_line_ended), manners)| Form {
            order,
            crlf,
            mark,
            last_line_ended,
            manners,
        })
}

fn csv(records: &[[String; 6]], form: &Form) -> String {
    let line_end = if form.crlf { "\r\n" } else { "\n" };
    let mut manners = form.manners.iter().cycle();
    let mut lines = vec![
        form.order
            .iter()
            .map(|&at| NAMES[at].to_owned())
            .collect::<Vec<_>>(),
    ];
    lines.extend(records.iter().map(|record| {
        let cells = form.order.iter().map(|&at| {
            let &(quoted, padded) = manners.next().expect("a cycle never ends");
            let padding = if padded { " \t" } else { "" };
            let cell = format!("{padding}{}{padding}", record[at]);
            if quoted || cell.contains(['"', ',']) {
                format!("\"{}\"", cell.replace('"', "\"\""))
            } else {
                cell
            }
        });
        cells.collect()
    }));
    let lines: Vec<String> = lines.iter().map(|cells| cells.join(",")).collect();
    let mark = if form.mark { "\u{feff}" } else { "" };
    let end = if form.last_line_ended { line_end } else { "" };
    format!("{mark}{}{end}", lines.join(line_end))
}

fn ndjson(records: &[[String; 6]], form: &Form) -> String {
    let mut manners = form.manners.iter().cycle();
    let lines = records.iter().map(|record| {
        // Written by hand, since a map of serde_json sorts its names.
        let members: Vec<String> = form
            .order
            .iter()
            .map(|&at| {
                let &(as_text, padded) = manners.next().expect("a cycle never ends");
                let value = match (at, record[at].as_str()) {
                    (_, "") => "null".to_owned(),
                    (1 | 2, number) if !as_text => number.to_owned(),
                    (_, text) => Value::from(text).to_string(),
                };
                let space = if padded { " " } else { "" };
                format!("{}{space}:{space}{value}", Value::from(NAMES[at]))
            })
            .collect();
        format!("{{{}}}", members.join(","))
    });
    lines
        .collect::<Vec<_>>()
        .join(if form.crlf { "\r\n" } else { "\n" })
}

/// What the rows of the table must be.
fn expected(records: &[[String; 6]]) -> Vec<Vec<String>> {
    let cell = |cell: &String| match cell.trim() {
        "" => "(missing)".to_owned(),
        text => text.to_owned(),
    };
    let row = |record: &[String; 6]| record.iter().map(cell).collect();
    records.iter().map(row).collect()
}

proptest! {
    #[test]
    fn every_form_of_a_table_builds_the_same_table_with_the_same_digest(
        records in table(),
        one in form(),
        other in form(),
    ) {
        let (schema, hierarchies) = (schema(), hierarchies());
        let read = |format, text: String| {
            build(&schema, &hierarchies, format, text.as_bytes()).expect("the table is sound")
        };
        let (table, summary) = read(RecordFormat::Csv, csv(&records, &one));
        prop_assert_eq!(rows(&table), expected(&records));
        prop_assert_eq!(summary.records, records.len() as u64);
        for (format, text) in [
            (RecordFormat::Csv, csv(&records, &other)),
            (RecordFormat::Ndjson, ndjson(&records, &one)),
            (RecordFormat::Ndjson, ndjson(&records, &other)),
        ] {
            let (same, same_summary) = read(format, text);
            prop_assert_eq!(rows(&same), rows(&table));
            prop_assert_eq!(&same_summary, &summary);
            for name in &NAMES[1..] {
                prop_assert_eq!(domain(&same, name), domain(&table, name));
            }
        }
    }

    #[test]
    fn another_content_has_another_digest(
        records in table(),
        form in form(),
        at in any::<prop::sample::Index>(),
        column in 0_usize..6,
    ) {
        prop_assume!(!records.is_empty());
        let (schema, hierarchies) = (schema(), hierarchies());
        let read = |records: &[[String; 6]]| {
            let text = csv(records, &form);
            build(&schema, &hierarchies, RecordFormat::Csv, text.as_bytes()).expect("sound").1.sha256
        };
        let mut changed = records.clone();
        let cell = &mut changed[at.index(records.len())][column];
        *cell = match (column, cell.as_str()) {
            (1 | 2, "77") => "78".into(),
            (1 | 2, _) => "77".into(),
            (3, "2000-01-01") => "2000-01-02".into(),
            (3, _) => "2000-01-01".into(),
            (5, "flu") => "gout".into(),
            (5, _) => "flu".into(),
            (_, text) => format!("{text}x"),
        };
        prop_assert_ne!(read(&records), read(&changed));
        prop_assert_ne!(read(&records), read(&records[1..]));
    }

    #[test]
    fn any_text_is_a_table_or_a_list_of_errors(text in "(id,age,weight,born,town,illness\n)?[a-c0-9,\"\n.{}:-]{0,80}") {
        let (schema, hierarchies) = (schema(), hierarchies());
        for format in [RecordFormat::Csv, RecordFormat::Ndjson] {
            let _ = build(&schema, &hierarchies, format, text.as_bytes());
        }
    }
}

#[test]
fn the_digest_of_a_content_never_changes() {
    let (schema, hierarchies) = (schema(), hierarchies());
    let mut object = Map::new();
    for (name, value) in NAMES
        .iter()
        .zip(["a", "7", "0.5", "2024-02-29", "x", "flu"])
    {
        object.insert((*name).into(), value.into());
    }
    let text = Value::from(object).to_string();
    let (_, summary) =
        build(&schema, &hierarchies, RecordFormat::Ndjson, text.as_bytes()).expect("sound");
    assert_eq!(
        summary.sha256_hex(),
        "63de8659157a35f02ddb7f3a9bd739346326f9adfb1ec1112bb91992ee0b3a58"
    );
}
