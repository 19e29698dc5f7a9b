//! Rows of `quasi`: who is there, how often, in which order, with which
//! values; tables and columns; identifiers.

use rand::RngExt;
use sha2::{Digest, Sha256};
use vizard_anonymizer::microdata::SubjectIndex;
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn};

use crate::case::{Case, dictionary};
use crate::negative::{Corruption, Done, Random, any, corruption};

const ONCE: &[&str] = &["every_record_once"];
const TABLES: &[&str] = &["tables_and_columns"];
const ORDER: &[&str] = &["rows_in_order"];
const COVER: &[&str] = &["cells_cover_their_source"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = people();
    all.extend(cells());
    all.extend(tables());
    all.extend(columns());
    all
}

/// Who is there, and in which order.
fn people() -> Vec<Corruption> {
    vec![
        corruption("drop a row, not its lineage", ONCE, |case, _| {
            let subjects = case.subjects().to_vec();
            let rows: Vec<usize> = (1..case.rows()).collect();
            case.take_rows("quasi", &rows);
            *case.subjects_mut() = subjects;
            Done::Seal
        }),
        corruption("duplicate a row", ONCE, |case, random| {
            let twice = random.random_range(0..case.rows());
            let rows: Vec<usize> = (0..case.rows()).chain([twice]).collect();
            case.take_rows("quasi", &rows);
            Done::Seal
        }),
        corruption("name an unknown subject", ONCE, |case, random| {
            let row = random.random_range(0..case.rows());
            case.subjects_mut()[row] = SubjectIndex(9_999);
            Done::Seal
        }),
        corruption(
            "publish an excluded subject",
            &["exclusions_honoured"],
            |case, random| {
                let row = random.random_range(0..case.rows());
                case.subjects_mut()[row] = SubjectIndex(0);
                Done::Seal
            },
        ),
        corruption("swap the lineage of two rows", COVER, |case, random| {
            let (one, other) = (
                random.random_range(0..case.rows()),
                random.random_range(0..case.rows()),
            );
            if case.cells("quasi", "city")[one] == case.cells("quasi", "city")[other] {
                return Done::Skip;
            }
            case.subjects_mut().swap(one, other);
            Done::Seal
        }),
        corruption("sort the rows as the source is", ORDER, |case, _| {
            let mut rows: Vec<usize> = (0..case.rows()).collect();
            rows.sort_by_key(|&row| case.subjects()[row]);
            case.take_rows("quasi", &rows);
            Done::Seal
        }),
        corruption("sort the rows by an attribute", ORDER, |case, random| {
            let name = any(&["age", "city", "ward", "disease", "salary"], random).unwrap();
            if name == "salary"
                && case.manifest.parameters["sensitive"]
                    .as_array()
                    .unwrap()
                    .len()
                    < 2
            {
                return Done::Skip;
            }
            let mut rows: Vec<usize> = (0..case.rows()).collect();
            rows.sort_by_key(|&row| case.code(name, row));
            case.take_rows("quasi", &rows);
            Done::Seal
        }),
    ]
}

/// What rows show.
fn cells() -> Vec<Corruption> {
    vec![
        corruption("show another city", COVER, |case, random| {
            replace(case, "city", random, |cell, others| {
                others.iter().find(|other| *other != cell).cloned()
            })
        }),
        corruption("widen an age", COVER, |case, random| {
            replace(case, "age", random, |_, _| Some(Cell::Integer(20, 40)))
        }),
        corruption("mask a city", COVER, |case, random| {
            replace(case, "city", random, |_, _| Some(Cell::Masked))
        }),
        corruption("empty a city", COVER, |case, random| {
            replace(case, "city", random, |_, _| Some(Cell::Empty))
        }),
        corruption("show a set of cities", COVER, |case, random| {
            let set = Cell::Set(vec!["Bergen".into(), "Oslo".into()]);
            replace(case, "city", random, move |_, _| Some(set.clone()))
        }),
        corruption(
            "show another ward",
            &["insensitive_exact"],
            |case, random| {
                replace(case, "ward", random, |cell, others| {
                    others.iter().find(|other| *other != cell).cloned()
                })
            },
        ),
        corruption("show an age that nobody has", COVER, |case, random| {
            replace(case, "age", random, |_, _| Some(Cell::Integer(25, 25)))
        }),
        corruption(
            "show somebody's key as a city",
            &["no_source_identifier", "cells_cover_their_source"],
            |case, random| {
                replace(case, "city", random, |_, _| {
                    Some(Cell::Label("P-01007".into()))
                })
            },
        ),
        corruption(
            "show the digest of a key as a ward",
            &["no_source_identifier", "insensitive_exact"],
            |case, random| {
                let digest = Sha256::digest(b"P-01007");
                let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                replace(case, "ward", random, move |_, _| {
                    Some(Cell::Label(hex.clone()))
                })
            },
        ),
    ]
}

