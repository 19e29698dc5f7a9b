//! The journalist's risk of releases of every engine, beside counting each person
//! of the population table for each row.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use vizard_anonymizer::microdata::{
    Code, Domain, PopulationTable, ReadLimits, RecordIndex, Role, Table,
};
use vizard_anonymizer::privacy::{BlockForm, Model};
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn};
use vizard_anonymizer::utility::public_part;

use super::cells::exact;
use super::close;
use crate::case::Case;
use crate::corruptions::bases;

/// One of those among whom the people could be: a value of each attribute.
type Person = Vec<Cell>;

/// The value of a code, a missing one too.
fn value(domain: &Domain, code: Code) -> Cell {
    if domain.is_missing_number(code) {
        Cell::missing()
    } else {
        exact(domain, code)
    }
}

/// Attributes of a population table, at most three.
fn shared(table: &Table) -> Vec<String> {
    let known = table
        .schema()
        .select(|attribute| matches!(attribute.role, Role::QuasiIdentifier | Role::SemiSensitive));
    let names = known.into_iter().take(3);
    names
        .map(|index| table.schema().attribute(index).name.clone())
        .collect()
}

/// People with values of records, mixed, so that some stand nowhere in the table.
fn people(table: &Table, names: &[String], random: &mut ChaCha12Rng) -> Vec<Person> {
    let mut value_of = |name: &String| {
        let index = table.schema().find(name).expect("it is there");
        let column = table.coded(index).expect("it is published");
        let record = random.random_range(0..table.records() as u32);
        value(&column.domain, column.code(RecordIndex(record)))
    };
    (0..500)
        .map(|_| names.iter().map(&mut value_of).collect())
        .collect()
}

fn population_table(table: &Table, names: &[String], people: &[Person]) -> PopulationTable {
    let mut text = names.join(",") + "\n";
    for person in people {
        let cells: Vec<String> = person
            .iter()
            .map(|cell| {
                let mut text = String::new();
                cell.text(&mut text);
                text
            })
            .collect();
        text += &(cells.join(",") + "\n");
    }
    let limits = ReadLimits::default();
    PopulationTable::read(text.as_bytes(), table.schema(), &limits, 1_000).expect("a table")
}

/// Whether a value lies in a published cell.
fn fits(domain: &Domain, value: &Cell, cell: &Cell) -> bool {
    match (cell, value) {
        (Cell::Masked | Cell::Empty, _) => true,
        (Cell::OrMissing(interval), value) => value.is_missing() || fits(domain, value, interval),
        (Cell::Integer(lo, hi), Cell::Integer(value, _)) => lo <= value && value <= hi,
        (Cell::Decimal(lo, hi), Cell::Decimal(value, _)) => lo <= value && value <= hi,
        (Cell::Date(lo, hi), Cell::Date(value, _)) => lo <= value && value <= hi,
        (Cell::Set(labels), Cell::Label(value)) => labels.contains(value),
        (Cell::Label(label), Cell::Label(value)) => {
            let Some(tree) = domain.hierarchy() else {
                return label == value;
            };
            let mut at = tree.find(value).expect("it is a leaf");
            loop {
                let node = tree.node(at);
                if node.label == *label {
                    return true;
                }
                if node.parent == at {
                    return false;
                }
                at = node.parent;
            }
        }
        _ => false,
    }
}

/// Whether rows that differ in a column are of two classes.
fn tells_apart(case: &Case, column: &PublishedColumn) -> bool {
    let schema = case.table.schema();
    let role = schema
        .find(&column.name)
        .map(|index| schema.attribute(index).role);
    match &case.requirements.policy().model {
        Model::Blocks { .. } => role == Some(Role::QuasiIdentifier),
        Model::Bucketized { .. } => column.content == Content::Generalized,
        _ => column.content == Content::Generalized && role != Some(Role::Sensitive),
    }
}

