//! Queries beside their naive versions.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{
    Answer, Bounds, InvalidQuery, Query, QueryAnswer, QueryIndex, Workload, error,
};

use super::loose::Loose;
use crate::common::cases::property_cases;
use crate::naive::queries as naive;

fn single(index: &QueryIndex<'_>, query: &Query) -> Answer {
    match index.answer(query).expect("the query is sound") {
        QueryAnswer::Single(answer) => answer,
        QueryAnswer::Grouped { .. } => panic!("a query without group_by"),
    }
}

/// A random query, ends between the steps of the naive version.
fn query(rng: &mut ChaCha12Rng) -> Value {
    let areas = ["a", "a1", "a2", "b", "b2", "c1", "all"];
    let ills = ["flu", "lung", "ulcer", "gut", "migraine"];
    let operators = ["<", "<=", "=", "!=", ">=", ">"];
    let predicates: Vec<Value> = (0..rng.random_range(1..5))
        .map(|_| {
            let op = operators[rng.random_range(0..6)];
            let (lo, hi) = (rng.random_range(-25..100), rng.random_range(-25..130));
            match rng.random_range(0..9) {
                0 => json!({"attribute": "age", "op": op, "value": lo}),
                1 => json!({"attribute": "age", "op": "between", "lo": lo as f64 + 0.5, "hi": hi}),
                2 => json!({"attribute": "salary", "op": op, "value": lo}),
                3 => json!({"attribute": "ward", "op": "in", "values": [lo, hi, -20, -19, -4]}),
                4 => json!({"attribute": "area", "op": "in", "values": [areas[rng.random_range(0..7)], "b1"]}),
                5 => json!({"attribute": "town", "op": "!=", "value": "Hamar"}),
                6 => json!({"attribute": "ill", "op": "=", "value": ills[rng.random_range(0..5)]}),
                7 => json!({"attribute": "admitted", "op": op, "value": format!("2024-10-{:02}", rng.random_range(2..30))}),
                _ => json!({"attribute": "height", "op": "<=", "value": 1.5 + 0.035 * rng.random_range(0..16) as f64}),
            }
        })
        .collect();
    json!({"select": {"count": true}, "where": predicates})
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(property_cases(300)))]

    #[test]
    fn the_true_count_lies_between_the_bounds(seed: u64, records in 1_usize..60, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
        let index = index.expect("the release fits together");
        let subjects: Vec<usize> = loose.records().iter().map(|record| record.at()).collect();
        let mut rng = ChaCha12Rng::seed_from_u64(seed ^ 1);
        for _ in 0..10 {
            let document = query(&mut rng);
            let query: Query = serde_json::from_value(document.clone()).expect("a sound document");
            let answer = single(&index, &query);
            let actual = naive::actual(&loose.table, &loose.tables, &subjects, &query) as f64;
            let (lower, upper) = (answer.lower.expect("a bound"), answer.upper.expect("a bound"));
            prop_assert!(lower <= actual && actual <= upper, "{lower} {actual} {upper} {document}");
            prop_assert_eq!(answer.bounds, Bounds::Certain);
            let estimate = answer.estimate.expect("an estimate");
            prop_assert!(lower <= estimate && estimate <= upper);
        }
    }

    #[test]
    fn fast_estimates_equal_the_naive_ones(seed: u64, records in 1_usize..25, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
        let index = index.expect("the release fits together");
        let mut rng = ChaCha12Rng::seed_from_u64(seed ^ 2);
        for _ in 0..4 {
            let document = query(&mut rng);
            let query: Query = serde_json::from_value(document.clone()).expect("a sound document");
            let fast = single(&index, &query).estimate.expect("an estimate");
            let slow = naive::estimate(&loose.table, &loose.tables, &query);
            prop_assert!((fast - slow).abs() < 1e-6, "{fast} {slow} {document}");
        }
    }

    #[test]
    fn sums_and_averages_contain_their_estimates(seed: u64, records in 1_usize..60, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
        let index = index.expect("the release fits together");
        let mut rng = ChaCha12Rng::seed_from_u64(seed ^ 3);
        for select in [json!({"sum": "salary"}), json!({"avg": "age"}), json!({"sum": "height"})] {
            let mut document = query(&mut rng);
            document["select"] = select;
            let query: Query = serde_json::from_value(document.clone()).expect("a sound document");
            let answer = single(&index, &query);
            if let (Some(lower), Some(estimate), Some(upper)) = (answer.lower, answer.estimate, answer.upper) {
                prop_assert!(lower <= estimate && estimate <= upper, "{document}");
            } else {
                prop_assert!(document["select"].get("avg").is_some());
            }
        }
    }

    #[test]
    fn the_reports_queries_lie_within_their_bounds(seed: u64, records in 5_usize..80, by_group: bool) {
        let loose = Loose::new(seed, records, by_group);
        let workload = Workload { seed, ..Workload::standard(40) };
        let summary = error::measure(&loose.table, &loose.tables, &loose.lineage, workload);
        let summary = summary.expect("the release fits together");
        prop_assert_eq!(summary.within_bounds, summary.queries);
        prop_assert_eq!(summary.queries + summary.left_out, 40);
        prop_assert!(summary.relative_error.median >= 0.0);
    }
}

