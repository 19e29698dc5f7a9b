//! Missing numbers and dates: how they are published, what they lose, and what
//! the verifier refuses.

use serde_json::{Value, json};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{Query, QueryIndex};
use vizard_anonymizer::release::Cell;

use super::case::Case;
use super::tables::table;

/// Twelve people; age, day and pay are missing for some.
const RECORDS: &str = "\
id,age,day,weight,pay
a,30,2020-01-01,61.5,10
b,,2020-01-01,,20
c,34,,80,30
d,50,2021-06-30,,40
e,,,72.25,50
f,52,2021-06-30,90,60
g,31,2020-02-01,61.5,10
h,,2020-03-01,77,
i,33,2020-01-15,80,30
j,51,2021-05-30,,
k,53,,72.25,50
l,,2021-04-30,90,60
";

fn published(engine: &str, parameters: Value) -> Case {
    let schema = json!({
        "name": "people", "subject_key": "id", "missing": "category",
        "attributes": [
            {"name": "id", "role": "identifier"},
            {"name": "age", "role": "quasi_identifier", "type": "integer"},
            {"name": "day", "role": "quasi_identifier", "type": "date"},
            {"name": "weight", "role": "insensitive", "type": "decimal"},
            {"name": "pay", "role": "sensitive", "type": "integer"},
        ],
    });
    let table = table(schema, &[], RECORDS);
    let case = Case::run(engine, table, &parameters, &[], 7);
    case.expect("it is feasible")
}

fn text(cell: &Cell) -> String {
    let mut text = String::new();
    cell.text(&mut text);
    text
}

/// The text that a group's cell must have, worked out from the texts of the
/// source values in the order of the domain.
fn expected(case: &Case, name: &str, rows: &[usize]) -> String {
    let mut codes: Vec<_> = rows.iter().map(|&row| case.code(name, row)).collect();
    codes.sort_unstable();
    codes.dedup();
    let domain = case.domain(name);
    let texts: Vec<String> = codes.into_iter().map(|code| domain.text(code)).collect();
    let known: Vec<&String> = texts.iter().filter(|text| *text != "(missing)").collect();
    let hull = match known.as_slice() {
        [] => return "(missing)".into(),
        [one] => (*one).clone(),
        [first, .., last] => format!("{first}..{last}"),
    };
    if known.len() < texts.len() {
        format!("{{(missing)|{hull}}}")
    } else {
        hull
    }
}

#[test]
fn a_group_with_missing_values_shows_them_beside_the_hull_of_the_others() {
    for k in [2, 3, 4, 12] {
        let case = published("mondrian", json!({"k": k}));
        assert!(case.verdict().holds(), "{:?}", case.verdict());
        for name in ["age", "day"] {
            let cells = case.cells("microdata", name);
            for group in case.groups() {
                let expected = expected(&case, name, &group);
                group
                    .iter()
                    .for_each(|&row| assert_eq!(text(&cells[row]), expected));
            }
        }
        for name in ["weight", "pay"] {
            let exact = case.cells("microdata", name).into_iter().enumerate();
            exact.for_each(|(row, cell)| {
                assert_eq!(text(&cell), case.domain(name).text(case.code(name, row)));
            });
        }
    }
    let case = published("mondrian", json!({"k": 12}));
    assert_eq!(
        text(&case.cells("microdata", "age")[0]),
        "{(missing)|30..53}"
    );
    let described = case.manifest.tables[0].columns.iter();
    let missing = described.filter(|column| column.missing);
    let missing: Vec<&str> = missing.map(|column| column.name.as_str()).collect();
    assert_eq!(missing, ["age", "day", "weight", "pay"]);
}

#[test]
fn numbers_beside_the_missing_value_lose_as_much_as_a_masked_cell() {
    let case = published("mondrian", json!({"k": 12}));
    let report = case.report().expect("the release fits together");
    let ncp = report.value("ncp").expect("it is measured");
    assert_eq!(ncp["attributes"]["age"]["mean"], json!(1.0));
    assert_eq!(ncp["attributes"]["day"]["mean"], json!(1.0));
}

