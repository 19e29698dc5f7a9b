//! Counting by the tree, against counting one by one.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::microdata::value_text::MISSING_LABEL;
use crate::microdata::{HierarchyFormat, HierarchySource, ReadLimits, Schema};

const AGES: i64 = 30;
const TOWNS: usize = 12;
const ILLS: [&str; 4] = ["Flu", "flu", "cold", MISSING_LABEL];

fn schema() -> Schema {
    serde_json::from_value(json!({
    "name": "x", "subject_key": "id", "missing": "category",
    "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "town", "role": "quasi_identifier", "type": "categorical"},
        {"name": "ill", "role": "semi_sensitive", "type": "categorical"},
    ]}))
    .expect("a schema")
}

/// Towns t0 to t11 in regions of four; t11 is no leaf.
fn tree() -> Arc<Hierarchy> {
    let lines = (0..TOWNS - 1).map(|at| format!("t{at};r{};*\n", at / 4));
    let mut text: String = lines.collect();
    text.push_str("(missing);(missing);*\n");
    match HierarchySource::read(text.as_bytes(), HierarchyFormat::Csv) {
        Ok(HierarchySource::Tree(tree)) => tree,
        other => panic!("{other:?}"),
    }
}

/// A person of the table: age (none: missing), town, illness, and how many.
type People = Vec<(Option<i64>, usize, usize, u64)>;

fn table(people: &People) -> PopulationTable {
    let mut text = "age,town,ill,count\n".to_owned();
    for (age, town, ill, count) in people {
        let age = age.map(|age| age.to_string()).unwrap_or_default();
        let town = if *town < TOWNS {
            format!("t{town}")
        } else {
            String::new()
        };
        text.push_str(&format!("{age},{town},{},{count}\n", ILLS[*ill]));
    }
    PopulationTable::read(text.as_bytes(), &schema(), &ReadLimits::default(), 10_000)
        .expect("a table")
}

fn age_cells() -> impl Strategy<Value = Cell> {
    let interval =
        (0..AGES, 0..AGES).prop_map(|(one, other)| Cell::Integer(one.min(other), one.max(other)));
    prop_oneof![
        interval.clone(),
        interval.prop_map(|interval| Cell::OrMissing(Box::new(interval))),
        Just(Cell::missing()),
        Just(Cell::Masked),
        Just(Cell::Empty),
    ]
}

fn town_cells() -> impl Strategy<Value = Cell> {
    let label = |label: String| Cell::Label(label);
    prop_oneof![
        (0..TOWNS).prop_map(move |at| label(format!("t{at}"))),
        (0..3_usize).prop_map(move |at| label(format!("r{at}"))),
        prop::collection::btree_set(0..TOWNS, 2..5)
            .prop_map(|set| Cell::Set(set.into_iter().map(|at| format!("t{at}")).collect())),
        Just(Cell::missing()),
        Just(Cell::Masked),
    ]
}

fn ill_cells() -> impl Strategy<Value = Cell> {
    prop_oneof![
        (0..ILLS.len()).prop_map(|at| Cell::Label(ILLS[at].into())),
        Just(Cell::Set(vec!["FLU".into(), "cold".into()])),
        Just(Cell::Empty),
    ]
}

/// Whether a person fits three cells, by the definitions alone.
fn fits((age, town, ill, _): &(Option<i64>, usize, usize, u64), cells: &[Cell; 3]) -> bool {
    let in_interval = |cell: &Cell| match (cell, age) {
        (Cell::Integer(lo, hi), Some(age)) => lo <= age && age <= hi,
        _ => false,
    };
    let age_fits = match &cells[0] {
        Cell::OrMissing(interval) => age.is_none() || in_interval(interval),
        Cell::Label(_) => age.is_none(),
        Cell::Masked | Cell::Empty => true,
        cell => in_interval(cell),
    };
    let name = if *town < TOWNS {
        format!("t{town}")
    } else {
        MISSING_LABEL.into()
    };
    let is_leaf = *town != TOWNS - 1;
    let town_fits = match &cells[1] {
        Cell::Label(label) if label.starts_with('r') => {
            *town < TOWNS - 1 && *label == format!("r{}", town / 4)
        }
        // What is no leaf is under no node and in no set.
        Cell::Label(label) => is_leaf && *label == name,
        Cell::Set(labels) => is_leaf && labels.contains(&name),
        _ => true,
    };
    let seen = |label: &str| label.to_lowercase() == ILLS[*ill].to_lowercase();
    let ill_fits = match &cells[2] {
        Cell::Label(label) => seen(label),
        Cell::Set(labels) => labels.iter().any(|label| seen(label)),
        _ => true,
    };
    age_fits && town_fits && ill_fits
}

proptest! {
    #[test]
    fn the_tree_counts_whom_the_definitions_count(
        people in prop::collection::vec(
            (prop::option::weighted(0.9, 0..AGES), 0..=TOWNS, 0..ILLS.len(), 1_u64..5), 1..300),
        classes in prop::collection::vec((age_cells(), town_cells(), ill_cells()), 1..40),
    ) {
        let table = table(&people);
        let tree = tree();
        let schema = schema();
        let forms = schema.attribute(schema.find("ill").expect("it is there")).forms();
        let classes: Vec<[Cell; 3]> = classes.into_iter().map(|(age, town, ill)| [age, town, ill]).collect();
        let cells: Vec<Vec<Cell>> = (0..3).map(|at| classes.iter().map(|one| one[at].clone()).collect()).collect();
        let shown = |at: usize, name| ShownAttribute {
            name,
            cells: &cells[at],
            of_class: (0..classes.len() as u32).collect(),
            hierarchy: (name == "town").then_some(&*tree),
            forms: if name == "ill" { forms } else { &[] },
        };
        let all = [shown(0, "age"), shown(1, "town"), shown(2, "ill"), shown(0, "other")];
        let found = fitting(&table, classes.len(), &all, CancelFlag::never());
        for (class, found) in classes.iter().zip(found) {
            let counted: u64 = people.iter().filter(|one| fits(one, class)).map(|one| one.3).sum();
            prop_assert_eq!(found, counted, "{:?}", class);
        }
        // An attribute that rows do not show says nothing.
        let found = fitting(&table, classes.len(), &all[..1], CancelFlag::never());
        for (class, found) in classes.iter().zip(found) {
            let [age, ..] = class.clone();
            let class = [age, Cell::Masked, Cell::Empty];
            let counted: u64 = people.iter().filter(|one| fits(one, &class)).map(|one| one.3).sum();
            prop_assert_eq!(found, counted);
        }
    }
}
