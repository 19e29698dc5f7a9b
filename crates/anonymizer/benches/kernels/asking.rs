//! Queries on a release that stands ready for them.

use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{Query, QueryIndex};
use vizard_anonymizer::release::HierarchyList;

use crate::made::{RUN, TABLE};

static INDEX: LazyLock<QueryIndex<'static>> = LazyLock::new(|| {
    let hierarchies = QueryIndex::hierarchies_of(&TABLE);
    let beside = (&hierarchies, &HierarchyList::default());
    let guarantees = &RUN.produced.manifest.guarantees;
    QueryIndex::of_release(&RUN.published, guarantees, beside).expect("rows are records")
});

/// Answers a question again and again; counted are cells.
fn ask(bencher: Bencher, question: Value) {
    let query: Query = serde_json::from_value(question).expect("it is a query");
    let answer = || {
        let answer = INDEX.answer(&query, CancelFlag::never());
        answer.expect("it fits the release").cells
    };
    let cells = ItemsCount::new(answer().len());
    bencher.counter(cells).bench(answer);
}

/// One cell.
#[divan::bench]
fn query_of_a_count(bencher: Bencher) {
    let young = json!({"attribute": "age", "op": "<", "value": 30});
    ask(bencher, json!({"count": true, "where": [young]}));
}

/// A thousand cells.
#[divan::bench]
fn query_of_counts_by_one_attribute(bencher: Bencher) {
    ask(bencher, json!({"count": true, "group_by": ["place"]}));
}

/// Some hundred cells.
#[divan::bench]
fn query_of_counts_by_two_attributes(bencher: Bencher) {
    ask(
        bencher,
        json!({"count": true, "group_by": ["trade", "age"]}),
    );
}

/// The same with sum and average.
#[divan::bench]
fn query_of_sums_by_two_attributes(bencher: Bencher) {
    let question =
        json!({"sum": ["salary"], "avg": ["salary", "hours"], "group_by": ["trade", "age"]});
    ask(bencher, question);
}
