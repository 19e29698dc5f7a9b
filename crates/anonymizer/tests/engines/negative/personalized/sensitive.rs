//! Diseases that are published too exactly, or not as they are.

use rand::RngExt;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::{Hierarchy, NodeIndex};
use vizard_anonymizer::release::Cell;

use crate::case::Case;
use crate::negative::{Corruption, Done, Random, any, corruption};

const UNDER: &[&str] = &["sensitive_values_under_their_node"];
const OVERLAP: &[&str] = &["sensitive_nodes_do_not_overlap"];
const LEAK: &[&str] = &["max_leakage"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = values();
    all.extend(texts());
    all.extend(nodes());
    all.extend(leaks());
    all
}

fn cut(case: &Case) -> bool {
    case.manifest.parameters["recoding"] == "group_cut"
}

fn tree(case: &Case) -> std::sync::Arc<Hierarchy> {
    case.domain("disease").hierarchy().unwrap().clone()
}

/// The node that a row publishes.
fn node(case: &Case, row: usize) -> NodeIndex {
    match &case.cells("microdata", "disease")[row] {
        Cell::Label(label) => tree(case).find(label).unwrap(),
        other => panic!("{other:?} is no node"),
    }
}

fn put(case: &mut Case, rows: &[usize], cell: &Cell) {
    let mut cells = case.cells("microdata", "disease");
    rows.iter().for_each(|&row| cells[row] = cell.clone());
    case.set_cells("microdata", "disease", cells);
}

fn one(case: &mut Case, random: &mut Random, cell: Cell) -> Done {
    let row = random.random_range(0..case.rows());
    put(case, &[row], &cell);
    Done::Seal
}

fn label(text: &str) -> Cell {
    Cell::Label(text.into())
}

/// A random row for which `wanted` holds.
fn row_where(case: &Case, random: &mut Random, wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let rows: Vec<usize> = (0..case.rows()).filter(|&row| wanted(row)).collect();
    any(&rows, random)
}

/// The group that a row is in.
fn group_of(case: &Case, row: usize) -> Vec<usize> {
    let mut groups = case.groups().into_iter();
    groups.find(|rows| rows.contains(&row)).unwrap()
}

/// Cells that do not hold the record's disease.
fn values() -> Vec<Corruption> {
    vec![
        corruption("publish another disease", UNDER, |case, random| {
            let row = random.random_range(0..case.rows());
            let code = case.code("disease", row).0;
            let other = (code + random.random_range(1..8)) % 8;
            let cell = case.exact("disease", vizard_anonymizer::microdata::Code(other));
            put(case, &[row], &cell);
            Done::Seal
        }),
        corruption(
            "publish the node beside the disease's",
            UNDER,
            |case, random| {
                let tree = tree(case);
                let beside = |row: usize| {
                    let node = node(case, row);
                    let siblings = &tree.node(tree.node(node).parent).children;
                    siblings.iter().find(|&&sibling| sibling != node).copied()
                };
                let row = row_where(case, random, |row| node(case, row) != NodeIndex::ROOT);
                let Some(row) = row else {
                    return Done::Skip;
                };
                let cell = label(&tree.node(beside(row).unwrap()).label);
                put(case, &[row], &cell);
                Done::Seal
            },
        ),
        corruption("swap the diseases of two groups", UNDER, |case, random| {
            let row = random.random_range(0..case.rows());
            let tree = tree(case);
            let own = case.code("disease", row);
            let other = row_where(case, random, |other| {
                !tree.node(node(case, other)).covers(own)
            });
            let Some(other) = other else {
                return Done::Skip;
            };
            let mut cells = case.cells("microdata", "disease");
            cells.swap(row, other);
            case.set_cells("microdata", "disease", cells);
            Done::Seal
        }),
    ]
}

/// Cells that are no node of the diseases.
fn texts() -> Vec<Corruption> {
    vec![
        corruption(
            "swap the lineage of two diseases of a group",
            UNDER,
            |case, random| {
                let tree = tree(case);
                let other = |row: usize| {
                    let own = case.code("disease", row);
                    let group = group_of(case, row);
                    group
                        .into_iter()
                        .find(|&other| !tree.node(node(case, other)).covers(own))
                };
                let Some(row) = row_where(case, random, |row| other(row).is_some()) else {
                    return Done::Skip;
                };
                let other = other(row).unwrap();
                case.subjects_mut().swap(row, other);
                Done::Seal
            },
        ),
        corruption("invent a disease", UNDER, |case, random| {
            one(case, random, label("measles"))
        }),
        corruption("publish no disease", UNDER, |case, random| {
            one(case, random, Cell::Empty)
        }),
        corruption("publish a set of diseases", UNDER, |case, random| {
            one(case, random, Cell::Set(vec!["asthma".into(), "flu".into()]))
        }),
        corruption("publish a disease as numbers", UNDER, |case, random| {
            one(case, random, Cell::Integer(0, 7))
        }),
        corruption("publish an empty label", UNDER, |case, random| {
            one(case, random, label(""))
        }),
        corruption("publish the label of a city", UNDER, |case, random| {
            one(case, random, label("Oslo"))
        }),
        corruption(
            "put a key in place of a disease",
            &["sensitive_values_under_their_node", "no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let keys = case.table.subject_keys();
                let cell = label(keys.get(case.subjects()[row].at()));
                put(case, &[row], &cell);
                Done::Seal
            },
        ),
        corruption(
            "put the digest of a key in place of a disease",
            &["sensitive_values_under_their_node", "no_source_identifier"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                let keys = case.table.subject_keys();
                let digest = Sha256::digest(keys.get(case.subjects()[row].at()).as_bytes());
                let text: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                put(case, &[row], &label(&text));
                Done::Seal
            },
        ),
    ]
}

