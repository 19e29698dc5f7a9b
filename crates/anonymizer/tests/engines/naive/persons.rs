//! Measures of releases with one row a subject by their definitions, row by
//! row and leaf by leaf: what an item covers is the set of leaves under it.

use std::collections::BTreeSet;

use vizard_anonymizer::microdata::{
    CodedColumn, Domain, Hierarchy, NodeIndex, RecordIndex, Role, SubjectIndex, Table,
};
use vizard_anonymizer::privacy::Requirements;
use vizard_anonymizer::release::{Cell, Item, PublishedTable};

use super::measures::{cell, loss};

/// A release of persons beside its source.
#[derive(Clone, Copy)]
pub struct Naive<'a> {
    pub table: &'a Table,
    pub requirements: &'a Requirements,
    pub persons: &'a PublishedTable,
    pub subjects: &'a [SubjectIndex],
}

impl<'a> Naive<'a> {
    fn names(&self, role: Role) -> Vec<&'a str> {
        let attributes = self.table.schema().attributes().iter();
        let chosen = attributes.filter(|attribute| attribute.role == role);
        chosen.map(|attribute| attribute.name.as_str()).collect()
    }

    fn column(&self, attribute: &str) -> &'a CodedColumn {
        let index = self
            .table
            .schema()
            .find(attribute)
            .expect("it is in the schema");
        self.table.coded(index).expect("it is published")
    }

    fn cells(&self, role: Role, row: usize) -> Vec<Cell> {
        let names = self.names(role);
        names
            .iter()
            .map(|name| cell(self.persons, name, row))
            .collect()
    }

    fn rows(&self) -> std::ops::Range<usize> {
        0..self.subjects.len()
    }

    /// Rows that look like this one on the quasi-identifiers.
    fn group(&self, row: usize) -> Vec<usize> {
        let own = self.cells(Role::QuasiIdentifier, row);
        let alike = |other: &usize| self.cells(Role::QuasiIdentifier, *other) == own;
        self.rows().filter(alike).collect()
    }

    /// Records of a row's subject.
    fn records(&self, row: usize) -> Vec<RecordIndex> {
        let records = (0..self.table.records()).map(|at| RecordIndex(at as u32));
        let own = |record: &RecordIndex| self.table.subject_of(*record) == self.subjects[row];
        records.filter(own).collect()
    }

    /// Distinct original values of a row's subject.
    fn originals(&self, attribute: &str, row: usize) -> BTreeSet<String> {
        let column = self.column(attribute);
        let records = self.records(row).into_iter();
        records
            .map(|record| column.domain.text(column.code(record)))
            .collect()
    }

    /// Sum over persons and quasi-identifiers of the loss of the cell.
    pub fn qid_loss(&self) -> f64 {
        let names = self.names(Role::QuasiIdentifier);
        let of_row = |row: usize| -> f64 {
            let losses = names.iter();
            losses
                .map(|name| loss(&self.column(name).domain, &cell(self.persons, name, row)))
                .sum()
        };
        self.rows().map(of_row).sum()
    }

    /// Sum of the losses of the original items of an attribute, and their number.
    pub fn item_loss(&self, attribute: &str) -> (f64, usize) {
        let domain = &self.column(attribute).domain;
        let (mut sum, mut items) = (0.0, 0);
        for row in self.rows() {
            let published = cell(self.persons, attribute, row);
            for value in self.originals(attribute, row) {
                items += 1;
                let covers = |item: &&Item| leaves(domain, item).contains(&value);
                sum += match &published {
                    Cell::Masked => 1.0,
                    Cell::Items(items) => {
                        let item = items
                            .iter()
                            .find(covers)
                            .expect("the cell covers its source");
                        match leaves(domain, item).len() {
                            1 => 0.0,
                            size => size as f64 / domain.len() as f64,
                        }
                    }
                    _ => panic!("no fingerprint"),
                };
            }
        }
        (sum, items)
    }

    /// How many persons have each distinct published fingerprint.
    pub fn fingerprints(&self) -> Vec<usize> {
        let all: Vec<Vec<Cell>> = self
            .rows()
            .map(|row| self.cells(Role::Sensitive, row))
            .collect();
        let count = |own: &Vec<Cell>| all.iter().filter(|other| *other == own).count();
        let firsts = all
            .iter()
            .enumerate()
            .filter(|(at, own)| !all[..*at].contains(own));
        firsts.map(|(_, own)| count(own)).collect()
    }

    /// Number of distinct original fingerprints, and of their items.
    pub fn originals_counted(&self) -> (usize, usize) {
        let names = self.names(Role::Sensitive);
        let whole = |row: usize| -> Vec<BTreeSet<String>> {
            names.iter().map(|name| self.originals(name, row)).collect()
        };
        let all: Vec<_> = self.rows().map(whole).collect();
        let items = all.iter().flatten().map(BTreeSet::len).sum();
        (all.into_iter().collect::<BTreeSet<_>>().len(), items)
    }

    /// Shares of exactly published values, or of all nodes below the root.
    pub fn shares(&self, attribute: &str, values_only: bool) -> Vec<f64> {
        let domain = &self.column(attribute).domain;
        let mut shares = Vec::new();
        for row in self.rows() {
            let group = self.group(row);
            if group[0] != row {
                continue;
            }
            for node in nodes(domain, self.persons, attribute, values_only) {
                let says = |member: &&usize| match cell(self.persons, attribute, **member) {
                    Cell::Items(items) => items.iter().any(|item| implies(domain, item, &node)),
                    _ => false,
                };
                match group.iter().filter(says).count() {
                    0 => {}
                    known => shares.push(known as f64 / group.len() as f64),
                }
            }
        }
        shares
    }

    /// Share of each row's own fingerprint in its group, and its share of the limit.
    pub fn leaks(&self) -> Vec<(f64, f64)> {
        let of_row = |row: usize| {
            let own = self.cells(Role::Sensitive, row);
            let group = self.group(row);
            let alike = |member: &&usize| self.cells(Role::Sensitive, **member) == own;
            let share = group.iter().filter(alike).count() as f64 / group.len() as f64;
            let terms = self.requirements.of(self.records(row)[0]);
            let l = terms
                .l
                .iter()
                .max()
                .expect("there are sensitive attributes");
            (share, share * f64::from(*l))
        };
        self.rows().map(of_row).collect()
    }
}

