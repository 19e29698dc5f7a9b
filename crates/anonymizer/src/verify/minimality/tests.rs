//! Made-up engines: one that looks at no value, and one that does.

use std::sync::Arc;

use super::*;
use crate::microdata::{Chunk, ChunkColumn, HierarchySet, TableBuilder};
use crate::privacy::{
    BlockForm, InBlock, K, L, Model, Policy, ProtectedIndex, ProtectedSet, Spread,
};

/// People of whom the first has the illness 0, the next 1 and so on by turns.
fn people(number: usize) -> Table {
    let schema = r#"{"name": "t", "subject_key": "id", "attributes": [
        {"name": "id", "role": "identifier"},
        {"name": "age", "role": "quasi_identifier", "type": "integer"},
        {"name": "illness", "role": "sensitive", "type": "integer"}]}"#;
    let schema = Arc::new(serde_json::from_str(schema).unwrap());
    let keys: Vec<String> = (0..number).map(|at| format!("p{at}")).collect();
    let mut builder = TableBuilder::new(schema, &HierarchySet::new()).unwrap();
    let columns = vec![
        ChunkColumn::Text(keys.iter().map(String::as_str).collect()),
        ChunkColumn::Integer((0..number as i64).collect()),
        ChunkColumn::Integer((0..number as i64).map(|at| at % 2).collect()),
    ];
    builder
        .push(Chunk {
            records: number,
            columns,
        })
        .unwrap();
    builder.finish().unwrap()
}

/// Classes of two, one after the other.
fn pairs(table: &Table) -> Candidates {
    let people = table.subjects();
    Candidates {
        subjects: (0..people)
            .map(|at| table.subject_keys().get(at).to_owned())
            .collect(),
        attributes: vec![AttributeCandidates {
            name: "illness".into(),
            l: 2,
            stands_in_rows: false,
            is_l_alone: true,
            is_whole: true,
            is_counted: true,
            values: vec!["0".into(), "1".into()],
            classes: vec![vec![(0, 1), (1, 1)]; people / 2],
            class_of: (0..people as u32).map(|at| at / 2).collect(),
        }],
        identity: Identity::Exact,
        ..Candidates::default()
    }
}

fn policy() -> Policy {
    let own = InBlock {
        l: L::new(2).unwrap(),
        min_spread: Spread::Nothing,
    };
    Policy {
        model: Model::Blocks {
            form: BlockForm::Distinct,
            sensitive: ProtectedSet::default().with(ProtectedIndex(0)),
            protections: vec![(AttributeIndex(2), own)],
        },
        k: K::NONE,
        apply_preferences: true,
    }
}

fn attack(table: &Table, rerun: Rerun<'_>) -> Check {
    let requirements = Requirements::new(table, policy(), &[]);
    let shown = pairs(table);
    let checks = minimality(
        (table, &requirements),
        &shown,
        (rerun, 200),
        CancelFlag::never(),
    );
    checks.into_iter().next().expect("it is tried")
}

fn figure(check: &Check, name: &str) -> f64 {
    let mut figures = check.figures.iter();
    figures.find(|(other, _)| *other == name).unwrap().1
}

#[test]
fn classes_that_do_not_depend_on_values_tell_nothing() {
    let check = attack(&people(40), &|table, _| Some(pairs(table)));
    assert_eq!(figure(&check, "people"), 40.0);
    assert_eq!(figure(&check, "told"), 0.0);
    assert_eq!(figure(&check, "counting"), 0.5);
    let right = check.attained.unwrap();
    assert!((right - 0.5).abs() < 0.03, "{right}");
}

#[test]
fn classes_that_are_made_of_some_tables_only_tell_values() {
    let table = people(4);
    let illness = |table: &Table, at| table.coded(AttributeIndex(2)).unwrap().codes.at(at);
    // The first two are a class only where the first has the illness 0.
    let check = attack(&table, &|dealt, _| {
        (illness(dealt, 0) == 0).then(|| pairs(dealt))
    });
    assert_eq!(figure(&check, "people"), 4.0);
    assert_eq!(figure(&check, "told"), 2.0);
    assert_eq!(figure(&check, "largest_gain"), 0.5);
    let right = check.attained.unwrap();
    assert!((right - 0.75).abs() < 0.05, "{right}");
}

#[test]
fn where_no_class_comes_again_nothing_is_measured() {
    let check = attack(&people(4), &|_, _| None);
    assert_eq!(check.attained, None);
    assert_eq!(figure(&check, "people"), 0.0);
    // The first tables are enough to see that.
    assert_eq!(figure(&check, "reruns"), 20.0);
}

#[test]
fn a_chance_is_bounded_by_the_relative_entropy() {
    // All of twenty where it is even: 2⁻²⁰.
    assert!((chance(20, 1.0, 0.5) - 0.5_f64.powi(20)).abs() < 1e-12);
    assert!((chance(200, 0.2, 0.2) - 1.0).abs() < 1e-12);
    assert!(chance(200, 0.4, 0.2) < CHANCE);
    assert!(chance(200, 0.3, 0.2) > CHANCE);
}

#[test]
fn large_tables_are_not_tried() {
    assert_eq!([0, 1, 500, 501].map(reruns), [0, 100, 100, 0]);
}