#[test]
fn a_cell_that_hides_or_invents_a_missing_value_is_refused() {
    let case = published("mondrian", json!({"k": 12}));
    for (cell, failing) in [
        // Four ages are missing.
        (Cell::Integer(30, 53), "cells_cover_their_source"),
        (
            Cell::OrMissing(Box::new(Cell::Integer(31, 53))),
            "cells_cover_their_source",
        ),
        (Cell::missing(), "cells_cover_their_source"),
        (Cell::Masked, "cells_span_their_group"),
        // No age of the table.
        (
            Cell::OrMissing(Box::new(Cell::Integer(29, 53))),
            "cells_cover_their_source",
        ),
    ] {
        let mut case = case.clone();
        case.set_cells("microdata", "age", vec![cell; 12]);
        case.put_in_order();
        let verdict = case.verdict();
        let failed = verdict.failed_kinds();
        assert!(failed.iter().any(|kind| kind == failing), "{failed:?}");
    }
    // Nobody of a group lacks the value that its cell says may be missing.
    let mut case = published("mondrian", json!({"k": 2}));
    let groups = case.groups();
    let mut cells = case.cells("microdata", "age");
    let whole = groups
        .iter()
        .find(|group| matches!(cells[group[0]], Cell::Integer(..)));
    for &row in whole.expect("a group of people who all have an age") {
        cells[row] = Cell::OrMissing(Box::new(cells[row].clone()));
    }
    case.set_cells("microdata", "age", cells);
    case.put_in_order();
    let failed = case.verdict().failed_kinds();
    assert!(
        failed.iter().any(|kind| kind == "cells_span_their_group"),
        "{failed:?}"
    );
}

#[test]
fn the_spread_of_a_bucket_is_that_of_its_numbers() {
    let parameters = json!({
        "k": 2, "l": 2, "attributes": {"pay": {"l": 2, "min_spread": 30}},
    });
    let case = published("lgb", parameters);
    assert!(case.verdict().holds(), "{:?}", case.verdict());
    let mut buckets = std::collections::BTreeMap::<u64, Vec<String>>::new();
    let numbers = case.numbers("buckets", "bucket");
    for (bucket, cell) in numbers.into_iter().zip(case.cells("buckets", "value")) {
        buckets.entry(bucket).or_default().push(text(&cell));
    }
    let all = buckets.values().flatten();
    assert!(all.clone().any(|text| text == "(missing)"));
    for bucket in buckets.values() {
        let known = bucket.iter().filter_map(|text| text.parse::<i64>().ok());
        let known: Vec<i64> = known.collect();
        let spread = known.iter().max().zip(known.iter().min());
        assert!(spread.is_some_and(|(most, least)| most - least >= 30));
    }
}

#[test]
fn no_comparison_holds_for_a_missing_number_and_it_is_in_no_sum() {
    let case = published("mondrian", json!({"k": 12}));
    let index = QueryIndex::new(&case.tables, &QueryIndex::hierarchies_of(&case.table));
    let index = index.expect("the tables fit together");
    let ask = |document: Value| {
        let query: Query = serde_json::from_value(document).expect("a sound document");
        let answer = index.answer(&query, CancelFlag::never());
        let cell = answer.expect("an answer").cells.remove(0);
        let figures = [cell.sum, cell.avg].into_iter().flatten();
        let mut figures = figures.map(|(_, figure)| figure).chain(cell.count);
        let figure = figures.next().expect("a figure");
        [figure.lower, figure.estimate, figure.upper]
    };
    let count = |attribute: &str, op: &str, value: i64| {
        ask(json!({"count": true,
            "where": [{"attribute": attribute, "op": op, "value": value}]}))
    };
    // Two of twelve have no pay.
    assert_eq!(count("pay", ">", 5), [Some(10.0); 3]);
    assert_eq!(count("pay", "!=", 10), [Some(8.0); 3]);
    // A group some of whose ages are missing may satisfy, and need not.
    assert_eq!(count("age", "<", 60), [Some(0.0), Some(6.0), Some(12.0)]);
    assert_eq!(count("age", "<", 30), [Some(0.0); 3]);
    assert_eq!(ask(json!({"sum": ["pay"]})), [Some(360.0); 3]);
    assert_eq!(ask(json!({"avg": ["pay"]})), [Some(36.0); 3]);
}