#[test]
fn queries_past_the_budget_are_counted_and_the_others_stay_the_same() {
    let loose = Loose::new(3, 80, false);
    let published = error::Published {
        tables: &loose.tables,
        lineage: &loose.lineage,
        cancel: CancelFlag::never(),
    };
    let measured = |queries, work_max, share_max: f64| {
        let workload = Workload {
            work_max,
            ..Workload::standard(queries)
        };
        let mut told = 0.0;
        let mut watch = |share: f64| {
            assert!((told..=1.0).contains(&share), "progress goes up");
            told = share;
            share <= share_max
        };
        let found = error::measure_watched(&loose.table, published, workload, &mut watch);
        found.expect("the release fits together")
    };
    let within = measured(400, Workload::WORK_MAX, 1.0).expect("it is not stopped");
    assert_eq!(
        (within.queries + within.left_out, within.not_asked),
        (400, 0)
    );
    let past = measured(400, 50_000, 1.0).expect("it is not stopped");
    let asked = past.queries + past.left_out;
    assert!((1..400).contains(&asked));
    assert_eq!(past.not_asked, 400 - asked);
    let first = measured(asked, Workload::WORK_MAX, 1.0).expect("it is not stopped");
    assert_eq!(
        (past.queries, past.left_out, past.within_bounds),
        (first.queries, first.left_out, first.within_bounds)
    );
    // Sums may be taken in another order.
    assert!((past.relative_error.mean - first.relative_error.mean).abs() < 1e-9);
    assert!((past.relative_range.mean - first.relative_range.mean).abs() < 1e-9);
    // Whoever stops it has no figures, and waits for a part of the queries.
    assert_eq!(measured(400, Workload::WORK_MAX, 0.0), None);
}

/// Ten records in one group: salaries 10, 20, … in two buckets of five.
fn ten() -> Loose {
    use super::cells::{column, dictionary};
    use vizard_anonymizer::microdata::AttributeType::Integer;
    use vizard_anonymizer::release::{Cell, Cells, Content, PublishedTable};
    let mut loose = Loose::new(1, 10, false);
    let ages = (0..10).map(|row| {
        if row < 6 {
            Cell::Integer(20, 29)
        } else {
            Cell::Integer(30, 30)
        }
    });
    let buckets = (0..10).map(|row| 1 + u64::from(row % 2 == 1)).collect();
    let value = |at: i64| Cell::Integer(10 * at, 10 * at);
    loose.tables = vec![
        PublishedTable {
            name: "microdata".into(),
            columns: vec![
                column("age", Content::Generalized, Some(Integer), dictionary(ages)),
                column(
                    "salary",
                    Content::Generalized,
                    Some(Integer),
                    dictionary((0..10).map(|_| Cell::Empty)),
                ),
                column(
                    "salary_bucket",
                    Content::Bucket,
                    None,
                    Cells::Numbers(buckets),
                ),
            ],
        },
        PublishedTable {
            name: "buckets".into(),
            columns: vec![
                column(
                    "attribute",
                    Content::Attribute,
                    None,
                    dictionary((0..10).map(|_| Cell::Label("salary".into()))),
                ),
                column(
                    "bucket",
                    Content::Bucket,
                    None,
                    Cells::Numbers(vec![1, 1, 1, 1, 1, 2, 2, 2, 2, 2]),
                ),
                column(
                    "value",
                    Content::Value,
                    None,
                    dictionary((1..=10).map(value)),
                ),
                column("count", Content::Count, None, Cells::Numbers(vec![1; 10])),
            ],
        },
    ];
    loose
}

fn ask(document: Value) -> Result<Value, InvalidQuery> {
    let loose = ten();
    let index =
        QueryIndex::new(&loose.tables, &Default::default()).expect("the tables fit together");
    let query: Query = serde_json::from_value(document).expect("a sound document");
    Ok(serde_json::to_value(index.answer(&query)?).expect("an answer has a JSON form"))
}

