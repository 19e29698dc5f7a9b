//! Coverage on chunks counted by hand, and on made-up ones against its
//! definition.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::microdata::HierarchyFormat;

fn schema(multiplicity: &str, kind: &str) -> Arc<Schema> {
    let schema = json!({"name": "x", "subject_key": "id", "multiplicity": multiplicity,
        "missing": "category", "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "a", "role": "quasi_identifier", "type": kind}]});
    Arc::new(serde_json::from_value(schema).unwrap())
}

fn tree(csv: &str) -> HierarchySource {
    HierarchySource::read(csv.as_bytes(), HierarchyFormat::Csv).unwrap()
}

/// What chunks of subjects and values have of a hierarchy.
fn covered(
    (multiplicity, kind): (&str, &str),
    source: &HierarchySource,
    chunks: Vec<(Vec<String>, ChunkColumn)>,
) -> AttributeCoverage {
    let mut coverage =
        Coverage::new(schema(multiplicity, kind), AttributeIndex(1), source).unwrap();
    for (subjects, column) in chunks {
        let subjects = subjects.iter().map(String::as_str).collect();
        coverage.add(&Chunk {
            records: column.len(),
            columns: vec![ChunkColumn::Text(subjects), column],
        });
    }
    coverage.finish()
}

fn categories(values: &[&str]) -> ChunkColumn {
    let mut labels: Vec<&str> = Vec::new();
    let codes = values.iter().map(|value| {
        let known = labels.iter().position(|label| label == value);
        let at = known.unwrap_or_else(|| {
            labels.push(value);
            labels.len() - 1
        });
        at as u32
    });
    let codes = codes.collect();
    ChunkColumn::Category {
        labels: labels.into_iter().collect(),
        codes,
    }
}

fn people(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("p{at}")).collect()
}

#[test]
fn values_without_a_leaf_are_counted_and_those_of_five_people_are_told() {
    let source = tree("flu;lungs;*\nasthma;lungs;*\ngout;*\n");
    let first = ["flu", "cold", "cold", "cold", "rare", "(missing)", "lungs"];
    let second = ["cold", "cold", "flu", "gout"];
    let chunks = || {
        vec![
            (people(7), categories(&first)),
            (people(4), categories(&second)),
        ]
    };
    let found = covered(("one", "categorical"), &source, chunks());
    assert_eq!((found.records, found.missing), (11, 1));
    assert_eq!((found.unused_leaves, found.obstacle), (1, None));
    let lacking = |values| Lacking {
        distinct: 3,
        is_least: false,
        records: 7,
        values,
    };
    let cold = LackingValue {
        value: "cold".into(),
        records: 5,
    };
    assert_eq!(found.lacking, lacking(vec![cold]));
    // p0 and p1 have it twice: three people are too few.
    let found = covered(("many", "categorical"), &source, chunks());
    assert_eq!(found.lacking, lacking(Vec::new()));
}

#[test]
fn numbers_are_leaves_by_their_value_and_a_missing_one_needs_none() {
    let source = tree("1;low;*\n2;low;*\n007;high;*\n9;high;*\n");
    let column = ChunkColumn::WithMissing {
        known: Box::new(ChunkColumn::Integer(vec![1, 7, 7, 9])),
        missing: vec![1, 4],
    };
    let found = covered(("many", "integer"), &source, vec![(people(6), column)]);
    assert_eq!((found.records, found.missing), (6, 2));
    // 2, and 007, which no number is written as.
    assert_eq!(found.unused_leaves, 2);
    assert_eq!((found.lacking.distinct, found.lacking.records), (1, 2));
    assert_eq!(found.obstacle, None);

    let above = tree("1;(missing);*\n2;*\n");
    let column = ChunkColumn::WithMissing {
        known: Box::new(ChunkColumn::Integer(vec![1])),
        missing: vec![0],
    };
    let found = covered(("one", "integer"), &above, vec![(people(2), column)]);
    assert_eq!(
        (found.lacking.distinct, found.lacking.records),
        (1, 1),
        "a missing value stands above leaves"
    );
}

#[test]
fn the_subject_of_a_number_is_that_of_its_record_also_behind_missing_ones() {
    let source = tree("1;*\n2;*\n");
    let subjects = ["a", "b", "b", "c", "d", "e", "f"].map(str::to_owned);
    // Records 0, 3, 4, 5 and 6 are five people; records 1 and 2 have no value.
    let column = ChunkColumn::WithMissing {
        known: Box::new(ChunkColumn::Integer(vec![8; 5])),
        missing: vec![1, 2],
    };
    let chunks = vec![(subjects.to_vec(), column)];
    let found = covered(("many", "integer"), &source, chunks);
    assert_eq!(found.lacking.values[0].value, "8");
}

#[test]
fn what_no_value_of_a_type_fits_is_said_beside_the_counts() {
    let falling = tree("2;*\n1;*\n");
    let column = ChunkColumn::Integer(vec![1, 2]);
    let found = covered(("one", "integer"), &falling, vec![(people(2), column)]);
    let obstacle = found.obstacle.expect("an obstacle");
    assert!(obstacle.contains("must ascend"), "{obstacle}");
    assert_eq!((found.unused_leaves, found.lacking.records), (0, 0));

    let intervals = br#"{"intervals": {"origin": 0, "width": 5, "fanouts": [2]}}"#;
    let intervals = HierarchySource::read(intervals, HierarchyFormat::Json).unwrap();
    for (kind, column, fits) in [
        ("integer", ChunkColumn::Integer(vec![3]), true),
        ("date", ChunkColumn::Date(vec![3]), false),
        ("categorical", categories(&["x"]), false),
    ] {
        let found = covered(("one", kind), &intervals, vec![(people(1), column)]);
        assert_eq!(found.obstacle.is_none(), fits, "{kind}");
        assert_eq!((found.unused_leaves, found.lacking.records), (0, 0));
    }
    let identifier = Coverage::new(schema("one", "integer"), AttributeIndex(0), &falling);
    assert!(identifier.is_none());
}

#[test]
fn of_very_many_values_the_first_are_told_apart_and_all_records_counted() {
    let source = tree("x;*\ny;*\n");
    let values: Vec<i64> = (0..HELD_MAX as i64 + 50).collect();
    let records = values.len();
    let column = ChunkColumn::Integer(values);
    let chunks = vec![(people(records), column)];
    let found = covered(("one", "integer"), &source, chunks).lacking;
    assert!(found.is_least);
    assert_eq!(
        (found.distinct, found.records),
        (HELD_MAX as u64, records as u64)
    );
}

proptest! {
    #[test]
    fn coverage_is_what_its_definition_says(
        rows in prop::collection::vec((0_u8..9, 0_u8..12), 1..120),
        is_many: bool,
        size in 1_usize..50,
    ) {
        let source = tree("v0;A;*\nv1;A;*\nv2;B;*\nv3;B;*\n");
        let names: Vec<String> = (0..12).map(|at| format!("v{at}")).collect();
        let mut rows = rows;
        if !is_many {
            (0..).zip(&mut rows).for_each(|(at, row)| row.0 = at);
        }
        let chunks = rows.chunks(size).map(|rows| {
            let subjects = rows.iter().map(|row| format!("p{}", row.0)).collect();
            let values: Vec<&str> = rows.iter().map(|row| &*names[row.1 as usize]).collect();
            (subjects, categories(&values))
        });
        let multiplicity = if is_many { "many" } else { "one" };
        let found = covered((multiplicity, "categorical"), &source, chunks.collect());
        let mut sharing: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
        for &(subject, value) in &rows {
            sharing.entry(value).or_default().insert(subject);
        }
        let used = (0..4).filter(|value| sharing.contains_key(value)).count();
        prop_assert_eq!(found.unused_leaves, 4 - used as u64);
        let lacking: BTreeSet<u8> = sharing.keys().copied().filter(|&value| value >= 4).collect();
        prop_assert_eq!(found.lacking.distinct, lacking.len() as u64);
        let records = |wanted: u8| rows.iter().filter(|row| row.1 == wanted).count() as u64;
        let all: u64 = lacking.iter().map(|&value| records(value)).sum();
        prop_assert_eq!(found.lacking.records, all);
        let mut told: Vec<LackingValue> = lacking
            .iter()
            .filter(|value| sharing[value].len() >= SUBJECTS_MIN)
            .map(|&value| LackingValue { value: names[value as usize].clone(), records: records(value) })
            .collect();
        told.sort_by_key(|one| (std::cmp::Reverse(one.records), one.value.clone()));
        prop_assert_eq!(found.lacking.values, told);
    }
}