fn cell(column: &PublishedColumn, row: usize) -> &Cell {
    match &column.cells {
        Cells::Dictionary { codes, cells } => &cells[codes.at(row) as usize],
        Cells::Numbers(_) => panic!("an attribute has cells"),
    }
}

/// k-map, mean risk and records that are not covered, one by one.
fn counted(case: &Case, names: &[String], people: &[Person]) -> Option<(u64, f64, u64)> {
    let published = &case.tables[0];
    let known = published
        .columns
        .iter()
        .filter(|column| tells_apart(case, column));
    let known: Vec<&PublishedColumn> = known.collect();
    let compared: Vec<(usize, &PublishedColumn, &Domain)> = (0..)
        .zip(names)
        .filter_map(|(at, name)| {
            let column = known.iter().find(|column| column.name == *name)?;
            let index = case.table.schema().find(name)?;
            Some((at, *column, &*case.table.coded(index)?.domain))
        })
        .collect();
    if compared.is_empty() {
        return None;
    }
    let mut classes: BTreeMap<String, (u64, usize)> = BTreeMap::new();
    for row in 0..published.rows() {
        let look: Vec<&Cell> = known.iter().map(|column| cell(column, row)).collect();
        classes.entry(format!("{look:?}")).or_insert((0, row)).0 += 1;
    }
    let (mut k_map, mut mean, mut not_covered) = (u64::MAX, 0.0, 0);
    for &(size, row) in classes.values() {
        let is_one = |person: &&Person| {
            let mut all = compared.iter();
            all.all(|(at, column, domain)| fits(domain, &person[*at], cell(column, row)))
        };
        let fitting = people.iter().filter(is_one).count() as u64;
        k_map = k_map.min(fitting.max(size));
        mean += size as f64 / fitting.max(size) as f64 / published.rows() as f64;
        not_covered += if fitting < size { size } else { 0 };
    }
    Some((k_map, mean, not_covered))
}

#[test]
fn the_journalists_risk_of_every_engine_is_what_counting_one_by_one_gives() {
    let mut random = ChaCha12Rng::seed_from_u64(29);
    let (mut compared, mut uncovered, mut null) = (0, 0, Vec::new());
    for base in bases::all() {
        let case = &base.case;
        let names = shared(&case.table);
        let people = people(&case.table, &names, &mut random);
        let table = population_table(&case.table, &names, &people);
        assert_eq!(
            (table.people(), table.attributes().len()),
            (500, names.len())
        );
        let report = case.report_beside(Some(&table)).expect("it fits together");
        let risk = report.value("journalist_risk").expect("a measure");
        // What analysts read is the same with and without a table.
        let without = case.report_beside(None).expect("it fits together");
        assert_eq!(public_part(&report), public_part(&without), "{}", base.name);
        let is_sliced = matches!(
            case.requirements.policy().model,
            Model::Sliced { .. }
                | Model::Blocks {
                    form: BlockForm::Sliced,
                    ..
                }
        );
        if is_sliced {
            assert!(
                risk.is_null() || risk["k_map"].is_u64(),
                "{}: {risk}",
                base.name
            );
            continue;
        }
        let Some((k_map, mean, not_covered)) = counted(case, &names, &people) else {
            assert!(risk.is_null(), "{}: {risk}", base.name);
            null.push(base.name);
            continue;
        };
        assert_eq!(risk["k_map"], k_map, "{}", base.name);
        assert_eq!(risk["not_covered"], not_covered, "{}", base.name);
        assert!(
            close(risk["mean"].as_f64().expect("a number"), mean),
            "{}",
            base.name
        );
        assert_eq!(
            risk["max"].as_f64(),
            Some(1.0 / k_map as f64),
            "{}",
            base.name
        );
        assert_eq!(risk["sha256"], table.sha256());
        compared += 1;
        uncovered += usize::from(not_covered > 0);
    }
    assert!(
        compared >= 10 && uncovered >= 1,
        "{compared} and {uncovered}"
    );
    assert!(null.len() < compared, "{null:?}");
}
