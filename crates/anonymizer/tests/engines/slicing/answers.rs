//! What the engine answers, by hand: bounds at equality, terms of single
//! subjects, columns that it finds, and parameters that do not fit.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use vizard_anonymizer::engine::EngineError;
use vizard_anonymizer::microdata::Table;

use crate::case::Case;
use crate::tables::{preferences, table};

use super::naive;

fn schema() -> Value {
    json!({
        "name": "people", "subject_key": "name",
        "attributes": [
            {"name": "name", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "city", "role": "quasi_identifier", "type": "categorical"},
            {"name": "job", "role": "sensitive", "type": "categorical"}
        ]
    })
}

/// People `n0`, `n1`, … with these attributes.
fn people(rows: &[(i64, &str, &str)]) -> Table {
    let mut records = String::from("name,age,city,job\n");
    for (at, (age, city, job)) in rows.iter().enumerate() {
        records += &format!("n{at},{age},{city},{job}\n");
    }
    table(schema(), &[], &records)
}

fn publish(table: Table, parameters: Value, wishes: Value) -> Result<Case, EngineError> {
    let case = Case::run("slicing", table, &parameters, &preferences(wishes), 3)?;
    let verdict = case.verdict();
    let failed: Vec<_> = verdict.failed().collect();
    assert!(verdict.holds(), "{failed:#?}");
    Ok(case)
}

fn refusal(table: Table, parameters: Value, wishes: Value) -> (&'static str, Option<f64>) {
    match publish(table, parameters, wishes) {
        Err(EngineError::Infeasible(answer)) => (answer.parameter, answer.strongest_value),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it cannot comply"),
    }
}

fn sizes(case: &Case) -> Vec<usize> {
    let mut sizes = BTreeMap::new();
    for bucket in case.numbers("sliced", "bucket") {
        *sizes.entry(bucket).or_insert(0) += 1;
    }
    sizes.into_values().collect()
}

const EVEN: [(i64, &str, &str); 8] = [
    (20, "Oslo", "baker"),
    (21, "Oslo", "clerk"),
    (22, "Rome", "baker"),
    (23, "Rome", "nurse"),
    (60, "Oslo", "clerk"),
    (61, "Oslo", "nurse"),
    (62, "Rome", "baker"),
    (63, "Rome", "clerk"),
];

fn linked(l: u32) -> Value {
    json!({"l": l, "columns": [["age"], ["city", "job"]]})
}

#[test]
fn buckets_are_cut_while_every_city_keeps_two_jobs() {
    let case = publish(people(&EVEN), linked(2), json!([])).unwrap();
    // Two of a city and of near ages; a further cut would leave one person.
    assert_eq!(sizes(&case), [2, 2, 2, 2]);
    assert_eq!(naive::largest_probability(&case, "job"), Some(0.5));
}

#[test]
fn an_l_beyond_the_values_of_an_attribute_proposes_t_closeness() {
    let rows = EVEN.map(|(age, city, job)| (age, city, if job == "baker" { job } else { "clerk" }));
    let answer = |rows: &[(i64, &str, &str)], l| match publish(people(rows), linked(l), json!([])) {
        Err(EngineError::Infeasible(answer)) => *answer,
        _ => panic!("it cannot comply"),
    };
    assert_eq!(answer(&rows, 3).instead, Some("t_closeness"));
    let instead = json!({"t_closeness": 0.5, "columns": [["age"], ["city", "job"]]});
    publish(people(&rows), instead, json!([])).unwrap();
    // Three jobs, one of which is too frequent beside a city.
    assert_eq!(answer(&EVEN, 3).instead, None);
}

#[test]
fn a_value_that_two_in_five_have_beside_a_city_allows_l_2_and_no_more() {
    let rows = [
        (20, "Oslo", "baker"),
        (21, "Oslo", "baker"),
        (22, "Oslo", "clerk"),
        (23, "Oslo", "nurse"),
        (24, "Oslo", "tailor"),
        (25, "Rome", "baker"),
        (26, "Rome", "clerk"),
        (27, "Rome", "nurse"),
    ];
    assert_eq!(
        refusal(people(&rows), linked(3), json!([])),
        ("l", Some(2.0))
    );
    publish(people(&rows), linked(2), json!([])).unwrap();
    let apart = json!({"l": 2, "columns": [["age", "city"], ["job"]]});
    publish(people(&rows), apart, json!([])).unwrap();
}

#[test]
fn whoever_asks_for_more_is_kept_in_a_bucket_that_gives_it() {
    let jobs = ["baker", "clerk", "nurse", "baker", "clerk", "nurse"];
    let ages = [20, 21, 22, 60, 61, 62];
    let rows: Vec<_> = ages
        .into_iter()
        .zip(jobs)
        .map(|(age, job)| (age, "Oslo", job))
        .collect();
    let wishes = json!([{"subject": "n0", "max_leakage": 0.34}]);
    let case = publish(people(&rows), linked(1), wishes).unwrap();
    let mut found = sizes(&case);
    found.sort_unstable();
    // Nobody else asks for anything, nor do they match the bucket of n0.
    assert_eq!(found, [1, 1, 1, 3]);
}