/// Nodes of one group that lie under each other.
fn nodes() -> Vec<Corruption> {
    vec![
        corruption(
            "show one exact disease among generalized ones",
            OVERLAP,
            |case, random| {
                let tree = tree(case);
                // Another row of the group publishes the same inner node.
                let shared = |row: usize| {
                    let own = node(case, row);
                    let rows = group_of(case, row).into_iter();
                    let same = rows.filter(|&other| node(case, other) == own).count() > 1;
                    same && !tree.node(own).children.is_empty()
                };
                if !cut(case) {
                    return Done::Skip;
                }
                let Some(row) = row_where(case, random, shared) else {
                    return Done::Skip;
                };
                let cell = case.exact("disease", case.code("disease", row));
                put(case, &[row], &cell);
                Done::Seal
            },
        ),
        corruption(
            "generalize one of two equal diseases",
            OVERLAP,
            |case, random| {
                let shared = |row: usize| {
                    let own = node(case, row);
                    let rows = group_of(case, row).into_iter();
                    let same = rows.filter(|&other| node(case, other) == own).count() > 1;
                    same && own != NodeIndex::ROOT
                };
                if !cut(case) {
                    return Done::Skip;
                }
                let Some(row) = row_where(case, random, shared) else {
                    return Done::Skip;
                };
                let tree = tree(case);
                let cell = label(&tree.node(tree.node(node(case, row)).parent).label);
                put(case, &[row], &cell);
                Done::Seal
            },
        ),
        corruption(
            "generalize one disease to the root",
            OVERLAP,
            |case, random| above_others(case, random, &label("any")),
        ),
        corruption("mask one disease", OVERLAP, |case, random| {
            above_others(case, random, &Cell::Masked)
        }),
    ]
}

/// Publishes the root for one of a group while something of it stays below.
fn above_others(case: &mut Case, random: &mut Random, root: &Cell) -> Done {
    let beside = |row: usize| {
        let rows = group_of(case, row).into_iter();
        let mut others = rows.filter(|&other| other != row);
        others.any(|other| node(case, other) != NodeIndex::ROOT)
    };
    if !cut(case) {
        return Done::Skip;
    }
    let Some(row) = row_where(case, random, beside) else {
        return Done::Skip;
    };
    put(case, &[row], root);
    Done::Seal
}

/// Values that are more probable than their subject accepts.
fn leaks() -> Vec<Corruption> {
    vec![
        corruption(
            "publish a group's diseases as they are",
            LEAK,
            |case, random| {
                // More of the group have the disease than one of them accepts.
                let beyond = |row: usize| {
                    let rows = group_of(case, row);
                    let own = case.code("disease", row);
                    let same = rows
                        .iter()
                        .filter(|&&other| case.code("disease", other) == own);
                    let bound = case.terms(row).max_share[0];
                    !bound.allows(same.count() as u64, rows.len() as u64)
                };
                let Some(row) = row_where(case, random, beyond) else {
                    return Done::Skip;
                };
                for row in group_of(case, row) {
                    let cell = case.exact("disease", case.code("disease", row));
                    put(case, &[row], &cell);
                }
                Done::Seal
            },
        ),
        corruption("publish every disease as it is", LEAK, |case, _| {
            for row in 0..case.rows() {
                let cell = case.exact("disease", case.code("disease", row));
                put(case, &[row], &cell);
            }
            Done::Seal
        }),
        corruption("show a guarded disease as it is", LEAK, |case, random| {
            // Some of the group guard the heart, and more have it than that.
            let heart = tree(case).find("heart").unwrap();
            let beyond = |row: usize| {
                let rows = group_of(case, row);
                let tree = tree(case);
                let hearts = rows
                    .iter()
                    .filter(|&&other| tree.node(heart).covers(case.code("disease", other)));
                let bound = case.terms(row).max_share[0];
                let guards = !case.terms(row).guard.is_empty();
                guards && !bound.allows(hearts.count() as u64, rows.len() as u64)
            };
            let Some(row) = row_where(case, random, beyond) else {
                return Done::Skip;
            };
            for row in group_of(case, row) {
                let cell = case.exact("disease", case.code("disease", row));
                put(case, &[row], &cell);
            }
            Done::Seal
        }),
    ]
}
