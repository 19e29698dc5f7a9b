//! Which values a published cell covers: a predicate that anyone can write
//! down who has read the cell.

use vizard_anonymizer::microdata::{Code, Domain, Values};
use vizard_anonymizer::release::{Cell, Item};

/// The codes that a cell covers, ascending; none for an empty cell or one
/// that the domain does not know.
pub fn covered(cell: &Cell, domain: &Domain) -> Vec<u32> {
    let all = 0..domain.len() as u32;
    let mut codes: Vec<u32> = match (cell, domain.values()) {
        (Cell::Masked, _) => all.collect(),
        (Cell::Integer(low, high), Values::Integer(values)) => {
            between(values, |value| low <= value && value <= high)
        }
        (Cell::Date(low, high), Values::Date(values)) => {
            between(values, |value| low <= value && value <= high)
        }
        (Cell::Decimal(low, high), Values::Decimal(values)) => {
            between(values, |value| low <= value && value <= high)
        }
        (Cell::Label(label), _) => of_label(label, domain),
        (Cell::Set(labels), _) => of_labels(labels, domain),
        (Cell::Items(items), _) => items
            .iter()
            .flat_map(|item| of_item(item, domain))
            .collect(),
        _ => Vec::new(),
    };
    codes.sort_unstable();
    codes.dedup();
    codes
}

/// The codes under one member of a fingerprint.
pub fn of_item(item: &Item, domain: &Domain) -> Vec<u32> {
    match item {
        Item::Node(label) => of_label(label, domain),
        Item::Union(labels) => of_labels(labels, domain),
    }
}

fn between<T>(values: &[T], is_covered: impl Fn(&T) -> bool) -> Vec<u32> {
    let known = (0..).zip(values);
    let known = known.filter(|(_, value)| is_covered(value));
    known.map(|(code, _)| code).collect()
}

fn of_labels(labels: &[String], domain: &Domain) -> Vec<u32> {
    let labels = labels.iter();
    labels.flat_map(|label| of_label(label, domain)).collect()
}

/// A node's leaves; without a hierarchy the value written so.
fn of_label(label: &str, domain: &Domain) -> Vec<u32> {
    if let Some(node) = domain.hierarchy().and_then(|tree| {
        let index = tree.find(label)?;
        Some(tree.node(index))
    }) {
        return (node.first_leaf.0..=node.last_leaf().0).collect();
    }
    let codes = 0..domain.len() as u32;
    codes
        .filter(|&code| domain.text(Code(code)) == label)
        .collect()
}
