//! Made-up tables of every type and role, with values few enough to repeat.

use std::sync::Arc;

use rand::{Rng, RngExt};
use serde_json::json;
use vizard_anonymizer::microdata::{
    AttributeType, CodedColumn, Domain, HierarchyFormat, HierarchySource, Schema, Table,
    TableColumn, TextColumn, Values,
};

const AREAS: &str = "a1;a;all\na2;a;all\na3;a;all\nb1;b;all\nb2;b;all\nc1;c;all\n";
const ILLS: &str = "flu;lung;*\ncold;lung;*\nulcer;gut;*\nreflux;gut;*\nmigraine;head;*\n";

fn schema() -> Schema {
    let document = json!({"name": "loose", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "semi_sensitive", "type": "integer"},
        {"name": "height", "role": "quasi_identifier", "type": "decimal"},
        {"name": "admitted", "role": "quasi_identifier", "type": "date"},
        {"name": "area", "role": "semi_sensitive", "type": "categorical", "hierarchy": "area"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "ward", "role": "insensitive", "type": "integer"},
        {"name": "salary", "role": "sensitive", "type": "integer"},
        {"name": "ill", "role": "sensitive", "type": "categorical", "hierarchy": "ill"}]});
    serde_json::from_value(document).expect("the schema is sound")
}

/// A table of random values, few enough that they repeat.
pub fn table(records: usize, rng: &mut impl Rng) -> Table {
    let schema = Arc::new(schema());
    let columns = schema.attributes().iter().map(|attribute| {
        match (attribute.name.as_str(), attribute.kind) {
            ("id", _) => TableColumn::Identifier(TextColumn::new()),
            ("area", _) => categories(AREAS, records, rng),
            ("ill", _) => categories(ILLS, records, rng),
            (_, Some(AttributeType::Categorical)) => {
                let towns = ["Bergen", "Hamar", "Oslo"].map(String::from).to_vec();
                coded(
                    records,
                    rng,
                    |codes| Values::Category(at(&codes, |at| towns[at].clone())),
                    3,
                )
            }
            (_, Some(AttributeType::Decimal)) => {
                let values = |codes: Vec<usize>| at(&codes, |at| 1.5 + 0.07 * at as f64);
                coded(records, rng, |codes| Values::Decimal(values(codes)), 8)
            }
            (_, Some(AttributeType::Date)) => {
                let values = |codes: Vec<usize>| at(&codes, |at| 20_000 + 3 * at as i32);
                coded(records, rng, |codes| Values::Date(values(codes)), 9)
            }
            _ => {
                // Below 0 too: sums must not take numbers for amounts.
                let values = |codes: Vec<usize>| at(&codes, |at| (at * at) as i64 - 20);
                coded(records, rng, |codes| Values::Integer(values(codes)), 12)
            }
        }
    });
    let columns = columns.collect();
    let keys: Vec<String> = (0..records).map(|at| format!("p{at}")).collect();
    let keys = keys.iter().map(String::as_str).collect();
    Table::new(schema, columns, keys, Vec::new())
}

fn at<T>(codes: &[usize], value: impl Fn(usize) -> T) -> Vec<T> {
    codes.iter().map(|&code| value(code)).collect()
}

/// A column over the values that occur, out of `size` possible ones.
fn coded(
    records: usize,
    rng: &mut impl Rng,
    values: impl Fn(Vec<usize>) -> Values,
    size: usize,
) -> TableColumn {
    let drawn: Vec<usize> = (0..records).map(|_| rng.random_range(0..size)).collect();
    let mut occurring = drawn.clone();
    occurring.sort_unstable();
    occurring.dedup();
    let rank = |value: &usize| occurring.binary_search(value).expect("it occurs") as u32;
    TableColumn::Coded(CodedColumn {
        codes: drawn.iter().map(rank).collect(),
        domain: Arc::new(Domain::new(values(occurring), None)),
    })
}

fn categories(lines: &str, records: usize, rng: &mut impl Rng) -> TableColumn {
    let source = HierarchySource::read(lines.as_bytes(), HierarchyFormat::Csv);
    let Ok(HierarchySource::Tree(tree)) = source else {
        panic!("the tree is sound");
    };
    let labels = tree.leaf_labels().map(String::from).collect();
    let leaves = tree.leaf_count() as u32;
    TableColumn::Coded(CodedColumn {
        domain: Arc::new(Domain::new(Values::Category(labels), Some(tree))),
        codes: (0..records).map(|_| rng.random_range(0..leaves)).collect(),
    })
}
