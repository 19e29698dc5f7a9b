//! Leakage by its definition: row by row and leaf by leaf, in floats.

use std::collections::BTreeSet;

use vizard_anonymizer::microdata::{CodedColumn, Hierarchy, NodeIndex, Role};
use vizard_anonymizer::release::Cell;

use crate::case::Case;

/// What one published record leaks.
pub struct Leak {
    /// Probability of the own value.
    pub own: f64,
    /// Probability of any guarded value; 0 where nothing is guarded.
    pub guarded: f64,
    /// What the subject accepts.
    pub bound: f64,
}

impl Leak {
    /// The larger of both by the bound.
    pub fn ratio(&self) -> f64 {
        self.own.max(self.guarded) / self.bound
    }
}

struct Sensitive<'a> {
    name: &'a str,
    column: &'a CodedColumn,
    tree: &'a Hierarchy,
}

fn sensitive(case: &Case) -> Sensitive<'_> {
    let mut attributes = case.table.schema().attributes().iter();
    let found = attributes.find(|attribute| attribute.role == Role::Sensitive);
    let name = found.expect("one is sensitive").name.as_str();
    let column = case.table.coded(case.attribute(name)).expect("it is coded");
    Sensitive {
        name,
        column,
        tree: column.domain.hierarchy().expect("it has a hierarchy"),
    }
}

/// Leaves under a label; all of them for one that there is not.
fn under(tree: &Hierarchy, label: &str) -> BTreeSet<u32> {
    let index = tree.find(label).unwrap_or(NodeIndex::ROOT);
    let node = tree.node(index);
    (node.first_leaf.0..=node.last_leaf().0).collect()
}

fn leaves(tree: &Hierarchy, cell: &Cell) -> BTreeSet<u32> {
    match cell {
        Cell::Masked => under(tree, &tree.node(NodeIndex::ROOT).label),
        Cell::Label(label) => {
            assert!(tree.find(label).is_some(), "a node is published");
            under(tree, label)
        }
        other => panic!("{other:?} is no node"),
    }
}

fn weight(column: &CodedColumn, leaves: &BTreeSet<u32>) -> f64 {
    let codes = column.codes.iter();
    codes.filter(|code| leaves.contains(code)).count() as f64
}

/// What a reader sees of the quasi-identifiers of a row.
fn look(case: &Case, row: usize) -> Vec<Cell> {
    let mut look = case.look(row);
    let sensitive = case.generalized();
    let at = sensitive
        .iter()
        .position(|name| name == sensitive_name(case));
    look.remove(at.expect("it is generalized"));
    look
}

fn sensitive_name(case: &Case) -> &str {
    sensitive(case).name
}

/// Rows that look the same as each row, itself included.
fn alike(case: &Case) -> Vec<Vec<usize>> {
    let looks: Vec<Vec<Cell>> = (0..case.rows()).map(|row| look(case, row)).collect();
    let same = |row: usize| (0..looks.len()).filter(move |&other| other != row);
    (0..looks.len())
        .map(|row| {
            let mut rows: Vec<usize> = same(row)
                .filter(|&other| looks[other] == looks[row])
                .collect();
            rows.push(row);
            rows
        })
        .collect()
}

/// What every published record leaks.
pub fn leaks(case: &Case) -> Vec<Leak> {
    let Sensitive { name, column, tree } = sensitive(case);
    let published: Vec<BTreeSet<u32>> = case
        .cells("microdata", name)
        .iter()
        .map(|cell| leaves(tree, cell))
        .collect();
    let weights: Vec<f64> = published
        .iter()
        .map(|leaves| weight(column, leaves))
        .collect();
    let job = case.manifest.parameters["max_leakage"].as_f64();
    let alike = alike(case);
    (0..case.rows())
        .map(|row| {
            let terms = case.terms(row);
            let own = BTreeSet::from([case.code(name, row).0]);
            let named = terms.guard.iter().flat_map(|(_, labels)| labels);
            let guarded: BTreeSet<u32> = named.flat_map(|label| under(tree, label)).collect();
            let chance = |of: &BTreeSet<u32>| {
                let chances = alike[row].iter().map(|&other| {
                    let common = published[other].intersection(of).copied().collect();
                    weight(column, &common) / weights[other]
                });
                chances.sum::<f64>() / alike[row].len() as f64
            };
            let parts = terms.max_leakage_parts[0];
            let asked = if parts == 0 {
                1.0
            } else {
                f64::from(parts) / 1e9
            };
            Leak {
                own: chance(&own),
                guarded: chance(&guarded),
                bound: asked.min(job.unwrap_or(1.0)),
            }
        })
        .collect()
}

/// Whether two rows that look the same publish nodes one of which lies
/// strictly under the other.
pub fn overlaps(case: &Case) -> bool {
    let Sensitive { name, tree, .. } = sensitive(case);
    let published: Vec<BTreeSet<u32>> = case
        .cells("microdata", name)
        .iter()
        .map(|cell| leaves(tree, cell))
        .collect();
    let alike = alike(case);
    (0..case.rows()).any(|row| {
        alike[row].iter().any(|&other| {
            let (one, two) = (&published[row], &published[other]);
            one != two && !one.is_disjoint(two)
        })
    })
}
