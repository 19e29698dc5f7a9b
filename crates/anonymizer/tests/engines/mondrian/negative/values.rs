//! Corruptions of sensitive values: cells that are not the record's value, and
//! groups whose records (in source and release alike) are not what is claimed.

use std::sync::Arc;

use rand::RngExt;
use vizard_anonymizer::microdata::{Code, Table, TableColumn};
use vizard_anonymizer::release::Cell;

use crate::case::{Case, edit};
use crate::negative::{Corruption, Done, Random, any, corruption};

const EXACT: &[&str] = &["sensitive_exact"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = of_cells();
    all.extend(of_groups());
    all
}

/// Cells that do not show their record's value.
fn of_cells() -> Vec<Corruption> {
    vec![
        corruption("swap the sensitive values of two rows", EXACT, swap_values),
        corruption("publish another sensitive value", EXACT, |case, random| {
            let name = any(&["disease", "salary"], random).unwrap();
            let row = random.random_range(0..case.rows());
            let values = case.domain(name).len() as u32;
            let other = (case.code(name, row).0 + random.random_range(1..values)) % values;
            let cell = case.exact(name, Code(other));
            put(case, name, row, cell)
        }),
        corruption("generalize a sensitive value", EXACT, |case, random| {
            let row = random.random_range(0..case.rows());
            let labels = ["respiratory", "digestive", "heart", "any"];
            let label = any(&labels, random).unwrap();
            put(case, "disease", row, Cell::Label(label.into()))
        }),
        corruption("give an interval for a salary", EXACT, |case, random| {
            let row = random.random_range(0..case.rows());
            let Cell::Integer(low, _) = case.exact("salary", Code(0)) else {
                return Done::Skip;
            };
            let last = Code(case.domain("salary").len() as u32 - 1);
            let Cell::Integer(high, _) = case.exact("salary", last) else {
                return Done::Skip;
            };
            put(case, "salary", row, Cell::Integer(low, high))
        }),
        corruption("mask a sensitive value", EXACT, |case, random| {
            let name = any(&["disease", "salary"], random).unwrap();
            let row = random.random_range(0..case.rows());
            put(case, name, row, Cell::Masked)
        }),
        corruption("leave a sensitive cell empty", EXACT, |case, random| {
            let name = any(&["disease", "salary"], random).unwrap();
            let row = random.random_range(0..case.rows());
            put(case, name, row, Cell::Empty)
        }),
        corruption("give a set of sensitive values", EXACT, |case, random| {
            let row = random.random_range(0..case.rows());
            let set = ["asthma", "flu"].map(String::from);
            put(case, "disease", row, Cell::Set(set.into()))
        }),
        corruption(
            "exchange a column of sensitive values for another order",
            EXACT,
            |case, _| {
                let mut cells = case.cells("microdata", "disease");
                cells.rotate_left(1);
                case.set_cells("microdata", "disease", cells);
                Done::Seal
            },
        ),
    ]
}

/// Groups of too few values, or too far from the whole.
fn of_groups() -> Vec<Corruption> {
    vec![
        corruption(
            "give one disease to a group under distinct diversity",
            &["distinct_l_diversity"],
            |case, random| {
                if claims(case, "distinct_l_diversity", "disease") {
                    fill(case, "disease", random)
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "give one disease to a group under entropy diversity",
            &["entropy_l_diversity"],
            |case, random| {
                if claims(case, "entropy_l_diversity", "disease") {
                    fill(case, "disease", random)
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "give one disease to a group under recursive diversity",
            &["recursive_l_diversity"],
            |case, random| {
                if claims(case, "recursive_l_diversity", "disease") {
                    fill(case, "disease", random)
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "give the lowest salary to a group",
            &["t_closeness", "skewness"],
            |case, random| {
                if claims(case, "t_closeness", "salary") {
                    fill_lowest(case, random)
                } else {
                    Done::Skip
                }
            },
        ),
        corruption(
            "give one disease to the group of somebody who asked for more",
            &["max_leakage"],
            |case, random| {
                let asking = (0..case.rows()).find(|&row| {
                    let terms = case.terms(row);
                    terms.l[case.protected("disease").at()] > 1
                });
                let Some(asking) = asking else {
                    return Done::Skip;
                };
                let mut groups = case.groups();
                groups.retain(|rows| rows.contains(&asking));
                let Some(rows) = any(&groups, random) else {
                    return Done::Skip;
                };
                let code = case.code("disease", asking);
                set_source(case, "disease", &rows, code);
                Done::Seal
            },
        ),
    ]
}

fn claims(case: &Case, kind: &str, attribute: &str) -> bool {
    let verdict = case.verdict();
    let mut checks = verdict.checks.iter();
    checks.any(|check| check.kind == kind && check.attribute.as_deref() == Some(attribute))
}

fn put(case: &mut Case, name: &str, row: usize, cell: Cell) -> Done {
    let mut cells = case.cells("microdata", name);
    cells[row] = cell;
    case.set_cells("microdata", name, cells);
    Done::Seal
}

/// Each still occurs as often as before.
fn swap_values(case: &mut Case, random: &mut Random) -> Done {
    let name = any(&["disease", "salary"], random).unwrap();
    let mut cells = case.cells("microdata", name);
    let row = random.random_range(0..cells.len());
    let others = (0..cells.len()).filter(|&other| cells[other] != cells[row]);
    let Some(other) = any(&others.collect::<Vec<_>>(), random) else {
        return Done::Skip;
    };
    cells.swap(row, other);
    case.set_cells("microdata", name, cells);
    Done::Seal
}

/// All records of a random group get the value of its first.
fn fill(case: &mut Case, name: &str, random: &mut Random) -> Done {
    let Some(rows) = any(&case.groups(), random) else {
        return Done::Skip;
    };
    let code = case.code(name, rows[0]);
    set_source(case, name, &rows, code);
    Done::Seal
}

/// A group at one end of the range is about half the range from the whole.
fn fill_lowest(case: &mut Case, random: &mut Random) -> Done {
    let Some(rows) = any(&case.groups(), random) else {
        return Done::Skip;
    };
    set_source(case, "salary", &rows, Code(0));
    Done::Seal
}

/// Gives the records of these rows one value, in the source and in the
/// release.
fn set_source(case: &mut Case, name: &str, rows: &[usize], code: Code) {
    let at = case.attribute(name).at();
    let mut columns = case.table.columns().to_vec();
    if let TableColumn::Coded(column) = &mut columns[at] {
        edit(&mut column.codes, |codes| {
            for &row in rows {
                codes[case.record(row).at()] = code.0;
            }
        });
    }
    let table = &case.table;
    let (schema, keys) = (Arc::clone(table.schema()), table.subject_keys().clone());
    case.table = Table::new(schema, columns, keys, Vec::new());
    let mut cells = case.cells("microdata", name);
    let cell = case.exact(name, code);
    rows.iter().for_each(|&row| cells[row] = cell.clone());
    case.set_cells("microdata", name, cells);
}
