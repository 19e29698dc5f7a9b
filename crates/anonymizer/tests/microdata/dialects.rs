//! A table in any dialect that its schema says has the digest of the same table
//! in the canonical form, and an error in it stands at the same line.

use std::io::Cursor;

use proptest::prelude::*;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::value_text::date_text;
use vizard_anonymizer::microdata::{CellErrorCode, RecordFormat, Schema, TableError};

use super::common::cases::property_cases;
use super::common::random_table::{RandomTable, hierarchies, manner, random_table};
use super::{build, rows};

/// How a file is written.
#[derive(Clone, Debug)]
struct Dialect {
    delimiter: char,
    quote: Option<char>,
    encoding: &'static str,
    /// Sign of the fraction, and between groups of three digits.
    signs: (char, Option<char>),
    date: &'static str,
    /// What stands for a missing value.
    missing: &'static str,
    crlf: bool,
}

fn dialect() -> impl Strategy<Value = Dialect> {
    let delimiter = prop::sample::select(vec![',', ';', '\t', '|', '^', '~']);
    let quote = prop::sample::select(vec![Some('"'), Some('\''), None]);
    let encoding = vec!["utf-8", "windows-1252", "iso-8859-15", "utf-16"];
    let signs = vec![
        ('.', None),
        (',', None),
        ('.', Some(',')),
        (',', Some('.')),
        (',', Some(' ')),
        ('.', Some('\'')),
    ];
    let date = vec![
        "YYYY-MM-DD",
        "DD.MM.YYYY",
        "MM/DD/YYYY",
        "D.M.YYYY",
        "YYYYMMDD",
        "DDMMMYYYY",
        "YYYY-MM-DDThh:mm:ss",
    ];
    let missing = vec!["NULL", "n/a", "-", ""];
    (
        delimiter,
        quote,
        prop::sample::select(encoding),
        prop::sample::select(signs),
        prop::sample::select(date),
        prop::sample::select(missing),
        any::<bool>(),
    )
        .prop_map(
            |(delimiter, quote, encoding, signs, date, missing, crlf)| Dialect {
                // Without quotes a decimal comma would part cells.
                delimiter: match (quote, delimiter) {
                    (None, ',') => ';',
                    _ => delimiter,
                },
                quote,
                encoding,
                signs,
                date,
                missing,
                crlf,
            },
        )
}

impl Dialect {
    fn schema(&self, table: &RandomTable) -> Schema {
        let mut document = table.schema_document();
        let mut format = json!({
            "delimiter": self.delimiter, "encoding": self.encoding, "decimal": self.signs.0,
            "dates": [self.date],
        });
        format["quote"] = match self.quote {
            Some(quote) => json!(quote),
            None => json!("none"),
        };
        if let Some(thousands) = self.signs.1 {
            format["thousands"] = json!(thousands);
        }
        if !self.missing.is_empty() {
            format["missing_values"] = json!([self.missing]);
        }
        document["format"] = format;
        let schema: Schema = serde_json::from_value(document).expect("the schema is sound");
        let written: Value = serde_json::to_value(&schema).expect("JSON");
        assert_eq!(serde_json::from_value::<Schema>(written).unwrap(), schema);
        schema
    }

    /// The text without what this dialect cannot write.
    fn writable(&self, text: &str) -> String {
        let fits = |one: &char| {
            let is_known = matches!(self.encoding, "utf-8" | "utf-16")
                || (*one as u32) < 0x80
                || "éß\u{a0}".contains(*one);
            let parts_cells = *one == self.delimiter || matches!(*one, '\n' | '\r');
            is_known && (self.quote.is_some() || !parts_cells)
        };
        let kept: String = text.chars().filter(fits).collect();
        // A line break inside would be a control character.
        if kept.trim().is_empty() {
            "a".into()
        } else {
            kept
        }
    }