#[test]
fn a_bound_that_the_whole_table_cannot_give_leaves_its_subject_out() {
    let wishes = json!([{"subject": "n0", "max_leakage": 0.2}]);
    let parameters = |budget: f64| {
        let mut parameters = linked(2);
        parameters["max_excluded"] = json!(budget);
        parameters
    };
    let case = publish(people(&EVEN), parameters(0.5), wishes.clone()).unwrap();
    let keys = case.table.subject_keys();
    let left = case
        .subjects()
        .iter()
        .all(|subject| keys.get(subject.at()) != "n0");
    assert!(left && case.excluded >= 1);
    let (parameter, strongest) = refusal(people(&EVEN), parameters(0.0), wishes.clone());
    assert_eq!(parameter, "max_excluded");
    publish(people(&EVEN), parameters(strongest.unwrap()), wishes).unwrap();
}

/// Ages are generalized, so that whoever lives in Oslo is taken to match every
/// bucket with someone from there: each must hold for the strictest of them.
#[test]
fn a_bucket_holds_for_those_who_match_it_from_outside() {
    let jobs = ["baker", "clerk", "nurse", "tailor"];
    let mut rows = Vec::new();
    for at in 0..16_usize {
        for city in ["Oslo", "Rome"] {
            rows.push((20 + at as i64, city, jobs[at % 4]));
        }
    }
    let parameters = json!({
        "variant": "generalized", "l": 1, "generalize": ["age"], "columns": [["city", "job"]]
    });
    let wishes = json!([{"subject": "n0", "max_leakage": 0.5}]);
    let case = publish(people(&rows), parameters, wishes).unwrap();
    let mut jobs_of: BTreeMap<(u64, String), Vec<String>> = BTreeMap::new();
    let text = |cell: vizard_anonymizer::release::Cell| {
        let mut text = String::new();
        cell.text(&mut text);
        text
    };
    let cells = case
        .cells("sliced", "city")
        .into_iter()
        .zip(case.cells("sliced", "job"));
    for (bucket, (city, job)) in case.numbers("sliced", "bucket").into_iter().zip(cells) {
        jobs_of
            .entry((bucket, text(city)))
            .or_default()
            .push(text(job));
    }
    let diverse = |jobs: &Vec<String>| {
        let most = jobs
            .iter()
            .map(|job| jobs.iter().filter(|other| *other == job).count());
        most.max().unwrap_or(0) * 2 <= jobs.len()
    };
    let of = |city: &str| {
        let found = jobs_of.iter().filter(|((_, of), _)| of == city);
        found.map(|(_, jobs)| diverse(jobs)).collect::<Vec<bool>>()
    };
    assert!(of("Oslo").len() > 1 && of("Oslo").iter().all(|diverse| *diverse));
    assert!(of("Rome").iter().any(|diverse| !diverse));
}

#[test]
fn a_bucket_has_as_many_records_as_its_members_ask_for() {
    let wishes = json!([{"subject": "n0", "max_reidentification": 0.125}]);
    let case = publish(people(&EVEN), linked(2), wishes).unwrap();
    assert_eq!(sizes(&case), [8]);
    let k = json!({"l": 2, "k": 5, "columns": [["age"], ["city", "job"]]});
    assert_eq!(sizes(&publish(people(&EVEN), k, json!([])).unwrap()), [8]);
    let k = json!({"l": 2, "k": 9, "columns": [["age"], ["city", "job"]]});
    assert_eq!(refusal(people(&EVEN), k, json!([])), ("k", Some(8.0)));
}

#[test]
fn those_who_asked_to_be_left_out_are() {
    let wishes = json!([{"subject": "n7", "exclude": true}, {"subject": "n3", "exclude": true}]);
    let case = publish(people(&EVEN), linked(1), wishes).unwrap();
    assert_eq!((case.manifest.records, case.excluded), (6, 2));
}

/// Of the two columns that show the job, either is two-diverse, the join is
/// not: the whole table is the only bucket, and it does not hold either.
#[test]
fn overlap_is_refused_where_the_join_tells_a_job() {
    let rows = [
        (20, "Oslo", "baker"),
        (20, "Rome", "clerk"),
        (30, "Oslo", "nurse"),
        (30, "Rome", "cook"),
        (20, "Bern", "tailor"),
        (30, "Bern", "baker"),
    ];
    let parameters = |l: u32| json!({"variant": "overlap", "l": l, "columns": [["age", "job"], ["city", "job"]]});
    assert_eq!(
        refusal(people(&rows), parameters(2), json!([])),
        ("l", Some(1.0))
    );
    let case = publish(people(&rows), parameters(1), json!([])).unwrap();
    let headers: Vec<String> = case
        .published("sliced")
        .columns
        .iter()
        .map(|c| c.name.clone())
        .collect();
    assert_eq!(headers, ["bucket", "age", "job", "city", "job@2"]);
}