#[test]
fn a_count_by_hand() {
    // Six ages 20..29, of which half lie below 25; four ages of 30.
    let answer = ask(
        json!({"select": {"count": true}, "where": [{"attribute": "age", "op": "<", "value": 25}]}),
    );
    let expected = json!({"estimate": 3.0, "lower": 0.0, "upper": 6.0, "bounds": "certain", "groups_touched": 1});
    assert_eq!(answer, Ok(expected));
    // A bucketized attribute alone is counted exactly.
    let answer = ask(
        json!({"select": {"count": true}, "where": [{"attribute": "salary", "op": ">", "value": 30}]}),
    );
    let expected = json!({"estimate": 7.0, "lower": 7.0, "upper": 7.0, "bounds": "certain", "groups_touched": 2});
    assert_eq!(answer, Ok(expected));
    // Of the four records aged 30 two are in each bucket; bucket 2 holds
    // 60..100 only, bucket 1 two values above 30, so that none to two count.
    let answer = ask(json!({"select": {"count": true}, "where": [
        {"attribute": "salary", "op": ">", "value": 30}, {"attribute": "age", "op": "=", "value": 30}]}));
    let expected = json!({"estimate": 2.8, "lower": 2.0, "upper": 4.0, "bounds": "certain", "groups_touched": 1});
    assert_eq!(answer, Ok(expected));
}

#[test]
fn a_sum_by_hand() {
    // Two of bucket 1 (10..50) and two of bucket 2 (60..100): least
    // 10 + 20 + 60 + 70, most 40 + 50 + 90 + 100.
    let answer = ask(
        json!({"select": {"sum": "salary"}, "where": [{"attribute": "age", "op": "=", "value": 30}]}),
    );
    let expected = json!({"estimate": 220.0, "lower": 160.0, "upper": 280.0, "bounds": "expected", "groups_touched": 1});
    assert_eq!(answer, Ok(expected));
    let answer = ask(
        json!({"select": {"avg": "salary"}, "where": [{"attribute": "age", "op": "=", "value": 30}]}),
    );
    let expected = json!({"estimate": 55.0, "lower": 40.0, "upper": 70.0, "bounds": "expected", "groups_touched": 1});
    assert_eq!(answer, Ok(expected));
    // A generalized measure: 1.2 of six records lie in 28..29, so one to two.
    let answer = ask(
        json!({"select": {"sum": "age"}, "where": [{"attribute": "age", "op": "between", "lo": 28, "hi": 29}]}),
    );
    let answer = answer.expect("a sound query");
    assert!((answer["estimate"].as_f64().expect("a number") - 1.2 * 28.5).abs() < 1e-9);
    assert_eq!(
        (&answer["lower"], &answer["upper"]),
        (&json!(28.0), &json!(58.0))
    );
    let none = ask(
        json!({"select": {"avg": "age"}, "where": [{"attribute": "age", "op": ">", "value": 90}]}),
    );
    assert_eq!(none.expect("a sound query")["estimate"], Value::Null);
}

#[test]
fn groups_are_answered_one_by_one_and_sum_up() {
    let answer = ask(json!({"select": {"count": true}, "group_by": "age"})).expect("a sound query");
    let groups = answer["groups"].as_array().expect("groups");
    assert_eq!(groups.len(), 11);
    assert_eq!(groups[10]["value"], json!("30"));
    let sum: f64 = groups
        .iter()
        .filter_map(|group| group["estimate"].as_f64())
        .sum();
    assert!((sum - 10.0).abs() < 1e-9);
}

#[test]
fn queries_that_do_not_fit_the_release_are_refused() {
    let refused = |document: Value, error: InvalidQuery| assert_eq!(ask(document), Err(error));
    let with = |predicate: Value| json!({"select": {"count": true}, "where": [predicate]});
    refused(
        with(json!({"attribute": "id", "op": "=", "value": 1})),
        InvalidQuery::UnknownAttribute(1),
    );
    refused(
        with(json!({"attribute": "age", "op": "=", "value": "x"})),
        InvalidQuery::ValueUnfit(1),
    );
    refused(
        json!({"select": {"sum": "id"}}),
        InvalidQuery::UnknownTarget("select"),
    );
    refused(
        json!({"select": {"count": true}, "group_by": "id"}),
        InvalidQuery::UnknownTarget("group_by"),
    );
    let many = vec![json!({"attribute": "age", "op": "=", "value": 1}); 65];
    refused(
        json!({"select": {"count": true}, "where": many}),
        InvalidQuery::TooManyPredicates,
    );
    let loose = Loose::new(4, 30, false);
    let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
    let index = index.expect("the release fits together");
    for (document, error) in [
        (
            with(json!({"attribute": "town", "op": "<", "value": "Oslo"})),
            InvalidQuery::Unordered(1),
        ),
        (
            with(json!({"attribute": "area", "op": "=", "value": "zz"})),
            InvalidQuery::UnknownValue(1),
        ),
        (json!({"select": {"avg": "town"}}), InvalidQuery::NotANumber),
        (
            json!({"select": {"count": true}, "group_by": "height"}),
            InvalidQuery::TooManyGroups(1_000),
        ),
    ] {
        let query: Query = serde_json::from_value(document).expect("a sound document");
        assert_eq!(index.answer(&query), Err(error));
    }
}
