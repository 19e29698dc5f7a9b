//! Queries on a release: any JSON is a query with an answer, or is refused. An
//! estimate lies between its bounds, a count between none and all, and the
//! counts of groups add up to the count without groups.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::query::{Answer, Query, QueryAnswer, QueryIndex, Select};
use vizard_fuzz::releases::query_indexes;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let Ok(query) = serde_json::from_slice::<Query>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&query).expect("a query can be written");
    assert_eq!(serde_json::from_value::<Query>(written).expect("and read"), query);
    for index in query_indexes() {
        match index.answer(&query) {
            Ok(QueryAnswer::Single(answer)) => check(&answer, &query, index),
            Ok(QueryAnswer::Grouped { groups, .. }) => {
                let answers = || groups.iter().map(|group| &group.answer);
                answers().for_each(|answer| check(answer, &query, index));
                let parts = answers().filter_map(|answer| answer.estimate).sum();
                adds_up(parts, &query, index);
            }
            Err(_) => {}
        }
    }
});

fn check(answer: &Answer, query: &Query, index: &QueryIndex) {
    if let (Some(lower), Some(estimate), Some(upper)) =
        (answer.lower, answer.estimate, answer.upper)
    {
        let slack = 1e-6 * (1.0 + estimate.abs());
        assert!(
            lower <= estimate + slack && estimate <= upper + slack,
            "{answer:?}"
        );
        if matches!(query.select, Select::Count(_)) {
            assert!(lower >= 0.0 && upper <= index.rows() as f64, "{answer:?}");
        }
    }
}

fn adds_up(parts: f64, query: &Query, index: &QueryIndex) {
    let whole = Query {
        group_by: None,
        ..query.clone()
    };
    if let (Select::Count(_), Ok(QueryAnswer::Single(whole))) =
        (&query.select, index.answer(&whole))
    {
        let whole = whole.estimate.expect("a count has an estimate");
        assert!(
            (parts - whole).abs() <= 1e-6 * (1.0 + whole),
            "{parts} of {whole}"
        );
    }
}
