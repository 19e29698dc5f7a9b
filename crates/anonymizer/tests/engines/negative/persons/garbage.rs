//! Tables that no encoder writes: the verifier answers, and never panics.

use rand::RngExt;
use vizard_anonymizer::microdata::SubjectIndex;
use vizard_anonymizer::release::{Cell, Cells, Item, PublishedTable};

use crate::case::{Case, edit};
use crate::negative::{Corruption, Done, Random, any, corruption};

const COLUMNS: &[&str] = &["tables_and_columns"];
const BROKEN: &[&str] = &["tables_and_columns", "k_anonymity", "max_leakage"];

pub fn corruptions() -> Vec<Corruption> {
    let mut all = tables();
    all.extend(contents());
    all.extend(subjects());
    all
}

/// Tables and columns that are not the published ones.
fn tables() -> Vec<Corruption> {
    vec![
        corruption("drop a column of persons", BROKEN, |case, random| {
            let columns = &mut case.published_mut("persons").columns;
            columns.remove(random.random_range(0..columns.len()));
            Done::Seal
        }),
        corruption("swap two columns of persons", COLUMNS, |case, random| {
            let columns = &mut case.published_mut("persons").columns;
            let at = random.random_range(1..columns.len());
            columns.swap(at - 1, at);
            Done::Seal
        }),
        corruption("rename a column of persons", BROKEN, |case, random| {
            let columns = &mut case.published_mut("persons").columns;
            let at = random.random_range(0..columns.len());
            columns[at].name.push('2');
            Done::Seal
        }),
        corruption("publish no persons", BROKEN, |case, _| {
            case.tables.clear();
            case.manifest.tables.clear();
            Done::Keep
        }),
        corruption("call the table something else", BROKEN, |case, _| {
            case.tables[0].name = "microdata".into();
            Done::Seal
        }),
        corruption(
            "publish one more table beside persons",
            COLUMNS,
            |case, _| {
                let table = PublishedTable {
                    name: "visits".into(),
                    ..case.tables[0].clone()
                };
                case.tables.push(table);
                Done::Seal
            },
        ),
    ]
}

/// Columns that hold nonsense.
fn contents() -> Vec<Corruption> {
    vec![
        corruption(
            "cut a column of persons short",
            &["tables_and_columns", "table_digests"],
            |case, random| {
                match &mut column(case, random).cells {
                    Cells::Numbers(numbers) => numbers.truncate(5),
                    Cells::Dictionary { codes, .. } => codes.truncate(5),
                }
                Done::Keep
            },
        ),
        corruption(
            "point beyond the cells of persons",
            &["tables_and_columns", "table_digests"],
            |case, random| {
                if let Cells::Dictionary { codes, cells } = &mut column(case, random).cells {
                    let at = random.random_range(0..codes.len());
                    let beyond = any(&[cells.len() as u32, u32::MAX], random).unwrap();
                    edit(codes, |codes| codes[at] = beyond);
                }
                Done::Keep
            },
        ),
        corruption("publish fingerprints as numbers", BROKEN, |case, _| {
            let numbers = vec![1; case.rows()];
            let mut columns = case.published_mut("persons").columns.iter_mut();
            let found = columns.find(|column| column.name == "disease");
            found.expect("it is published").cells = Cells::Numbers(numbers);
            Done::Seal
        }),
        corruption(
            "number groups of persons wildly",
            &["groups_numbered"],
            |case, random| {
                let wild = [u64::MAX, 1 << 40, 0];
                let numbers = (0..case.rows()).map(|_| any(&wild, random).unwrap());
                let numbers = numbers.collect();
                case.set_numbers("persons", "group", numbers);
                Done::Seal
            },
        ),
        corruption(
            "publish wild fingerprints",
            &["fingerprints_well_formed"],
            |case, random| {
                let cells = (0..case.rows()).map(|_| wild_items(random)).collect();
                let name = any(&["disease", "drug"], random).unwrap();
                case.set_cells("persons", name, cells);
                Done::Seal
            },
        ),
    ]
}

/// Lineages of nobody.
fn subjects() -> Vec<Corruption> {
    vec![
        corruption(
            "lose the lineage of persons",
            &["every_subject_once"],
            |case, _| {
                case.lineage.tables.clear();
                Done::Keep
            },
        ),
        corruption(
            "give persons a lineage of nobody",
            &["every_subject_once"],
            |case, _| {
                case.subjects_mut().fill(SubjectIndex(u32::MAX));
                Done::Keep
            },
        ),
        corruption(
            "give persons a longer lineage",
            &["every_subject_once"],
            |case, _| {
                case.subjects_mut().push(SubjectIndex(0));
                Done::Keep
            },
        ),
        corruption(
            "publish no row of persons",
            &["every_subject_once"],
            |case, _| {
                case.take_rows("persons", &[]);
                Done::Seal
            },
        ),
    ]
}

/// A column behind the groups.
fn column<'a>(
    case: &'a mut Case,
    random: &mut Random,
) -> &'a mut vizard_anonymizer::release::PublishedColumn {
    let columns = &mut case.published_mut("persons").columns;
    let at = random.random_range(1..columns.len());
    &mut columns[at]
}

fn wild_items(random: &mut Random) -> Cell {
    let labels = [
        "flu",
        "any",
        "b",
        "c",
        "",
        "*",
        "colitis",
        "gastritis",
        "nobody",
        "{",
        "\\",
    ];
    let mut label = || any(&labels, random).unwrap().to_owned();
    let nodes = [Item::Node(label()), Item::Node(label())];
    let union = Item::Union(vec![label(), label(), label()]);
    let empty = Item::Union(Vec::new());
    let cells = [
        Cell::Items(nodes.to_vec()),
        Cell::Items(vec![union.clone(), nodes[0].clone()]),
        Cell::Items(vec![union, empty]),
        Cell::Items(Vec::new()),
        Cell::Set(vec![label()]),
        Cell::Decimal(f64::NAN, f64::INFINITY),
        Cell::Empty,
    ];
    any(&cells, random).unwrap()
}
