//! Queries on a release: any JSON is a query with an answer, or is refused. An
//! estimate lies between its bounds, a count between none and all, and the
//! counts of cells add up to the count without groups.
#![no_main]

use libfuzzer_sys::fuzz_target;
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{AnsweredCell, Estimate, Query, QueryIndex};
use vizard_fuzz::releases::query_indexes;

fuzz_target!(init: vizard_fuzz::begin(), |bytes: &[u8]| {
    vizard_fuzz::plant(bytes);
    let Ok(query) = serde_json::from_slice::<Query>(bytes) else {
        return;
    };
    let written = serde_json::to_value(&query).expect("a query can be written");
    assert_eq!(serde_json::from_value::<Query>(written).expect("and read"), query);
    for index in query_indexes() {
        let Ok(answer) = index.answer(&query, &CancelFlag::default()) else {
            continue;
        };
        answer.cells.iter().for_each(|cell| check(cell, index));
        let counts = answer.cells.iter().filter_map(|cell| cell.count?.estimate);
        if query.count && !query.group_by.is_empty() {
            adds_up(counts.sum(), &query, index);
        }
    }
});

fn check(cell: &AnsweredCell, index: &QueryIndex) {
    let figures = cell.count.iter().chain(cell.sum.values()).chain(cell.avg.values());
    figures.for_each(lies_between);
    if let Some(Estimate { lower: Some(lower), upper: Some(upper), .. }) = cell.count {
        assert!(lower >= 0.0 && upper <= index.rows() as f64, "{cell:?}");
    }
}

fn lies_between(figure: &Estimate) {
    if let (Some(lower), Some(estimate), Some(upper)) =
        (figure.lower, figure.estimate, figure.upper)
    {
        let slack = 1e-6 * (1.0 + estimate.abs());
        assert!(
            lower <= estimate + slack && estimate <= upper + slack,
            "{figure:?}"
        );
    }
}

fn adds_up(parts: f64, query: &Query, index: &QueryIndex) {
    let whole = Query {
        group_by: Vec::new(),
        ..query.clone()
    };
    let whole = index.answer(&whole, &CancelFlag::default());
    let whole = whole.expect("it was answered with groups");
    let whole = whole.cells[0].count.and_then(|count| count.estimate);
    let whole = whole.expect("a count has an estimate");
    assert!(
        (parts - whole).abs() <= 1e-6 * (1.0 + whole),
        "{parts} of {whole}"
    );
}
