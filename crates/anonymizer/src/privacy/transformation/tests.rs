//! What is made of records, and that nobody's dates tell by how much they moved.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Transformation, days_of};
use crate::microdata::{Chunk, ChunkColumn, Schema};
use crate::privacy::Seed;

fn schema(attributes: &[Value]) -> Schema {
    let mut all = vec![
        json!({"name": "id", "role": "identifier"}),
        json!({"name": "birth", "role": "identifier", "type": "date"}),
    ];
    all.extend_from_slice(attributes);
    let document = json!({"name": "stays", "subject_key": "id", "multiplicity": "many",
        "missing": "category", "attributes": all});
    serde_json::from_value(document).unwrap()
}

fn of(name: &str, kind: &str, transform: Value) -> Value {
    json!({"name": name, "role": "sensitive", "type": kind, "transform": transform})
}

/// A chunk of these subjects, with these columns behind key and birth.
fn chunk(subjects: &[&str], births: &[&str], columns: Vec<ChunkColumn>) -> Chunk {
    let mut all = vec![
        ChunkColumn::Text(subjects.iter().copied().collect()),
        ChunkColumn::Text(births.iter().copied().collect()),
    ];
    all.extend(columns);
    Chunk {
        records: subjects.len(),
        columns: all,
    }
}

fn with_missing(known: ChunkColumn, missing: &[u32]) -> ChunkColumn {
    ChunkColumn::WithMissing {
        known: Box::new(known),
        missing: missing.to_vec(),
    }
}

#[test]
fn numbers_beyond_top_and_bottom_become_these_and_others_stay() {
    let schema = schema(&[
        of("age", "integer", json!({"top": 90, "bottom": 18})),
        of("weight", "decimal", json!({"top": 2.5, "bottom": -0.5})),
        of("plain", "integer", json!({})),
    ]);
    let given = chunk(
        &["a", "b", "c", "d"],
        &[""; 4],
        vec![
            ChunkColumn::Integer(vec![17, 18, 90, 91]),
            with_missing(ChunkColumn::Decimal(vec![-0.6, 0.0, 2.6]), &[1]),
            ChunkColumn::Integer(vec![1, 17, 91, 1000]),
        ],
    );
    let made = Transformation::new(&schema, &Seed::of_number(1));
    let made = made.of(&given);
    assert_eq!(made.columns[2], ChunkColumn::Integer(vec![18, 18, 90, 90]));
    let weights = with_missing(ChunkColumn::Decimal(vec![-0.5, 0.0, 2.5]), &[1]);
    assert_eq!(made.columns[3], weights);
    assert_eq!(made.columns[4], given.columns[4]);
}

#[test]
fn all_dates_of_a_subject_move_by_the_same_days_and_those_of_others_by_others() {
    let schema = schema(&[
        of("admission", "date", json!({"shift_days": 182})),
        of("discharge", "date", json!({"shift_days": 182})),
    ]);
    let subjects: Vec<String> = (0..400).map(|number| format!("s{}", number / 2)).collect();
    let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
    let births = vec![""; 400];
    let admissions: Vec<i32> = (0..400).map(|record| 15_000 + record).collect();
    let discharges: Vec<i32> = admissions[1..].iter().map(|day| day + 9).collect();
    let given = chunk(
        &subjects,
        &births,
        vec![
            ChunkColumn::Date(admissions.clone()),
            with_missing(ChunkColumn::Date(discharges.clone()), &[0]),
        ],
    );
    let made = Transformation::new(&schema, &Seed::of_number(7));
    let made = made.of(&given);
    let ChunkColumn::Date(moved) = &made.columns[2] else {
        panic!("dates stay dates");
    };
    let mut by: BTreeMap<&str, i32> = BTreeMap::new();
    for ((subject, before), after) in subjects.iter().zip(&admissions).zip(moved) {
        let days = after - before;
        assert!(days != 0 && days.abs() <= 182, "{days}");
        assert_eq!(*by.entry(subject).or_insert(days), days, "{subject}");
    }
    let ChunkColumn::WithMissing { known, missing } = &made.columns[3] else {
        panic!("what is missing stays missing");
    };
    let later: Vec<i32> = subjects[1..]
        .iter()
        .zip(&discharges)
        .map(|(subject, day)| day + by[subject])
        .collect();
    assert_eq!(
        (&**known, &missing[..]),
        (&ChunkColumn::Date(later), &[0][..])
    );
    // Subjects do not share their days, and another secret draws others.
    let distinct: std::collections::BTreeSet<i32> = by.values().copied().collect();
    assert!(distinct.len() > 100, "{}", distinct.len());
    let other = Transformation::new(&schema, &Seed::of_number(8));
    assert_ne!(other.of(&given).columns[2], made.columns[2]);
    let unmoved = Transformation::unmoved(&schema);
    assert_eq!(*unmoved.of(&given), given);
}