    fn number(&self, canonical: &str) -> String {
        let (minus, digits) = match canonical.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", canonical),
        };
        let (whole, fraction) = match digits.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (digits, None),
        };
        let mut text = minus.to_owned();
        for (at, digit) in whole.chars().enumerate() {
            if let Some(sign) = self.signs.1
                && at > 0
                && (whole.len() - at).is_multiple_of(3)
            {
                text.push(sign);
            }
            text.push(digit);
        }
        if let Some(fraction) = fraction {
            text.push(self.signs.0);
            text.push_str(fraction);
        }
        text
    }

    fn day(&self, days: i32) -> String {
        let text = date_text(days);
        let (year, month, day) = (&text[..4], &text[5..7], &text[8..]);
        let bare = |number: &str| number.trim_start_matches('0').to_owned();
        let months = [
            "JAN", "Feb", "Mrz", "apr", "Mai", "Jun", "JUL", "Aug", "Sep", "Okt", "Nov", "Dez",
        ];
        match self.date {
            "DD.MM.YYYY" => format!("{day}.{month}.{year}"),
            "MM/DD/YYYY" => format!("{month}/{day}/{year}"),
            "D.M.YYYY" => format!("{}.{}.{year}", bare(day), bare(month)),
            "YYYYMMDD" => format!("{year}{month}{day}"),
            "DDMMMYYYY" => {
                let at: usize = month.parse().expect("a number");
                format!("{day}{}{year}", months[at - 1])
            }
            "YYYY-MM-DDThh:mm:ss" => format!("{text}T08:30:59"),
            _ => text,
        }
    }

    fn line(&self, cells: &[String]) -> String {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| match self.quote {
                Some(quote) if cell.contains([self.delimiter, quote, '\n', '\r']) => {
                    let doubled = cell.replace(quote, &format!("{quote}{quote}"));
                    format!("{quote}{doubled}{quote}")
                }
                _ => cell.clone(),
            })
            .collect();
        cells.join(&self.delimiter.to_string()) + if self.crlf { "\r\n" } else { "\n" }
    }

    fn file(&self, table: &RandomTable) -> Vec<u8> {
        let names = ["id", "whole", "real", "day", "town", "illness"];
        let mut text = self.line(&names.map(str::to_owned));
        for record in &table.records {
            let or_missing = |cell: Option<String>| cell.unwrap_or_else(|| self.missing.into());
            text += &self.line(&[
                record.id.clone(),
                or_missing(record.whole.map(|whole| self.number(&whole.to_string()))),
                or_missing(record.real.map(|real| self.number(&real.to_string()))),
                or_missing(record.day.map(|day| self.day(day))),
                or_missing(record.town.clone()),
                or_missing(record.illness.map(str::to_owned)),
            ]);
        }
        self.encoded(&text)
    }

    fn encoded(&self, text: &str) -> Vec<u8> {
        match self.encoding {
            "utf-16" => {
                let mark = [0xFF, 0xFE].into_iter();
                mark.chain(text.encode_utf16().flat_map(u16::to_le_bytes))
                    .collect()
            }
            "utf-8" => text.into(),
            // The letters that are used have one byte in both others.
            _ => text.chars().map(|one| one as u8).collect(),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(200).min(400)))]

    #[test]
    fn a_table_has_one_digest_in_every_dialect(
        mut table in random_table(),
        manner in manner(),
        dialect in dialect(),
    ) {
        for record in &mut table.records {
            record.id = dialect.writable(&record.id);
            record.town = record.town.take().map(|town| dialect.writable(&town));
        }
        let hierarchies = hierarchies();
        let canonical = build(
            &table.schema(), &hierarchies, RecordFormat::Csv, Cursor::new(table.csv(&manner)),
        ).expect("the table is sound");
        let schema = dialect.schema(&table);
        let text = dialect.file(&table);
        let read = build(&schema, &hierarchies, RecordFormat::Csv, Cursor::new(text))
            .expect("the dialect is sound");
        prop_assert_eq!(&read.1, &canonical.1);
        prop_assert_eq!(rows(&read.0), rows(&canonical.0));
        // Numbers of JSON stand for themselves, whatever the dialect says.
        if dialect.date == "YYYY-MM-DD" && dialect.signs == ('.', None) {
            let read = build(
                &schema, &hierarchies, RecordFormat::Ndjson, Cursor::new(table.ndjson(&manner)),
            ).expect("the table is sound");
            prop_assert_eq!(&read.1, &canonical.1);
        }
    }
}

