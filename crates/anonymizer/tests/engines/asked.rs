//! Queries on releases of every engine, beside looking at each original record.

use std::collections::BTreeMap;

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use serde_json::{Value, json};
use vizard_anonymizer::microdata::{AttributeType, Schema, Table};
use vizard_anonymizer::privacy::CancelFlag;
use vizard_anonymizer::query::{
    AnsweredCell, Bounds, Estimate, InvalidQuery, List, Query, QueryIndex,
};
use vizard_anonymizer::release::{Guarantee, HierarchyList};

use crate::case::Case;
use crate::corruptions::bases;
use crate::naive::queries::actual_of;

/// The index of a release, and the records behind its rows; `None` where its
/// rows are no records.
fn indexed(case: &Case, list: &HierarchyList) -> Option<(QueryIndex<'static>, Vec<usize>)> {
    let hierarchies = QueryIndex::hierarchies_of(&case.table);
    let beside = (&hierarchies, list);
    let index = QueryIndex::of_release(&case.tables, &case.manifest.guarantees, beside).ok()?;
    let lineage = case.lineage.tables.iter().map(|table| &table.subjects);
    let rows = lineage.max_by_key(|subjects| subjects.len())?;
    Some((index, rows.iter().map(|subject| subject.at()).collect()))
}

/// What can be asked of an attribute: a predicate drawn from the originals.
fn predicate(table: &Table, attribute: &str, rng: &mut ChaCha12Rng) -> Value {
    let index = table.schema().find(attribute).expect("it is in the schema");
    let domain = &table.coded(index).expect("it is published").domain;
    let mut text = || {
        let code = rng.random_range(0..domain.len() as u32);
        domain.text(vizard_anonymizer::microdata::Code(code))
    };
    let (one, other) = (text(), text());
    if domain.kind() == AttributeType::Categorical {
        return match rng.random_range(0..3) {
            0 => json!({"attribute": attribute, "op": "=", "value": one}),
            1 => json!({"attribute": attribute, "op": "!=", "value": one}),
            _ => json!({"attribute": attribute, "op": "in", "values": [one, other]}),
        };
    }
    let number = |text: &str| {
        text.parse::<f64>()
            .map_or(json!(text), |number| json!(number))
    };
    let op = ["<", "<=", "=", "!=", ">=", ">"].choose(rng).expect("some");
    match rng.random_range(0..2) {
        0 => json!({"attribute": attribute, "op": op, "value": number(&one)}),
        _ => {
            json!({"attribute": attribute, "op": "between", "lo": number(&one), "hi": number(&other)})
        }
    }
}

fn ask(index: &QueryIndex<'_>, document: &Value) -> Result<Vec<AnsweredCell>, InvalidQuery> {
    let query: Query = serde_json::from_value(document.clone()).expect("a sound document");
    Ok(index.answer(&query, CancelFlag::never())?.cells)
}

fn holds(count: &Estimate, actual: u64) -> bool {
    assert_eq!(count.bounds, Bounds::Certain);
    let (lower, upper) = (count.lower.expect("a bound"), count.upper.expect("a bound"));
    lower <= actual as f64 && actual as f64 <= upper
}

/// The query whose records are those of one cell.
fn narrowed(schema: &Schema, document: &Value, (names, values): (&[&str], &[String])) -> Value {
    let mut narrowed = document.clone();
    for (name, value) in names.iter().zip(values) {
        let index = schema.find(name).expect("it is in the schema");
        let value = match schema.attribute(index).kind {
            Some(AttributeType::Integer) => json!(value.parse::<i64>().expect("a number")),
            _ => json!(value),
        };
        let predicates = narrowed["where"].as_array_mut().expect("a list");
        predicates.push(json!({"attribute": name, "op": "=", "value": value}));
    }
    narrowed
}