fn labels(item: &Item) -> &[String] {
    match item {
        Item::Node(label) => std::slice::from_ref(label),
        Item::Union(labels) => labels,
    }
}

fn leaves(domain: &Domain, item: &Item) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for label in labels(item) {
        match domain.hierarchy() {
            None => drop(found.insert(label.clone())),
            Some(tree) => below(tree, tree.find(label).expect("a node"), &mut found),
        }
    }
    found
}

fn below(tree: &Hierarchy, node: NodeIndex, found: &mut BTreeSet<String>) {
    if tree.node(node).children.is_empty() {
        found.insert(tree.node(node).label.clone());
    }
    for &child in &tree.node(node).children {
        below(tree, child, found);
    }
}

/// Labels of the nodes that may have a share.
fn nodes(
    domain: &Domain,
    persons: &PublishedTable,
    attribute: &str,
    values_only: bool,
) -> BTreeSet<String> {
    match domain.hierarchy() {
        Some(tree) => {
            let below_root = tree.nodes()[1..].iter();
            let chosen = below_root.filter(|node| !values_only || node.children.is_empty());
            chosen.map(|node| node.label.clone()).collect()
        }
        None => {
            let cells = (0..persons.rows()).map(|row| cell(persons, attribute, row));
            let items = cells.flat_map(|cell| match cell {
                Cell::Items(items) => items,
                _ => Vec::new(),
            });
            let single = items.filter_map(|item| match item {
                Item::Node(label) => Some(label),
                Item::Union(_) => None,
            });
            single.collect()
        }
    }
}

/// Whether an item lies under a node for all who read the release.
fn implies(domain: &Domain, item: &Item, node: &str) -> bool {
    let node_leaves = leaves(domain, &Item::Node(node.into()));
    match (item, domain.hierarchy()) {
        // Which numbers of an interval occur is not public: only nodes above it.
        (Item::Node(label), Some(tree)) if domain.is_numeric() => {
            let mut at = tree.find(label).expect("a node");
            while tree.node(at).label != *node && at != NodeIndex::ROOT {
                at = tree.node(at).parent;
            }
            tree.node(at).label == *node
        }
        _ => leaves(domain, item).is_subset(&node_leaves),
    }
}