/// Tables, and columns that are missing or in the wrong place.
fn tables() -> Vec<Corruption> {
    vec![
        corruption("drop the table of values", TABLES, |case, _| {
            case.tables.pop();
            Done::Seal
        }),
        corruption("add a table", TABLES, |case, _| {
            let mut more = case.tables[1].clone();
            more.name = "more".into();
            case.tables.push(more);
            Done::Seal
        }),
        corruption("rename the table of rows", TABLES, |case, _| {
            case.tables[0].name = "microdata".into();
            Done::Seal
        }),
        corruption("drop a column", TABLES, |case, random| {
            let columns = &mut case.published_mut("quasi").columns;
            let at = random.random_range(0..columns.len());
            columns.remove(at);
            Done::Seal
        }),
        corruption("swap two columns", TABLES, |case, _| {
            let columns = &mut case.published_mut("quasi").columns;
            let last = columns.len() - 1;
            columns.swap(last, last - 1);
            Done::Seal
        }),
        corruption("rename a column", TABLES, |case, _| {
            let columns = &mut case.published_mut("quasi").columns;
            columns[0].name = "bucket".into();
            Done::Seal
        }),
    ]
}

/// Columns that are not what they should be.
fn columns() -> Vec<Corruption> {
    vec![
        corruption("call exact cells generalized", TABLES, |case, _| {
            let columns = &mut case.published_mut("quasi").columns;
            columns.last_mut().unwrap().content = Content::Generalized;
            Done::Seal
        }),
        corruption(
            "add a column of keys",
            &["tables_and_columns", "no_source_identifier"],
            |case, _| {
                let keys = case.table.subject_keys();
                let cells = case.subjects().iter();
                let cells = cells.map(|subject| Cell::Label(keys.get(subject.at()).into()));
                let column = PublishedColumn {
                    name: "key".into(),
                    content: Content::Exact,
                    kind: Some(vizard_anonymizer::microdata::AttributeType::Categorical),
                    cells: dictionary(cells.collect()),
                };
                case.published_mut("quasi").columns.push(column);
                Done::Seal
            },
        ),
        corruption(
            "show the sensitive values beside the rows",
            TABLES,
            |case, _| {
                let cells =
                    (0..case.rows()).map(|row| case.exact("disease", case.code("disease", row)));
                let column = PublishedColumn {
                    name: "disease".into(),
                    content: Content::Exact,
                    kind: Some(vizard_anonymizer::microdata::AttributeType::Categorical),
                    cells: dictionary(cells.collect()),
                };
                case.published_mut("quasi").columns.push(column);
                Done::Seal
            },
        ),
        corruption("cut a column short", TABLES, |case, _| {
            let columns = &mut case.published_mut("quasi").columns;
            if let Cells::Numbers(numbers) = &mut columns[0].cells {
                numbers.pop();
            }
            Done::Keep
        }),
    ]
}

/// Another cell in a random row.
fn replace(
    case: &mut Case,
    column: &str,
    random: &mut Random,
    with: impl Fn(&Cell, &[Cell]) -> Option<Cell>,
) -> Done {
    let mut cells = case.cells("quasi", column);
    let row = random.random_range(0..cells.len());
    let Some(cell) = with(&cells[row], &cells) else {
        return Done::Skip;
    };
    cells[row] = cell;
    case.set_cells("quasi", column, cells);
    Done::Seal
}