#[test]
fn clusters_leave_out_of_the_sensitive_column_what_decides_the_value() {
    let rows: Vec<(i64, &str, &str)> = (0..24)
        .map(|at| match at % 3 {
            0 => (at, "Oslo", "baker"),
            1 => (at, "Rome", "clerk"),
            _ => (at, "Bern", "nurse"),
        })
        .collect();
    // The city decides the job: together they would allow l = 1 only.
    let case = publish(people(&rows), json!({"l": 3, "clusters": 2}), json!([])).unwrap();
    let numbers = case.numbers("columns", "column");
    let names = case.cells("columns", "attribute");
    let column = |name: &str| {
        let label = vizard_anonymizer::release::Cell::Label(name.into());
        numbers[names.iter().position(|cell| *cell == label).unwrap()]
    };
    assert_ne!(column("city"), column("job"));
    // With l = 1 they stay together.
    let case = publish(people(&rows), json!({"l": 1, "clusters": 2}), json!([])).unwrap();
    let numbers = case.numbers("columns", "column");
    assert_eq!(numbers, [1, 2, 2]);
}

#[test]
fn t_closeness_is_kept_at_equality_and_refused_above() {
    let rows = [
        (20, "Oslo", "baker"),
        (21, "Oslo", "clerk"),
        (22, "Oslo", "baker"),
        (23, "Rome", "clerk"),
        (24, "Rome", "baker"),
        (25, "Rome", "clerk"),
    ];
    // Beside Oslo two in three are bakers, in the whole one in two: 1/6.
    let parameters = |t: f64| json!({"t_closeness": t, "columns": [["age"], ["city", "job"]]});
    let (parameter, strongest) = refusal(people(&rows), parameters(0.16), json!([]));
    assert_eq!((parameter, strongest), ("t_closeness", Some(0.166_666_667)));
    publish(people(&rows), parameters(0.166_666_667), json!([])).unwrap();
}

/// Columns that cannot be.
fn of_columns() -> Vec<(Value, &'static str)> {
    vec![
        (json!({"columns": [["age", "city", "job"]]}), "l"),
        (json!({"l": 2, "t_closeness": 0.1, "clusters": 1}), "l"),
        (json!({"l": 2}), "columns"),
        (
            json!({"l": 2, "clusters": 2, "columns": [["age", "city", "job"]]}),
            "columns",
        ),
        (json!({"l": 2, "clusters": 0}), "clusters"),
        (json!({"l": 2, "clusters": 4}), "clusters"),
        (json!({"l": 2, "columns": [["age"], ["job"]]}), "columns"),
        (
            json!({"l": 2, "columns": [["age", "city"], ["job", "age"]]}),
            "columns",
        ),
        (
            json!({"l": 2, "columns": [["age", "city", "city"], ["job"]]}),
            "columns",
        ),
        (
            json!({"l": 2, "columns": [["age", "city", "name"], ["job"]]}),
            "columns",
        ),
        (
            json!({"l": 2, "columns": [["age", "city", "town"], ["job"]]}),
            "columns",
        ),
        (
            json!({"l": 2, "columns": [["age", "city"], ["job"], []]}),
            "columns",
        ),
        (
            json!({"l": 2, "variant": "overlap", "clusters": 2}),
            "clusters",
        ),
        (
            json!({"l": 2, "variant": "overlap", "columns": [["age", "city"], ["job"]]}),
            "variant",
        ),
    ]
}

/// Variants that cannot be, and other parameters.
fn of_variants() -> Vec<(Value, &'static str)> {
    vec![
        (
            json!({
                "t_closeness": 0.3, "variant": "overlap",
                "columns": [["age", "job"], ["city", "job"]]
            }),
            "t_closeness",
        ),
        (
            json!({
                "l": 2, "variant": "overlap",
                "columns": [["age", "job"], ["city", "job"], ["job"]]
            }),
            "columns",
        ),
        (
            json!({"l": 2, "variant": "generalized", "clusters": 2}),
            "variant",
        ),
        (
            json!({"l": 2, "generalize": ["age"], "clusters": 2}),
            "variant",
        ),
        (
            json!({"l": 2, "variant": "generalized", "generalize": ["job"], "clusters": 2}),
            "generalize",
        ),
        (
            json!({"l": 2, "variant": "generalized", "generalize": ["age", "age"], "clusters": 2}),
            "generalize",
        ),
        (
            json!({
                "l": 2, "variant": "generalized", "generalize": ["age"], "drop": ["age"],
                "clusters": 2
            }),
            "drop",
        ),
        (
            json!({"l": 2, "clusters": 2, "max_excluded": 1.5}),
            "max_excluded",
        ),
        (json!({"l": 2, "clusters": 2, "seed": 1}), "parameters"),
    ]
}

#[test]
fn parameters_that_do_not_fit_are_refused_by_name() {
    for (parameters, expected) in of_columns().into_iter().chain(of_variants()) {
        match publish(people(&EVEN), parameters.clone(), json!([])) {
            Err(EngineError::InvalidParameter { parameter, .. }) => {
                assert_eq!(parameter, expected, "{parameters}");
            }
            other => panic!("{parameters}: {:?}", other.err()),
        }
    }
}
