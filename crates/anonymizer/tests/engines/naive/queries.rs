//! Counting queries by their definition: every value that a cell may hide is
//! listed, each with its probability, and tried one by one.

use vizard_anonymizer::microdata::{AttributeType, Domain, Table};
use vizard_anonymizer::query::{Comparison, Literal, Predicate, Query, Test};
use vizard_anonymizer::release::{Cell, PublishedTable};

use super::measures::{cell, hidden, text};

/// Expected number of rows that satisfy all predicates.
pub fn estimate(table: &Table, tables: &[PublishedTable], query: &Query) -> f64 {
    let mut attributes: Vec<&str> = Vec::new();
    for predicate in &query.predicates {
        if !attributes.contains(&predicate.attribute.as_str()) {
            attributes.push(&predicate.attribute);
        }
    }
    let mut sum = 0.0;
    for row in 0..tables[0].rows() {
        let share = |attribute: &&str| -> f64 {
            let tests: Vec<&Predicate> = query
                .predicates
                .iter()
                .filter(|predicate| predicate.attribute == **attribute)
                .collect();
            let holds = |value: &Cell| tests.iter().all(|test| satisfies(table, test, value));
            values(table, tables, attribute, row)
                .iter()
                .filter(|(value, _)| holds(value))
                .map(|(_, share)| share)
                .sum()
        };
        sum += attributes.iter().map(share).product::<f64>();
    }
    sum
}

/// What the row's value may be, as the release tells it. Decimal intervals
/// are cut into steps, whose middles stand for them.
fn values(
    table: &Table,
    tables: &[PublishedTable],
    attribute: &str,
    row: usize,
) -> Vec<(Cell, f64)> {
    let published = cell(&tables[0], attribute, row);
    if published == Cell::Empty {
        return hidden(tables, attribute, row);
    }
    let index = table.schema().find(attribute).expect("it is in the schema");
    let domain = &table.coded(index).expect("it is published").domain;
    let listed = match &published {
        Cell::Masked => list(&everything(domain, tables, attribute), domain),
        cell => list(cell, domain),
    };
    let share = 1.0 / listed.len() as f64;
    listed.into_iter().map(|value| (value, share)).collect()
}

/// Steps of a decimal interval: a multiple of 2 to 14, so that the ends of tests fall between middles.
const STEPS: usize = 840;

fn list(cell: &Cell, domain: &Domain) -> Vec<Cell> {
    match cell {
        Cell::Integer(lo, hi) => (*lo..=*hi)
            .map(|value| Cell::Integer(value, value))
            .collect(),
        Cell::Date(lo, hi) => (*lo..=*hi).map(|value| Cell::Date(value, value)).collect(),
        Cell::Decimal(lo, hi) if lo == hi => vec![cell.clone()],
        Cell::Decimal(lo, hi) => (0..STEPS)
            .map(|step| lo + (hi - lo) * (step as f64 + 0.5) / STEPS as f64)
            .map(|value| Cell::Decimal(value, value))
            .collect(),
        // Half of the weight is on the missing value.
        Cell::OrMissing(interval) => {
            let known = list(interval, domain);
            let missing = vec![Cell::missing(); known.len()];
            [known, missing].concat()
        }
        Cell::Label(_) if domain.is_numeric() => vec![cell.clone()],
        Cell::Set(members) => members.iter().cloned().map(Cell::Label).collect(),
        Cell::Label(label) => match domain.hierarchy() {
            None => vec![cell.clone()],
            Some(tree) => {
                let node = tree.node(tree.find(label).expect("a node of the tree"));
                let (first, last) = (node.first_leaf.at(), node.last_leaf().at());
                let leaves: Vec<&str> = tree.leaf_labels().collect();
                leaves[first..=last]
                    .iter()
                    .map(|leaf| Cell::Label((*leaf).into()))
                    .collect()
            }
        },
        _ => panic!("nothing to list"),
    }
}

