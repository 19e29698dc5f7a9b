//! Cells of dialects: what they become, and what is refused.

use super::*;
use crate::microdata::Schema;

/// What a cell of the one attribute that is said becomes.
fn canonical(attribute: &str, format: &str, cell: &str) -> String {
    let schema = format!(
        r#"{{"name": "x", "subject_key": "id", "format": {format}, "attributes": [
            {{"name": "id", "role": "identifier"}},
            {{"name": "a", "role": "sensitive", {attribute}}}]}}"#
    );
    let schema: Schema = serde_json::from_str(&schema).unwrap();
    let rules = CellRules::of(&schema);
    let mut room = Vec::new();
    let cell = rules.canonical(1, cell.as_bytes(), (true, &mut room));
    String::from_utf8(cell.to_vec()).unwrap()
}

#[test]
fn numbers_lose_their_signs_or_are_refused() {
    let comma = r#"{"decimal": ","}"#;
    let german = r#"{"decimal": ",", "thousands": "."}"#;
    let english = r#"{"thousands": ","}"#;
    let french = r#"{"decimal": ",", "thousands": " "}"#;
    for (format, cell, plain) in [
        (comma, "4878,80", "4878.80"),
        (comma, "-0,5", "-0.5"),
        (comma, "12", "12"),
        // It may be 15, or one and a half.
        (comma, "1.5", "\0"),
        (comma, "1,5e3", "1.5e3"),
        (comma, "1,2,3", "1,2,3"),
        (german, "1.234.567,8", "1234567.8"),
        (german, "-1.234", "-1234"),
        (german, "1.5", "\0"),
        // Fractions of another dialect, not thousands.
        (german, "0.500", "\0"),
        (german, "1.2E+05", "\0"),
        (german, "1,2E+05", "1.2E+05"),
        (german, "1234,5", "1234.5"),
        (german, "12.34,5", "12.34,5"),
        (german, "1.2345", "\0"),
        (german, ".234", "\0"),
        (english, "1,234.5", "1234.5"),
        (english, "1,23", "1,23"),
        (english, "1234.5", "1234.5"),
        (french, "1\u{202f}234\u{a0}567,8", "1234567.8"),
        (french, "nothing", "nothing"),
        ("{}", "1,5", "1,5"),
        ("{}", "1.5", "1.5"),
    ] {
        let read = canonical(r#""type": "decimal""#, format, cell);
        assert_eq!(read, plain, "{format} {cell}");
    }
    let whole = |cell| canonical(r#""type": "integer""#, german, cell);
    assert_eq!(whole("1.234"), "1234");
    assert_eq!(whole("12.34"), "\0");
}

#[test]
fn open_ended_numbers_are_their_bounds_where_the_attribute_says_so() {
    let read = |cell| {
        let attribute = r#""type": "integer", "format": {"open_ended": true}"#;
        canonical(attribute, "{}", cell)
    };
    for (cell, bound) in [
        ("90+", "90"),
        ("> 90", "90"),
        ("<5", "5"),
        ("≤ 5", "5"),
        (">=5", "5"),
        ("41", "41"),
        // Not empty: a missing value is another thing.
        ("+", "+"),
        ("<", "<"),
        ("old", "old"),
    ] {
        assert_eq!(read(cell), bound, "{cell}");
    }
    assert_eq!(canonical(r#""type": "integer""#, "{}", "90+"), "90+");
}

#[test]
fn a_day_in_another_form_than_the_schema_says_is_refused() {
    let date = r#""type": "date""#;
    let german = r#"{"dates": ["DD.MM.YYYY", "D.M.YY"], "two_digit_years_from": 1930}"#;
    for (cell, day) in [
        ("17.03.2026", "2026-03-17"),
        ("7.3.26", "2026-03-07"),
        // No such day: the column says so.
        ("31.02.2026", "2026-02-31"),
        ("03/17/2026", "03/17/2026"),
        ("2026-03-17", "\0"),
    ] {
        assert_eq!(canonical(date, german, cell), day);
    }
    let american = r#""type": "date", "format": {"dates": ["MM/DD/YYYY"]}"#;
    assert_eq!(canonical(american, german, "03/07/2026"), "2026-03-07");
    assert_eq!(canonical(american, german, "17.03.2026"), "17.03.2026");
}

#[test]
fn words_stand_for_truth_and_for_what_is_missing() {
    let truth = r#""type": "categorical", "format": {"true": ["ja", "J"], "false": ["nein"]}"#;
    let format = r#"{"missing_values": ["NULL", "."], "dates": ["DD.MM.YYYY"]}"#;
    for (cell, value) in [
        ("ja", "true"),
        ("nein", "false"),
        ("Ja", "Ja"),
        ("NULL", ""),
        (".", ""),
        ("null", "null"),
    ] {
        assert_eq!(canonical(truth, format, cell), value);
    }
    let date = r#""type": "date", "missing_values": ["9999-12-31"]"#;
    assert_eq!(canonical(date, format, "31.12.9999"), "");
    assert_eq!(canonical(date, format, "9999-12-31"), "");
}

#[test]
fn every_sign_between_thousands_is_read() {
    for thousands in Thousands::ALL {
        let format = CellFormat {
            decimal: Some(match thousands {
                Thousands::Comma => DecimalSign::Point,
                _ => DecimalSign::Comma,
            }),
            thousands: Some(thousands),
            ..CellFormat::default()
        };
        for sign in thousands.signs() {
            let cell = format!("1{sign}234");
            assert_eq!(format.number_of(&cell), Some(1234.0), "{cell:?}");
        }
    }
}