fn summary(format: Value, attributes: Value, text: &[u8]) -> Value {
    let mut all = vec![json!({"name": "id", "role": "identifier"})];
    all.extend(attributes.as_array().expect("a list").clone());
    let schema = json!({"name": "x", "subject_key": "id", "format": format, "attributes": all});
    let schema: Schema = serde_json::from_value(schema).expect("sound");
    let read = build(
        &schema,
        &Default::default(),
        RecordFormat::Csv,
        Cursor::new(text.to_vec()),
    );
    match read {
        Ok(_) => Value::Null,
        Err(TableError::Cells { summary, hints, .. }) => {
            let kinds = summary.iter().map(|kind| {
                let (name, code) = (&kind.attribute, kind.code.word());
                json!([name, code, kind.first_lines, kind.expected])
            });
            let mut all: Vec<Value> = kinds.collect();
            all.extend(hints.into_iter().map(Value::from));
            all.into()
        }
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn errors_say_the_form_that_the_schema_expects_and_their_line() {
    let attributes = json!([
        {"name": "born", "role": "sensitive", "type": "date"},
        {"name": "cost", "role": "sensitive", "type": "decimal"},
        {"name": "age", "role": "sensitive", "type": "integer", "format": {"open_ended": true}},
    ]);
    let format = json!({
        "delimiter": ";", "encoding": "windows-1252", "decimal": ",", "thousands": ".",
        "dates": ["DD.MM.YYYY", "D.M.YY"], "two_digit_years_from": 1930, "missing_values": ["."],
    });
    let head = "id;born;cost;age\n";
    let good = "a;17.03.2026;1.234,5;90+\nb;7.3.26;-0,5;<5\n\"c\n\";01.01.1999;12;41\n";
    let text = format!("{head}{good}");
    assert_eq!(
        summary(format.clone(), attributes.clone(), text.as_bytes()),
        Value::Null
    );
    let text = format!("{head}{good}d;2026-03-17;1.5;old\ne;03/17/2026;.;7\n");
    assert_eq!(
        summary(format, attributes, text.as_bytes()),
        json!([
            [
                "born",
                "not_a_date",
                [6, 7],
                "a day that exists, as DD.MM.YYYY or D.M.YY"
            ],
            [
                "age",
                "not_an_integer",
                [6],
                "a whole number, as in 1.234, 90+ or <5"
            ],
            ["cost", "not_a_decimal", [6], "a number, as in 1.234,5"],
            ["cost", "missing", [7], null],
        ])
    );
}

#[test]
fn bytes_that_are_no_character_are_told_by_line_and_attribute() {
    let attributes = json!([{"name": "town", "role": "sensitive", "type": "categorical"}]);
    let mut text: Vec<u8> = "id,town\na,K\u{e4}ln\nb,"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    // Half of a pair.
    text.extend([0x00, 0xD8, b'\n', 0]);
    let said = summary(json!({"encoding": "utf-16"}), attributes, &text);
    let code = CellErrorCode::NotUtf8.word();
    assert_eq!(said[0], json!(["town", code, [3], null]));
}

#[test]
fn formats_that_contradict_themselves_are_refused() {
    let attribute = |kind: &str, format: Value| json!({"name": "a", "role": "sensitive", "type": kind, "format": format});
    let read = |format: Value, attribute: Value| {
        let key = json!({"name": "id", "role": "identifier"});
        let schema = json!({"name": "x", "subject_key": "id", "format": format,
            "attributes": [key, attribute]});
        serde_json::from_value::<Schema>(schema)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let none = attribute("integer", json!({}));
    for format in [
        json!({"delimiter": "\""}),
        json!({"delimiter": "."}),
        json!({"delimiter": "é"}),
        json!({"delimiter": "x"}),
        json!({"decimal": ",", "thousands": ","}),
        json!({"thousands": "."}),
        json!({"dates": ["MM.YYYY"]}),
        json!({"dates": ["DD.MM.YY"]}),
        json!({"missing_values": [" NULL"]}),
        json!({"encoding": "utf-7"}),
        json!({"decimals": ","}),
    ] {
        assert!(read(format.clone(), none.clone()).is_err(), "{format}");
    }
    for (kind, format) in [
        ("categorical", json!({"decimal": ","})),
        ("date", json!({"open_ended": true})),
        ("integer", json!({"dates": ["DD.MM.YYYY"]})),
        ("integer", json!({"true": ["J"]})),
        ("categorical", json!({"true": ["J"], "false": ["J"]})),
        // The file's thousands and the attribute's decimal sign are one.
        ("decimal", json!({"thousands": "."})),
    ] {
        assert!(
            read(json!({}), attribute(kind, format.clone())).is_err(),
            "{format}"
        );
    }
    // Null says nothing.
    let nulls = json!({"delimiter": null, "quote": null, "encoding": null, "decimal": null,
        "thousands": null, "two_digit_years_from": null});
    assert!(read(nulls, attribute("decimal", Value::Null)).is_ok());
    let both = attribute("decimal", json!({"decimal": "."}));
    assert!(read(json!({"decimal": ",", "thousands": "."}), both).is_ok());
}