/// One cell that covers all that the release shows of an attribute.
fn everything(domain: &Domain, tables: &[PublishedTable], attribute: &str) -> Cell {
    if let Some(tree) = domain.hierarchy() {
        return Cell::Set(tree.leaf_labels().map(String::from).collect());
    }
    let rows = 0..tables[0].rows();
    let mut shown: Vec<Cell> = rows.map(|row| cell(&tables[0], attribute, row)).collect();
    for line in 0..tables[1].rows() {
        if cell(&tables[1], "attribute", line) == Cell::Label(attribute.into()) {
            shown.push(cell(&tables[1], "value", line));
        }
    }
    shown.retain(|cell| !matches!(cell, Cell::Masked | Cell::Empty));
    if domain.is_numeric() {
        shown.retain(|cell| !cell.is_missing());
        shown = shown
            .into_iter()
            .map(|cell| match cell {
                Cell::OrMissing(interval) => *interval,
                cell => cell,
            })
            .collect();
    }
    let mut all: Option<Cell> = None;
    for cell in shown {
        all = Some(match (all, cell) {
            (None, Cell::Label(label)) => Cell::Set(vec![label]),
            (None, cell) => cell,
            (Some(Cell::Integer(lo, hi)), Cell::Integer(from, to)) => {
                Cell::Integer(lo.min(from), hi.max(to))
            }
            (Some(Cell::Decimal(lo, hi)), Cell::Decimal(from, to)) => {
                Cell::Decimal(lo.min(from), hi.max(to))
            }
            (Some(Cell::Date(lo, hi)), Cell::Date(from, to)) => {
                Cell::Date(lo.min(from), hi.max(to))
            }
            (Some(Cell::Set(mut members)), Cell::Label(label)) => {
                members.push(label);
                Cell::Set(members)
            }
            (Some(Cell::Set(mut members)), Cell::Set(others)) => {
                members.extend(others);
                Cell::Set(members)
            }
            _ => panic!("cells of two kinds"),
        });
        if let Some(Cell::Set(members)) = &mut all {
            members.sort();
            members.dedup();
        }
    }
    all.unwrap_or(Cell::Set(Vec::new()))
}

/// Number of published records whose original values satisfy all predicates.
pub fn actual(table: &Table, tables: &[PublishedTable], subjects: &[usize], query: &Query) -> u64 {
    assert_eq!(subjects.len(), tables[0].rows());
    actual_of(table, subjects, query)
}

/// Number of these records whose original values satisfy all predicates.
pub fn actual_of(table: &Table, records: &[usize], query: &Query) -> u64 {
    let holds = |record: usize| {
        query.predicates.iter().all(|predicate| {
            let index = table
                .schema()
                .find(&predicate.attribute)
                .expect("it is in the schema");
            let column = table.coded(index).expect("it is published");
            let value = column
                .domain
                .text(column.code(vizard_anonymizer::microdata::RecordIndex(record as u32)));
            satisfies(table, predicate, &parsed(&value, column.domain.kind()))
        })
    };
    records.iter().filter(|&&record| holds(record)).count() as u64
}

fn parsed(text: &str, kind: AttributeType) -> Cell {
    match kind {
        _ if text == "(missing)" => Cell::missing(),
        AttributeType::Integer => {
            let value = text.parse().expect("a whole number");
            Cell::Integer(value, value)
        }
        AttributeType::Decimal => {
            let value = text.parse().expect("a number");
            Cell::Decimal(value, value)
        }
        AttributeType::Date => {
            let day = vizard_anonymizer::microdata::value_text::date_days(text).expect("a day");
            Cell::Date(day, day)
        }
        AttributeType::Categorical => Cell::Label(text.into()),
    }
}

/// Whether an exact value satisfies a predicate.
pub fn satisfies(table: &Table, predicate: &Predicate, value: &Cell) -> bool {
    let index = table
        .schema()
        .find(&predicate.attribute)
        .expect("it is in the schema");
    let domain = &table.coded(index).expect("it is published").domain;
    if domain.is_numeric() && value.is_missing() {
        return false;
    }
    if let Cell::Label(label) = value {
        let under = |literal: &Literal| {
            let Literal::Text(name) = literal else {
                return false;
            };
            match domain.hierarchy() {
                None => name == label,
                Some(tree) => {
                    let leaf = tree.leaf(label).expect("a leaf");
                    tree.node(tree.find(name).expect("a node")).covers(leaf)
                }
            }
        };
        return match &predicate.test {
            Test::In(literals) => literals.iter().any(under),
            Test::Compare(Comparison::Equal, literal) => under(literal),
            Test::Compare(Comparison::NotEqual, literal) => !under(literal),
            _ => panic!("categories have no order"),
        };
    }
    let own: f64 = match value {
        Cell::Date(day, _) => f64::from(*day),
        cell => text(cell).parse().expect("a number"),
    };
    let number = |literal: &Literal| match literal {
        Literal::Whole(value) => *value as f64,
        Literal::Number(value) => *value,
        Literal::Text(day) => {
            f64::from(vizard_anonymizer::microdata::value_text::date_days(day).expect("a day"))
        }
    };
    match &predicate.test {
        Test::Between(lo, hi) => number(lo) <= own && own <= number(hi),
        Test::In(literals) => literals.iter().any(|literal| number(literal) == own),
        Test::Compare(comparison, literal) => {
            let literal = number(literal);
            match comparison {
                Comparison::Less => own < literal,
                Comparison::AtMost => own <= literal,
                Comparison::Equal => own == literal,
                Comparison::NotEqual => own != literal,
                Comparison::AtLeast => own >= literal,
                Comparison::Greater => own > literal,
            }
        }
    }
}
