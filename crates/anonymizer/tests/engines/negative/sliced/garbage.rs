//! Tables that no encoder writes: the verifier answers, and never panics.

use rand::RngExt;
use vizard_anonymizer::release::{Cell, Cells, Content, PublishedColumn, PublishedTable};

use super::base::linked;
use crate::case::{Case, dictionary, edit};
use crate::negative::{Corruption, Done, Random, any, corruption};

const COLUMNS: &[&str] = &["tables_and_columns"];
const BROKEN: &[&str] = &["tables_and_columns", "k_anonymity", "max_leakage"];

fn column<'c>(case: &'c mut Case, random: &mut Random) -> &'c mut PublishedColumn {
    let columns = &mut case.published_mut("sliced").columns;
    let at = random.random_range(0..columns.len());
    &mut columns[at]
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = tables();
    all.extend(contents());
    all
}

fn tables() -> Vec<Corruption> {
    vec![
        corruption("drop a column of sliced", BROKEN, |case, random| {
            let columns = &mut case.published_mut("sliced").columns;
            columns.remove(random.random_range(0..columns.len()));
            Done::Seal
        }),
        corruption("swap two columns of sliced", COLUMNS, |case, random| {
            let columns = &mut case.published_mut("sliced").columns;
            let at = random.random_range(1..columns.len());
            columns.swap(at - 1, at);
            Done::Seal
        }),
        corruption("rename a column of sliced", BROKEN, |case, random| {
            column(case, random).name.push('2');
            Done::Seal
        }),
        corruption("publish one more column", COLUMNS, |case, _| {
            let again = PublishedColumn {
                name: "weight".into(),
                ..case.published("sliced").columns[1].clone()
            };
            case.published_mut("sliced").columns.push(again);
            Done::Seal
        }),
        corruption(
            "publish the mails",
            &["tables_and_columns", "no_source_identifier"],
            |case, _| {
                let mails =
                    (0..case.rows()).map(|row| Cell::Label(format!("someone{row}@example.org")));
                let mails = PublishedColumn {
                    name: "mail".into(),
                    content: Content::Exact,
                    kind: None,
                    cells: dictionary(mails.collect()),
                };
                case.published_mut("sliced").columns.push(mails);
                Done::Seal
            },
        ),
        corruption("publish nothing", BROKEN, |case, _| {
            case.tables.clear();
            case.manifest.tables.clear();
            Done::Keep
        }),
        corruption("publish no columns", BROKEN, |case, _| {
            case.tables.pop();
            Done::Seal
        }),
        corruption("call columns something else", BROKEN, |case, _| {
            case.tables[1].name = "parts".into();
            Done::Seal
        }),
        corruption("publish one more table", COLUMNS, |case, _| {
            let table = PublishedTable {
                name: "visits".into(),
                ..case.tables[0].clone()
            };
            case.tables.push(table);
            Done::Seal
        }),
    ]
}

fn contents() -> Vec<Corruption> {
    vec![
        corruption(
            "cut a column of sliced short",
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
            "point beyond the cells of sliced",
            &["tables_and_columns", "table_digests"],
            |case, random| {
                if let Cells::Dictionary { codes, cells } = &mut column(case, random).cells {
                    let at = random.random_range(0..codes.len());
                    let beyond = any(&[cells.len() as u32, u32::MAX], random).unwrap();
                    edit(codes, |codes| codes[at] = beyond);
                    return Done::Keep;
                }
                Done::Skip
            },
        ),
        corruption("publish jobs as numbers", BROKEN, |case, _| {
            let rows = case.rows();
            let mut columns = case.published_mut("sliced").columns.iter_mut();
            let found = columns.find(|column| column.name == "job");
            found.expect("it is published").cells = Cells::Numbers(vec![1; rows]);
            Done::Seal
        }),
        corruption("publish jobs as generalized", COLUMNS, |case, _| {
            let mut columns = case.published_mut("sliced").columns.iter_mut();
            let found = columns.find(|column| column.name == "job");
            found.expect("it is published").content = Content::Generalized;
            Done::Seal
        }),
        corruption(
            "mask every cell of sliced",
            &["buckets_hold_their_records"],
            |case, _| {
                for (_, header) in linked(case) {
                    let rows = case.rows();
                    case.set_cells("sliced", &header, vec![Cell::Masked; rows]);
                }
                Done::Seal
            },
        ),
        corruption(
            "point beyond the names of columns",
            &["tables_and_columns"],
            |case, _| {
                let table = case.published_mut("columns");
                if let Cells::Dictionary { codes, .. } = &mut table.columns[1].cells {
                    edit(codes, |codes| codes[0] = u32::MAX);
                }
                Done::Keep
            },
        ),
        corruption("have columns of unlike length", BROKEN, |case, _| {
            let table = case.published_mut("columns");
            if let Cells::Numbers(numbers) = &mut table.columns[0].cells {
                numbers.pop();
            }
            Done::Keep
        }),
    ]
}