#[test]
fn days_by_which_dates_move_are_all_as_likely_and_never_none() {
    let secret = Seed::of_number(3);
    let mut counts: BTreeMap<i32, u32> = BTreeMap::new();
    for subject in 0..60_000 {
        *counts
            .entry(days_of(&secret, 3, &subject.to_string()))
            .or_default() += 1;
    }
    let days: Vec<i32> = counts.keys().copied().collect();
    assert_eq!(days, [-3, -2, -1, 1, 2, 3]);
    // 10,000 expected; five standard deviations are 457.
    assert!(
        counts.values().all(|&count| count.abs_diff(10_000) < 457),
        "{counts:?}"
    );
}

#[test]
fn a_day_that_stands_for_no_date_is_not_moved_and_counts_as_missing() {
    let schema = schema(&[
        of("admission", "date", json!({"shift_days": 30})),
        of("stay", "date", json!({"days_since": "admission"})),
    ]);
    let no_date = [-25_567, 2_932_896];
    let given = chunk(
        &["a", "b", "c"],
        &[""; 3],
        vec![
            ChunkColumn::Date(vec![no_date[0], no_date[1], 100]),
            ChunkColumn::Date(vec![1, 2, no_date[1]]),
        ],
    );
    let made = Transformation::new(&schema, &Seed::of_number(7));
    let made = made.of(&given);
    let ChunkColumn::Date(moved) = &made.columns[2] else {
        panic!("dates stay dates");
    };
    assert_eq!(moved[..2], no_date);
    assert_ne!(moved[2], 100);
    let none = with_missing(ChunkColumn::Integer(Vec::new()), &[0, 1, 2]);
    assert_eq!(made.columns[3], none);
}

#[test]
fn days_that_no_date_can_have_are_not_moved_unless_they_are_meant() {
    // 0001-01-01, 1819-12-31, 1899-12-30, 1899-12-31, 1900-01-01, 1970-01-01, 2170-01-01.
    let days = [-719_162, -54_788, -25_569, -25_568, -25_567, 0, 73_050];
    let records = days.len();
    let moved = |meant: Value| {
        let schema = schema(&[
            json!({"name": "admission", "role": "sensitive", "type": "date",
            "transform": {"shift_days": 30}, "meant": meant}),
        ]);
        let subjects: Vec<String> = (0..records).map(|number| number.to_string()).collect();
        let subjects: Vec<&str> = subjects.iter().map(String::as_str).collect();
        let dates = vec![ChunkColumn::Date(days.to_vec())];
        let given = chunk(&subjects, &vec![""; records], dates);
        let made = Transformation::new(&schema, &Seed::of_number(7)).made(given);
        let ChunkColumn::Date(made) = &made.columns[2] else {
            panic!("dates stay dates");
        };
        let pairs = made.iter().zip(days);
        let moved = pairs.map(|(after, before)| after - before != 0);
        moved.collect::<Vec<bool>>()
    };
    assert_eq!(moved(json!([])), [false; 7]);
    let meant = moved(json!(["day_1900_01_01", "day_9999_12_31"]));
    assert_eq!(meant, [false, false, false, false, true, false, false]);
}

#[test]
fn days_are_counted_from_dates_as_they_came_also_from_those_of_an_identifier() {
    let schema = schema(&[
        of("admission", "date", json!({"shift_days": 30})),
        of(
            "stay",
            "date",
            json!({"days_since": "admission", "top": 30, "bottom": 0}),
        ),
        of("age", "date", json!({"days_since": "birth"})),
    ]);
    let given = chunk(
        &["a", "b", "c", "d"],
        &["1969-12-31", "", "1969-12-30", "1970-01-02"],
        vec![
            ChunkColumn::Date(vec![10, 10, 10, 10]),
            with_missing(ChunkColumn::Date(vec![11, 9, 41]), &[2]),
            ChunkColumn::Date(vec![1, 2, 3, 4]),
        ],
    );
    let made = Transformation::new(&schema, &Seed::of_number(1));
    assert_eq!(
        made.schema().attributes()[3].kind,
        Some(crate::microdata::AttributeType::Integer)
    );
    let made = made.of(&given);
    let stays = with_missing(ChunkColumn::Integer(vec![1, 0, 30]), &[2]);
    assert_eq!(made.columns[3], stays);
    let ages = with_missing(ChunkColumn::Integer(vec![2, 5, 3]), &[1]);
    assert_eq!(made.columns[4], ages);
}

#[test]
fn records_of_a_schema_that_declares_nothing_are_not_copied() {
    let schema = schema(&[of("age", "integer", json!({}))]);
    let given = chunk(&["a"], &[""], vec![ChunkColumn::Integer(vec![1])]);
    let made = Transformation::new(&schema, &Seed::of_number(1));
    assert!(matches!(made.of(&given), std::borrow::Cow::Borrowed(_)));
}