#[test]
fn the_true_count_is_within_the_bounds_in_releases_of_every_engine() {
    let mut asked = BTreeMap::new();
    for base in bases::all() {
        let case = &base.case;
        let Some((index, records)) = indexed(case, &HierarchyList::default()) else {
            continue;
        };
        let schema = case.table.schema();
        let names = schema.publishable().into_iter();
        let names: Vec<&str> = names.map(|index| &*schema.attribute(index).name).collect();
        let mut rng = ChaCha12Rng::seed_from_u64(7);
        for _ in 0..60 {
            let predicates: Vec<Value> = (0..rng.random_range(0..4))
                .map(|_| predicate(&case.table, names.choose(&mut rng).expect("some"), &mut rng))
                .collect();
            let grouped = rng.random_range(0..3);
            let group_by: Vec<&str> = names.sample(&mut rng, grouped).copied().collect();
            let document = json!({"count": true, "where": predicates, "group_by": group_by});
            let cells = match ask(&index, &document) {
                Ok(cells) => cells,
                Err(
                    InvalidQuery::TooManyCells
                    | InvalidQuery::Unlisted(_)
                    | InvalidQuery::Drawn(_)
                    | InvalidQuery::UnknownAttribute(_),
                ) => continue,
                Err(error) => panic!("{}: {error}", base.name),
            };
            for cell in &cells {
                let of_cell = narrowed(schema, &document, (&group_by, &cell.values));
                let query: Query =
                    serde_json::from_value(of_cell.clone()).expect("a sound document");
                let actual = actual_of(&case.table, &records, &query);
                let count = cell.count.expect("it was asked for");
                assert!(
                    holds(&count, actual),
                    "{}: {actual} of {count:?}: {of_cell}",
                    base.name
                );
                assert!(
                    count.upper <= Some(cell.rows as f64),
                    "{}: {of_cell}",
                    base.name
                );
            }
            *asked.entry(case.ordered.engine.as_str()).or_insert(0) += 1;
        }
    }
    let engines: Vec<&str> = asked.keys().copied().collect();
    let expected = "aip anatomy arp lgb mondrian ng personalized slicing";
    assert_eq!(engines.join(" "), expected);
}

#[test]
fn a_withheld_hierarchy_closes_its_generalized_attribute_and_no_other() {
    let base = bases::all()
        .iter()
        .find(|base| base.case.ordered.engine == "mondrian");
    let case = &base.expect("a release").case;
    let withheld = HierarchyList {
        withheld: vec!["city".into()],
        ..HierarchyList::default()
    };
    let (index, _) = indexed(case, &withheld).expect("rows are records");
    let by_city = json!({"count": true, "group_by": ["city"]});
    let place = List::GroupBy.at(0);
    assert_eq!(ask(&index, &by_city), Err(InvalidQuery::Withheld(place)));
    let of_city =
        json!({"count": true, "where": [{"attribute": "city", "op": "=", "value": "Oslo"}]});
    assert_eq!(
        ask(&index, &of_city),
        Err(InvalidQuery::Withheld(List::Where.at(0)))
    );
    assert!(ask(&index, &json!({"count": true})).is_ok());
    // What tables alone are known of may be generalized.
    let unknown = HierarchyList::unknown(&case.tables);
    assert!(unknown.withheld.contains(&"city".to_owned()), "{unknown:?}");
}

#[test]
fn values_that_were_drawn_anew_bound_no_count() {
    let drawn = bases::all().iter().find_map(|base| {
        let mut guarantees = base.case.manifest.guarantees.iter();
        let attribute = guarantees.find_map(|guarantee| match guarantee {
            Guarantee::RandomizedResponse { attribute, .. } => Some(attribute.as_str()),
            _ => None,
        });
        Some((&base.case, attribute?))
    });
    let (case, attribute) = drawn.expect("a release of values drawn anew");
    let (index, _) = indexed(case, &HierarchyList::default()).expect("rows are records");
    let query = json!({"count": true, "group_by": [attribute]});
    assert_eq!(
        ask(&index, &query),
        Err(InvalidQuery::Drawn(List::GroupBy.at(0)))
    );
    assert!(ask(&index, &json!({"count": true})).is_ok());
}
