//! Queries beside their naive versions.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{
    AnsweredCell, Bounds, Estimate, InvalidQuery, List, Query, QueryIndex, Workload, error,
};

use super::loose::Loose;
use crate::common::cases::property_cases;
use crate::naive::queries as naive;

/// The one cell of a query without `group_by`.
fn only(index: &QueryIndex<'_>, query: &Query) -> AnsweredCell {
    let answer = index.answer(query, CancelFlag::never());
    let mut cells = answer.expect("the query is sound").cells;
    assert_eq!(cells.len(), 1);
    cells.remove(0)
}

fn count(index: &QueryIndex<'_>, query: &Query) -> Estimate {
    only(index, query).count.expect("it was asked for")
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
    json!({"count": true, "where": predicates})
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
            let answer = count(&index, &query);
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
            let fast = count(&index, &query).estimate.expect("an estimate");
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
        let mut document = query(&mut rng);
        document["sum"] = json!(["salary", "height"]);
        document["avg"] = json!(["age", "salary"]);
        let query: Query = serde_json::from_value(document.clone()).expect("a sound document");
        let cell = only(&index, &query);
        prop_assert_eq!((cell.sum.len(), cell.avg.len()), (2, 2));
        for (answer, is_sum) in cell.sum.values().map(|sum| (sum, true)).chain(cell.avg.values().map(|avg| (avg, false))) {
            if let (Some(lower), Some(estimate), Some(upper)) = (answer.lower, answer.estimate, answer.upper) {
                prop_assert!(lower <= estimate && estimate <= upper, "{document}");
            } else {
                prop_assert!(!is_sum, "{document}");
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

/// The cells of the answer.
fn cells(document: Value) -> Result<Value, InvalidQuery> {
    let loose = ten();
    let index =
        QueryIndex::new(&loose.tables, &Default::default()).expect("the tables fit together");
    let query: Query = serde_json::from_value(document).expect("a sound document");
    let answer = index.answer(&query, CancelFlag::never())?;
    let cells = serde_json::to_value(answer.cells);
    Ok(cells.expect("an answer has a JSON form"))
}

/// The one figure of the one cell, and how many groups it is from.
fn ask(document: Value) -> Result<(Value, u64), InvalidQuery> {
    let cells = cells(document)?;
    let cell = &cells[0];
    let figures = [
        &cell["count"],
        &cell["sum"]["salary"],
        &cell["avg"]["salary"],
        &cell["sum"]["age"],
        &cell["avg"]["age"],
    ];
    let figure = figures.into_iter().find(|figure| !figure.is_null());
    let groups = cell["groups"].as_u64().expect("a number");
    Ok((figure.expect("one figure").clone(), groups))
}

#[test]
fn a_count_by_hand() {
    // Six ages 20..29, of which half lie below 25; four ages of 30.
    let answer =
        ask(json!({"count": true, "where": [{"attribute": "age", "op": "<", "value": 25}]}));
    let expected = (
        json!({"estimate": 3.0, "lower": 0.0, "upper": 6.0, "bounds": "certain"}),
        1,
    );
    assert_eq!(answer, Ok(expected));
    // A bucketized attribute alone is counted exactly.
    let answer =
        ask(json!({"count": true, "where": [{"attribute": "salary", "op": ">", "value": 30}]}));
    let expected = (
        json!({"estimate": 7.0, "lower": 7.0, "upper": 7.0, "bounds": "certain"}),
        2,
    );
    assert_eq!(answer, Ok(expected));
    // Of the four records aged 30 two are in each bucket; bucket 2 holds
    // 60..100 only, bucket 1 two values above 30, so that none to two count.
    let answer = ask(json!({"count": true, "where": [
        {"attribute": "salary", "op": ">", "value": 30}, {"attribute": "age", "op": "=", "value": 30}]}));
    let expected = (
        json!({"estimate": 2.8, "lower": 2.0, "upper": 4.0, "bounds": "certain"}),
        1,
    );
    assert_eq!(answer, Ok(expected));
}

#[test]
fn a_sum_by_hand() {
    // Two of bucket 1 (10..50) and two of bucket 2 (60..100): least
    // 10 + 20 + 60 + 70, most 40 + 50 + 90 + 100.
    let answer =
        ask(json!({"sum": ["salary"], "where": [{"attribute": "age", "op": "=", "value": 30}]}));
    let expected = (
        json!({"estimate": 220.0, "lower": 160.0, "upper": 280.0, "bounds": "expected"}),
        1,
    );
    assert_eq!(answer, Ok(expected));
    let answer =
        ask(json!({"avg": ["salary"], "where": [{"attribute": "age", "op": "=", "value": 30}]}));
    let expected = (
        json!({"estimate": 55.0, "lower": 40.0, "upper": 70.0, "bounds": "expected"}),
        1,
    );
    assert_eq!(answer, Ok(expected));
    // A generalized measure: 1.2 of six records lie in 28..29, so one to two.
    let answer = ask(
        json!({"sum": ["age"], "where": [{"attribute": "age", "op": "between", "lo": 28, "hi": 29}]}),
    );
    let (answer, _) = answer.expect("a sound query");
    assert!((answer["estimate"].as_f64().expect("a number") - 1.2 * 28.5).abs() < 1e-9);
    assert_eq!(
        (&answer["lower"], &answer["upper"]),
        (&json!(28.0), &json!(58.0))
    );
    let none =
        ask(json!({"avg": ["age"], "where": [{"attribute": "age", "op": ">", "value": 90}]}));
    assert_eq!(none.expect("a sound query").0["estimate"], Value::Null);
}

#[test]
fn groups_are_answered_one_by_one_and_sum_up() {
    let answer = cells(json!({"count": true, "group_by": ["age"]})).expect("a sound query");
    let groups = answer.as_array().expect("cells");
    assert_eq!(groups.len(), 11);
    assert_eq!(groups[10]["values"], json!(["30"]));
    assert_eq!(groups[10]["rows"], json!(4));
    assert_eq!(groups[0]["rows"], json!(6));
    let estimates = groups.iter().map(|group| &group["count"]["estimate"]);
    let sum: f64 = estimates.filter_map(Value::as_f64).sum();
    assert!((sum - 10.0).abs() < 1e-9);
}

#[test]
fn queries_that_do_not_fit_the_release_are_refused() {
    let refused = |document: Value, error: InvalidQuery| assert_eq!(ask(document), Err(error));
    let with = |predicate: Value| json!({"count": true, "where": [predicate]});
    refused(
        with(json!({"attribute": "id", "op": "=", "value": 1})),
        InvalidQuery::UnknownAttribute(List::Where.at(0)),
    );
    refused(
        with(json!({"attribute": "age", "op": "=", "value": "x"})),
        InvalidQuery::ValueUnfit(List::Where.at(0)),
    );
    refused(
        json!({"sum": ["id"]}),
        InvalidQuery::UnknownAttribute(List::Sum.at(0)),
    );
    refused(
        json!({"count": true, "group_by": ["id"]}),
        InvalidQuery::UnknownAttribute(List::GroupBy.at(0)),
    );
    let many = vec![json!({"attribute": "age", "op": "=", "value": 1}); 65];
    refused(
        json!({"count": true, "where": many}),
        InvalidQuery::TooMany(List::Where, 64),
    );
    let loose = Loose::new(4, 30, false);
    let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
    let index = index.expect("the release fits together");
    for (document, error) in [
        (
            with(json!({"attribute": "town", "op": "<", "value": "Oslo"})),
            InvalidQuery::Unordered(List::Where.at(0)),
        ),
        (
            with(json!({"attribute": "area", "op": "=", "value": "zz"})),
            InvalidQuery::UnknownValue(List::Where.at(0)),
        ),
        (
            json!({"avg": ["age", "town"]}),
            InvalidQuery::NotANumber(List::Avg.at(1)),
        ),
        (
            json!({"count": true, "group_by": ["height"]}),
            InvalidQuery::Unlisted(List::GroupBy.at(0)),
        ),
        (json!({"group_by": ["town"]}), InvalidQuery::NothingAsked),
        (
            json!({"count": true, "group_by": ["town", "town"]}),
            InvalidQuery::Repeated(List::GroupBy.at(1)),
        ),
        (
            json!({"count": true, "group_by": ["age", "salary", "ward"]}),
            InvalidQuery::TooManyCells,
        ),
        (
            with(json!({"attribute": "age", "op": "in", "values": vec![1; 1_001]})),
            InvalidQuery::TooManyValues(List::Where.at(0)),
        ),
    ] {
        let query: Query = serde_json::from_value(document).expect("a sound document");
        assert_eq!(index.answer(&query, CancelFlag::never()), Err(error));
    }
}

#[test]
fn several_attributes_are_grouped_by_and_conditions_narrow_their_values() {
    let loose = Loose::new(4, 60, false);
    let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
    let index = index.expect("the release fits together");
    let ask = |document: Value| {
        let query: Query = serde_json::from_value(document).expect("a sound document");
        index
            .answer(&query, CancelFlag::never())
            .expect("a sound query")
    };
    let whole = ask(json!({"count": true, "group_by": ["area", "town"]}));
    let narrow = ask(json!({"count": true, "group_by": ["area", "town"],
        "where": [{"attribute": "area", "op": "in", "values": ["a"]}]}));
    assert!(narrow.cells.len() < whole.cells.len());
    let of_a: Vec<_> = (whole.cells.iter())
        .filter(|cell| cell.values[0].starts_with('a'))
        .collect();
    assert_eq!(narrow.cells.iter().collect::<Vec<_>>(), of_a);
    let estimates = whole.cells.iter().filter_map(|cell| cell.count?.estimate);
    assert!(estimates.sum::<f64>() <= 60.0 + 1e-6);
    assert!(whole.cells.iter().all(|cell| cell.values.len() == 2));
}

#[test]
fn an_index_that_owns_its_cells_answers_as_one_that_borrows_them() {
    for by_group in [false, true] {
        let loose = Loose::new(9, 50, by_group);
        let hierarchies = QueryIndex::hierarchies_of(&loose.table);
        let borrowed = QueryIndex::new(&loose.tables, &hierarchies).expect("it fits together");
        let owned = QueryIndex::new(&loose.tables, &hierarchies).expect("it fits together");
        let owned = owned.into_owned();
        assert!(owned.bytes() > 0);
        let mut rng = ChaCha12Rng::seed_from_u64(5);
        for _ in 0..30 {
            let mut document = query(&mut rng);
            document["avg"] = json!(["salary"]);
            let query: Query = serde_json::from_value(document).expect("a sound document");
            let [one, other] = [&borrowed, &owned].map(|index| only(index, &query));
            assert_eq!(one.avg, other.avg);
            let (one, other) = (one.count.expect("asked"), other.count.expect("asked"));
            assert_eq!((one.lower, one.upper), (other.lower, other.upper));
            assert!((one.estimate.expect("one") - other.estimate.expect("one")).abs() < 1e-9);
        }
    }
}

#[test]
fn a_query_that_is_cancelled_ends() {
    let loose = Loose::new(4, 30, false);
    let index = QueryIndex::new(&loose.tables, &QueryIndex::hierarchies_of(&loose.table));
    let index = index.expect("the release fits together");
    let query: Query = serde_json::from_value(json!({"count": true})).expect("a sound document");
    let cancel = CancelFlag::default();
    cancel.cancel();
    assert!(cancel.run(|| index.answer(&query, &cancel)).is_err());
}
