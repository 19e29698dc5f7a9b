//! What the table `columns` says of the others.

use rand::RngExt;
use vizard_anonymizer::privacy::{ColumnRule, Model};
use vizard_anonymizer::release::Cell;

use super::base::is_coarse;
use crate::case::{Case, dictionary};
use crate::negative::{Corruption, Done, Random, any, corruption};

const DECLARED: &[&str] = &["columns_as_declared"];

/// Whether the job names its columns.
fn is_given(case: &Case) -> bool {
    match &case.requirements.policy().model {
        Model::Sliced { slicing, .. } => matches!(slicing.columns, ColumnRule::Given(_)),
        _ => false,
    }
}

fn renumber(case: &mut Case, number: impl Fn(u64) -> u64) -> Done {
    let numbers = case.numbers("columns", "column");
    let changed: Vec<u64> = numbers.iter().map(|&held| number(held)).collect();
    let done = if changed == numbers {
        Done::Skip
    } else {
        Done::Seal
    };
    case.set_numbers("columns", "column", changed);
    done
}

fn rename(case: &mut Case, random: &mut Random, name: &str) -> Done {
    let mut cells = case.cells("columns", "attribute");
    let at = random.random_range(0..cells.len());
    cells[at] = Cell::Label(name.into());
    case.set_cells("columns", "attribute", cells);
    Done::Seal
}

pub fn corruptions() -> Vec<Corruption> {
    let mut all = numbers();
    all.extend(names());
    all
}

fn numbers() -> Vec<Corruption> {
    vec![
        corruption(
            "say that all attributes are linked",
            &["buckets_hold_their_records"],
            |case, _| renumber(case, |number| number.min(1)),
        ),
        corruption(
            "say that two columns are one",
            &["first_column_is_its_rows"],
            |case, _| renumber(case, |number| if number > 1 { number - 1 } else { number }),
        ),
        corruption("say that linked attributes are not", DECLARED, |case, _| {
            if !is_given(case) {
                return Done::Skip;
            }
            let entries = case.numbers("columns", "column").len() as u64;
            case.set_numbers("columns", "column", (1..=entries).collect());
            Done::Seal
        }),
        corruption(
            "say that linked attributes are not, of columns found",
            &["columns_sorted"],
            |case, _| {
                let numbers = case.numbers("columns", "column");
                let is_linked = numbers
                    .windows(2)
                    .any(|pair| pair[0] > 0 && pair[0] == pair[1]);
                if is_given(case) || is_coarse(case) || !is_linked {
                    return link_found(case);
                }
                let mut next = 0;
                let apart = numbers.iter().map(|&number| match number {
                    0 => 0,
                    _ => {
                        next += 1;
                        next
                    }
                });
                let apart = apart.collect();
                case.set_numbers("columns", "column", apart);
                Done::Seal
            },
        ),
        corruption("number columns from two", DECLARED, |case, _| {
            renumber(case, |number| number + 1)
        }),
        corruption("leave a column number out", DECLARED, |case, _| {
            renumber(case, |number| if number > 1 { number + 1 } else { number })
        }),
        corruption("number columns wildly", DECLARED, |case, _| {
            renumber(case, |number| number.wrapping_mul(u64::MAX / 3))
        }),
        corruption("call linked attributes generalized", DECLARED, |case, _| {
            renumber(case, |number| if number == 1 { 0 } else { number })
        }),
        corruption("number columns backwards", DECLARED, |case, _| {
            let most = case.numbers("columns", "column").into_iter().max().unwrap();
            renumber(
                case,
                |number| if number == 0 { 0 } else { most + 1 - number },
            )
        }),
    ]
}

/// Links two columns of a release whose columns were found, each with one
/// attribute, so that the declared ones are not unlinked.
fn link_found(case: &mut Case) -> Done {
    if is_given(case) || is_coarse(case) {
        return Done::Skip;
    }
    for name in ["city", "job"] {
        let cells = (0..case.rows()).map(|row| case.exact(name, case.code(name, row)));
        let cells = cells.collect();
        case.set_cells("sliced", name, cells);
    }
    Done::Seal
}

fn names() -> Vec<Corruption> {
    vec![
        corruption(
            "name an attribute that is none",
            DECLARED,
            |case, random| rename(case, random, "height"),
        ),
        corruption(
            "name an identifier as a column",
            DECLARED,
            |case, random| rename(case, random, "mail"),
        ),
        corruption("name an attribute in two columns", DECLARED, |case, _| {
            let mut cells = case.cells("columns", "attribute");
            let first = cells[0].clone();
            *cells.last_mut().unwrap() = first;
            case.set_cells("columns", "attribute", cells);
            Done::Seal
        }),
        corruption("name no attribute", DECLARED, |case, random| {
            let mut cells = case.cells("columns", "attribute");
            let at = random.random_range(0..cells.len());
            cells[at] = any(&[Cell::Empty, Cell::Masked], random).unwrap();
            case.set_cells("columns", "attribute", cells);
            Done::Seal
        }),
        corruption(
            "exchange two attributes of columns",
            &["tables_and_columns"],
            |case, _| {
                let mut cells = case.cells("columns", "attribute");
                cells.swap(0, 1);
                case.set_cells("columns", "attribute", cells);
                Done::Seal
            },
        ),
        corruption(
            "forget an attribute of columns",
            &["tables_and_columns"],
            |case, random| {
                let rows = case.published("columns").rows();
                let gone = random.random_range(0..rows);
                let kept: Vec<usize> = (0..rows).filter(|&row| row != gone).collect();
                case.take_rows("columns", &kept);
                Done::Seal
            },
        ),
        corruption(
            "say nothing of columns",
            &["tables_and_columns", "columns_as_declared"],
            |case, _| {
                case.set_numbers("columns", "column", Vec::new());
                let table = case.published_mut("columns");
                table.columns[1].cells = dictionary(Vec::new());
                Done::Seal
            },
        ),
    ]
}
